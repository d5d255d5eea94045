"""`Subject`: the body that stands for a person: a model, where the markers sit on it, and what holds its pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import ArgumentError, MarkerError
from ..kernels import layout as at
from ..kernels import pose as fitting
from ..model.model import Model
from ..typing import Array

GRAVITY = (0.0, 0.0, -9.80665)
REST, STOP, HOLD = 3e-4, 3.0, 1e-5  # rad^-2 m^2: springs beside markers of weight 1 a square metre
LOOSE = {"sacral": 6e-3, "lumbar": 3e-3, "thoracic": 3e-3, "cervical": 1e-3, "clavicle": 2e-3, "tarsal": 2e-3}


@dataclass(frozen=True, eq=False)
class Subject:
    """A person's model and markers.

    `bodies` [m] are the numbers of the bodies that carry the markers, `offsets` [m, 3] their places in them [m],
    `weights` [m] how hard they pull. `prior` [ncolumns, 6] is what the joints do by themselves (`kernels/pose.py`).
    """

    model: Model
    labels: tuple[str, ...]
    bodies: np.ndarray
    offsets: Array
    weights: Array
    prior: Array
    height: float | None = None
    sex: str | None = None
    markerset: str = ""
    gravity: tuple[float, float, float] = GRAVITY
    report: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model, *, weights: dict[str, float] | None = None) -> Subject:
        """Return the subject that a model with markers is, such as an OpenSim model."""
        if not model.marker_names:
            raise MarkerError(f"the model {model.name!r} has no markers, so that it cannot follow any")
        pull = np.array([(weights or {}).get(name, 1.0) for name in model.marker_names])
        return cls(
            model,
            model.marker_names,
            model.marker_bodies.copy(),
            model.marker_offsets.copy(),
            pull,
            default_prior(model),
        )

    @property
    def mass(self) -> float:
        """Mass of the whole body [kg]."""
        return self.model.total_mass

    @property
    def mapped(self) -> bool:
        """Whether the joints follow coordinates, as in OpenSim's models."""
        return bool(self.model.coordinate_names)

    @property
    def is_human48(self) -> bool:
        """Whether the model is the library's 48-DOF human."""
        return self.model.name == "human48"

    def with_markers(self, offsets: Array) -> Subject:
        """Return the same subject with the markers at other places in their bodies [m]."""
        return replace(self, offsets=np.asarray(offsets, dtype=float))

    def only(self, labels: Sequence[str]) -> Subject:
        """Return the same subject with these markers alone."""
        keep = [self.labels.index(label) for label in labels if label in self.labels]
        if not keep:
            raise MarkerError(
                f"none of {', '.join(labels)} is a marker of this subject: it has {', '.join(self.labels)}"
            )
        return replace(
            self, labels=tuple(self.labels[k] for k in keep), bodies=self.bodies[keep], offsets=self.offsets[keep],
            weights=self.weights[keep],
        )  # fmt: skip

    def marker_links(self) -> tuple[np.ndarray, Array]:
        """Return the link of each marker and its place in the link's axes, as the kernels need them."""
        own = self.model.body_poses_in_link[self.bodies]
        points = np.einsum("mij,mj->mi", own[:, :9].reshape(-1, 3, 3), self.offsets) + own[:, 9:]
        return self.model.body_links[self.bodies].astype(np.int64), np.ascontiguousarray(points)

    def start(self) -> Array:
        """Return the coordinates at rest: of `q`, or of the coordinates where joints follow some."""
        if self.mapped:
            return self.model.coordinate_values[:, 0].copy()
        return self.model.neutral()

    def body(self, name: str) -> int:
        """Return the number of a body."""
        return self.model.body_index(name)

    def feet(self) -> dict[str, list[int]]:
        """Return the bodies that can stand on the ground, "right" and "left", the one that plates push on first."""
        found: dict[str, list[int]] = {"right": [], "left": []}
        candidates = {
            "right": ("right_heel", "right_toes", "calcn_r", "toes_r"),
            "left": ("left_heel", "left_toes", "calcn_l", "toes_l"),
        }  # fmt: skip
        for side, names in candidates.items():
            found[side] = [self.model.names.index(name) for name in names if name in self.model.names]
        return found


def default_prior(model: Model) -> Array:
    """Return the weak springs of every column: toward rest, against stops, and holding what no marker shows."""
    if model.coordinate_names:
        values = model.coordinate_values
        prior = np.zeros((len(values), 6))
        prior[:, fitting.REST], prior[:, fitting.STIFF] = values[:, 0], 1e-5
        prior[:, fitting.LOW], prior[:, fitting.HIGH] = values[:, 1], values[:, 2]
        prior[:, fitting.STOP], prior[:, fitting.HOLD] = STOP, 1e-5
        free = np.abs(values[:, 1:3]).max(1) > 3.0  # what turns all the way or travels has no rest
        prior[free, fitting.STIFF] = 0.0
        return prior
    prior = np.zeros((model.nv, 6))
    low, high = model.limits
    prior[:, fitting.LOW], prior[:, fitting.HIGH] = low, high
    prior[:, fitting.STIFF], prior[:, fitting.STOP], prior[:, fitting.HOLD] = REST, STOP, HOLD
    for name in model.joint_names:
        own = model.v_slice(name)
        prior[own, fitting.STIFF] = LOOSE.get(name.rpartition("_")[2], REST)
        if model.joint_kinds[model.joint_body(name)] == at.FREE:
            prior[own, fitting.STIFF] = prior[own, fitting.STOP] = 0.0
    return prior


def check_subject(value: Any) -> Subject:
    """Return a subject; a bare model with markers becomes one."""
    if isinstance(value, Subject):
        return value
    if isinstance(value, Model):
        return Subject.of(value)
    raise ArgumentError(f"subject is {value!r}: give what kinetree.human.fit returns, or a model with markers")
