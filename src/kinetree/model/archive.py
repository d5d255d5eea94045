"""A model as plain arrays and text, for files that hold one beside their own data."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from .compile import compile_model
from .model import Model

PREFIX = "model."


def model_to_arrays(model: Model) -> dict[str, np.ndarray]:
    """Return the fields of `model` as arrays named `model.<field>`; names are one JSON text."""
    arrays: dict[str, np.ndarray] = {}
    texts: dict[str, Any] = {}
    for item in fields(Model):
        value = getattr(model, item.name)
        if isinstance(value, np.ndarray):
            arrays[PREFIX + item.name] = value
        elif item.compare:
            texts[item.name] = value
    arrays[PREFIX + "texts"] = np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)
    return arrays


def model_from_arrays(arrays: dict[str, Any]) -> Model:
    """Rebuild the model that `model_to_arrays` took apart; it is checked and compiled again, so a file cannot lie."""
    texts = json.loads(bytes(arrays[PREFIX + "texts"]).decode())
    values: dict[str, Any] = {}
    for item in fields(Model):
        if item.compare:
            text = texts.get(item.name)
            values[item.name] = tuple(text) if isinstance(text, list) else text
            if text is None and PREFIX + item.name not in arrays and item.default_factory is not MISSING:
                del values[item.name]  # written before there were coordinates
            elif text is None:
                values[item.name] = np.array(arrays[PREFIX + item.name])
    return compile_model(Model(**values).description())
