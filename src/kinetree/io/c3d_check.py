"""C3D headers that lie: found here, before the library that reads the file believes them.

A file is three parts of 512-byte blocks: a header, parameters in groups, and frames of points with the samples of
analog channels (C3D user guide). A count that the file has no room for, or a chain of parameters that leaves its
section, would make a reader that trusts them hang, or end the process.
"""

from __future__ import annotations

import struct

from ..errors import FileFormatError

BLOCK = 512
SIZES = {-1: 1, 1: 1, 2: 2, 4: 4}  # bytes of an entry by the type of a parameter: text, byte, integer, real
MOST_SAMPLES = 100  # analog samples a frame: no laboratory records more


def check_c3d(path: object, data: bytes) -> None:
    """Raise a `FileFormatError` where the header or the parameters contradict the file."""
    if len(data) < 2 * BLOCK:
        raise FileFormatError(path, "header", f"the file has {len(data)} bytes: a C3D file has at least {2 * BLOCK}")
    if data[1] != 0x50:
        raise FileFormatError(path, "byte 2", f"is {data[1]:#x}, not 0x50: this is not a C3D file")
    at = (data[0] - 1) * BLOCK
    if not 0 < at <= len(data) - 4:
        raise FileFormatError(path, "byte 1", f"the parameters begin at block {data[0]}, which the file does not have")
    blocks, processor = data[at + 2], data[at + 3]
    if blocks == 0 or at + blocks * BLOCK > len(data):
        raise FileFormatError(path, "parameters", f"{blocks} blocks are announced, but the file ends before")
    if processor not in (84, 85, 86):
        raise FileFormatError(path, "parameters", f"the processor type is {processor}: it must be 84, 85 or 86")
    order = ">" if processor == 86 else "<"
    found = _parameters(path, data[at + 4 : at + blocks * BLOCK], order)
    _check_frames(path, data, order, processor, found)


def _check_frames(path: object, data: bytes, order: str, processor: int, found: dict[str, bytes]) -> None:
    """Compare the counts of the header with those of the parameters and with the size of the file."""
    points, channels, first, last = struct.unpack(order + "HHHH", data[2:10])
    scale = _real(data[12:16], processor)
    start, samples = struct.unpack(order + "HH", data[16:20])
    used = _integer(found.get("POINT:USED"), order, points)
    if used != points:
        raise FileFormatError(path, "POINT:USED", f"is {used}, but the header says {points} points")
    if samples > MOST_SAMPLES:
        raise FileFormatError(path, "header", f"{samples} analog samples a frame are announced: that cannot be")
    turns = _integer(found.get("ROTATION:USED"), order, 0)
    ratio = _integer(found.get("ROTATION:RATIO"), order, 1)
    if ratio > MOST_SAMPLES or turns > points + channels + MOST_SAMPLES:
        raise FileFormatError(
            path, "ROTATION", f"{turns} rotations, {ratio} times a frame, are announced: that cannot be"
        )
    own = _integer(found.get("ANALOG:USED"), order, 0)
    if own * max(samples, 1) != channels and not (own == 0 or channels == 0):
        raise FileFormatError(
            path, "ANALOG:USED", f"is {own}, but the header says {channels} samples in {samples} a frame"
        )
    frames = max(last - first + 1, 0)
    begin = (start - 1) * BLOCK
    if begin <= 0 or begin > len(data):
        raise FileFormatError(path, "header", f"the data begin at block {start}, which the file does not have")
    size = (4 * points + channels) * (4 if scale < 0 else 2)
    if last == 65535 or size == 0:
        frames = 0  # long files keep the true count in their parameters
    whole = (len(data) - begin) // size if size else 0
    if frames > whole:
        raise FileFormatError(
            path, f"frame {first + whole}",
            f"the header announces {frames} frames of {points} points, but the file ends after {whole} of them: it is "
            "truncated; copy it again",
        )  # fmt: skip


def _parameters(path: object, section: bytes, order: str) -> dict[str, bytes]:
    """Walk through the chain of groups and parameters; returns the bytes of the values by "GROUP:NAME"."""
    groups: dict[int, str] = {}
    values: list[tuple[int, str, bytes]] = []
    at = 0
    while at + 2 <= len(section):
        length, owner = struct.unpack("bb", section[at : at + 2])
        if length == 0:
            break
        name_end = at + 2 + abs(length)
        if owner == 0 or name_end + 2 > len(section):
            raise FileFormatError(
                path, f"parameters, byte {at}", "a name goes beyond the section, or belongs to no group"
            )
        name = section[at + 2 : name_end]
        if not all(32 < letter < 127 for letter in name):
            raise FileFormatError(path, f"parameters, byte {at}", f"{name!r} is no name: the section is damaged")
        (step,) = struct.unpack(order + "H", section[name_end : name_end + 2])
        content = section[name_end + 2 :]
        text = name.decode("ascii").upper()
        if owner < 0:
            groups[-owner] = text
            need = 1 + content[0] if content else 1
        else:
            need = _size(path, text, content)
            values.append((owner, text, content[:need]))
        if step and (step < need or name_end + step > len(section)):
            raise FileFormatError(path, f"parameter {text}", f"its entry is {step} bytes long, but it needs {need}")
        if not step:
            break
        at = name_end + step
    orphans = sorted({owner for owner, _, _ in values} - set(groups))
    if orphans:
        raise FileFormatError(path, "parameters", f"some belong to group {orphans[0]}, which does not exist")
    if "POINT" not in groups.values():
        raise FileFormatError(path, "parameters", "there is no group POINT: the section is damaged")
    return {f"{groups[owner]}:{text}": content for owner, text, content in values}


def _size(path: object, name: str, content: bytes) -> int:
    """Return how many bytes a parameter's type, dimensions, values and description take."""
    if len(content) < 3:
        raise FileFormatError(path, f"parameter {name}", "the section ends in it")
    kind, count = struct.unpack("bB", content[:2])
    if kind not in SIZES or count > 7:
        raise FileFormatError(path, f"parameter {name}", f"its type is {kind} with {count} dimensions: it is damaged")
    entries = 1
    for size in content[2 : 2 + count]:
        entries *= size
    need = 2 + count + entries * SIZES[kind]
    if need + 1 > len(content):
        raise FileFormatError(path, f"parameter {name}", f"it has {entries} entries, more than the section holds")
    return need + 1 + content[need]


def _integer(content: bytes | None, order: str, default: int) -> int:
    """Return the integer of a parameter with one entry."""
    if content is None or len(content) < 4 or content[0] != 2:
        return default
    at = 2 + content[1]
    return int(struct.unpack(order + "H", content[at : at + 2])[0])


def _real(data: bytes, processor: int) -> float:
    """Read a number as the processor wrote it: IEEE little (84) and big (86) endian, or DEC (85)."""
    if processor == 85:
        value: float = struct.unpack("<f", data[2:4] + data[0:2])[0]
        return value / 4.0
    return float(struct.unpack(">f" if processor == 86 else "<f", data)[0])
