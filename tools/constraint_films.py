"""Films of constraints, `python tools/constraint_films.py FOLDER [WALK.bvh]`, and a picture for the documentation.

A rag doll on stairs, a figure struck by balls, a walk that boxes get in the way of, an arm between its limits, a chain
over a capsule, and a closed chain on two sprockets.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.bench.constraints_bodies import belt_angles, rag_dolls, sprocket_chain
from kinetree.bench.constraints_motion import belt
from kinetree.model.compile import compile_model
from kinetree.model.description import Body, mass_properties
from kinetree.model.joints import Fixed
from kinetree.model.shapes import Shape
from kinetree.render import Camera, Renderer, Scene, write_png

C = kt.constraints
GREY, RED, BLUE = (0.62, 0.63, 0.66), (0.80, 0.24, 0.20), (0.16, 0.42, 0.72)


def with_bodies(model: kt.Model, fixed: Sequence[Shape] = (), free: Sequence[tuple[str, Shape]] = ()) -> kt.Model:
    """Return a model with shapes that stand still and free bodies besides."""
    description = model.description()
    bodies = list(description.bodies)
    if fixed:
        bodies.append(Body("scenery", None, Fixed(), shapes=tuple(fixed)))
    for name, shape in free:
        mass, com, inertia = mass_properties(name, None, None, None, (shape,))
        bodies.append(Body(name, None, kt.Free(), mass=mass, com=com, inertia=inertia, shapes=(shape,)))
    return compile_model(replace(description, bodies=bodies))


def place(
    model: kt.Model, q: np.ndarray, joint: str, position: Sequence[float], turn: Sequence[float] = (1, 0, 0, 0)
) -> None:
    """Put a free body somewhere."""
    own = model.q_slice(joint)
    q[own] = (*turn, *position)


def stairs() -> kt.Trajectory:
    """A rag doll falls down eight stairs."""
    steps = [
        kt.Box(size=(0.3, 2.4, 0.17 * (8 - k)), placement=(0.3 * k, 0, 0.085 * (8 - k)), color=GREY) for k in range(8)
    ]
    steps.append(kt.Box(size=(1.2, 2.4, 1.53), placement=(-0.75, 0, 0.765), color=GREY))
    model = with_bodies(rag_dolls(1), steps)
    q = model.neutral()
    place(model, q, "pelvis0", (-0.1, 0, 2.5), (np.cos(0.1), 0, np.sin(0.1), 0))
    v = np.zeros(model.nv)
    v[model.v_slice("pelvis0")] = (0, 1.0, 0, 1.6, 0, 0)
    sim = kt.Simulation(model, q, v, dt=1 / 240, constraints=[C.Contacts(self_collision=True), C.JointLimits()])
    return sim.run(4.0, record_every=8)


def struck() -> kt.Trajectory:
    """A figure that stands by its own motors is struck by balls."""
    balls = [(f"ball{k}", kt.Sphere(radius=0.12, color=RED, density=1500.0)) for k in range(4)]
    model = with_bodies(rag_dolls(1), free=balls)
    q, v = model.neutral(), np.zeros(model.nv)
    place(model, q, "pelvis0", (0, 0, 0.965))
    for k in range(4):
        place(model, q, f"ball{k}", (-1.5 - 1.6 * k, 0.15 * (-1) ** k, 1.35))
        v[model.v_slice(f"ball{k}")] = (0, 0, 0, 5.0, 0, 1.3 + 1.6 * k)
    joints = [name for name in model.joint_names if name.endswith("0") and "ball" not in name and name != "pelvis0"]
    hold = np.concatenate([model.neutral()[model.q_slice(name)] for name in joints])
    stiff = C.MotionTarget(joints, ([0.0], hold[None]), settle=0.3, effort=60.0)
    contacts = C.Contacts(self_collision=True, restitution={f"ball{k}": 0.4 for k in range(4)})
    sim = kt.Simulation(model, q, v, dt=1 / 240, constraints=[contacts, C.JointLimits(), stiff])
    return sim.run(3.0, record_every=8)


def walk(path: Path) -> kt.Trajectory:
    """A recorded walk is followed, carried with a limited force, while boxes hit the figure."""
    from kinetree.io.motion import read_motion

    whole = read_motion(path)
    keep = slice(5, None)  # such files begin with the pose of the skeleton, and jump from there
    recorded = kt.Trajectory(whole.model, whole.times[keep] - whole.times[5], whole.q[keep], whole.v[keep])
    boxes = [(f"box{k}", kt.Box(size=(0.22, 0.22, 0.22), color=RED, density=600.0)) for k in range(5)]
    model = with_bodies(recorded.model, free=boxes)
    root = recorded.model.joint_names[0]
    own = recorded.model.joint_names
    start = recorded.q[0]
    q, v = model.neutral(), np.zeros(model.nv)
    for name in own:
        q[model.q_slice(name)] = start[recorded.model.q_slice(name)]
        v[model.v_slice(name)] = recorded.v[0][recorded.model.v_slice(name)]
    heading = recorded.q[-1][4:6] - recorded.q[0][4:6]
    heading /= np.linalg.norm(heading)
    across = np.array([-heading[1], heading[0]])
    for k in range(5):
        when = 0.4 + 0.45 * k
        there = recorded.at(min(when, float(recorded.times[-1])))[0][4:7]
        side = across * (-1) ** k
        place(model, q, f"box{k}", (*(there[:2] + 4.0 * when * side), there[2] + 0.2))
        v[model.v_slice(f"box{k}")] = (2, 1, 0, *(-4.0 * side), 4.905 * when)
    limbs = C.MotionTarget([name for name in own if name != root], recorded, settle=0.08)
    carried = C.MotionTarget([root], recorded, settle=0.15, effort=1500.0)
    sim = kt.Simulation(model, q, v, dt=1 / 240, constraints=[C.Contacts(ground=-0.02), limbs, carried])
    return sim.run(2.6, record_every=8)


def arm() -> kt.Trajectory:
    """Three links between limits."""
    builder, parent = kt.ModelBuilder(), None
    for k in range(3):
        shape = kt.Capsule.between((0, 0, 0), (0.4, 0, 0), 0.04, color=(BLUE, RED, GREY)[k])
        limits = (-2.4, 0.9) if k == 0 else (-0.5, 0.5)
        at = (None, (0.45 if k else 0, 0, 0 if k else 1.4))
        builder.body(f"link{k}", parent=parent, joint=kt.Revolute("y"), placement=at, shapes=[shape], limits=limits)
        parent = f"link{k}"
    model = builder.build()
    sim = kt.Simulation(model, [-1.0, 0, 0], dt=1 / 240, constraints=[C.JointLimits(restitution=0.2)])
    return sim.run(3.0, record_every=8)


def draped() -> kt.Trajectory:
    """A chain falls over a capsule and slides."""
    builder, parent = kt.ModelBuilder(), None
    for k in range(36):
        shape = kt.Capsule.between((0.005, 0, 0), (0.055, 0, 0), 0.014, color=BLUE if k % 2 else GREY, density=3000.0)
        builder.body(
            f"link{k}", parent=parent, joint=kt.Universal("y", "z") if k else kt.Free(),
            placement=(None, (0.06, 0, 0)) if k else None, shapes=[shape], damping=2e-3 if k else 0.0,
        )  # fmt: skip
        parent = f"link{k}"
    beam = kt.Capsule.between((0, -0.6, 0.8), (0, 0.6, 0.8), 0.12, color=RED)
    model = with_bodies(builder.build(), [beam])
    q = model.neutral()
    place(model, q, "link0", (-1.15, 0, 1.05))
    contacts = C.Contacts(friction=0.35, self_collision=True)
    return kt.Simulation(model, q, dt=1 / 1000, constraints=[contacts]).run(2.5, record_every=33)


def sprockets() -> kt.Trajectory:
    """A closed chain on two sprockets."""
    model, q = sprocket_chain()
    motion = belt(model, q).run(1.5, record_every=33)
    half = float(belt_angles(40, 0.05, 0.12)[1][:, 0].max()) - 0.132
    discs = [kt.Capsule.between((s * half, -0.03, 0), (s * half, 0.03, 0), 0.12, color=GREY) for s in (-1, 1)]
    return kt.Trajectory(with_bodies(model, discs), motion.times, motion.q, motion.v)


def film(name: str, motion: kt.Trajectory, folder: Path, camera: Camera) -> list[np.ndarray]:
    """Write the film and return three pictures of it."""
    motion.render(folder / f"{name}.mp4", fps=30, width=480, height=360, camera=camera)
    scene, renderer, found = Scene.of(motion.model), Renderer(420, 300), []
    for part in (0.12, 0.45, 0.95):
        scene.place(motion.body_poses(int(part * (len(motion) - 1))))
        found.append(renderer.draw(scene, camera, ground=0.0 if name != "sprockets" else -0.4))
    return found


def main() -> None:
    """Make the films that were asked for."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("films")
    folder.mkdir(parents=True, exist_ok=True)
    walks = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    scenes: dict[str, tuple[Callable[[], kt.Trajectory], Camera]] = {
        "stairs": (stairs, Camera(eye=(3.2, -5.2, 2.6), target=(0.9, 0, 0.8), fov=40)),
        "struck": (struck, Camera(eye=(0.5, -5.0, 1.6), target=(0, 0, 0.8), fov=42)),
        "arm": (arm, Camera(eye=(0, -3.8, 1.5), target=(0, 0, 1.1), fov=45)),
        "draped": (draped, Camera(eye=(1.2, -2.6, 1.4), target=(0, 0, 0.6), fov=42)),
        "sprockets": (sprockets, Camera(eye=(0.3, -1.9, 0.3), target=(0, 0, -0.05), fov=36)),
    }
    if walks is not None:
        scenes["walk"] = (lambda: walk(walks), Camera(eye=(0.0, -7.0, 2.0), target=(0, 0, 0.8), fov=45))
    rows = []
    for name, (make, camera) in scenes.items():
        rows.append(np.concatenate(film(name, make(), folder, camera), axis=1))
        print(f"wrote {folder / name}.mp4")
    write_png(Path("docs/images/constraints.png"), np.concatenate(rows)[::2, ::2])


if __name__ == "__main__":
    main()
