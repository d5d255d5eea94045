"""What the writers share: numbers and names as text, joints as formats have them, and what cannot be written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ..errors import ModelError
from ..kernels import layout as at
from ..model.description import Body
from ..model.joints import Revolute, Universal
from ..model.model import Model
from .compiled import UNLIMITED
from .notes import Names, Notes

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COLUMNS = {"armature": at.ARMATURE, "damping": at.DAMPING, "friction": at.FRICTION, "stiffness": at.STIFFNESS}


@dataclass
class Written:
    """A file's text and what it leaves out."""

    text: str
    notes: Notes = field(default_factory=Notes)


def numbers(values: Any) -> str:
    """Write numbers so that reading gives the same ones; infinity as a number that `load` takes for it."""
    listed = [float(values)] if isinstance(values, (float, int)) else np.asarray(values, float).ravel().tolist()
    return " ".join([repr(min(max(value, -UNLIMITED), UNLIMITED)) for value in listed])


def element(tag: str, inner: Sequence[str] | None = None, **attributes: Any) -> str:
    """Write an element; attributes that are None are left out, and `type_` is `type`."""
    words = []
    for key, value in attributes.items():
        if value is not None:
            words.append(f" {key.rstrip('_')}={quoteattr(value if isinstance(value, str) else numbers(value))}")
    head = f"<{tag}{''.join(words)}"
    return f"{head}/>" if inner is None else f"{head}>{''.join(inner)}</{tag}>"


def check_names(model: Model) -> None:
    """Refuse names that XML cannot hold, and the one that means the world."""
    for name in (*model.names, *model.body_joint_names, *model.marker_names):
        if _NOT_XML.search(name):
            raise ModelError(f"the name {name!r} has characters that XML cannot hold: rename it")
    if "world" in model.names:
        raise ModelError("a body is named 'world', which means the world itself in these formats: rename it")


def split_universals(bodies: Sequence[Body]) -> list[Body]:
    """Replace each universal joint by two revolutes with the same coordinates, `<joint>_1` and `<joint>_2`."""
    names = Names(name for body in bodies for name in (body.name, body.joint_name))
    result: list[Body] = []
    for body in bodies:
        if not isinstance(body.joint, Universal):
            result.append(body)
            continue
        first, second = names.new(f"{body.joint_name}_1"), names.new(f"{body.joint_name}_2")
        own = [_dof(body, k) for k in range(2)]
        result.append(Body(first, body.parent, Revolute(body.joint.first), body.placement, joint_name=first, **own[0]))
        still = (np.eye(3), np.zeros(3))
        moved = replace(body, parent=first, joint=Revolute(body.joint.second), placement=still, joint_name=second)
        result.append(replace(moved, **own[1]))
    return result


def _dof(body: Body, k: int) -> dict[str, Any]:
    values = {key: values_of(body, key)[k] for key in (*COLUMNS, "rest", "effort")}
    low, high = limits_of(body)
    return {**values, "limits": (low[k], high[k])}


def values_of(body: Body, key: str) -> np.ndarray:
    """Return one of the values per degree of freedom of a body's joint, shape [nv of the joint]."""
    values = np.asarray(getattr(body, key), float)
    return values if values.shape == (body.joint.nv,) else np.broadcast_to(values, (body.joint.nv,))


def limits_of(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits per degree of freedom of a body's joint."""
    low, high = (-np.inf, np.inf) if body.limits is None else body.limits
    low, high, shape = np.asarray(low, float), np.asarray(high, float), (body.joint.nv,)
    if low.shape == high.shape == shape:
        return low, high
    return np.broadcast_to(low, shape), np.broadcast_to(high, shape)


def uniform(body: Body, key: str, file: str) -> float:
    """Return the one value that all degrees of freedom of a joint share; different ones are refused by name."""
    values = values_of(body, key)
    if values.size and (values != values[0]).any():
        raise ModelError(
            f"joint {body.joint_name!r} has different values of {key} ({values.tolist()}) for its degrees of freedom, "
            f"which {file} cannot hold: make them equal"
        )
    return float(values[0]) if values.size else 0.0


def is_limited(body: Body) -> bool:
    """Tell whether any degree of freedom of a body's joint has a finite limit."""
    low, high = limits_of(body)
    return bool(np.isfinite(low).any() or np.isfinite(high).any())


def refuse_joint(body: Body, file: str, remedy: str) -> ModelError:
    """Build the error for a joint that a format has no element for."""
    return ModelError(f"{file} has no {body.joint.name} joint that could hold {body.joint_name!r}: {remedy}")


def quaternion(turn: np.ndarray) -> np.ndarray:
    """Return the unit quaternion w,x,y,z of a rotation, from its largest component (Shepperd 1978)."""
    trace = np.trace(turn)
    diagonal = np.array([trace, *np.diag(turn)])
    k = int(np.argmax(diagonal))
    q = np.empty(4)
    if k == 0:
        q[0] = 1 + trace
        q[1:] = turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]
    else:
        i = k - 1
        j, m = (i + 1) % 3, (i + 2) % 3
        q[0] = turn[m, j] - turn[j, m]
        q[k] = 1 + turn[i, i] - turn[j, j] - turn[m, m]
        q[1 + j] = turn[j, i] + turn[i, j]
        q[1 + m] = turn[m, i] + turn[i, m]
    return q / np.linalg.norm(q)


def roll_pitch_yaw(turn: np.ndarray) -> np.ndarray:
    """Return roll, pitch, yaw with R = Rz(yaw) Ry(pitch) Rx(roll), unwound in turn: exact at every pitch."""
    yaw = np.arctan2(turn[1, 0], turn[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan2(-turn[2, 0], c * turn[0, 0] + s * turn[1, 0])
    roll = np.arctan2(s * turn[0, 2] - c * turn[1, 2], c * turn[1, 1] - s * turn[0, 1])
    return np.array([roll, pitch, yaw])
