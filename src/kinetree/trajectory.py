"""A recorded motion: the states of one model at increasing times."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._late import call
from .arguments import as_finite, check_state
from .errors import ArgumentError, FileFormatError, missing_extra
from .files import DAMAGE, read_archive, whole_file, write_archive
from .model.archive import model_from_arrays, model_to_arrays
from .model.model import Model
from .typing import Array

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States `q` (nframes, nq) and `v` (nframes, nv) of `model` at `times` (nframes,) [s]."""

    model: Model
    times: Array
    q: Array
    v: Array

    def __post_init__(self) -> None:
        n = len(self.times)
        object.__setattr__(self, "times", as_finite(self.times, (n,), "times"))
        object.__setattr__(self, "q", as_finite(self.q, (n, self.model.nq), "q"))
        object.__setattr__(self, "v", as_finite(self.v, (n, self.model.nv), "v"))
        if n > 1 and not (np.diff(self.times) > 0).all():
            raise ArgumentError("the times of a trajectory must increase")

    def __len__(self) -> int:
        """Return the number of frames."""
        return len(self.times)

    def __repr__(self) -> str:
        """Return the sizes in one line."""
        span = f"{self.times[0]:g} to {self.times[-1]:g} s" if len(self) else "empty"
        return f"<Trajectory: {len(self)} frames, {span}, of {self.model!r}>"

    def __eq__(self, other: object) -> bool:
        """Compare by value."""
        if not isinstance(other, Trajectory):
            return NotImplemented
        arrays = ("times", "q", "v")
        return self.model == other.model and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays
        )

    __hash__ = None  # type: ignore[assignment]

    def body_poses(self, frame: int) -> Array:
        """Return the poses of all bodies in a frame, shape (nbodies, 4, 4)."""
        return call("kinetree.dynamics:body_poses", self.model, self.q[self._frame(frame)])

    def energies(self, gravity: Any = (0.0, 0.0, -9.81)) -> Array:
        """Return kinetic and potential energy [J] of every frame, shape (nframes, 2)."""
        rows = zip(self.q, self.v, strict=True)
        return np.array([call("kinetree.dynamics:energy", self.model, q, v, gravity=gravity) for q, v in rows])

    def at(self, time: float) -> tuple[Array, Array]:
        """Return the state at any time between the first and the last frame, interpolated on the manifold."""
        if not len(self):
            raise ArgumentError("the trajectory is empty: it has no state at any time")
        if not self.times[0] <= time <= self.times[-1]:
            raise ArgumentError(f"time {time} is outside of the trajectory, {self.times[0]} to {self.times[-1]} s")
        after = min(int(np.searchsorted(self.times, time, side="right")), len(self) - 1)
        before = max(after - 1, 0)
        if after == before:
            return self.q[0].copy(), self.v[0].copy()
        part = float((time - self.times[before]) / (self.times[after] - self.times[before]))
        step = call("kinetree.dynamics:difference", self.model, self.q[before], self.q[after])
        q = call("kinetree.dynamics:integrate", self.model, self.q[before], step, part)
        return q, (1 - part) * self.v[before] + part * self.v[after]

    def to_dataframe(self) -> pandas.DataFrame:
        """Return a table with the column `time` and one for every coordinate and velocity, named after its joint."""
        try:
            import pandas
        except ImportError:
            raise missing_extra("pandas", "tables", "a table of a trajectory") from None
        data = np.column_stack((self.times, self.q, self.v))
        return pandas.DataFrame(data, columns=["time", *column_names(self.model)])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to `.npz`, `.parquet` (both hold the model too) or `.csv` (a table for other programs)."""
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix not in (".npz", ".parquet", ".csv"):
            raise ArgumentError(f"{target}: a trajectory is saved as .npz, .parquet or .csv, not {suffix!r}")
        if suffix == ".npz":
            states = {"times": self.times, "q": self.q, "v": self.v}
            return write_archive(target, "trajectory", states | model_to_arrays(self.model))
        with whole_file(target) as temporary:
            if suffix == ".csv":
                self.to_dataframe().to_csv(temporary, index=False)
            else:
                call("kinetree.io.parquet:write_trajectory", self, temporary)
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trajectory:
        """Read what `save` wrote as `.npz` or `.parquet`."""
        source = Path(path)
        if not source.is_file():
            raise FileFormatError(source, "", "there is no such file")
        if source.suffix.lower() == ".parquet":
            return call("kinetree.io.parquet:read_trajectory", source)
        arrays = read_archive(source, "trajectory")
        try:
            return cls(model_from_arrays(arrays), arrays["times"], arrays["q"], arrays["v"])
        except DAMAGE as error:
            raise FileFormatError(source, "", f"this trajectory is damaged ({error}): save it again") from None

    def render(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Draw the motion into a film (`.mp4`, `.gif`) or picture (`.png`); see `kinetree.render.render_trajectory`."""
        return call("kinetree.render:render_trajectory", self, path, **options)

    def _frame(self, frame: int) -> int:
        if not -len(self) <= frame < len(self):
            raise ArgumentError(f"frame {frame} is out of range: the trajectory has {len(self)} frames")
        return frame

    @classmethod
    def of_states(cls, model: Model, times: Any, q: Any, v: Any | None = None) -> Trajectory:
        """Make a trajectory from configurations; missing velocities are differences between neighbours."""
        q, times = np.asarray(q, dtype=float), np.asarray(times, dtype=float)
        for row in q:
            check_state(model, row)
        if v is None:
            cls(model, times, q, np.zeros((len(q), model.nv)))  # refuse times that no velocity can be had from
            v = np.zeros((len(q), model.nv))
            for k in range(len(q) - 1):
                step = call("kinetree.dynamics:difference", model, q[k], q[k + 1])
                v[k] = step / (times[k + 1] - times[k])
            if len(q) > 1:
                v[-1] = v[-2]
        return cls(model, times, q, v)


def column_names(model: Model) -> list[str]:
    """Return the names of the columns of q and v: `q.knee`, or `q.hip.0` where a joint has several."""
    names = []
    for prefix, starts in (("q", model.q_starts), ("v", model.v_starts)):
        for body in model.joint_bodies:
            count = int(starts[body + 1] - starts[body])
            joint = model.body_joint_names[body]
            names += [f"{prefix}.{joint}" if count == 1 else f"{prefix}.{joint}.{k}" for k in range(count)]
    return names
