"""Draw the pictures of the documentation, into docs/images, through what any user can call."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import adaptive_pictures
import crowd_pictures
import kinetree as kt
import quasistatics_pictures
from kinetree.render import render_image, write_png

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
SIDE = 480  # pixels, of a panel


def humanoids() -> np.ndarray:
    """Draw some figures of different build that have just begun to fall."""
    crowd = kt.models.crowd(9, seed=4)
    rng = np.random.default_rng(4)
    simulation = kt.Simulation(crowd, dt=1e-3)
    v = rng.normal(scale=2.0, size=crowd.nv)
    v[crowd.dof_indices([crowd.joint_names[k] for k in np.flatnonzero(crowd.parents[crowd.joint_bodies] < 0)])] = 0
    simulation.v = v
    simulation.run(0.12)
    return render_image(crowd, simulation.q, ground=0.0, width=SIDE, height=SIDE)


def molecule() -> np.ndarray:
    """Draw a branched molecule after it has moved for a moment."""
    body = kt.models.molecule(600, seed=2)
    simulation = kt.Simulation(body, dt=1e-3, gravity=(0, 0, 0))
    simulation.run(0.1)
    return render_image(body, simulation.q, width=SIDE, height=SIDE)


def millipede() -> np.ndarray:
    """Draw a short millipede that lies in a curve on the floor."""
    animal = kt.models.millipede(legs=24, leg_links=8, spine=48)
    q = animal.neutral()
    for k in range(2, 48, 2):  # these bend about z
        q[animal.q_slice(f"spine{k}")] = 0.12 * np.cos(2 * np.pi * k / 48)
    return render_image(animal, q, ground=0.0, width=SIDE, height=SIDE)


def main() -> None:
    """Draw everything and say where it went."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    gap = np.full((SIDE, 6, 3), 255, dtype=np.uint8)
    picture = np.concatenate([humanoids(), gap, molecule(), gap, millipede()], axis=1)
    write_png(FOLDER / "demo.png", picture)
    print(FOLDER / "demo.png", picture.shape)
    for path in [*adaptive_pictures.draw(FOLDER), *quasistatics_pictures.draw(FOLDER), *crowd_pictures.draw(FOLDER)]:
        print(path)


if __name__ == "__main__":
    main()
