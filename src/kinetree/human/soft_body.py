"""The person in the soft-constraint world, as in the paper: markers pull, muscles hold, the ground pushes.

Liu, Cooper and Ballard, "Pose Fitting" and "Inverse Dynamics". Bodies are in maximal coordinates, so everything gives a
little: joints, markers (constraint force mixing 1e-5 and 1e-4), muscles (1e-8 for torques), the ground (1e-5).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dynamics import body_poses
from ..errors import ArgumentError
from ..kernels import layout as at
from ..soft.from_model import from_model, model_state
from ..soft.world import World
from ..typing import Array
from .contact import above_ground, sole_paths, sole_points
from .following import Fitter, matched, repaired
from .motion import Motion
from .quality import usable_frames
from .subject import Subject
from .trial import Trial

JOINT_CFM, MARKER_CFM, GROUND_CFM = 1e-5, 1e-4, 1e-5
FIRM_JOINT_CFM, MUSCLE_CFM = 1e-10, 1e-8
REST_STIFFNESS, REST_DAMPING, REST_LIMIT = 5.0, 0.5, 20.0  # N m/rad, N m s/rad, N m: "muscle stiffness"


def soft_person(
    subject: Subject, q: Array, v: Array | None, *, dt: float, cfm: float, gravity: Any, solver: Any = "structured"
) -> World:
    """Return the world with the person's bodies and joints at `q` and `v`."""
    if subject.mapped:
        raise ArgumentError(
            "the bodies of an OpenSim chain have no mass of their own: use the 48-DOF human with 'soft'"
        )
    return from_model(subject.model, q, v, dt=dt, gravity=gravity, cfm=cfm, solver=solver)


def add_rest(world: World, subject: Subject) -> None:
    """Let every joint have weak springs of limited force toward rest, and stops."""
    model = subject.model
    lower, upper = model.limits
    for name in inner_joints(subject):
        own = model.v_slice(name)
        kind = model.joint_kinds[model.joint_body(name)]
        goal: Any = (1.0, 0.0, 0.0, 0.0) if kind == at.SPHERICAL else np.zeros(own.stop - own.start)
        world.add_motor(
            f"{name}/rest", name, goal=goal, stiffness=REST_STIFFNESS, damping=REST_DAMPING, limit=REST_LIMIT
        )
        if np.isfinite(lower[own]).all() and np.isfinite(upper[own]).all():
            world.add_range(f"{name}/stop", name, lower[own], upper[own], stiffness=1e3, damping=10.0)


def inner_joints(subject: Subject) -> list[str]:
    """Return the names of the joints but the root's."""
    model = subject.model
    return [name for name in model.joint_names if model.joint_kinds[model.joint_body(name)] != at.FREE]


def add_soles(world: World, subject: Subject, motion: Motion | None, friction: float, **softness: Any) -> list[str]:
    """Add the points of the feet that touch the ground; where a motion is given, each just reaches z = 0 in it."""
    bodies, places, _ = sole_points(subject)
    places = places.copy()
    if motion is not None:
        points = sole_paths(subject, motion, bodies, places)
        gap = points[..., 2] - above_ground(points, None)
        for k, body in enumerate(bodies):
            lowest = int(np.argmin(points[:, k, 2]))
            turn = body_poses(subject.model, motion.q[lowest])[body, :3, :3]
            places[k] -= turn.T @ np.array([0.0, 0.0, gap[0, k]])
    names = []
    for k, (body, place) in enumerate(zip(bodies, places, strict=True)):
        name = f"sole {k}"
        world.add_contact(
            name, subject.model.names[body], place, friction=friction, **(softness or {"cfm": GROUND_CFM})
        )
        names.append(name)
    return names


def follow_soft(
    subject: Subject,
    trial: Trial,
    *,
    cutoff: float | None = 6.0,
    marker_cfm: float = MARKER_CFM,
    iterations: int = 1,
    lead: int = 0,
    moving: bool = True,
    ground: bool = False,
    friction: float = 0.8,
    rest: bool = True,
) -> Motion:
    """Let the markers of a trial drag the person along, one step of the world a frame: the paper's pose fitting.

    With `moving` a marker goes smoothly from frame to frame, and its springs know how fast; the body hardly lags.
    Without, it jumps to each frame's place and rests there, as in the paper: the body lags behind and rounds off what
    is quick (the paper's figure 4). `iterations` takes several smaller steps a frame, `lead` shows the world the
    markers that many frames ahead; both lessen that lag, and `follow(method="pose")` has none at all.
    """
    if iterations < 1 or lead < 0:
        raise ArgumentError(f"iterations is {iterations!r} and lead {lead!r}: give at least 1 and 0")
    targets, notes = matched(subject, trial)
    first, last = usable_frames(targets, subject.weights, trial.times)
    times, targets = trial.times[first : last + 1], targets[first : last + 1]
    cleaned, faults = repaired(targets, list(subject.labels), times)
    start = Fitter(subject).first(cleaned[0])
    dt = 1.0 / (trial.rate * iterations)
    world = soft_person(subject, start, None, dt=dt, cfm=JOINT_CFM, gravity=subject.gravity if ground else (0, 0, 0))
    for k, label in enumerate(subject.labels):
        soft = marker_cfm / max(float(subject.weights[k]), 1e-6)
        place = cleaned[0, k] if np.isfinite(cleaned[0, k]).all() else None
        world.add_marker(label, subject.model.names[subject.bodies[k]], subject.offsets[k], position=place, cfm=soft)
    if rest:
        add_rest(world, subject)
    if ground:
        add_soles(world, subject, None, friction)
    still = np.repeat(cleaned[:1], 40, axis=0)
    world.run(len(still), markers=still, substeps=iterations)
    seen = np.concatenate((cleaned, np.repeat(cleaned[-1:], lead + 1, axis=0)))[lead : lead + len(cleaned)]
    if moving:
        before = world.state()
        recording = world.run(len(seen), markers=seen, substeps=iterations)
        states = np.concatenate((before[None], recording.states[:-1]))
    else:
        states = np.concatenate([world.run(1, markers=row[None], substeps=iterations).states for row in seen])
    q = configurations(world, subject, states)
    placed = sole_paths(subject, Motion.of_states(subject, times, q), subject.bodies, subject.offsets)
    notes += [str(fault) for fault in faults if "gap" not in fault.kind]
    return Motion.of_states(
        subject, times, q, cutoff=cutoff, targets=targets, placed=placed, trial=trial, notes=tuple(notes),
        complete=first == 0 and last == trial.frames - 1, info={"first": first, "last": last, "method": "soft"},
    )  # fmt: skip


def configurations(world: World, subject: Subject, states: Array) -> Array:
    """Return the model's q for states of the world [n, bodies, 13]."""
    held = world.state()
    out = np.zeros((len(states), subject.model.nq))
    for t, state in enumerate(states):
        world.set_state(state)
        out[t], _ = model_state(world, subject.model)
    world.set_state(held)
    return out
