"""Constraints as text, for a simulation that is saved."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..model.model import Model
from ..model.shapes import SHAPE_KINDS, Shape
from .contact import HeightField, Hull
from .motion import MotionTarget

HOMES = {
    "Contacts": "contact", "JointLimits": "limits", "JointFriction": "limits", "Motor": "limits", "Loop": "loop",
    "PointAttachment": "loop", "PointAcceleration": "loop", "MotionTarget": "motion", "JointAcceleration": "motion",
    "Solver": "solver",
}  # fmt: skip


def to_text(item: Any, model: Model) -> list[Any]:
    """Return a constraint as a name and values that JSON can hold."""
    values = {part.name: getattr(item, part.name) for part in fields(item)}
    if isinstance(item, MotionTarget):
        if callable(item.weight):
            raise ArgumentError("a MotionTarget whose weight is a function is code and cannot be saved: use a number")
        curve = item.curve(model)
        values["joints"] = list(item.names(model))
        values["trajectory"] = [curve.times, curve.full[:, curve.columns]]
    return [type(item).__name__, {key: _plain(value) for key, value in values.items()}]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Hull):
        return {"Hull": [value.points.tolist(), _plain(value.placement)]}
    if isinstance(value, HeightField):
        return {"HeightField": [value.heights.tolist(), _plain(value.spacing), _plain(value.placement)]}
    if isinstance(value, Shape):
        names = ("size",) if value.kind == 0 else value.lengths
        own = {name: _plain(getattr(value, name)) for name in names}
        return {type(value).__name__: own | {"placement": _plain(value.placement)}}
    if isinstance(value, dict):
        return {"dict": [[key, _plain(item)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _rich(value: Any) -> Any:
    if isinstance(value, list):
        return [_rich(item) for item in value]
    if not isinstance(value, dict):
        return value
    (kind, own), *_ = value.items()
    if kind == "dict":
        return {key: _rich(item) for key, item in own}
    if kind == "Hull":
        return Hull(own[0], tuple(own[1]))
    if kind == "HeightField":
        return HeightField(own[0], own[1], tuple(own[2]))
    shapes = {shape.__name__: shape for shape in SHAPE_KINDS.values()}
    return shapes[kind](**own)


def from_text(saved: list[Any]) -> Any:
    """Make a constraint of what `to_text` returned."""
    name, values = saved
    kind = getattr(import_module(f".{HOMES[name]}", __package__), name)
    return kind(**{key: _rich(value) for key, value in values.items()})
