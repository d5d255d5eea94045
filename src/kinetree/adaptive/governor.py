"""A time budget: how many joints may move so that a step takes the seconds that it is given.

The cost of a step is taken to be `a + b joints`, and both numbers drift: machines are disturbed, bodies and cameras
move. They are followed by a Kalman filter on two states, whose steps have no matrix that is larger than 2 x 2. A block
that took far longer or shorter than the model says is set aside; only where the next one says the same is it believed.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import ArgumentError
from ..typing import Array

FIRST = 16  # joints of the first block, while nothing is known
DRIFT = 0.03  # of a and b, from one block to the next
NOISE = (0.02, 0.3)  # least and most that the scatter of the times is taken to be, as a part of them
TRUST = 3.0  # deviations of a block that is believed at once
GROWTH, SHRINKAGE = 2.0, 0.5  # of the joints, from one block to the next
EXCESS = 0.1  # part of the budget by which the slowest twentieth of the blocks may exceed it unpunished
TWENTIETH = 1.645  # deviations above which the twentieth part of a normal distribution lies
STATE = 10


class Governor:
    """Chooses how many joints move, to hold a budget of seconds per step.

    Feed it after every block of steps with the joints that were simulated and the seconds that a step took, and it
    returns the joints for the next block, from 1 to `most`. Where times scatter, it aims below the budget, such that 95
    of 100 blocks take at most about a tenth more than that. It has no clock, and only what `snapshot` returns is
    remembered.
    """

    def __init__(self, seconds_per_step: float, most: int, *, first: int = FIRST) -> None:
        """Start with `first` joints for a budget of `seconds_per_step` [s] on a body of `most` joints."""
        if not 0 < seconds_per_step < math.inf:
            raise ArgumentError(f"seconds_per_step is {seconds_per_step}: a budget of time is finite and above zero")
        if int(most) != most or most < 1:
            raise ArgumentError(f"most is {most}: a governor needs a whole number of joints, at least 1")
        if int(first) != first or first < 1:
            raise ArgumentError(f"first is {first}: give a whole number of joints, at least 1")
        self.seconds_per_step = float(seconds_per_step)
        self.most = int(most)
        self.joints = min(int(first), self.most)
        """The joints for the next block."""
        self._a = self._b = 0.0
        self._paa = self._pab = self._pbb = 0.0
        self._noise = 0.05
        self._doubt = 0.0  # +1 or -1: the last block took far more or less time than the model says
        self._blocks = 0

    def update(self, joints: int, seconds: float) -> int:
        """Take note of a block in which `joints` were simulated at `seconds` per step; returns those of the next."""
        if not (joints >= 0 and math.isfinite(joints)):
            raise ArgumentError(f"joints is {joints}: the number of joints that were simulated is not negative")
        if not (seconds >= 0 and math.isfinite(seconds)):
            raise ArgumentError(f"seconds is {seconds}: a measured time is finite and not negative")
        # in units of the budget; a clock may show nothing at all
        self._learn(float(joints), max(seconds / self.seconds_per_step, 1e-9))
        self._blocks += 1
        self.joints = self._next(float(joints))
        return self.joints

    def predict(self, joints: float) -> float:
        """Return the seconds that a step with so many joints is thought to take; 0 while nothing is known."""
        return (self._a + self._b * joints) * self.seconds_per_step

    @property
    def attainable(self) -> bool:
        """Whether the budget is thought to be enough for one joint."""
        return self.predict(1) <= self.seconds_per_step

    def _learn(self, n: float, time: float) -> None:
        if self._blocks == 0:
            # half the time is for the joints: what is far from true is corrected as soon as their number changes
            self._a, self._b = 0.5 * time, 0.5 * time / max(n, 1.0)
            self._forget(n, time)
            self._pab = -self._pbb * max(n, 1.0)  # their sum is known
            return
        model = self._a + self._b * n
        self._paa += (DRIFT * max(self._a, 0.2 * model)) ** 2
        self._pbb += (DRIFT * max(self._b, 0.2 * model / max(n, 1.0))) ** 2
        miss = time - model
        spread = self._paa + 2 * n * self._pab + n * n * self._pbb
        variance = spread + (self._noise * model) ** 2
        if abs(miss) > TRUST * math.sqrt(variance):
            sign = math.copysign(1.0, miss)
            if self._doubt != sign:
                self._doubt = sign
                return
            # twice the same: the machine has changed, not the moment
            self._forget(n, max(model, time))
            spread = self._paa + 2 * n * self._pab + n * n * self._pbb
            variance = spread + (self._noise * model) ** 2
        else:
            least, most = NOISE
            fresh = min(max(miss * miss - spread, 0.0), (3 * self._noise * model) ** 2) / (model * model)
            self._noise = min(max(math.sqrt(0.95 * self._noise**2 + 0.05 * fresh), least), most)
        self._doubt = 0.0
        u, w = self._paa + n * self._pab, self._pab + n * self._pbb
        self._a += u / variance * miss
        self._b += w / variance * miss
        self._paa -= u * u / variance
        self._pab -= u * w / variance
        self._pbb -= w * w / variance
        self._bound(n, time)

    def _forget(self, n: float, time: float) -> None:
        """Make both numbers as uncertain as they can be, given the time that a block took."""
        self._paa, self._pab, self._pbb = (0.5 * time) ** 2, 0.0, (0.5 * time / max(n, 1.0)) ** 2

    def _bound(self, n: float, time: float) -> None:
        """Keep the model physical: nothing costs less than nothing, and joints always cost something."""
        n = max(n, 1.0)
        level = max(self._a + self._b * n, 1e-3 * time)
        self._b = min(max(self._b, 0.02 * level / n), level / n)
        self._a = level - self._b * n
        limit_a, limit_b = level * level, (level / n) ** 2
        self._paa, self._pbb = min(max(self._paa, 0.0), limit_a), min(max(self._pbb, 0.0), limit_b)
        most = 0.999 * math.sqrt(self._paa * self._pbb)
        self._pab = min(max(self._pab, -most), most)

    def _next(self, n: float) -> int:
        aim = 1.0 / (1.0 + max(0.0, TWENTIETH * self._noise - EXCESS))
        ideal = (aim - self._a) / self._b
        # what was allowed but not used stays allowed; what is simulated anyhow does not hold it up
        high = max(GROWTH * n, float(self.joints), 2.0)
        low = SHRINKAGE * min(n, float(self.joints))
        wanted = min(max(ideal, low), high)
        whole = math.floor(wanted + 0.5)
        if whole > wanted and self._a + self._b * whole > 1.05 * aim:
            whole -= 1  # of a few joints, one more is too much
        return min(max(whole, 1), self.most)

    def snapshot(self) -> Array:
        """Return all that is remembered, as ten numbers."""
        return np.array([
            self.joints, self._blocks, self._a, self._b, self._paa, self._pab, self._pbb, self._noise, self._doubt,
            self.seconds_per_step,
        ])  # fmt: skip

    def resume(self, saved: Array) -> None:
        """Take over what `snapshot` returned, also where the budget or the body was another then."""
        values = np.asarray(saved, dtype=float)
        if values.shape != (STATE,) or not np.isfinite(values).all() or values[-1] <= 0:
            raise ArgumentError(f"a governor remembers {STATE} finite numbers, not an array of shape {values.shape}")
        joints, blocks, a, b, paa, pab, pbb, noise, doubt, budget = values.tolist()
        unit = budget / self.seconds_per_step
        self.joints, self._blocks = min(max(int(joints), 1), self.most), int(blocks)
        self._a, self._b, self._noise, self._doubt = a * unit, b * unit, noise, doubt
        self._paa, self._pab, self._pbb = paa * unit * unit, pab * unit * unit, pbb * unit * unit
