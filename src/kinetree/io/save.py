"""`save`: a model as a file that other programs read."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from ..errors import ArgumentError
from ..files import whole_file
from ..model.model import Model
from .write_mjcf import write_mjcf
from .write_urdf import write_urdf

WRITERS = {".urdf": write_urdf, ".xml": write_mjcf, ".mjcf": write_mjcf}


def save(model: Model, path: str | os.PathLike[str]) -> Path:
    """Save a model as URDF (`.urdf`) or MJCF (`.xml`, `.mjcf`); `load` gives the same joints and dynamics again.

    Coordinates keep their order in URDF; in MJCF, which is nested, they come branch after branch. Bodies without mass
    that MJCF holds as joints of the next body come back with the names of their joints.

    A joint or value that the format cannot hold is a `ModelError` that names it, and no file is written. What does not
    move the model (markers, planes) and cannot be held is left out with a Python warning. The file appears whole.
    """
    target = Path(path)
    writer = WRITERS.get(target.suffix.lower())
    if writer is None:
        raise ArgumentError(f"{target}: a model is saved as {', '.join(WRITERS)}, not {target.suffix!r}")
    written = writer(model)
    with whole_file(target) as temporary:
        temporary.write_text(written.text, encoding="utf-8", newline="\n")
    for line in written.notes.lines():
        warnings.warn(f"{target}: {line}", stacklevel=2)
    return target
