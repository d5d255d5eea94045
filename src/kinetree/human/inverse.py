"""`inverse_dynamics`: joint torques, and what is left over at the root, from a movement and the ground's forces."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import as_gravity
from ..errors import ArgumentError
from ..kernels import layout as at
from ..kernels import recorded as _recorded
from ..typing import Array
from .following import CUTOFF, follow
from .motion import Motion
from .plates import GroundForces, plate_forces
from .result import Result
from .subject import Subject, check_subject
from .trial import Trial

SOURCES = ("plates", "contact", "none")


def inverse_dynamics(
    subject: Subject | Any,
    motion: Motion | Trial,
    *,
    forces: str | GroundForces = "auto",
    cutoff: float | None = CUTOFF,
    force_cutoff: float | str | None = "same",
    residual_limit: float | None = None,
    gravity: Any = None,
    **options: Any,
) -> Result:
    """Return torques, powers, ground forces and residuals of a movement.

    Args:
        subject: Whose movement.
        motion: What `follow` returned; a trial is followed first.
        forces: "plates" for measured forces, "contact" for forces estimated from the feet's contact with the ground,
            "none" for none, "auto" for plates where the trial has them and contact where not; or forces of your own.
        cutoff: Of the filter of a trial's movement [Hz].
        force_cutoff: Of the plates' filter [Hz]; "same" as that of the movement, which keeps impacts from showing up
            as torques (Kristianslund et al. 2012), or None for none.
        residual_limit: How large the torque at the root should become about the horizontal axes [N m]: where the
            movement asks for more, the notes say when and by how much. Here the movement is repeated exactly;
            `soft_inverse_dynamics` shows how the body leaves its path where the limit holds.
        gravity: m/s2; the subject's if not given.
        **options: For "contact": see `kinetree.human.contact.contact_forces`.
    """
    subject = check_subject(subject)
    if isinstance(motion, Trial):
        motion = follow(subject, motion, cutoff=cutoff)
    if residual_limit is not None and not residual_limit >= 0:
        raise ArgumentError(f"residual_limit is {residual_limit!r}: give newton metres, or None for no limit")
    pull = subject.gravity if gravity is None else as_gravity(gravity)
    filtered = cutoff if force_cutoff == "same" else force_cutoff
    ground = _ground(subject, motion, forces, filtered, pull, options)  # type: ignore[arg-type]
    tau = frame_torques(subject, motion, ground, pull)[0]
    weight_only = _held(subject, motion, pull)
    return Result.of(subject, motion, ground, tau, weight_only, residual_limit)


def _ground(
    subject: Subject,
    motion: Motion,
    forces: str | GroundForces,
    cutoff: float | None,
    pull: Any,
    options: dict[str, Any],
) -> GroundForces:
    if isinstance(forces, GroundForces):
        return forces
    has_plates = motion.trial is not None and bool(motion.trial.plates)
    if forces == "auto":
        forces = "plates" if has_plates else "contact"
    if forces == "plates":
        if not has_plates:
            raise ArgumentError("the trial has no force plates: use forces='contact', or read it with forces=FILE")
        return plate_forces(motion, cutoff)
    if forces == "contact":
        from .contact import contact_forces

        return contact_forces(subject, motion, gravity=pull, **options)
    if forces == "none":
        empty = np.zeros((motion.frames, 2, 3))
        return GroundForces(empty, empty.copy(), np.full((motion.frames, 2), -1, dtype=np.int64), "none")
    raise ArgumentError(f"forces is {forces!r}: use 'auto', {', '.join(map(repr, SOURCES))}")


def frame_torques(
    subject: Subject, motion: Motion, ground: GroundForces | None, gravity: Any, *, still: bool = False
) -> tuple[Array, Array]:
    """Return the joint forces of every frame [n, nv], root included, and the wrench that is missing at the root [n, 6].

    The wrench is [moment about the world's origin; force]. `still` leaves out the movement.
    """
    model = subject.model
    n = motion.frames
    out, total = np.zeros((n, model.nv)), np.zeros((n, 6))
    wrenches = np.zeros((n, 0, 6)) if ground is None else np.ascontiguousarray(ground.wrenches())
    links = np.zeros((n, 0), dtype=np.int64) if ground is None else np.ascontiguousarray(ground.links)
    v, a = (np.zeros_like(motion.v), np.zeros_like(motion.a)) if still else (motion.v, motion.a)
    bad = _recorded.inverse_frames(
        model.topology, model.constants, np.ascontiguousarray(model.dofs[:, at.ARMATURE]),
        np.ascontiguousarray(motion.q), np.ascontiguousarray(v), np.ascontiguousarray(a), wrenches, links,
        tuple(float(g) for g in gravity), np.zeros((model.njoints, at.LINKS)), np.zeros((model.nv, at.AXES)), out,
        total,
    )  # fmt: skip
    if bad >= 0:
        raise ArgumentError(
            f"frame {bad} ({motion.times[bad]:.3f} s) has no finite torques: its pose or forces are not finite"
        )
    return out, total


def _held(subject: Subject, motion: Motion, gravity: Any) -> Array:
    """Return the joint forces that only hold the pose against gravity [n, nv]."""
    return frame_torques(subject, motion, None, gravity, still=True)[0]
