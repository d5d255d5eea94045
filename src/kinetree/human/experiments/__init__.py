"""The paper's tests as functions: noise, stance shift, reaching, arm swing, reduced markers, jumping."""

from __future__ import annotations

from .jumping import Jump, jump
from .reaching import Reach, reach, reaching_trial, trace
from .reducing import Reduced, reduced_markers
from .sensitivity import Noise, noise
from .standing import StanceShift, shifting_trial, stance_shift
from .swinging import ArmSwing, arm_swing

__all__ = [
    "ArmSwing", "Jump", "Noise", "Reach", "Reduced", "StanceShift", "arm_swing", "jump", "noise", "reach",
    "reaching_trial", "reduced_markers", "shifting_trial", "stance_shift", "trace",
]  # fmt: skip
