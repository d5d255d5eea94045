"""MuJoCo's compiler, run quietly: values are read from what it made of a file, not from the text."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import FileFormatError, missing_extra
from ..model.shapes import Box, Capsule, Plane, Shape, Sphere, as_pose
from .notes import Notes

UNLIMITED = 1e300  # stands for infinity in files: larger numbers mean "no limit"

_lock = threading.Lock()  # MuJoCo's log settings and warning handler belong to the whole process
_LINE = re.compile(r",? *line (\d+)")
_ELEMENT = re.compile(r"Element (?:name )?'([^']*)'")


def require_mujoco() -> Any:
    """Import mujoco or say which extra brings it."""
    try:
        import mujoco
    except ImportError:
        raise missing_extra("mujoco", "io", "reading URDF and MJCF") from None
    return mujoco


@contextmanager
def quiet_mujoco(path: object, notes: Notes, real_name: Callable[[str], str] = str) -> Iterator[Any]:
    """Give the mujoco module; its log file and console output are off inside, its errors become `FileFormatError`.

    What it warns of goes to the notes. `real_name` turns the names that MuJoCo saw into those of the file.
    """
    mujoco = require_mujoco()
    with _lock:
        config = getattr(mujoco, "MjLogConfig", None)
        before = config.get() if config else None
        handler = mujoco.get_mju_user_warning()
        said: list[str] = []
        try:
            if config:
                silent = config.get()
                silent.logto_file = silent.logto_console = False
                silent.set()
            mujoco.set_mju_user_warning(said.append)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                yield mujoco
            texts = {" ".join(text.split()) for text in (*said, *(str(item.message) for item in caught))}
            kept = [text for text in sorted(texts) if not any(text != other and text in other for other in texts)]
            if kept:
                notes.add("MuJoCo's compiler warns", *kept)
        except FileFormatError:
            raise
        except (ValueError, mujoco.FatalError, RuntimeError, KeyError) as error:
            raise _translated(path, str(error), real_name) from None
        finally:
            mujoco.set_mju_user_warning(handler)
            if before:
                before.set()


def _translated(path: object, message: str, real_name: Callable[[str], str]) -> FileFormatError:
    line, element = _LINE.search(message), _ELEMENT.search(message)
    where = []
    if line:
        where.append(f"line {line[1]}")
    if element and element[1]:
        where.append(f"element {real_name(element[1])!r}")
    kept = [row for row in message.splitlines() if row and not row.startswith(("Element", "The static bodies"))]
    text = _LINE.sub("", " ".join(kept))
    text = re.sub(r"^(?:XML )?(?:Error: *)+", "", text).strip()
    text = text.replace("fix", "let MuJoCo change it") if "balanceinertia" in text else text
    return FileFormatError(path, ", ".join(where), f"MuJoCo's compiler says: {text}")


def body_pose(compiled: Any, body: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose of a compiled body in its parent."""
    return as_pose((compiled.body_quat[body], compiled.body_pos[body]), "a body")


def mass_of(compiled: Any, body: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, centre of mass and inertia about it in body axes, put back from the principal form."""
    turn = as_pose((compiled.body_iquat[body], None), "an inertia")[0]
    inertia = (turn * compiled.body_inertia[body]) @ turn.T
    return float(compiled.body_mass[body]), compiled.body_ipos[body].copy(), (inertia + inertia.T) / 2


def shape_of(mujoco: Any, compiled: Any, geom: int, name: str, density: float, notes: Notes) -> Shape | None:
    """Turn a compiled geom into a shape, or note why it has none.

    A cylinder becomes the capsule of its radius and total length, or the box of its volume if it is flat.
    """
    kind, size = int(compiled.geom_type[geom]), compiled.geom_size[geom].tolist()
    kinds = mujoco.mjtGeom
    place = as_pose((compiled.geom_quat[geom], compiled.geom_pos[geom]), "a geom")
    common: dict[str, Any] = {"placement": place, "color": _color(compiled, geom), "density": density}
    if kind == kinds.mjGEOM_SPHERE:
        return Sphere(radius=size[0], **common)
    if kind == kinds.mjGEOM_CAPSULE:
        return Capsule(radius=size[0], length=2 * size[1], **common)
    if kind == kinds.mjGEOM_BOX:
        return Box(size=(2 * size[0], 2 * size[1], 2 * size[2]), **common)
    if kind == kinds.mjGEOM_PLANE:
        return Plane(**common)
    if kind == kinds.mjGEOM_CYLINDER:
        radius, half = size[0], size[1]
        notes.add("cylinders are drawn as capsules or, flat ones, as boxes", name)
        if half > radius:
            return Capsule(radius=radius, length=2 * (half - radius), **common)
        return Box(size=(np.sqrt(np.pi) * radius, np.sqrt(np.pi) * radius, 2 * half), **common)
    if kind == kinds.mjGEOM_ELLIPSOID:
        notes.add("shapes that are left out because they are ellipsoids", name)
    else:
        notes.add("shapes that are left out because they are meshes or height fields", name)
    return None


def _color(compiled: Any, geom: int) -> tuple[float, float, float] | None:
    rgba, material = compiled.geom_rgba[geom], int(compiled.geom_matid[geom])
    if np.allclose(rgba, (0.5, 0.5, 0.5, 1.0)):  # MuJoCo's grey: nothing was said of the geom itself
        if material < 0:
            return None
        rgba = compiled.mat_rgba[material]
    red, green, blue = (float(value) for value in rgba[:3])
    return red, green, blue


def limit(value: float) -> float:
    """Turn the numbers that stand for infinity back into it."""
    return float(np.copysign(np.inf, value)) if abs(value) >= UNLIMITED else float(value)
