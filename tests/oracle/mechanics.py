"""Mechanics of a tree by definition: momentum of every body, projected on every degree of freedom."""

from __future__ import annotations

import numpy as np

import kinetree as kt

from .motion import angular, body_motions, point_motion

GRAVITY = np.array([0.0, 0.0, -9.81])
ORIGIN = np.zeros(3)


def _jacobians(model: kt.Model, q: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the Jacobian of one point of every body, world axes, shape (nbodies, 6, nv).

    Column k is the velocity [angular; of the point] when only degree of freedom k moves, at 1 rad/s or 1 m/s.
    """
    result = np.zeros((model.nbodies, 6, model.nv))
    for k, unit in enumerate(np.eye(model.nv)):
        for body, motion in enumerate(body_motions(model, q, unit)):
            result[body, :3, k] = angular(motion)[0]
            result[body, 3:, k] = point_motion(motion, points[body])[1]
    return result


def jacobian(model: kt.Model, q: np.ndarray, body: int, point: np.ndarray = ORIGIN, frame: str = "world") -> np.ndarray:
    """Return the (6, nv) Jacobian of a point of a body, in world or body axes."""
    points = np.zeros((model.nbodies, 3))
    points[body] = point
    in_world = _jacobians(model, q, points)[body]
    if frame == "world":
        return in_world
    turn = body_motions(model, q)[body][0][:3, :3]
    return np.vstack((turn.T @ in_world[:3], turn.T @ in_world[3:]))


def _inertia_in_world(model: kt.Model, body: int, pose: np.ndarray) -> np.ndarray:
    turn = pose[:3, :3]
    return turn @ model.inertias[body] @ turn.T


def mass_matrix(model: kt.Model, q: np.ndarray) -> np.ndarray:
    """Return the sum over the bodies of J' diag(inertia about the centre of mass, mass) J, plus the armature."""
    matrix = np.diag(model.dofs[:, 0])
    jacobians = _jacobians(model, q, model.coms)
    for body, motion in enumerate(body_motions(model, q)):
        spatial = np.zeros((6, 6))
        spatial[:3, :3] = _inertia_in_world(model, body, motion[0])
        spatial[3:, 3:] = model.masses[body] * np.eye(3)
        matrix = matrix + jacobians[body].T @ spatial @ jacobians[body]
    return matrix


def inverse_dynamics(
    model: kt.Model,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    external: np.ndarray | None = None,
    gravity: np.ndarray = GRAVITY,
) -> np.ndarray:
    """Return the joint forces by d'Alembert's principle.

    tau = sum over bodies of Jcom' [I dw + w x I w; m (acceleration - gravity)] - J' external + armature a.
    """
    tau = model.dofs[:, 0] * a
    at_com = _jacobians(model, q, model.coms)
    at_origin = _jacobians(model, q, np.zeros((model.nbodies, 3)))
    for body, motion in enumerate(body_motions(model, q, v, a)):
        inertia = _inertia_in_world(model, body, motion[0])
        w, dw = angular(motion)
        acceleration = point_motion(motion, model.coms[body])[2]
        moment = inertia @ dw + np.cross(w, inertia @ w)
        force = model.masses[body] * (acceleration - np.asarray(gravity))
        tau = tau + at_com[body].T @ np.concatenate((moment, force))
        if external is not None:
            tau = tau - at_origin[body].T @ external[body]
    return tau


def forward_dynamics(
    model: kt.Model,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    external: np.ndarray | None = None,
    gravity: np.ndarray = GRAVITY,
) -> np.ndarray:
    """Return the solution of M a = tau - h by dense elimination."""
    bias = inverse_dynamics(model, q, v, np.zeros(model.nv), external, gravity)
    return np.linalg.solve(mass_matrix(model, q), tau - bias)


def energy(model: kt.Model, q: np.ndarray, v: np.ndarray, gravity: np.ndarray = GRAVITY) -> tuple[float, float]:
    """Return (kinetic, potential) energy; the kinetic one with the armatures', the potential one 0 at the origin."""
    kinetic = float(0.5 * model.dofs[:, 0] @ v**2)
    potential = 0.0
    for body, motion in enumerate(body_motions(model, q, v)):
        w = angular(motion)[0]
        place, velocity, _ = point_motion(motion, model.coms[body])
        kinetic += 0.5 * w @ _inertia_in_world(model, body, motion[0]) @ w
        kinetic += 0.5 * model.masses[body] * velocity @ velocity
        potential -= model.masses[body] * np.asarray(gravity) @ place
    return kinetic, potential


def momentum(model: kt.Model, q: np.ndarray, v: np.ndarray, about: np.ndarray = ORIGIN) -> np.ndarray:
    """Return [angular momentum about the world's point `about`; linear momentum] of all bodies, world axes."""
    total = np.zeros(6)
    for body, motion in enumerate(body_motions(model, q, v)):
        place, velocity, _ = point_motion(motion, model.coms[body])
        linear = model.masses[body] * velocity
        spin = _inertia_in_world(model, body, motion[0]) @ angular(motion)[0]
        total += np.concatenate((spin + np.cross(place - about, linear), linear))
    return total


def center_of_mass(model: kt.Model, q: np.ndarray) -> np.ndarray:
    """Return the mean of the bodies' centres, weighted by mass."""
    places = np.array([point_motion(m, c)[0] for m, c in zip(body_motions(model, q), model.coms, strict=True)])
    return model.masses @ places / model.masses.sum()
