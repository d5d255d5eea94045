"""Build a model body by body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ModelError
from .compile import compile_model
from .description import WORLD, Body, Description, mass_properties
from .joints import Fixed, Joint
from .model import Model
from .shapes import Shape, as_pose


class ModelBuilder:
    """Collects bodies and builds a frozen `Model`.

    >>> import kinetree as kt
    >>> arm = (
    ...     kt.ModelBuilder("arm")
    ...     .body("upper", joint=kt.Revolute("y"), mass=2.0, com=(0, 0, -0.15), inertia=(0.02, 0.02, 0.002))
    ...     .body("lower", parent="upper", joint=kt.Revolute("y"), placement=(None, (0, 0, -0.3)),
    ...           shapes=[kt.Capsule.between((0, 0, 0), (0, 0, -0.25), 0.03)], limits=(0.0, 2.5))
    ...     .build()
    ... )
    >>> arm.nv
    2
    """

    def __init__(self, name: str = "") -> None:
        """Start an empty model."""
        self.name = name
        self.warnings: list[str] = []
        self._bodies: list[Body] = []

    def body(
        self,
        name: str,
        *,
        parent: str | None = None,
        joint: Joint | None = None,
        placement: Any = None,
        mass: float | None = None,
        com: Any = None,
        inertia: Any = None,
        shapes: Sequence[Shape] = (),
        limits: tuple[Any, Any] | None = None,
        markers: Mapping[str, Any] | None = None,
        joint_name: str = "",
        armature: Any = 0.0,
        damping: Any = 0.0,
        friction: Any = 0.0,
        stiffness: Any = 0.0,
        rest: Any = 0.0,
        effort: Any = float("inf"),
    ) -> ModelBuilder:
        """Add a body and the joint that connects it to `parent` (None or "world": the world); returns the builder.

        Mass, centre of mass and inertia that are not given come from the shapes (1000 kg/m3, or scaled to `mass`). A
        body without any is massless, which is allowed where something beyond its joint has inertia. `parent` may be
        added later. `armature` [kg m2], `damping` [N m s], `friction` [N m], `stiffness` [N m/rad], `rest` [rad] and
        `effort` [N m] (and likewise for translations) are per degree of freedom.
        """
        if not isinstance(name, str) or not name:
            raise ModelError(f"a body's name is {name!r}: it must be a text that is not empty")
        if name == WORLD:
            raise ModelError("a body is named 'world', which means the world itself as a parent: rename it")
        if not isinstance(joint_name, str) or not (parent is None or isinstance(parent, str)):
            raise ModelError(f"body {name!r}: parent is {parent!r}, joint_name {joint_name!r}: give names, as texts")
        if isinstance(joint, type) and issubclass(joint, Joint):
            joint = joint()
        joint = Fixed() if joint is None else joint
        if not isinstance(joint, Joint):
            raise ModelError(f"body {name!r}: joint is {joint!r}; use kinetree.Revolute('x'), kinetree.Free(), ...")
        if not isinstance(shapes, Sequence) or not all(isinstance(item, Shape) for item in shapes):
            raise ModelError(f"body {name!r}: {shapes!r} is no list of shapes; use [kinetree.Box(...), ...]")
        if markers is not None and not isinstance(markers, Mapping):
            raise ModelError(f"body {name!r}: markers is {markers!r}: give a dictionary of names and positions")
        full_mass, full_com, full_inertia = mass_properties(name, mass, com, inertia, shapes)
        self._bodies.append(
            Body(
                name, None if parent == WORLD else parent, joint, as_pose(placement, f"the placement of body {name!r}"),
                full_mass, full_com, full_inertia, tuple(shapes), dict(markers) if markers else {}, joint_name or name,
                limits, armature, damping, friction, stiffness, rest, effort,
            )
        )  # fmt: skip
        return self

    def add(self, body: Body) -> ModelBuilder:
        """Add a finished `Body`, for example one out of `Model.description()`."""
        self._bodies.append(body)
        return self

    def description(self) -> Description:
        """Return what was collected so far, unchecked."""
        return Description(tuple(self._bodies), self.name, tuple(self.warnings))

    def build(self) -> Model:
        """Check everything and return the frozen model."""
        return compile_model(self.description())
