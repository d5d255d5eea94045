"""Trajectories as Parquet: one column a coordinate, the model in the file's metadata; pandas opens it as a table."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileFormatError, missing_extra
from ..files import DAMAGE, FORMAT, check_format
from ..model.archive import model_from_arrays, model_to_arrays
from ..trajectory import Trajectory, column_names

KEY = b"kinetree"


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise missing_extra("pyarrow", "tables", "a Parquet file") from None
    return pyarrow


def write_trajectory(trajectory: Trajectory, path: Path) -> None:
    """Write `trajectory` to `path`."""
    arrow = _arrow()
    packed = io.BytesIO()
    arrays: dict[str, Any] = dict(model_to_arrays(trajectory.model))
    np.savez_compressed(packed, **arrays)
    note = {"format": FORMAT, "kind": "trajectory", "model": base64.b64encode(packed.getvalue()).decode()}
    data = np.column_stack((trajectory.times, trajectory.q, trajectory.v))
    names = ["time", *column_names(trajectory.model)]
    table = arrow.table([arrow.array(column) for column in data.T], names=names)
    table = table.replace_schema_metadata({KEY: json.dumps(note).encode()})
    arrow.parquet.write_table(table, path)


def read_trajectory(path: Path) -> Trajectory:
    """Read what `write_trajectory` wrote."""
    arrow = _arrow()
    try:
        table = arrow.parquet.read_table(path)
    except (arrow.ArrowException, OSError) as error:
        raise FileFormatError(path, "", f"is not a readable Parquet file ({error})") from None
    note = (table.schema.metadata or {}).get(KEY)
    if note is None:
        raise FileFormatError(path, "metadata", "is a table of something else: kinetree did not write it")
    try:
        facts = json.loads(note)
        check_format(path, facts["format"])
        packed = base64.b64decode(facts["model"])
        with np.load(io.BytesIO(packed), allow_pickle=False) as archive:
            model = model_from_arrays({name: archive[name] for name in archive.files})
        data = np.column_stack([column.to_numpy() for column in table.columns])
        q_end = 1 + model.nq
        return Trajectory(model, data[:, 0].copy(), data[:, 1:q_end].copy(), data[:, q_end:].copy())
    except FileFormatError:
        raise
    except DAMAGE as error:
        raise FileFormatError(path, "", f"this trajectory is damaged ({error}): save it again") from None
