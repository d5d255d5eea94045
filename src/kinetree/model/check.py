"""What a description must fulfil to be a model; each failure names the first body that is wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import ModelError
from ..kernels import layout as at
from .description import Body
from .numbers import as_numbers

TRIANGLE = 1e-6  # by how much the principal moments may miss the triangle inequality, relative: files hold 6-7 digits


def check_bodies(
    bodies: Sequence[Body],
    placements: np.ndarray,
    masses: np.ndarray,
    coms: np.ndarray,
    inertias: np.ndarray,
    dofs: np.ndarray,
) -> None:
    """Raise `ModelError` for numbers that no body can have."""

    def refuse(bad: np.ndarray, say: str) -> None:
        if bad.any():
            body = int(np.flatnonzero(bad)[0])
            raise ModelError(f"body {bodies[body].name!r}: " + say.format(i=body))

    finite = np.isfinite(placements).all(1) & np.isfinite(masses) & np.isfinite(coms).all(1)
    finite &= np.isfinite(inertias).all((1, 2))
    refuse(~finite, "its placement, mass, com or inertia is not finite: replace the NaN or infinity")
    turns = placements[:, :9].reshape(-1, 3, 3)
    skewed = np.abs(turns @ turns.transpose(0, 2, 1) - np.eye(3)).max((1, 2)) > 1e-6
    refuse(skewed | (np.linalg.det(turns) < 0), "the rotation of its placement is not a proper rotation matrix")
    if (masses < 0).any():
        body = int(np.flatnonzero(masses < 0)[0])
        raise ModelError(f"body {bodies[body].name!r} has a mass of {masses[body]:g} kg: a mass cannot be negative")
    largest = np.maximum(np.abs(inertias).max((1, 2)), 1e-300)
    lopsided = np.abs(inertias - inertias.transpose(0, 2, 1)).max((1, 2)) > 1e-9 * largest
    refuse(lopsided, "its inertia is not symmetric: give xx, yy, zz, xy, xz, yz or a symmetric matrix")
    moments = np.linalg.eigvalsh((inertias + inertias.transpose(0, 2, 1)) / 2)
    refuse(moments[:, 0] < -TRIANGLE * largest, "its inertia has a negative principal moment: no body has that")
    flat = moments[:, 0] + moments[:, 1] < moments[:, 2] - TRIANGLE * largest
    if flat.any():
        body = int(np.flatnonzero(flat)[0])
        a, b, c = moments[body]
        raise ModelError(
            f"body {bodies[body].name!r} has principal moments {a:.6g}, {b:.6g}, {c:.6g}, which break the triangle "
            f"inequality ({a:.6g} + {b:.6g} < {c:.6g}): no mass distribution has that; check the inertia's frame and "
            "units"
        )
    _check_dofs(bodies, dofs)
    for owner in bodies:
        for name, offset in owner.markers.items():
            values = as_numbers(offset, f"body {owner.name!r}: marker {name!r}")
            if values.shape != (3,) or not np.isfinite(values).all():
                raise ModelError(f"body {owner.name!r}: marker {name!r} is at {offset!r}: give three finite numbers")


def _check_dofs(bodies: Sequence[Body], dofs: np.ndarray) -> None:
    owners = np.repeat(np.arange(len(bodies)), [body.joint.nv for body in bodies])

    def refuse(bad: np.ndarray, say: str) -> None:
        if bad.any():
            raise ModelError(f"body {bodies[owners[int(np.flatnonzero(bad)[0])]].name!r}: {say}")

    below = dofs[:, : at.STIFFNESS + 1]
    refuse(~np.isfinite(dofs[:, : at.REST + 1]).all(1), "armature, damping, friction, stiffness or rest is not finite")
    refuse(np.any(below < 0, axis=1), "armature, damping, friction and stiffness must not be negative")
    refuse(np.isnan(dofs[:, at.LOWER :]).any(1), "limits or effort is NaN: use -inf and inf for no limit")
    refuse(dofs[:, at.LOWER] > dofs[:, at.UPPER], "the lower limit is above the upper one: swap them")
    refuse(dofs[:, at.EFFORT] < 0, "effort must not be negative")


def check_massless(topology: np.ndarray, constants: np.ndarray, dofs: np.ndarray, names: Sequence[str]) -> None:
    """Refuse joints that have no inertia to move, at two configurations: a link without mass and nothing beyond it.

    A single pose can be singular by accident, so a joint is refused only if it is so both at q = 0 and at a generic q.
    """
    inertia = constants[:, at.INERTIA : at.INERTIA + 6]
    matrices = inertia[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    mass, moment = constants[:, at.MASS], constants[:, at.MOMENT : at.MOMENT + 3]
    if len(mass) == 0:
        return
    if (mass > 0).all():
        com = moment / mass[:, None]
        steiner = np.einsum("n,ni,ni->n", mass, com, com)[:, None, None] * np.eye(3)
        steiner -= mass[:, None, None] * com[:, :, None] * com[:, None, :]
        if (np.linalg.eigvalsh(matrices - steiner)[:, 0] > 1e-14 * np.abs(matrices).max((1, 2))).all():
            return  # every link alone resists every motion: nothing can be singular
    from .regularity import immovable_links

    bad = immovable_links(topology, constants, dofs)
    if bad.size:
        link = int(bad[0])
        body = names[topology[link, at.BODY]]
        what = "has no mass" if mass[link] == 0 else "has too little inertia"
        raise ModelError(
            f"body {body!r} {what} and nothing beyond it resists its joint: give it (or a body that it carries) a mass "
            "and an inertia, or give the joint an armature"
        )
