"""Models by name, as the command line writes them: `pendulum:300`, `molecule:50000,seed=3`, `humanoid`."""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ...errors import ArgumentError, UnknownNameError
from ..model import Model

NAMES = ("bicycle_chain", "chain", "crowd", "human48", "humanoid", "millipede", "molecule", "pendulum")


def names() -> list[str]:
    """Return the names of the models in the library."""
    return list(NAMES)


def usage() -> dict[str, str]:
    """Return, for each name, the arguments that it takes with their defaults."""
    result = {}
    for name in NAMES:
        parameters = inspect.signature(_function(name)).parameters.values()
        result[name] = "(" + ", ".join(f"{parameter.name}={parameter.default}" for parameter in parameters) + ")"
    return result


def from_spec(spec: str) -> Model:
    """Build the model that `spec` names: `name`, `name:value,...` or `name:key=value,...`.

    >>> from_spec("millipede:legs=10,spine=30").nbodies
    130
    """
    name, _, rest = str(spec).partition(":")
    name = name.strip().replace("-", "_")
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "it has " + ", ".join(NAMES)
        raise UnknownNameError(f"the library has no model named {name!r}; {hint}")
    function = _function(name)
    positional, keywords = _arguments(spec, rest)
    try:
        inspect.signature(function).bind(*positional, **keywords)
    except TypeError as error:
        raise ArgumentError(f"model {spec!r}: {error}; it takes {name}{usage()[name]}") from None
    model = function(*positional, **keywords)
    if not isinstance(model, Model):
        raise TypeError(f"kinetree.models.{name} returned {type(model).__name__}, not a Model")
    return model


def _function(name: str) -> Callable[..., Any]:
    return getattr(import_module(f"{__package__}.{name}"), name)


def _arguments(spec: str, text: str) -> tuple[list[Any], dict[str, Any]]:
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = item.rpartition("=")
        if equals:
            keywords[key.strip().replace("-", "_")] = _value(spec, value)
        elif keywords:
            raise ArgumentError(f"model {spec!r}: {item!r} stands after a key=value: put plain values first")
        else:
            positional.append(_value(spec, value))
    return positional, keywords


def _value(spec: str, text: str) -> Any:
    word = text.strip()
    if word.lower() in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[word.lower()]
    try:
        value = ast.literal_eval(word.replace("_", "") if word.replace("_", "").isdigit() else word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ArgumentError(f"model {spec!r}: {word!r} is not a number, true or false")
    return value
