"""Array aliases that say the shape; all are float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Configuration = Annotated[Array, "shape (nq,)"]
Velocity = Annotated[Array, "shape (nv,)"]
BodyWrenches = Annotated[Array, "shape (nbodies, 6): [moment; force], world axes, about each body's origin"]
BodyPoses = Annotated[Array, "shape (nbodies, 4, 4)"]
Vec3 = Sequence[float] | Array

__all__ = ["Array", "ArrayLike", "BodyPoses", "BodyWrenches", "Configuration", "Vec3", "Velocity"]
