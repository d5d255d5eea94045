"""The skeleton of the humanoid as a table: 89 bodies with 95 degrees of freedom, for a stature of 1.

Lengths are fractions of stature and masses fractions of body mass (Winter, Biomechanics and Motor Control of Human
Movement, 2009, table 4.1); within a group of bodies the mass is shared out by volume. x is forward, y to the left, z
up, and at q = 0 the figure stands upright with its arms hanging down. The sides are mirror images.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..joints import Fixed, Free, Joint, Revolute, Spherical, Universal

Point = tuple[float, float, float]
Limits = tuple[tuple[float, ...], tuple[float, ...]]

HIP_HEIGHT = 0.530
GROUPS = {
    "pelvis": 0.142, "abdomen": 0.139, "thorax": 0.216, "head": 0.081, "upper_arm": 0.028, "forearm": 0.016,
    "hand": 0.006, "thigh": 0.100, "shank": 0.0465, "foot": 0.0145,
}  # fmt: skip
LIMBS = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")  # there is one of each on either side


@dataclass(frozen=True)
class Part:
    """A body: a capsule from `start` to `end` in its own frame, which stands at `at` in its parent's frame."""

    name: str
    parent: str | None
    joint: Joint
    at: Point
    start: Point
    end: Point
    radius: float
    group: str
    color: str
    limits: Limits | None = None  # degrees
    rank: int = 0  # the joints with the highest rank are the first to be welded for a coarser figure


def parts() -> list[Part]:
    """Return all bodies, parents first."""
    middle = [
        Part("pelvis", None, Free(), (0, 0, HIP_HEIGHT), (0, 0.045, 0.01), (0, -0.045, 0.01), 0.058, "pelvis", "cloth")
    ]
    middle += _spine()
    middle.append(
        Part("head", "cervical4", Universal("y", "z"), (0, 0, 0.017), (0.012, 0, 0.045), (0, 0, 0.078), 0.044, "head",
             "skin", ((-40, -70), (45, 70)), 1)
    )  # fmt: skip
    middle.append(
        Part("jaw", "head", Revolute("y"), (0.01, 0, 0.025), (0.018, 0.012, -0.008), (0.018, -0.012, -0.008), 0.013,
             "head", "skin", ((0,), (25,)), 9)
    )  # fmt: skip
    left = _arm() + _leg()
    return middle + [_sided(part, "left_", 1.0) for part in left] + [_sided(part, "right_", -1.0) for part in left]


def _spine() -> list[Part]:
    """Five lumbar, seven thoracic and four cervical segments that bend forward, sideways and twist in turn."""
    result, parent = [], "pelvis"
    base = (0.0, 0.0, 0.055)
    regions = (
        ("lumbar", "abdomen", 5, 0.019, 0.050, 0.048), ("thoracic", "thorax", 7, 0.0225, 0.060, 0.052),
        ("cervical", "head", 4, 0.017, 0.004, 0.033),
    )  # fmt: skip
    bends = (Revolute("y"), Revolute("x"), Revolute("z"))
    number = 0
    for region, group, many, height, width, radius in regions:
        color = "skin" if region == "cervical" else "cloth"
        for k in range(many):
            name = f"{region}{k + 1}"
            result.append(
                Part(name, parent, bends[number % 3], base, (0, width, height / 2), (0, -width, height / 2), radius,
                     group, color, ((-12,), (12,)), 4 + number % 3)
            )  # fmt: skip
            parent, base, number = name, (0.0, 0.0, height), number + 1
    return result


def _arm() -> list[Part]:
    """Left arm: collar bone, upper arm, ulna, radius (which turns about the ulna), palm and five fingers."""
    result = [
        Part("clavicle", "thoracic7", Revolute("x"), (0, 0.02, 0.012), (0, 0.03, 0), (0, 0.085, 0), 0.022, "thorax",
             "cloth", ((-10,), (30,)), 3),
        Part("upper_arm", "clavicle", Spherical(), (0, 0.100, -0.004), (0, 0, -0.008), (0, 0, -0.160), 0.027,
             "upper_arm", "cloth"),
        Part("ulna", "upper_arm", Revolute("y"), (0, 0, -0.186), (0, 0, -0.010), (0, 0, -0.070), 0.022, "forearm",
             "skin", ((-145,), (0,)), 1),
        Part("radius", "ulna", Revolute("z"), (0, 0, -0.080), (0, 0, 0), (0, 0, -0.058), 0.017, "forearm", "skin",
             ((-80,), (80,)), 2),
        Part("palm", "radius", Universal("x", "y"), (0, 0, -0.066), (0.012, 0, -0.018), (-0.012, 0, -0.040), 0.012,
             "hand", "skin", ((-30, -70), (20, 70)), 2),
    ]  # fmt: skip
    fingers = (
        ("thumb", (0.022, 0.0, -0.018), 0.85, 0.0075), ("index", (0.018, 0.0, -0.052), 0.95, 0.0058),
        ("middle", (0.006, 0.0, -0.054), 1.0, 0.0060), ("ring", (-0.006, 0.0, -0.052), 0.94, 0.0057),
        ("little", (-0.017, 0.0, -0.049), 0.76, 0.0050),
    )  # fmt: skip
    for finger, root, scale, radius in fingers:
        bend = Revolute("y") if finger == "thumb" else Revolute("x")  # the left palm faces -y
        limits = ((-50.0,), (20.0,)) if finger == "thumb" else ((-90.0,), (10.0,))
        parent, place = "palm", root
        for k, length in enumerate((0.026, 0.016, 0.012)):
            end = (0.0, 0.0, -0.95 * scale * length)
            name = f"{finger}{k + 1}"
            result.append(
                Part(name, parent, bend, place, (0, 0, 0), end, radius - 0.0006 * k, "hand", "skin", limits, 6 + k)
            )
            parent, place = name, (0.0, 0.0, -scale * length)
    return result


def _leg() -> list[Part]:
    """Left leg: thigh, knee cap, shank, talus, foot and five toes, of which only the big one has a moving tip."""
    result = [
        Part("thigh", "pelvis", Spherical(), (0, 0.052, 0), (0, 0, -0.025), (0, 0, -0.215), 0.043, "thigh", "trousers"),
        Part("patella", "thigh", Fixed(), (0.030, 0, -0.245), (0, 0.004, 0), (0, -0.004, 0), 0.014, "thigh",
             "trousers"),
        Part("shank", "thigh", Revolute("y"), (0, 0, -0.245), (0, 0, -0.015), (0, 0, -0.222), 0.030, "shank",
             "trousers", ((0,), (140,)), 1),
        Part("talus", "shank", Revolute("y"), (0, 0, -0.246), (0.004, 0, -0.006), (-0.010, 0, -0.010), 0.018, "foot",
             "shoe", ((-30,), (45,)), 1),
        Part("foot", "talus", Revolute("x"), (0, 0, -0.014), (-0.022, 0, -0.006), (0.075, 0, -0.009), 0.016, "foot",
             "shoe", ((-20,), (30,)), 2),
    ]  # fmt: skip
    toes = ((0.014, 0.024, 0.0085), (0.004, 0.020, 0.0062), (-0.004, 0.018, 0.0060), (-0.011, 0.015, 0.0057),
            (-0.018, 0.012, 0.0052))  # fmt: skip
    for k, (inward, length, radius) in enumerate(toes):
        name = f"toe{k + 1}"
        base, ahead = (0.088 - 0.006 * k, -inward, -0.0135), (length, 0.0, 0.0)
        result.append(
            Part(name, "foot", Revolute("y"), base, (0, 0, 0), (0.9 * length, 0, 0), radius, "foot", "shoe",
                 ((-60,), (30,)), 8)
        )  # fmt: skip
        joint: Joint = Fixed() if k else Revolute("y")
        limits = None if k else ((-20.0,), (60.0,))
        result.append(
            Part(f"{name}_tip", name, joint, ahead, (0, 0, 0), (0.5 * length, 0, 0), 0.9 * radius, "foot", "shoe",
                 limits, 8)
        )  # fmt: skip
    return result


def _sided(part: Part, side: str, sign: float) -> Part:
    """Name a part by its side; for the right, mirror it in the x-z plane (turns about x and z change their sense)."""
    parent = part.parent if part.parent in ("pelvis", "thoracic7") else f"{side}{part.parent}"
    named = replace(part, name=f"{side}{part.name}", parent=parent)
    if sign > 0:
        return named

    def mirror(point: Point) -> Point:
        return point[0], -point[1], point[2]

    return replace(
        named, joint=_mirrored(part.joint), at=mirror(part.at), start=mirror(part.start), end=mirror(part.end)
    )


def _mirrored(joint: Joint) -> Joint:
    if isinstance(joint, Revolute):
        return Revolute(_mirrored_axis(joint.axis))
    if isinstance(joint, Universal):
        return Universal(_mirrored_axis(joint.first), _mirrored_axis(joint.second))
    return joint


def _mirrored_axis(axis: object) -> tuple[float, float, float]:
    x, y, z = np.asarray(axis, dtype=float).tolist()
    return -x + 0.0, y, -z + 0.0
