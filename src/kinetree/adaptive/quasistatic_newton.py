"""Newton's step to a static equilibrium along the tree, with the springs that close loops added by their directions.

A spring between two links does not fit the elimination along the tree. It adds B c B' to H, with three columns of B
that say how its ends part. With T the tree without it (Woodbury):

    (T + B c B')^-1 F = y - Z (1 / c + B' Z)^-1 B' y        T y = F, T Z = B

A straight step stretches a stiff spring by what is of second order, e. The step -Z (1 / c + B' Z)^-1 e undoes that.
Springs to the world are treated alike, unless there are many: then they stand in the matrices of their links.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..kernels import quasistatic_newton as tree
from ..kernels.acts import SPRING_K, SPRING_LENGTH, Acts
from ..kernels.steppers import Body, Work
from ..model.model import Model
from ..typing import Array

MANY = 64  # springs to the world, above which they go into the tree


class TreeNewton:
    """Solves (M rate + H) dx = F for a body whose joint forces at rest were just computed in `work`."""

    def __init__(self, model: Model, body: Body, acts: Acts, work: Work, now: float) -> None:
        self.body, self.acts, self.work, self.now = body, acts, work, now
        self.inner = np.count_nonzero(acts.spring_links[:, 1] < 0) > MANY
        self.chosen = np.flatnonzero((acts.spring_links[:, 1] >= 0) | (not self.inner))
        self.frames: list[tuple[int, Array]] = []  # spring and direction of each row of B'
        self.signs: list[float] = []
        self.room, self.rows = np.zeros((model.njoints, tree.ROOM)), np.zeros((model.nv, tree.ROWS))

    def step(self, F: Array, free: np.ndarray, rate: float, convex: bool) -> Array | None:
        """Return dx [nv], zero where not `free`; None where the matrix is not positive definite."""
        body, work, acts = self.body, self.work, self.acts
        mask = free.astype(np.int64)
        negative = tree.factor(
            body.topology, acts, body.body_links, body.body_poses_in_link, body.armature, work.stretch, mask, self.now,
            rate, convex, self.inner, work.links, work.axes, self.room, self.rows,
        )  # fmt: skip
        self.apart, stiffness = self._loops(mask, convex)
        springs = np.count_nonzero(stiffness > 0)
        if negative < 0 or negative > springs:
            return None
        if len(stiffness):
            self.Z = np.stack([self._solve(mask, row) for row in self.apart], axis=1)
            small = self.apart @ self.Z
            small = np.diag(1.0 / stiffness) + 0.5 * (small + small.T)
            if not np.isfinite(small).all():
                return None
            if negative + np.count_nonzero(np.linalg.eigvalsh(small) > 0) != springs:  # inertia of [T B; B' -1/c]
                return None
            self.small = small
        x = self.again(F, free)
        return x if np.isfinite(x).all() else None

    def again(self, F: Array, free: np.ndarray) -> Array:
        """Return dx for another right-hand side, with the matrix of the last `step`."""
        x = self._solve(free.astype(np.int64), F)
        if len(self.apart):
            x = x - self.Z @ scipy.linalg.solve(self.small, self.apart @ x, assume_a="sym", check_finite=False)
        return x

    def undo(self, excess: Array) -> Array:
        """Return the step that takes back what springs are stretched too far, in the directions of the last `step`."""
        return -self.Z @ scipy.linalg.solve(self.small, excess, assume_a="sym", check_finite=False)

    def stretches(self) -> tuple[Array, float]:
        """Return how far the ends of the springs are apart, in the directions of the last `step`, and their energy [J].

        Along a spring with a length of rest, that is how long it is now.
        """
        acts, pull, out, energy = self.acts, np.empty(11), [], 0.0
        lengths: dict[int, tuple[Array, float]] = {}
        for k in range(len(acts.springs)):
            tree.spring_pull(acts.springs, acts.spring_links, k, self.work.links, pull)
            length = float(np.linalg.norm(pull[8:]))
            lengths[k] = (-pull[8:], length)  # B is how the first end goes away from the second
            energy += 0.5 * acts.springs[k, SPRING_K] * (length - acts.springs[k, SPRING_LENGTH]) ** 2
        for n, (k, axis) in enumerate(self.frames):
            way, length = lengths[k]
            first = n == 0 or self.frames[n - 1][0] != k
            if first and acts.springs[k, SPRING_LENGTH] > 0.0:
                out.append(float(np.copysign(length, self.signs[n])))
            else:
                out.append(float(way @ axis))
        return np.array(out), energy

    def _solve(self, mask: np.ndarray, right: Array) -> Array:
        out = np.empty(len(right))
        tree.solve(self.body.topology, mask, self.work.links, self.work.axes, self.room, self.rows, right, out)
        return out

    def _loops(self, mask: np.ndarray, convex: bool) -> tuple[Array, Array]:
        """Return B' (a row for each direction of each spring between links) and c [N/m]."""
        acts, work = self.acts, self.work
        rows, stiffness, pull = [], [], np.empty(11)
        self.frames, self.signs = [], []
        for k in self.chosen:
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
                    self.frames.append((int(k), axis))
                    self.signs.append(-float(pull[8:] @ axis))
        return np.array(rows).reshape(-1, len(mask)), np.array(stiffness)
