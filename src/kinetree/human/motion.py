"""`Motion`: a person's recorded pose in every frame, with velocities, accelerations and how well the markers fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError
from ..typing import Array
from .angles import angle_table, clinical
from .rates import motion_of_coordinates, motion_of_q
from .subject import Subject

if TYPE_CHECKING:
    from .trial import Trial


@dataclass(frozen=True, eq=False)
class Motion:
    """The pose in every frame.

    `q` [n, nq], `v` and `a` [n, nv] are those of the model; `u`, `du`, `ddu` [n, ncoordinates] those of its
    coordinates, where joints follow some, and `slope` [n, nv] is dq/du. `targets` and `placed` [n, m, 3] are the
    measured markers and the model's [m]. `complete` is False where only a part of the trial could be followed.
    """

    subject: Subject
    times: Array
    q: Array
    v: Array
    a: Array
    targets: Array
    placed: Array
    trial: Trial | None = None
    u: Array | None = None
    du: Array | None = None
    ddu: Array | None = None
    slope: Array | None = None
    notes: tuple[str, ...] = ()
    complete: bool = True
    info: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_states(cls, subject: Subject, times: Array, q: Array, *, cutoff: float | None = None, **more: Any) -> Motion:
        """Return the motion through the configurations `q` [n, nq], smoothed below `cutoff` [Hz]."""
        smooth, v, a = motion_of_q(subject.model, times, q, cutoff)
        nothing = np.zeros((len(times), 0, 3))
        return cls(subject, times, smooth, v, a, more.pop("targets", nothing), more.pop("placed", nothing), **more)

    @classmethod
    def of_coordinates(
        cls,
        subject: Subject,
        times: Array,
        values: Array | Mapping[str, Array],
        *,
        cutoff: float | None = None,
        **more: Any,
    ) -> Motion:
        """Return the motion through OpenSim coordinates: an array [n, ncoordinates], or arrays by name."""
        model = subject.model
        if isinstance(values, Mapping):
            table = np.tile(model.coordinate_values[:, 0], (len(times), 1))
            for k, name in enumerate(model.coordinate_names):
                if name in values:
                    table[:, k] = values[name]
            values = table
        if not subject.mapped:
            raise ArgumentError("the joints of this model follow no coordinates: use Motion.of_states")
        (u, du, ddu), (q, v, a), slope = motion_of_coordinates(model, times, np.asarray(values), cutoff)
        nothing = np.zeros((len(times), 0, 3))
        return cls(
            subject, times, q, v, a, more.pop("targets", nothing), more.pop("placed", nothing),
            u=u, du=du, ddu=ddu, slope=slope, **more,
        )  # fmt: skip

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.times)

    @cached_property
    def errors(self) -> Array:
        """Distance of every measured marker from the model's [m], NaN in gaps, shape [n, m]."""
        return np.linalg.norm(self.targets - self.placed, axis=2)

    @property
    def marker_rms(self) -> float:
        """Root mean square of all marker errors [m]."""
        return float(np.sqrt(np.nanmean(self.errors**2))) if np.isfinite(self.errors).any() else 0.0

    @property
    def marker_max(self) -> float:
        """Largest marker error [m]."""
        return float(np.nanmax(self.errors)) if np.isfinite(self.errors).any() else 0.0

    @cached_property
    def angle_names(self) -> tuple[str, ...]:
        """Names of the joint angles: coordinates of an OpenSim model, clinical angles of the 48-DOF human."""
        if self.subject.mapped:
            return self.subject.model.coordinate_names
        if self.subject.is_human48:
            return tuple(own.name for own in angle_table(self.subject.model))
        return tuple(f"{joint}_{k}" for joint in self.subject.model.joint_names for k in range(self._width(joint)))

    @cached_property
    def angles(self) -> Array:
        """Joint angles [rad] (and lengths [m] of an OpenSim model's translations), shape [n, nangles]."""
        if self.u is not None:
            return self.u
        if self.subject.is_human48:
            return clinical(self.subject.model, self.q)[0]
        return self._vectors()

    def angle(self, name: str) -> Array:
        """Return one joint angle by name [rad], shape [n]."""
        if name not in self.angle_names:
            raise ArgumentError(f"there is no angle {name!r}; there are: {', '.join(self.angle_names)}")
        return self.angles[:, self.angle_names.index(name)]

    def window(self, first: int, last: int) -> Motion:
        """Return the frames from `first` to `last`, both included."""
        keep = slice(first, last + 1)
        parts: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[keep]
            for name in ("times", "q", "v", "a", "targets", "placed", "u", "du", "ddu", "slope")
        }
        return replace(self, **parts)

    def _width(self, joint: str) -> int:
        own = self.subject.model.v_slice(joint)
        return int(own.stop - own.start)

    def _vectors(self) -> Array:
        from ..kernels.manifold import difference

        model = self.subject.model
        out, neutral = np.zeros((self.frames, model.nv)), model.neutral()
        for t in range(self.frames):
            difference(model.topology, neutral, self.q[t], out[t])
        return out
