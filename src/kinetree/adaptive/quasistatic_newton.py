"""Newton's step to a static equilibrium along the tree, with the springs between links added by their few directions.

A spring between two links closes a loop, which the elimination along the tree cannot hold. It adds B c B' to H, with
three columns of B that say how its ends part. With T the tree without it (Woodbury):

    (T + B c B')^-1 F = y - Z (1 / c + B' Z)^-1 B' y        T y = F, T Z = B
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..kernels import quasistatic_newton as tree
from ..kernels.acts import Acts
from ..kernels.steppers import Body, Work
from ..model.model import Model
from ..typing import Array


class TreeNewton:
    """Solves (M rate + H) dx = F for a body whose joint forces at rest were just computed in `work`."""

    def __init__(self, model: Model, body: Body, acts: Acts, work: Work, now: float) -> None:
        self.body, self.acts, self.work, self.now = body, acts, work, now
        self.room, self.rows = np.zeros((model.njoints, tree.ROOM)), np.zeros((model.nv, tree.ROWS))

    def step(self, F: Array, free: np.ndarray, rate: float, convex: bool) -> Array | None:
        """Return dx [nv], zero where not `free`; None where the matrix is not positive definite."""
        body, work, acts = self.body, self.work, self.acts
        mask = free.astype(np.int64)
        negative = tree.factor(
            body.topology, acts, body.body_links, body.body_poses_in_link, body.armature, work.stretch, mask, self.now,
            rate, convex, work.links, work.axes, self.room, self.rows,
        )  # fmt: skip
        if negative < 0:
            return None
        apart, stiffness = self._loops(mask, convex)
        if negative > np.count_nonzero(stiffness > 0):
            return None
        x = self._solve(mask, F)
        if len(stiffness):
            Z = np.stack([self._solve(mask, row) for row in apart], axis=1)
            small = apart @ Z
            small = np.diag(1.0 / stiffness) + 0.5 * (small + small.T)
            if not np.isfinite(small).all():
                return None
            positive = np.count_nonzero(np.linalg.eigvalsh(small) > 0)
            if negative + positive != np.count_nonzero(stiffness > 0):  # inertia of [T B; B' -1/c], both ways
                return None
            x = x - Z @ scipy.linalg.solve(small, apart @ x, assume_a="sym", check_finite=False)
        return x if np.isfinite(x).all() else None

    def _solve(self, mask: np.ndarray, right: Array) -> Array:
        out = np.empty(len(right))
        tree.solve(self.body.topology, mask, self.work.links, self.work.axes, self.room, self.rows, right, out)
        return out

    def _loops(self, mask: np.ndarray, convex: bool) -> tuple[Array, Array]:
        """Return B' (a row for each direction of each spring between links) and c [N/m]."""
        acts, work = self.acts, self.work
        rows, stiffness, pull = [], [], np.empty(8)
        for k in np.flatnonzero(acts.spring_links[:, 1] >= 0):
            tree.spring_pull(acts.springs, acts.spring_links, k, work.links, pull)
            frame = np.linalg.qr(np.column_stack([pull[:3], np.eye(3)]))[0] if pull[:3].any() else np.eye(3)
            for axis, stiff in zip(frame.T, (pull[4], pull[3], pull[3]), strict=True):
                if stiff > 0.0 or (stiff < 0.0 and not convex):
                    out = np.empty(len(mask))
                    tree.ends(
                        self.body.topology, acts.springs, acts.spring_links, k, np.ascontiguousarray(axis), mask,
                        work.links, work.axes, self.room, out,
                    )  # fmt: skip
                    rows.append(out)
                    stiffness.append(stiff)
        return np.array(rows).reshape(-1, len(mask)), np.array(stiffness)
