"""Closing loops that are open at the start: positions by Newton's method in the metric of mass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dynamics import integrate, jacobian, mass_matrix
from ..errors import ConvergenceError
from ..kernels import conditions as c
from ..kernels import layout as at
from ..kernels.conditions import Tables, loop_errors
from ..kernels.kinematics import move_links, place_links
from ..model.model import Model
from ..typing import Array

CLOSED = 1e-10  # m or rad


def errors_at(model: Model, q: Array, tables: Tables) -> tuple[Array, Array, float]:
    """Return how far each loop is open (n, 6), the links' scratch rows, and the largest violation."""
    links, axes = np.zeros((model.njoints, at.LINKS)), np.zeros((model.nv, at.AXES))
    move_links(model.topology, model.constants, q, np.zeros(model.nv), links, axes)
    place_links(model.topology, links)
    out = np.zeros((len(tables.loop_ints), 36))
    worst = loop_errors(tables, links, out)
    return out, links, float(worst)


def close(model: Model, q: Array, tables: Tables) -> Array:
    """Return the configuration near `q` in which all loops are closed; a ConvergenceError where there is none."""
    q = q.copy()
    worst = np.inf
    for _ in range(60):
        out, links, worst = errors_at(model, q, tables)
        if worst <= CLOSED:
            return q
        rows, wanted = _rows(model, q, tables, out, links)
        inverse = np.linalg.inv(mass_matrix(model, q))
        step = inverse @ rows.T @ np.linalg.lstsq(rows @ inverse @ rows.T, -wanted, rcond=1e-10)[0]
        size = float(np.abs(step).max(initial=0.0))
        if size < 1e-14:
            break
        q = integrate(model, q, step * min(1.0, 0.3 / size), 1.0)
    raise ConvergenceError(
        f"the loops cannot be closed: the nearest configuration leaves one open by {worst:.3g} m or rad. Start nearer "
        "to a closed one, or check the points and lengths of the Loops"
    )


def _rows(model: Model, q: Array, tables: Tables, out: Array, links: Any) -> tuple[Array, Array]:
    """Return the Jacobian of all rows that count, and their violations."""
    rows, wanted = [], []
    body_of = {int(link): int(body) for body, link in enumerate(model.body_links) if link >= 0}
    for ints, error in zip(tables.loop_ints, out, strict=True):
        if ints[c.O_KIND] == c.PULL:
            continue
        a, b = error[12:24], error[24:36]
        rod = ints[c.O_KIND] == c.ROD
        arm = a[9:] - b[9:]
        axes = np.linalg.norm(arm) if rod else 1.0
        for k in range(6):
            if not int(ints[c.O_MASK]) >> k & 1:
                continue
            direction = arm / axes if rod else b[:9].reshape(3, 3)[:, k % 3]
            row = np.zeros(model.nv)
            for sign, link, place in ((1, ints[c.O_A], a[9:]), (-1, ints[c.O_B], b[9:] if rod else a[9:])):
                if link < 0:
                    continue
                body = body_of[int(link)]
                own = model.body_poses_in_link[body]
                turn = links[link, :9].reshape(3, 3)
                at_link = turn.T @ (place - links[link, at.POSITION : at.POSITION + 3])
                point = own[:9].reshape(3, 3).T @ (at_link - own[9:])
                J = jacobian(model, q, body, point=point)
                row += sign * direction @ (J[3:] if k >= 3 else J[:3])
            rows.append(row)
            wanted.append(error[k])
    return np.array(rows), np.array(wanted)
