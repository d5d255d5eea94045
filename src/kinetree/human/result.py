"""`Result`: what a movement's analysis says: angles, torques, powers, work, ground forces, residuals, marker errors."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._late import call
from ..errors import ArgumentError, missing_extra
from ..kernels.layout import FREE
from ..typing import Array
from .angles import clinical
from .energetics import Energetics, energetics
from .motion import Motion
from .plates import SIDES, GroundForces
from .quality import runs
from .subject import Subject

if TYPE_CHECKING:
    from .gait import Gait

ROOT_AXES = ("moment_x", "moment_y", "moment_z", "force_x", "force_y", "force_z")


@dataclass(frozen=True, eq=False)
class Result:
    """The analysis of one movement.

    `tau` [n, nv] are the joint forces of the model's `q`, `held` [n, nv] the part of them that holds the pose against
    gravity, `names` the joint angles and `torque` [n, nangles] what belongs to them [N m, N].
    """

    subject: Subject
    motion: Motion
    ground: GroundForces
    tau: Array
    held: Array
    names: tuple[str, ...]
    torque: Array
    torque_held: Array
    rate: Array
    residual: Array
    residual_names: tuple[str, ...]
    residual_limit: float | None = None
    notes: tuple[str, ...] = ()
    info: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, subject: Subject, motion: Motion, ground: GroundForces, tau: Array, held: Array, limit: float | None = None
    ) -> Result:
        """Sort joint forces by angles and residuals."""
        notes = motion.notes + ground.notes + _beyond(subject, motion, tau, limit)
        if subject.mapped:
            own = _of_coordinates(motion, tau), _of_coordinates(motion, held)
            names = subject.model.coordinate_names
            root = root_coordinates(subject)
            inner = [k for k in range(len(names)) if k not in root]
            assert motion.du is not None
            return cls(
                subject, motion, ground, tau, held, tuple(names[k] for k in inner), own[0][:, inner], own[1][:, inner],
                motion.du[:, inner], own[0][:, root], tuple(names[k] for k in root), limit, notes,
            )  # fmt: skip
        if subject.is_human48:
            _, torque, rate = clinical(subject.model, motion.q, tau, motion.v)
            _, share, _ = clinical(subject.model, motion.q, held)
            assert torque is not None
            assert share is not None
            assert rate is not None
            return cls(
                subject, motion, ground, tau, held, motion.angle_names, torque, share, rate,
                world_residual(subject, motion, tau), ROOT_AXES, limit, notes,
            )  # fmt: skip
        free = 6 if subject.model.nv >= 6 and subject.model.joint_kinds[0] == FREE else 0
        names = motion.angle_names
        return cls(
            subject, motion, ground, tau, held, names[free:], tau[:, free:], held[:, free:], motion.v[:, free:],
            world_residual(subject, motion, tau) if free else tau[:, :0], ROOT_AXES[:free], limit, notes,
        )  # fmt: skip

    # --- numbers

    @property
    def times(self) -> Array:
        """Times of the frames [s], shape [n]."""
        return self.motion.times

    def torque_of(self, name: str) -> Array:
        """Return the torque that belongs to one angle [N m], shape [n]."""
        if name not in self.names:
            raise ArgumentError(f"there is no torque {name!r}; there are: {', '.join(self.names)}")
        return self.torque[:, self.names.index(name)]

    @cached_property
    def residual_force(self) -> Array:
        """What is left over at the root [N], world axes, shape [n, 3]."""
        if self.subject.mapped:
            values = {name: self.residual[:, k] for k, name in enumerate(self.residual_names)}
            found = [name for name in self.residual_names if name.endswith(("_tx", "_ty", "_tz"))]
            if len(found) == 3:
                x, y, z = (values[name] for name in found)
                return np.column_stack((x, -z, y))
            return np.zeros((len(self.times), 3))
        return self.residual[:, 3:6] if self.residual.shape[1] == 6 else np.zeros((len(self.times), 3))

    @property
    def residual_share(self) -> float:
        """Largest root-mean-square component of the residual force over the peak of the ground's force."""
        peak = float(np.linalg.norm(self.ground.force.sum(1), axis=1).max(initial=0.0))
        return float(np.sqrt((self.residual_force**2).mean(0)).max()) / peak if peak > 0 else float("nan")

    @cached_property
    def energetics(self) -> Energetics:
        """Powers, work and cost."""
        return energetics(self.subject, self.motion, self.tau, self.held)

    @cached_property
    def gait(self) -> Gait:
        """Steps, strides and normalised cycles."""
        return call("kinetree.human.gait:gait_of", self)

    # --- tables

    @property
    def angles(self) -> Any:
        """Joint angles, an `xarray.Dataset`, in radians."""
        return self._dataset("angle")

    @property
    def torques(self) -> Any:
        """Joint torques, an `xarray.Dataset`: `NAME` and, of it, `NAME_gravity`, what holds the pose alone."""
        return self._dataset("torque")

    @property
    def powers(self) -> Any:
        """Power of every joint, an `xarray.Dataset`, in watts."""
        return self._dataset("power")

    @property
    def work(self) -> Any:
        """Positive, negative and net work and the integrated torque of every joint, an `xarray.Dataset`."""
        array = _xarray()
        own = self.energetics
        columns = {"positive": own.positive, "negative": own.negative, "net": own.net, "integrated_torque": own.effort}
        units = {"integrated_torque": "N m s"}
        return array.Dataset(
            {key: ("joint", value, {"units": units.get(key, "J")}) for key, value in columns.items()},
            coords={"joint": list(own.joints)},
        )

    @property
    def energy(self) -> Any:
        """Kinetic, potential and total energy of the body, an `xarray.Dataset`."""
        return self._dataset("energy")

    @property
    def ground_forces(self) -> Any:
        """Force, centre of pressure and free torque under each foot, an `xarray.Dataset`, world axes with z up."""
        return self._dataset("ground")

    @property
    def residuals(self) -> Any:
        """What is left over at the root, an `xarray.Dataset`."""
        return self._dataset("residual")

    @property
    def marker_errors(self) -> Any:
        """Distance of every marker from the body, an `xarray.Dataset`, NaN in gaps."""
        return self._dataset("marker_error")

    @cached_property
    def tables(self) -> dict[str, dict[str, tuple[Array, str]]]:
        """Everything over time: what it is -> name -> (values, shape [n], and their unit)."""
        model, own = self.subject.model, self.energetics
        lengths: set[str] = set()
        if self.subject.mapped:
            values = model.coordinate_values
            lengths = {name for k, name in enumerate(model.coordinate_names) if not values[k, 3]}
        angles = {n: (self.motion.angle(n), "m" if n in lengths else "rad") for n in self.motion.angle_names}
        torques = {n: (self.torque[:, k], "N m") for k, n in enumerate(self.names)}
        torques |= {f"{n}_gravity": (self.torque_held[:, k], "N m") for k, n in enumerate(self.names)}
        pushes = ("_tx", "_ty", "_tz", "force_x", "force_y", "force_z")
        residuals = {
            n: (self.residual[:, k], "N" if n.endswith(pushes) else "N m") for k, n in enumerate(self.residual_names)
        }
        labels = self.subject.labels if self.motion.targets.shape[1] else ()
        energies = {"kinetic": own.kinetic, "potential": own.potential, "total": own.kinetic + own.potential}
        return {
            "angle": angles,
            "torque": torques,
            "power": {n: (own.power[:, k], "W") for k, n in enumerate(own.joints)},
            "ground": self._ground_table(),
            "residual": residuals,
            "energy": {n: (values, "J") for n, values in energies.items()},
            "marker_error": {label: (self.motion.errors[:, k], "m") for k, label in enumerate(labels)},
        }

    def _ground_table(self) -> dict[str, tuple[Array, str]]:
        table: dict[str, tuple[Array, str]] = {}
        spots = self.ground.pressure()
        for k, side in enumerate(SIDES):
            spot = np.nan_to_num(spots[:, k])
            free = self.ground.moment[:, k] - np.cross(spot, self.ground.force[:, k])
            for a, axis in enumerate("xyz"):
                table[f"{side}_force_{axis}"] = self.ground.force[:, k, a], "N"
                table[f"{side}_point_{axis}"] = spot[:, a], "m"
            table[f"{side}_torque_z"] = np.where(np.isfinite(spots[:, k, 0]), free[:, 2], 0.0), "N m"
        return table

    def to_dataframe(self) -> Any:
        """Return everything over time as one `pandas.DataFrame`."""
        try:
            import pandas
        except ImportError:
            raise missing_extra("pandas", "tables", "a table") from None
        parts = {"time": self.times}
        for prefix, table in self.tables.items():
            parts |= {f"{prefix}/{name}": values for name, (values, _) in table.items()}
        return pandas.DataFrame(parts)

    def window(self, first: int, last: int) -> Result:
        """Return the frames from `first` to `last`, both included."""
        keep = slice(first, last + 1)
        ground = replace(
            self.ground, force=self.ground.force[keep], moment=self.ground.moment[keep], links=self.ground.links[keep]
        )
        arrays = {
            name: getattr(self, name)[keep] for name in ("tau", "held", "torque", "torque_held", "rate", "residual")
        }
        return replace(self, motion=self.motion.window(first, last), ground=ground, **arrays)

    # --- files

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write all tables into a folder (.mot, .sto, .trc, .csv, .parquet, .json) and return the files."""
        return call("kinetree.human.save:save_result", self, folder)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the HTML report."""
        return call("kinetree.report.walk:write_report", self, path)

    def _dataset(self, what: str) -> Any:
        array = _xarray()
        columns = {name: ("time", values, {"units": unit}) for name, (values, unit) in self.tables[what].items()}
        return array.Dataset(columns, coords={"time": ("time", self.times, {"units": "s"})})


def _xarray() -> Any:
    try:
        import xarray
    except ImportError:
        raise missing_extra("xarray", "human", "a table of results") from None
    return xarray


def _of_coordinates(motion: Motion, tau: Array) -> Array:
    """Return every coordinate's force as OpenSim counts it: the sum of dq/du tau, none depending on another."""
    model = motion.subject.model
    assert motion.slope is not None
    nu = len(model.coordinate_names)
    out = np.zeros((nu, len(tau)))
    np.add.at(out, model.coordinate_rows[nu:, 0], (tau * motion.slope).T)
    return np.ascontiguousarray(out.T)


def root_coordinates(subject: Subject) -> list[int]:
    """Return the coordinates that carry the whole body: those of the joints before the first body that has mass."""
    model = subject.model
    nu = len(model.coordinate_names)
    children: dict[int, list[int]] = {}
    for body, parent in enumerate(model.parents):
        children.setdefault(int(parent), []).append(body)
    found: list[int] = []
    body = -1
    while len(children.get(body, [])) == 1:
        body = children[body][0]
        own = range(int(model.v_starts[body]), int(model.v_starts[body + 1]))
        found += [int(model.coordinate_rows[nu + k, 0]) for k in own]
        if model.masses[body] > 0:
            break
    return sorted(set(found))


def _beyond(subject: Subject, motion: Motion, tau: Array, limit: float | None) -> tuple[str, ...]:
    """Return notes on where the root's torque about the horizontal axes is above its limit."""
    if limit is None or subject.mapped or subject.model.joint_kinds[0] != FREE:
        return ()
    size = np.abs(world_residual(subject, motion, tau)[:, :2]).max(1)
    return tuple(
        f"from {motion.times[first]:.2f} to {motion.times[last]:.2f} s the root needs up to "
        f"{size[first : last + 1].max():.0f} N m about a horizontal axis, more than the limit of {limit:g} N m"
        for first, last in runs(size > limit)
    )


def world_residual(subject: Subject, motion: Motion, tau: Array) -> Array:
    """Return the root's moment about its origin and force in world axes [n, 6]."""
    from .angles import matrices

    turns = matrices(motion.q[:, :4])
    base = subject.model.placements[0, :9].reshape(3, 3)
    moment = np.einsum("ij,njk,nk->ni", base, turns, tau[:, :3])
    return np.hstack((moment, tau[:, 3:6] @ base.T))
