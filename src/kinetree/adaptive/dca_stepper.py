"""Stepping every joint by divide and conquer."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from ..errors import ArgumentError
from ..full import INTEGRATORS, FullStepper, Outcome
from ..kernels import dca_steps, steppers
from ..kernels import layout as at
from ..kernels.acts import Acts
from ..kernels.dca_steps import Joined
from ..model.model import Model
from ..typing import Array
from .dca import make_work, refuse_massless


class DcaStepper(FullStepper):
    """Advances the state of one simulation like `FullStepper`, joining the bodies along the assembly tree."""

    def __init__(self, model: Model, integrator: str, tolerance: float) -> None:
        """Prepare for `integrator`, "semi_implicit" or "euler"."""
        super().__init__(model, integrator, tolerance)
        if self.integrator not in (steppers.SEMI_IMPLICIT, steppers.EULER):
            raise ArgumentError(
                f"Full('dca') does not step with {integrator!r}: use 'semi_implicit' or 'euler', or Full('aba'), which "
                f"steps with any of {', '.join(map(repr, INTEGRATORS))}"
            )
        made = make_work(model)
        self.assembly = made.assembly
        self.joined = Joined(
            self.assembly.tree, self.assembly.units, made.nodes, made.motion, made.wrenches, made.room
        )  # fmt: skip
        self._acts: Acts | None = None

    def advance(
        self,
        acts: Acts,
        q: Array,
        v: Array,
        start: float,
        first: int,
        dt: float,
        steps: int,
        gravity: Sequence[float],
        record: Array,
        every: int,
    ) -> Outcome:
        """Take `steps` steps in place; see `kernels.dca_steps.advance`."""
        began = time.perf_counter()
        self._check(acts)
        done = dca_steps.advance(
            self.body, acts, self.joined, q, v, start, first, dt, steps, tuple(gravity), self.integrator, self.work,
            record, every,
        )  # fmt: skip
        self.seconds += time.perf_counter() - began
        self.steps += done[0]
        return Outcome(*done)

    def _check(self, acts: Acts) -> None:
        """Refuse forces on massless bodies, once for each set of forces."""
        if acts is self._acts:
            return
        for links in (acts.wrench_links[:, 0], acts.spring_links[:, 0], acts.spring_links[:, 1]):
            refuse_massless(self.assembly, self.model.topology[links[links >= 0], at.BODY])
        if len(acts.external):
            refuse_massless(self.assembly, np.flatnonzero(acts.external.any(axis=1)))
        self._acts = acts
