"""A model of generalised coordinates as a soft-constraint world, and states carried over and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import dynamics
from .._late import call
from ..arguments import GRAVITY, as_array, as_number, check_state
from ..errors import ArgumentError, ModelError
from ..kernels import layout as model_at
from ..kernels import soft_layout as at
from ..model.shapes import rotation_of_z
from ..typing import Array, ArrayLike
from .bodies import Body, quaternion_of
from .world import World

if TYPE_CHECKING:
    from ..model.model import Model

KINDS: dict[str, Any] = {
    "revolute": "hinge", "prismatic": "slider", "helical": "screw", "universal": "universal", "spherical": "ball",
    "planar": "planar",
}  # fmt: skip


def from_model(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    dt: float = 1 / 240,
    gravity: ArrayLike = GRAVITY,
    solver: Literal["structured", "dantzig", "pgs"] = "structured",
    erp: float = 0.2,
    cfm: float = 1e-8,
    ranges: bool = False,
    springs: bool = True,
    gyroscopic: Literal["conserving", "implicit", "explicit", "off"] = "conserving",
) -> World:
    """Return a world with the same bodies and joints, at the configuration `q` (None: neutral) with the velocities `v`.

    Bodies and joints keep their names; a free joint is none. Bodies that are welded together are one, as in the model's
    links, and answer to all their names; what is welded to the world is part of it. Springs and dampers of joints
    become motors "JOINT/spring" with the same implicit springs (`springs`), limits become "JOINT/range" (`ranges`),
    markers stay with the model. Dry friction is left out; armature has no place in maximal coordinates, and a model
    that has it is refused.
    """
    if (model.dofs[:, model_at.ARMATURE] != 0).any():
        k = int(np.flatnonzero(model.dofs[:, model_at.ARMATURE])[0])
        body = int(np.searchsorted(model.v_starts, k, side="right")) - 1
        raise ModelError(
            f"joint {model.body_joint_names[body]!r} has armature, which has no place in maximal coordinates: set "
            f"it to 0"
        )
    at_q = model.neutral() if q is None else as_array(q, (model.nq,), "q")
    at_v = np.zeros(model.nv) if v is None else as_array(v, (model.nv,), "v")
    check_state(model, at_q, at_v)
    world = World(dt=dt, gravity=gravity, solver=solver, erp=erp, cfm=cfm)
    owners = carriers(model)
    rest = dynamics.body_poses(model, model.neutral())
    described = model.description().bodies
    for body in range(model.nbodies):
        if owners[body] != body:
            continue
        group = [k for k in range(model.nbodies) if owners[k] == body]
        mass, com, inertia = _together(model, group, body, rest)
        made = world.add_body(model.names[body], mass=mass, com=com, inertia=inertia, gyroscopic=gyroscopic)
        made.shapes = tuple(described[body].shapes)
        for other in group:
            world._bodies[model.names[other]] = made
    put_model_state(world, model, at_q, at_v)
    for body in range(model.nbodies):
        if owners[body] == body and model.joint(body).name != "free":
            _add_joint(world, model, body, owners, rest, ranges=ranges, springs=springs)
    return world


def carriers(model: Model) -> list[int]:
    """Return for each body the moving one that it is welded to (itself where its joint moves), -1 for the world."""
    owners: list[int] = []
    for body in range(model.nbodies):
        if model.joint(body).name == "fixed":
            parent = int(model.parents[body])
            owners.append(-1 if parent < 0 else owners[parent])
        else:
            owners.append(body)
    return owners


def _together(model: Model, group: list[int], body: int, rest: Array) -> tuple[float, Array, Array]:
    """Return mass, centre of mass and inertia about it of bodies welded to `body`, in its frame."""
    home = np.linalg.inv(rest[body])
    parts = []
    for k in group:
        pose = home @ rest[k]
        turn = pose[:3, :3]
        parts.append((float(model.masses[k]), turn @ model.coms[k] + pose[:3, 3], turn @ model.inertias[k] @ turn.T))
    total = sum(part[0] for part in parts)
    if not total > 0:
        raise ModelError(f"body {model.names[body]!r} has no mass: in maximal coordinates every moving body needs some")
    com = sum(part[0] * part[1] for part in parts) / total
    inertia = np.zeros((3, 3))
    for mass, place, own in parts:
        d = place - com
        inertia += own + mass * (d @ d * np.eye(3) - np.outer(d, d))
    if not np.linalg.eigvalsh(inertia).min() > 0:
        raise ModelError(
            f"body {model.names[body]!r} has no inertia about some axis: in maximal coordinates every moving body "
            f"needs it"
        )
    return total, com, inertia


def _add_joint(
    world: World, model: Model, body: int, owners: list[int], rest: Array, *, ranges: bool, springs: bool
) -> None:
    kind, parent = model.joint(body).name, int(model.parents[body])
    name = model.body_joint_names[body]
    # the joint's fixed frame in the body of the world that carries it, or in the world
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = model.placements[body, :9].reshape(3, 3), model.placements[body, 9:]
    carrier = owners[parent] if parent >= 0 else -1
    if parent >= 0:
        frame = (np.linalg.inv(rest[carrier]) if carrier >= 0 else np.eye(4)) @ rest[parent] @ frame
    axes = model.joint_axes[body]
    own = held = np.eye(3)
    if kind in ("revolute", "prismatic", "helical"):
        own = held = rotation_of_z(axes[:3])
    elif kind == "universal":
        first, second = axes[:3], axes[3:6]
        normal = np.cross(first, second) / np.linalg.norm(np.cross(first, second))
        held = np.column_stack((first, np.cross(normal, first), normal))
        own = np.column_stack((np.cross(second, normal), second, normal))
    joint = world.add_joint(
        name, KINDS[kind], model.names[body], model.names[carrier] if carrier >= 0 else None,
        points=(np.zeros(3), frame[:3, 3]), turns=(own, frame[:3, :3] @ held), pitch=float(axes[6]),
    )  # fmt: skip
    if kind == "universal":
        world.tables["frames"][joint.index, at.LENGTH] = float(axes[:3] @ axes[3:6])
    dofs = model.dofs[model.v_starts[body] : model.v_starts[body + 1]]
    stiffness, damping = dofs[:, model_at.STIFFNESS], dofs[:, model_at.DAMPING]
    if springs and (stiffness.any() or damping.any()):
        if kind not in ("revolute", "prismatic", "universal", "spherical"):
            raise ModelError(
                f"joint {name!r} is {kind} and has a spring or damper: only with springs=False is it a world"
            )
        if kind == "spherical" and not (np.ptp(stiffness) == 0 and np.ptp(damping) == 0):
            raise ModelError(f"the springs of the spherical joint {name!r} differ by axis: only with springs=False")
        goal = None if kind == "spherical" else dofs[:, model_at.REST]
        world.add_motor(f"{name}/spring", joint, stiffness=stiffness, damping=damping, goal=goal)
    lower, upper = dofs[:, model_at.LOWER], dofs[:, model_at.UPPER]
    if ranges and kind in ("revolute", "prismatic", "universal") and (np.isfinite(lower) | np.isfinite(upper)).any():
        world.add_range(f"{name}/range", joint, lower, upper)


def put_model_state(world: World, model: Model, q: ArrayLike, v: ArrayLike | None = None) -> None:
    """Put the bodies of a world made from `model` where `q` and `v` say."""
    at_q = as_array(q, (model.nq,), "q")
    at_v = np.zeros(model.nv) if v is None else as_array(v, (model.nv,), "v")
    check_state(model, at_q, at_v)
    poses, twists = dynamics.body_poses(model, at_q), dynamics.body_velocities(model, at_q, at_v)
    for number, owner in enumerate(carriers(model)):
        if owner == number:
            body = world.body(model.names[number])
            body.pose = poses[number]
            body.velocity = twists[number]


def model_state(world: World, model: Model) -> tuple[Array, Array]:
    """Return `q` and `v` of the model as the bodies of a world made from it stand now.

    What softness lets joints give (gaps between anchors) has no place in them, and is left out: see `joint_gaps`.
    """
    q, v = model.neutral(), np.zeros(model.nv)
    placed: dict[int, Body] = {k: world.body(model.names[k]) for k, owner in enumerate(carriers(model)) if owner == k}
    rest = dynamics.body_poses(model, model.neutral())
    owners = carriers(model)
    for number, body in placed.items():
        kind, parent = model.joint(number).name, int(model.parents[number])
        carrier = owners[parent] if parent >= 0 else -1
        turn, place, twist = np.eye(3), np.zeros(3), np.zeros(6)
        if carrier >= 0:
            home = placed[carrier]
            turn, place, twist = home.rotation, home.position, home.velocity
        if parent >= 0:
            inner = (np.linalg.inv(rest[carrier]) if carrier >= 0 else np.eye(4)) @ rest[parent]
            place, turn = place + turn @ inner[:3, 3], turn @ inner[:3, :3]
        place = place + turn @ model.placements[number, 9:]
        turn = turn @ model.placements[number, :9].reshape(3, 3)
        spin = body.velocity[:3] - twist[:3]
        origin = np.zeros(3) if carrier < 0 else placed[carrier].position
        drift = body.velocity[3:] - twist[3:] - np.cross(twist[:3], body.position - origin)
        inner_turn, shift = turn.T @ body.rotation, turn.T @ (body.position - place)
        (
            q[model.q_starts[number] : model.q_starts[number + 1]],
            v[model.v_starts[number] : model.v_starts[number + 1]],
        ) = _coordinates(kind, model.joint_axes[number], inner_turn, shift, turn.T @ spin, turn.T @ drift)
    return q, v


def _coordinates(kind: str, axes: Array, turn: Array, shift: Array, spin: Array, drift: Array) -> tuple[Any, Any]:
    """Return q and v of a joint from the motion of its body in the joint's fixed frame."""
    if kind in ("revolute", "helical"):
        base = rotation_of_z(axes[:3])
        inner = base.T @ turn @ base
        return [float(np.arctan2(inner[1, 0] - inner[0, 1], inner[0, 0] + inner[1, 1]))], [float(axes[:3] @ spin)]
    if kind == "prismatic":
        return [float(axes[:3] @ shift)], [float(axes[:3] @ drift)]
    if kind == "universal":
        first, second = axes[:3], axes[3:6]
        normal = np.cross(first, second)
        normal /= np.linalg.norm(normal)
        moved = turn @ second  # about the first axis only
        a = float(np.arctan2(moved @ normal, moved @ np.cross(normal, first)))
        back = turn.T @ first
        b = float(np.arctan2(back @ normal, back @ np.cross(second, normal)))
        rates = np.linalg.lstsq(np.column_stack((first, moved)), spin, rcond=None)[0]
        return [a, b], rates
    if kind == "spherical":
        return quaternion_of(turn), turn.T @ spin
    if kind == "planar":
        return [float(np.arctan2(turn[1, 0], turn[0, 0])), *shift[:2]], [float(spin[2]), *drift[:2]]
    return np.concatenate((quaternion_of(turn), shift)), np.concatenate((turn.T @ spin, drift))


def joint_gaps(world: World) -> dict[str, float]:
    """Return by how much each joint was open before the last step, the largest of its rows [m or rad]."""
    kinds = {"ball", "hinge", "universal", "fixed", "slider", "planar", "screw"}
    return {c.name: float(np.abs(c.violation).max()) for c in world.constraints if c.kind in kinds}


@dataclass(frozen=True)
class Comparison:
    """The same motion in both engines: how far apart bodies are at each time, and what joints and energies do.

    `distances` (times, moving bodies) between the centres of mass [m]; `gaps` (times,) the largest gap in a joint [m or
    rad]; `energies` (times, 2) of the model and of the world [J].
    """

    times: Array
    names: tuple[str, ...]
    distances: Array
    gaps: Array
    energies: Array

    def summary(self) -> str:
        """Return the largest figures in a line."""
        worst = np.unravel_index(int(self.distances.argmax()), self.distances.shape)
        return (
            f"after {self.times[-1]:g} s: bodies up to {self.distances.max():.3g} m apart ({self.names[worst[1]]} at "
            f"{self.times[worst[0]]:g} s), joints open by up to {self.gaps.max():.3g}, energies "
            f"{self.energies[-1, 0]:.6g} and {self.energies[-1, 1]:.6g} J"
        )


def compare(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    seconds: float = 1.0,
    frames: int = 60,
    dt: float = 1e-3,
    **options: Any,
) -> Comparison:
    """Let a model move in generalised coordinates (RK4 at `dt`) and in a world made from it at the same `dt`.

    `options` are those of `from_model`. Only gravity and the joints' own springs and dampers act.
    """
    count = as_number(seconds, "seconds") / frames / dt
    steps = round(count)
    if steps < 1 or abs(count - steps) > 1e-6:
        raise ArgumentError(
            f"{seconds:g} s in {frames} frames are {count:g} steps of {dt:g} s each: make it a whole number"
        )
    world = from_model(model, q, v, dt=dt, **options)
    springs = options.get("springs", True)
    if not springs and model.dofs[:, [model_at.STIFFNESS, model_at.DAMPING]].any():
        raise ArgumentError("the model's own springs and dampers would act in one engine only: leave springs=True")
    simulation = call("kinetree.simulation:Simulation", model, q, v, dt=dt, gravity=world.gravity, integrator="rk4")
    owners = carriers(model)
    numbers = [k for k, owner in enumerate(owners) if owner == k]
    bodies = [world.body(model.names[k]) for k in numbers]
    times, distances, gaps, energies = [], [], [], []
    for _ in range(frames):
        simulation.step(steps)
        world.step(steps)
        poses = dynamics.body_poses(model, simulation.q)
        centres = np.array([poses[k, :3, :3] @ b.com + poses[k, :3, 3] for k, b in zip(numbers, bodies, strict=True)])
        distances.append(np.linalg.norm(centres - np.array([b.center for b in bodies]), axis=1))
        gaps.append(max(joint_gaps(world).values(), default=0.0))
        energies.append((sum(simulation.energy()), sum(world.energy())))
        times.append(world.time)
    return Comparison(
        np.array(times), tuple(model.names[k] for k in numbers), np.array(distances), np.array(gaps), np.array(energies)
    )
