"""The bodies that the tables measure: robots' files, and random trees of every joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ..model.builder import ModelBuilder
from ..model.joints import Fixed, Free, Helical, Joint, Planar, Prismatic, Revolute, Spherical, Universal
from ..model.model import Model

KINDS = ("revolute", "prismatic", "helical", "universal", "spherical", "planar", "free", "fixed")


@dataclass(frozen=True)
class RobotFile:
    """A file of a robot or figure: its label, its name in `models/`, whether its root is free, and if it is large."""

    label: str
    file: str
    floating: bool = False
    large: bool = False

    def path(self, data: Path | None) -> Path | None:
        """Return where the file is, or None where it is absent."""
        if data is None:
            return None
        for folder in (data / "models", data):
            if (folder / self.file).is_file():
                return folder / self.file
        return None

    def load(self, path: Path) -> Model:
        """Load it."""
        from ..io.load import load

        return load(path, floating=self.floating)


ROBOTS = (
    RobotFile("Panda", "panda.urdf"),
    RobotFile("UR5", "ur5_robot.urdf"),
    RobotFile("Talos", "talos_full_v2.urdf"),
    RobotFile("Talos, floating", "talos_full_v2.urdf", floating=True),
    RobotFile("simple_humanoid", "simple_humanoid.urdf"),
    RobotFile("simple_humanoid, floating", "simple_humanoid.urdf", floating=True),
    RobotFile("MuJoCo's humanoid", "humanoid.xml"),
    RobotFile("humanoid100", "humanoid100.xml", large=True),
)


def random_tree(seed: int, n: int = 12, kinds: Sequence[str] = KINDS, *, first: str | None = None) -> Model:
    """Return a random tree of `n` heavy bodies on joints of the given kinds; `first` is the kind of the root's."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder(f"random {seed}")
    for i in range(n):
        kind = first if i == 0 and first else kinds[i % len(kinds)]
        parent = -1 if i == 0 else i - 1 if rng.random() < 0.6 else int(rng.integers(i))
        points = rng.normal(scale=0.15, size=(8, 3))
        points -= points.mean(axis=0)
        mass = float(rng.uniform(0.3, 3.0))
        spread = mass / 8 * points.T @ points
        builder.body(
            f"b{i}",
            parent=None if parent < 0 else f"b{parent}",
            joint=_joint(kind, rng),
            placement=(Rotation.random(random_state=int(rng.integers(2**31))).as_matrix(), rng.normal(0, 0.3, 3)),
            mass=mass,
            com=rng.normal(scale=0.2, size=3),
            inertia=np.trace(spread) * np.eye(3) - spread,
        )
    return builder.build()


def _joint(kind: str, rng: np.random.Generator) -> Joint:
    axis = rng.normal(size=3).tolist()
    if kind == "helical":
        return Helical(axis, pitch=float(rng.normal(scale=0.3)))
    if kind == "universal":
        first, second = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
        return Universal(first.tolist(), second.tolist())
    if kind in ("revolute", "prismatic"):
        return (Revolute if kind == "revolute" else Prismatic)(axis)
    return {"spherical": Spherical, "planar": Planar, "free": Free, "fixed": Fixed}[kind]()
