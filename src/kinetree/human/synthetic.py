"""A walk that needs no file: the 48-DOF human moved by the joint angles of normal gait, with markers and plates.

The curves are those of healthy adults (J. Perry, Gait Analysis, 1992) at a few points of the cycle, joined smoothly.
The pelvis is carried so that the foot on the ground stays where it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arguments import as_number
from ..errors import ArgumentError
from ..io.recording import Plate
from ..model.library.human48 import human48
from ..typing import Array
from .contact import contact_forces, sole_paths, sole_points
from .markersets import attachments, places
from .motion import Motion
from .plates import SIDES
from .rates import low_pass
from .subject import Subject, default_prior
from .trial import Trial

# percent of the right leg's cycle -> degrees
HIP = ((0, 30), (12, 25), (30, 6), (50, -10), (60, -4), (75, 22), (86, 31), (95, 31))
KNEE = ((0, 5), (13, 19), (38, 6), (50, 12), (60, 36), (72, 62), (84, 34), (95, 5))
ANKLE = ((0, 0), (7, -6), (20, 3), (44, 10), (52, 4), (62, -18), (74, -2), (86, 2))
TOES = ((0, 0), (40, 0), (55, 22), (62, 18), (70, 0), (85, 4))
ARM = ((0, -20), (25, -3), (50, 17), (75, 0))
GIVE = 0.3  # of the speed's changes that the pelvis takes part in; the rest, the foot gives way
ELBOW = ((0, 14), (25, 18), (50, 32), (75, 24))


def synthetic_walk(
    *,
    height: float = 1.75,
    mass: float = 75.0,
    seconds: float = 3.0,
    rate: float = 100.0,
    stride: float = 1.1,
    arm_swing: float = 1.0,
    noise: float = 0.0,
    seed: int = 0,
    plates: bool = True,
) -> Trial:
    """Return a walk of CMU's 41 markers, with what two plates would have measured.

    `stride` is the time of a stride [s], `arm_swing` scales how the arms swing, `noise` [m] is the deviation of errors
    that are added to the markers, repeatable by `seed`.
    """
    motion = walking_motion(height, mass, seconds=seconds, rate=rate, stride=stride, arm_swing=arm_swing)
    subject = motion.subject
    positions = sole_paths(subject, motion, subject.bodies, subject.offsets)
    if noise < 0:
        raise ArgumentError(f"noise is {noise!r}: it must not be negative")
    positions = positions + np.random.default_rng(seed).normal(0.0, 1.0, positions.shape) * noise
    trial = Trial("a synthetic walk", subject.labels, motion.times, positions, rate, mass=None)
    if not plates:
        return trial
    ground = contact_forces(subject, motion, gravity=subject.gravity)
    made = []
    for k, side in enumerate(SIDES):
        point = np.zeros((motion.frames, 3))
        made.append(Plate(side, motion.times, ground.force[:, k], point, ground.moment[:, k]))
    return replace(trial, plates=tuple(made))


def walking_motion(
    height: float = 1.75,
    mass: float = 75.0,
    *,
    seconds: float = 3.0,
    rate: float = 100.0,
    stride: float = 1.1,
    arm_swing: float = 1.0,
) -> Motion:
    """Return the movement itself, with markers of CMU's set on the body."""
    for name, value, low, high in (
        ("seconds", seconds, 0.3, 600),
        ("rate", rate, 20, 2000),
        ("stride", stride, 0.6, 3),
    ):
        if not low <= as_number(value, name) <= high:
            raise ArgumentError(f"{name} is {value!r}: give {low} to {high}")
    subject = marked_human(height, mass)
    times = np.arange(round(seconds * rate)) / rate
    q = _pose(subject, 100.0 * times / stride, arm_swing)
    q = _walked(subject, times, q)
    return Motion.of_states(subject, times, q)


def marked_human(height: float, mass: float, sex: str | None = None) -> Subject:
    """Return a 48-DOF human with CMU's markers where the template has them."""
    from .markersets import CMU

    model = human48(height, mass, sex)
    name, found, _ = attachments(CMU, "cmu", model.names)
    bodies = np.array([model.names.index(own.body) for own in found.values()])
    weights = np.array([own.weight for own in found.values()])
    return Subject(
        model, tuple(found), bodies, places(found, height), weights, default_prior(model), height, sex, name
    )  # fmt: skip


def _curve(points: tuple[tuple[float, float], ...], percent: Array) -> Array:
    from scipy.interpolate import CubicSpline

    x = np.array([p for p, _ in points] + [100.0 + points[0][0]])
    y = np.radians([v for _, v in points] + [points[0][1]])
    return np.asarray(CubicSpline(x, y, bc_type="periodic")(np.mod(percent, 100.0)))


def _pose(subject: Subject, percent: Array, arm_swing: float) -> Array:
    """Return q of every moment of the cycle, the pelvis at rest."""
    model = subject.model
    q = np.tile(model.neutral(), (len(percent), 1))
    wave = 2 * np.pi * percent / 100.0
    for side, shift in (("right", 0.0), ("left", 50.0)):
        own = percent + shift
        mirror = 1.0 if side == "right" else -1.0
        q[:, model.q_slice(f"{side}_hip")] = _turns(_curve(HIP, own), 0.04 * mirror + 0 * own, 0 * own)
        q[:, model.q_slice(f"{side}_knee").start] = _curve(KNEE, own)
        q[:, model.q_slice(f"{side}_ankle").start] = _curve(ANKLE, own)
        q[:, model.q_slice(f"{side}_tarsal").start] = _curve(TOES, own)
        arm = arm_swing * (_curve(ARM, own) - np.radians(-1.5)) + np.radians(-1.5)
        q[:, model.q_slice(f"{side}_shoulder")] = _turns(arm, -0.10 * mirror + 0 * own, 0 * own)
        bend = np.radians(22) + arm_swing * (_curve(ELBOW, own) - np.radians(22))
        q[:, model.q_slice(f"{side}_elbow").start] = bend
    sway, twist = np.radians(3.0) * np.sin(wave), np.radians(5.0) * np.cos(wave)
    q[:, :4] = _turns(0 * wave - 0.03, -sway, twist)
    q[:, model.q_slice("sacral")] = _turns(0 * wave, 0.4 * sway, -0.5 * twist)
    q[:, model.q_slice("lumbar")] = _turns(0 * wave - 0.02, 0.6 * sway, -0.9 * twist)
    q[:, model.q_slice("cervical")] = _turns(0 * wave + 0.05, 0 * sway, 0.4 * twist)
    return q


def _turns(a: Array, b: Array, c: Array) -> Array:
    """Return quaternions of Rx(a) Ry(b) Rz(c), shape [n, 4]."""

    def times(p: Array, r: Array) -> Array:
        w = p[:, 0] * r[:, 0] - np.einsum("ni,ni->n", p[:, 1:], r[:, 1:])
        v = p[:, :1] * r[:, 1:] + r[:, :1] * p[:, 1:] + np.cross(p[:, 1:], r[:, 1:])
        return np.column_stack((w, v))

    single = []
    for axis, angle in enumerate((a, b, c)):
        own = np.zeros((len(angle), 4))
        own[:, 0], own[:, 1 + axis] = np.cos(angle / 2), np.sin(angle / 2)
        single.append(own)
    return times(times(single[0], single[1]), single[2])


def _walked(subject: Subject, times: Array, q: Array) -> Array:
    """Carry the pelvis so that what is on the ground does not slide and nothing is below it."""
    still = Motion.of_states(subject, times, q)
    bodies, local, _ = sole_points(subject)
    points = sole_paths(subject, still, bodies, local)
    lowest = points[..., 2].min(1)
    smooth = low_pass(-lowest[:, None], times, 3.0)[:, 0]
    height = points[..., 2] + smooth[:, None]
    grip = np.exp(-((np.maximum(height, 0.0) / 0.012) ** 2)) + 1e-9
    speed = np.gradient(points[..., :2], times, axis=0)
    carried = -np.einsum("nk,nki->ni", grip, speed) / grip.sum(1)[:, None]
    mean = carried.mean(0)
    carried = mean + GIVE * low_pass(carried - mean, times, 2.5)  # a body does not stop and start with every step
    path = np.vstack((np.zeros(2), np.cumsum(0.5 * (carried[1:] + carried[:-1]) * np.diff(times)[:, None], axis=0)))
    out = q.copy()
    out[:, 4:6] = path
    out[:, 6] = smooth
    return out
