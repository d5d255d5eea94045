"""Write a picture as PNG without help from other packages."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError, FileFormatError
from ..files import whole_file


def png_bytes(image: Any) -> bytes:
    """Return the PNG file (RFC 2083) of an image: uint8, shape (height, width, 3)."""
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or image.size == 0:
        raise ArgumentError(f"an image must be uint8 of shape (height, width, 3), not {image.dtype} of {image.shape}")
    height, width, _ = image.shape
    rows = np.empty((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 0] = 1  # every row holds differences to the pixel on the left: smooth shades compress better
    rows[:, 1:4] = image[:, 0]
    rows[:, 4:] = (image[:, 1:] - image[:, :-1]).reshape(height, -1)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def write_png(path: str | os.PathLike[str], image: Any) -> None:
    """Write an image (uint8, shape (height, width, 3)) as a PNG file; the file appears only when it is whole."""
    data = png_bytes(image)
    with whole_file(checked_target(path)) as partial:
        partial.write_bytes(data)


def checked_target(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file to be written, or say why there cannot be one."""
    target = Path(path)
    if target.is_dir():
        raise FileFormatError(target, "", "this is a directory: give the name of a file in it")
    if not target.parent.is_dir():
        raise FileFormatError(target, "", f"there is no directory {str(target.parent)!r}: make it first")
    if not os.access(target.parent, os.W_OK):
        raise FileFormatError(target, "", f"the directory {str(target.parent)!r} cannot be written to")
    return target
