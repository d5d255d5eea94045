"""Files that are whole or absent, and the archive that trajectories and simulations are kept in."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .errors import FileFormatError

FORMAT = 1  # of the archives; a newer one is refused
DAMAGE = (  # what reading a file raises where its insides are not what they should be
    LookupError, TypeError, ValueError, AttributeError, OverflowError, EOFError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@contextmanager
def whole_file(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a name to write to beside `target`; it becomes `target` if the block succeeds and vanishes if not."""
    place = Path(target)
    temporary = place.with_name(f".{place.stem}.{os.getpid()}.partial{place.suffix}")
    try:
        yield temporary
        temporary.replace(place)
    except OSError as error:
        raise FileFormatError(place, "", f"cannot be written: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_archive(target: str | os.PathLike[str], kind: str, arrays: dict[str, Any]) -> Path:
    """Write arrays as a compressed `.npz` that says what `kind` of thing it holds."""
    everything: dict[str, Any] = {"format": FORMAT, "kind": kind, **arrays}
    with whole_file(target) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **everything)
    return Path(target)


def read_archive(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """Read what `write_archive` wrote, without ever running code that a file could hold."""
    place = Path(path)
    if not place.is_file():
        raise FileFormatError(place, "", "there is no such file")
    try:
        if not zipfile.is_zipfile(place):
            raise FileFormatError(
                place, "", f"is not a file that kinetree wrote, or only a part of one: a {kind} is .npz"
            )
        with np.load(place, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except FileFormatError:
        raise
    except (OSError, *DAMAGE) as error:
        raise FileFormatError(place, "", f"is not a file that kinetree wrote ({error})") from None
    if str(arrays.get("kind")) != kind:
        raise FileFormatError(place, "kind", f"holds a {arrays.get('kind', 'thing of unknown kind')}, not a {kind}")
    check_format(place, arrays.get("format"))
    return arrays


def check_format(path: str | os.PathLike[str], number: Any) -> None:
    """Refuse the file of a newer kinetree, and one that does not say which it is of."""
    try:
        newer = int(number) > FORMAT
    except (TypeError, ValueError):
        raise FileFormatError(path, "format", f"is {number!r} instead of a number: save the file again") from None
    if newer:
        raise FileFormatError(path, "format", "was written by a newer kinetree: update this one")
