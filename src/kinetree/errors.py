"""The errors that kinetree raises: each says what was wrong, where, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class KinetreeError(Exception):
    """Base of every error that kinetree raises on purpose."""

    def __reduce__(self) -> Any:
        """Pickle by the finished message and the attributes, whatever the constructor takes."""
        return _rebuild, (type(self), self.args, dict(self.__dict__))


def _rebuild(kind: type[KinetreeError], args: tuple[Any, ...], attributes: dict[str, Any]) -> KinetreeError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


class ModelError(KinetreeError, ValueError):
    """A model that cannot be built or simulated: names the body or joint."""


class UnknownNameError(ModelError, KeyError):
    """A name that the model does not have."""

    def __str__(self) -> str:
        """Give the message itself (`KeyError` would print its repr)."""
        return str(self.args[0])


class ArgumentError(KinetreeError, ValueError):
    """An argument of the wrong shape, type or range: names the argument."""


class StateError(ArgumentError):
    """A configuration or velocity that is not a state of the model: names the joint."""


class SingularError(KinetreeError, ArithmeticError):
    """An articulated body without inertia along one of its joints: names the joint."""


class MissingExtraError(KinetreeError, ImportError):
    """An optional dependency that is not installed: names the extra that brings it."""


class FileFormatError(KinetreeError, ValueError):
    """A file that cannot be understood: carries `path` and `where` (line, element or field)."""

    def __init__(self, path: object, where: str, message: str) -> None:
        """Say that the file at `path` is wrong at `where`, and what to do."""
        self.path = str(path)
        self.where = where
        super().__init__(f"{path}: {where}: {message}" if where else f"{path}: {message}")


class MarkerError(KinetreeError, ValueError):
    """Markers that cannot be used: names the label and, where there is one, the frame."""


class DivergedError(KinetreeError, ArithmeticError):
    """A simulation that left the finite numbers: carries `time`, `body` and the `trajectory` recorded before."""

    def __init__(self, time: float, body: str, message: str, trajectory: object = None) -> None:
        """Say when and at which body the motion diverged."""
        self.time = time
        self.body = body
        self.trajectory = trajectory
        super().__init__(message)


class ConvergenceError(KinetreeError, ArithmeticError):
    """An iteration that did not reach its tolerance."""


def unknown_name(kind: str, name: object, valid: Iterable[str]) -> UnknownNameError:
    """Build the error for a `name` that is not among the `valid` ones, with the nearest of them."""
    valid = list(valid)
    near = difflib.get_close_matches(str(name), valid, n=3) if len(valid) <= 5000 else []
    hint = f"did you mean {', '.join(map(repr, near))}?" if near else "it has " + _some(valid)
    return UnknownNameError(f"the model has no {kind} named {name!r}; {hint}")


def _some(names: list[str], most: int = 8) -> str:
    if not names:
        return "none"
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtraError:
    """Build the error for an optional `package` that `purpose` needs."""
    return MissingExtraError(f"{purpose} needs {package}; install it with: pip install 'kinetree[{extra}]'")
