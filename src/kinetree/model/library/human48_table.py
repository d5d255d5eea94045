"""The numbers of the 48-DOF human: who hangs on whom, where, how far each joint moves, and what each segment weighs.

The bodies and joints are those of Liu, Cooper and Ballard, figure 10; shapes, densities and stops follow the model
that its authors published (J. Cooper, "pagoda", cooper-skeleton.txt, MIT), with the freedoms of the figure. Lengths
are fractions of the stature after Drillis and Contini (Winter, Biomechanics and Motor Control of Human Movement),
and where they say nothing, those of the published model. Axes of every body, in the neutral pose: x to the person's
right, y forward, z up; a body's origin is the joint that carries it. Rows are those of the right side and the middle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..joints import Free, Joint, Revolute, Spherical, Universal


class Part(NamedTuple):
    """A segment: its parent, where it hangs on it (fractions of the stature), its joint and stops [deg], its solid.

    `solid` is a box (size and centre, fractions of the stature) or, with one number, the radius of a capsule along the
    segment. `share` is the part of the de Leva segment `group` that it weighs.
    """

    name: str
    parent: str | None
    at: tuple[float, float, float]
    joint: Joint
    joint_name: str
    stops: tuple[tuple[float, float], ...]
    solid: tuple[tuple[float, ...], ...]
    density: float
    group: str
    share: float


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
BACK = (-1.0, 0.0, 0.0)  # a knee bends backward

PARTS = (
    Part("pelvis", None, (0.0, 0.0, 0.0), Free(), "root", (),
         ((0.171, 0.114, 0.110), (0.0, -0.012, 0.022)), 900.0, "lower", 1.0),
    Part("lower_torso", "pelvis", (0.0, -0.018, 0.062), Spherical(), "sacral", ((-60, 35), (-35, 35), (-30, 30)),
         ((0.160, 0.103, 0.100), (0.0, 0.008, 0.045)), 900.0, "middle", 1.0),
    Part("upper_torso", "lower_torso", (0.0, -0.004, 0.090), Spherical(), "lumbar", ((-50, 30), (-35, 35), (-35, 35)),
         ((0.160, 0.112, 0.130), (0.0, 0.012, 0.075)), 900.0, "upper", 0.80),
    Part("neck", "upper_torso", (0.0, -0.015, 0.158), Spherical(), "thoracic", ((-50, 40), (-40, 40), (-40, 40)),
         ((0.046, 0.057, 0.045), (0.0, 0.005, 0.022)), 900.0, "head", 0.12),
    Part("head", "neck", (0.0, 0.010, 0.047), Spherical(), "cervical", ((-60, 60), (-45, 45), (-85, 85)),
         ((0.085, 0.107, 0.115), (0.0, 0.012, 0.060)), 900.0, "head", 0.88),
    Part("collar", "upper_torso", (0.014, 0.026, 0.122), Spherical(), "clavicle", ((-30, 30), (-40, 30), (-35, 35)),
         ((0.100, 0.060, 0.030), (0.055, -0.022, 0.010)), 900.0, "upper", 0.10),
    Part("upper_arm", "collar", (0.095, -0.030, 0.006), Spherical(), "shoulder", ((-90, 175), (-150, 70), (-110, 110)),
         ((0.029,),), 900.0, "arm", 1.0),
    Part("lower_arm", "upper_arm", (0.0, 0.0, -0.172), Universal(X, Z), "elbow", ((-5, 155), (-95, 95)),
         ((0.023,),), 1100.0, "forearm", 1.0),
    Part("hand", "lower_arm", (0.0, 0.0, -0.146), Universal(X, Y), "wrist", ((-80, 80), (-45, 45)),
         ((0.046, 0.017, 0.100), (0.0, 0.0, -0.050)), 1100.0, "hand", 1.0),
    Part("upper_leg", "pelvis", (0.049, 0.0, 0.0), Spherical(), "hip", ((-40, 140), (-60, 45), (-50, 50)),
         ((0.046,),), 900.0, "thigh", 1.0),
    Part("lower_leg", "upper_leg", (0.0, 0.0, -0.242), Universal(BACK, Z), "knee", ((-5, 155), (-35, 35)),
         ((0.034,),), 1100.0, "shank", 1.0),
    Part("heel", "lower_leg", (0.0, 0.0, -0.246), Universal(X, Y), "ankle", ((-60, 45), (-40, 40)),
         ((0.046, 0.100, 0.034), (0.0, 0.020, -0.022)), 1100.0, "foot", 0.75),
    Part("toes", "heel", (0.0, 0.075, -0.026), Revolute(X), "tarsal", ((-35, 70),),
         ((0.050, 0.048, 0.018), (0.0, 0.022, -0.004)), 1100.0, "foot", 0.25),
)  # fmt: skip

# de Leva, Journal of Biomechanics 29 (1996): share of the mass, centre of mass from the proximal end, and radii of
# gyration (sagittal, transverse, longitudinal), both as shares of the segment's length; (male, female)
DE_LEVA = {
    "head": ((0.0694, 0.5002, (0.303, 0.315, 0.261)), (0.0668, 0.4841, (0.271, 0.295, 0.261))),
    "upper": ((0.1596, 0.5066, (0.505, 0.320, 0.465)), (0.1545, 0.5050, (0.466, 0.314, 0.449))),
    "middle": ((0.1633, 0.4502, (0.482, 0.383, 0.468)), (0.1465, 0.4512, (0.433, 0.354, 0.415))),
    "lower": ((0.1117, 0.6115, (0.615, 0.551, 0.587)), (0.1247, 0.4920, (0.433, 0.402, 0.444))),
    "arm": ((0.0271, 0.5772, (0.285, 0.269, 0.158)), (0.0255, 0.5754, (0.278, 0.260, 0.148))),
    "forearm": ((0.0162, 0.4574, (0.276, 0.265, 0.121)), (0.0138, 0.4559, (0.261, 0.257, 0.094))),
    "hand": ((0.0061, 0.3624, (0.288, 0.235, 0.184)), (0.0056, 0.3427, (0.244, 0.208, 0.154))),
    "thigh": ((0.1416, 0.4095, (0.329, 0.329, 0.149)), (0.1478, 0.3612, (0.369, 0.364, 0.162))),
    "shank": ((0.0433, 0.4395, (0.251, 0.246, 0.102)), (0.0481, 0.4352, (0.267, 0.263, 0.092))),
    "foot": ((0.0137, 0.4415, (0.257, 0.245, 0.124)), (0.0129, 0.4014, (0.299, 0.279, 0.139))),
}
LIMBS = {"upper_arm": "lower_arm", "lower_arm": "hand", "upper_leg": "lower_leg", "lower_leg": "heel"}
"""Segments whose length is the way to the next joint, and the body that hangs there."""

SIDES = ("right", "left")
CHIRAL = ("collar", "upper_arm", "lower_arm", "hand", "upper_leg", "lower_leg", "heel", "toes")
MIRROR = np.array([-1.0, 1.0, 1.0])
SKIN = (0.86, 0.70, 0.58)
COLORS = {
    "pelvis": (0.25, 0.33, 0.45), "lower_torso": (0.16, 0.42, 0.72), "upper_torso": (0.16, 0.42, 0.72),
    "collar": (0.20, 0.48, 0.76), "upper_leg": (0.25, 0.33, 0.45), "lower_leg": (0.30, 0.38, 0.50),
    "heel": (0.20, 0.20, 0.22), "toes": (0.26, 0.26, 0.28),
}  # fmt: skip


def blend(sex: str | None, group: str) -> tuple[float, float, tuple[float, ...]]:
    """Return de Leva's row of a segment for "male", "female", or the mean of both where the sex is not given."""
    male, female = DE_LEVA[group]
    share = {"male": 0.0, "female": 1.0}.get(sex or "", 0.5)
    mix = tuple((1 - share) * a + share * b for a, b in zip(male[2], female[2], strict=True))
    return (1 - share) * male[0] + share * female[0], (1 - share) * male[1] + share * female[1], mix
