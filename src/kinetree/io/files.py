"""Read whole files, with errors that say what is wrong with which file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..errors import FileFormatError

MOST_BYTES = 512 << 20  # of one text file: far above any real model, far below what would fill a machine


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a regular file of a sane size; anything else is a `FileFormatError`."""
    place = Path(path)
    try:
        status = place.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileFormatError(path, "", "this is a folder: give a file inside it")
        if not stat.S_ISREG(status.st_mode):
            raise FileFormatError(path, "", "this is not a regular file but a device, socket or pipe: give a file")
        if status.st_size > MOST_BYTES:
            raise FileFormatError(
                path, "", f"the file has {status.st_size >> 20} MB, more than the {MOST_BYTES >> 20} MB that are read"
            )
        data = place.read_bytes()
    except FileNotFoundError:
        raise FileFormatError(path, "", "there is no such file: check the path") from None
    except PermissionError:
        raise FileFormatError(path, "", "no permission to read this file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        raise FileFormatError(path, "", f"cannot be read: {error}") from None
    if not data.strip():
        raise FileFormatError(path, "", "the file is empty")
    return data


def as_text(path: object, data: bytes) -> str:
    """Decode a text file: UTF-8, or Latin-1 where a line is not; binary data is a `FileFormatError`."""
    if b"\0" in data:
        raise FileFormatError(path, f"byte {data.index(0)}", "this is binary data, not a text file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
