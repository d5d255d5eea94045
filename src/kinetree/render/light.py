"""The light and the backdrop of a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError


@dataclass(frozen=True)
class Light:
    """A sun with a sky. `direction` points to the sun (world axes); colours are sRGB in 0..1.

    `strength` scales the sun, `ambient` the light of the sky, `softness` is the width of the sun over its distance
    (0: hard shadows), and `gloss` the strength of the highlight on bodies.
    """

    direction: Any = (-0.42, -0.3, 0.86)
    strength: float = 1.0
    ambient: float = 1.0
    softness: float = 0.1
    gloss: float = 0.3

    def __post_init__(self) -> None:
        """Check the numbers."""
        direction = np.array(self.direction, dtype=float)
        if direction.shape != (3,) or not np.isfinite(direction).all() or not direction[2] > 0:
            raise ArgumentError(f"the direction to the light is {self.direction!r}: three numbers, with z above 0")
        for name in ("strength", "ambient", "softness", "gloss"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise ArgumentError(f"the light's {name} is {value!r}: it must be a number of at least 0")

    @property
    def toward(self) -> np.ndarray:
        """Unit vector to the sun, world axes, shape (3,)."""
        direction = np.array(self.direction, dtype=float)
        return direction / np.linalg.norm(direction)


HORIZON = (0.86, 0.90, 0.94)
ZENITH = (0.42, 0.58, 0.80)


def sky_colors(background: Any) -> tuple[np.ndarray, np.ndarray]:
    """Read a background: None (a blue sky), one sRGB colour, or a pair (at the horizon, above)."""
    if background is None:
        return np.array(HORIZON), np.array(ZENITH)
    try:
        colors = np.array(background, dtype=float)
    except (TypeError, ValueError):
        colors = np.zeros(0)
    if colors.shape == (3,):
        colors = np.stack((colors, colors))
    if colors.shape != (2, 3) or not ((colors >= 0) & (colors <= 1)).all():
        raise ArgumentError(f"the background is {background!r}: give one RGB colour in 0..1, or two (horizon, zenith)")
    return colors[0], colors[1]
