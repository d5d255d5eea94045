"""The bodies of the benchmark of constraints: rag dolls, boxes, a four-bar linkage, a chain on two sprockets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.builder import ModelBuilder
from ..model.joints import Free, Joint, Prismatic, Revolute, Spherical
from ..model.model import Model
from ..model.shapes import Box, Capsule, Sphere
from ..typing import Array

BALL = Spherical()
Place = tuple[float, float, float]
DOLL: tuple[tuple[str, str | None, Joint, Place, Place, float, Any], ...] = (
    # name, parent, joint, where in the parent, end of the capsule, radius [m], limits [rad]
    ("pelvis", None, Free(), (0, 0, 0), (0, 0, 0.08), 0.11, None),
    ("belly", "pelvis", BALL, (0, 0, 0.12), (0, 0, 0.10), 0.10, (-0.5, 0.5)),
    ("chest", "belly", BALL, (0, 0, 0.15), (0, 0, 0.16), 0.13, (-0.4, 0.4)),
    ("neck", "chest", BALL, (0, 0, 0.26), (0, 0, 0.06), 0.05, (-0.4, 0.4)),
    ("head", "neck", BALL, (0, 0, 0.08), (0, 0, 0.12), 0.09, (-0.4, 0.4)),
    *(
        part
        for side, s in (("left", 1.0), ("right", -1.0))
        for part in (
            (f"{side}_clavicle", "chest", Revolute("x"), (0, 0.05 * s, 0.2), (0, 0.08 * s, 0), 0.05, (-0.3, 0.3)),
            (f"{side}_upper_arm", f"{side}_clavicle", BALL, (0, 0.14 * s, 0), (0, 0.24 * s, 0), 0.045, (-1.4, 1.4)),
            (f"{side}_forearm", f"{side}_upper_arm", Revolute("z"), (0, 0.28 * s, 0), (0, 0.22 * s, 0), 0.038,
             (-0.1, 2.3) if s > 0 else (-2.3, 0.1)),
            (f"{side}_hand", f"{side}_forearm", Revolute("x"), (0, 0.26 * s, 0), (0, 0.10 * s, 0), 0.035, (-0.8, 0.8)),
            (f"{side}_thigh", "pelvis", BALL, (0, 0.1 * s, -0.06), (0, 0, -0.36), 0.075, (-1.2, 1.2)),
            (f"{side}_shin", f"{side}_thigh", Revolute("y"), (0, 0, -0.42), (0, 0, -0.36), 0.055, (-0.05, 2.4)),
            (f"{side}_foot", f"{side}_shin", Revolute("y"), (0, 0, -0.42), (0.14, 0, 0), 0.04, (-0.7, 0.7)),
            (f"{side}_toes", f"{side}_foot", Revolute("y"), (0.18, 0, 0), (0.05, 0, 0), 0.035, (-0.5, 0.5)),
        )
    ),
)  # fmt: skip
COLORS = ((0.16, 0.42, 0.72), (0.80, 0.24, 0.20), (0.10, 0.58, 0.58), (0.95, 0.63, 0.14), (0.45, 0.30, 0.60))


def rag_dolls(count: int = 1, *, damping: float = 0.5) -> Model:
    """Return rag dolls of 21 bodies and 20 joints each, besides their free pelvis."""
    builder = ModelBuilder(f"{count} rag dolls")
    for k in range(count):
        for name, parent, joint, place, end, radius, limits in DOLL:
            shape = Capsule.between((0, 0, 0), end, radius, color=COLORS[k % len(COLORS)], density=1000.0)
            builder.body(
                f"{name}{k}", parent=None if parent is None else f"{parent}{k}", joint=joint, placement=(None, place),
                shapes=[shape], limits=limits, damping=0.0 if parent is None else damping,
            )  # fmt: skip
    return builder.build()


def strewn(model: Model, *, spacing: float = 1.9, lowest: float = 1.0, wide: int = 4, seed: int = 0) -> Array:
    """Return a start in which the trees of a model hang above each other in columns, turned at random."""
    rng = np.random.default_rng(seed)
    q = model.neutral()
    starts = [int(s) for s, kind in zip(model.q_starts[:-1], model.joint_kinds, strict=True) if kind == Free.kind]
    for k, start in enumerate(starts):
        turn = rng.normal(size=4)
        q[start : start + 4] = turn / np.linalg.norm(turn)
        column, floor = k % (wide * wide), k // (wide * wide)
        q[start + 4 : start + 7] = (
            spacing * (column // wide - (wide - 1) / 2), spacing * (column % wide - (wide - 1) / 2),
            lowest + spacing * floor,
        )  # fmt: skip
    return q


def boxes(count: int, size: float = 0.2) -> tuple[Model, Array]:
    """Return a stack of boxes and the configuration in which it stands."""
    builder = ModelBuilder(f"stack of {count}")
    for k in range(count):
        builder.body(f"box{k}", joint=Free(), shapes=[Box(size=(size, size, size), color=COLORS[k % len(COLORS)])])
    model = builder.build()
    q = model.neutral()
    q[6::7] = size / 2 + size * np.arange(count)
    return model, q


def ball(radius: float = 0.1) -> Model:
    """Return a free ball."""
    return ModelBuilder("ball").body("ball", joint=Free(), shapes=[Sphere(radius=radius)]).build()


def block() -> Model:
    """Return a free flat box."""
    return ModelBuilder("block").body("block", joint=Free(), shapes=[Box(size=(0.4, 0.4, 0.1))]).build()


def four_bar() -> tuple[Model, Array]:
    """Return a four-bar linkage (0.2, 0.5, 0.4 and 0.5 m) that a Loop closes, and a start near to closed."""
    heavy: dict[str, Any] = {"mass": 1.0, "inertia": (0.01, 0.01, 0.01)}
    model = (
        ModelBuilder("four-bar")
        .body("crank", joint=Revolute("y"), com=(0.1, 0, 0), **heavy)
        .body("coupler", parent="crank", joint=Revolute("y"), placement=(None, (0.2, 0, 0)), com=(0.25, 0, 0), **heavy)
        .body("rocker", joint=Revolute("y"), placement=(None, (0.5, 0, 0)), com=(0.2, 0, 0), **heavy)
        .build()
    )
    return model, np.array([1.5, 0.9, 1.2])


def stewart() -> tuple[Model, Array, list[tuple[str, tuple[float, float, float]]]]:
    """Return a platform on six legs, its start, and for each leg the platform's point that its end is tied to."""
    builder = ModelBuilder("Stewart platform").body(
        "platform", joint=Free(), shapes=[Box(size=(0.6, 0.6, 0.05))], placement=None
    )
    ends = []
    for k in range(6):
        low = 2 * np.pi * ((k // 2) / 3 + (0.08 if k % 2 else -0.08))
        high = 2 * np.pi * ((k // 2) / 3 + (0.12 if k % 2 else -0.12)) + np.pi / 3
        foot = np.array([0.5 * np.cos(low), 0.5 * np.sin(low), 0.0])
        top = np.array([0.28 * np.cos(high), 0.28 * np.sin(high), 0.5])
        away = (top - foot) / np.linalg.norm(top - foot)
        builder.body(
            f"leg{k}", joint=Spherical(), placement=(None, foot.tolist()),
            shapes=[Capsule.between((0, 0, 0), 0.3 * away, 0.02)],
        )  # fmt: skip
        builder.body(
            f"rod{k}", parent=f"leg{k}", joint=Prismatic(away.tolist()),
            shapes=[Capsule.between(0.3 * away, top - foot, 0.015)],
        )  # fmt: skip
        ends.append((f"rod{k}", tuple((top - foot).tolist())))
    model = builder.build()
    q = model.neutral()
    q[6] = 0.5
    return model, q, ends


def sprocket_chain(links: int = 40, pitch: float = 0.05, radius: float = 0.12) -> tuple[Model, Array]:
    """Return a chain laid around two sprockets (capsules along y, in the world), its start, for a Loop to close.

    The chain is a belt: two half circles about the sprockets and two straight runs of whole links.
    """
    builder = ModelBuilder("chain on sprockets")
    angles = belt_angles(links, pitch, radius)[0]
    for k in range(links):
        builder.body(
            f"link{k}", parent=None if k == 0 else f"link{k - 1}", joint=Revolute("y") if k else Free(),
            placement=(None, (pitch, 0, 0)) if k else None,
            shapes=[Capsule.between((0.004, 0, 0), (pitch - 0.004, 0, 0), 0.008, density=7800.0)], damping=1e-4,
        )  # fmt: skip
    model = builder.build()
    q = model.neutral()
    start = belt_angles(links, pitch, radius)[1][0]
    half = angles[0] / 2
    q[:4] = np.cos(half), 0.0, -np.sin(half), 0.0
    q[4:7] = start[0], 0.0, start[1]
    q[7:] = -np.diff(angles)
    return model, q


def belt_angles(links: int, pitch: float, radius: float) -> tuple[Array, Array]:
    """Return the direction of each link and its start in the x-z plane: a polygon on a belt of the right length."""
    reach = radius + 0.012
    straight = (links * pitch - 2 * np.pi * reach * 1.004) / 2

    def at(s: float) -> tuple[float, float]:
        s = s % (2 * straight + 2 * np.pi * reach)
        if s < straight:
            return s - straight / 2, reach
        s -= straight
        if s < np.pi * reach:
            t = np.pi / 2 - s / reach
            return straight / 2 + reach * np.cos(t), reach * np.sin(t)
        s -= np.pi * reach
        if s < straight:
            return straight / 2 - s, -reach
        t = -np.pi / 2 - (s - straight) / reach
        return -straight / 2 + reach * np.cos(t), reach * np.sin(t)

    whole = 2 * straight + 2 * np.pi * reach
    points = np.array([at(whole * k / links) for k in range(links + 1)])
    steps = np.diff(points, axis=0)
    return np.unwrap(np.arctan2(steps[:, 1], steps[:, 0])), points
