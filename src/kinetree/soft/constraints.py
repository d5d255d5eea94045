"""A constraint of a soft-constraint world, as the user sees it: its rows, their softness, limits and forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError
from ..kernels import soft_layout as at
from ..typing import Array, ArrayLike
from .softness import as_rows, check_limits, softness, stiffness_of
from .targets import Target

if TYPE_CHECKING:
    from .bodies import Body
    from .world import World


class Constraint:
    """A view of one constraint and its rows; numbers are read from the world and written to it.

    `child` is the body that the rows push, `parent` the one that they push against (None: the world).
    """

    def __init__(
        self, world: World, index: int, name: str, kind: str, child: Body, parent: Body | None, first: int, count: int
    ) -> None:
        """Used by the `add_...` functions of a world."""
        self.world, self.index, self.name, self.kind = world, index, name, kind
        self.child, self.parent = child, parent
        self.rows = slice(first, first + count)
        self.count = count

    def __repr__(self) -> str:
        """Name it."""
        return f"<Constraint {self.name!r}: {self.kind}, {self.count} rows>"

    @property
    def _rows(self) -> Array:
        return self.world.tables["rows"][self.rows]

    @property
    def _links(self) -> Array:
        return self.world.tables["links"][self.rows]

    @property
    def _frame(self) -> Array:
        return self.world.tables["frames"][self.index]

    # --- what it is

    @property
    def enabled(self) -> bool:
        """Whether the constraint acts; assigning switches it."""
        return bool(self.world.tables["joints"][self.index, at.ENABLED])

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self.world.tables["joints"][self.index, at.ENABLED] = int(bool(value))

    @property
    def enabled_rows(self) -> Array:
        """Which rows act, shape (count,); assigning switches them one by one."""
        return self._links[:, at.WANTED] == 1

    @enabled_rows.setter
    def enabled_rows(self, value: ArrayLike) -> None:
        self._links[:, at.WANTED] = np.broadcast_to(np.asarray(value, dtype=bool), (self.count,))

    @property
    def erp(self) -> Array:
        """The part of the violation that each row takes away in a step."""
        return self._rows[:, at.ERP].copy()

    @property
    def cfm(self) -> Array:
        """Constraint force mixing of each row."""
        return self._rows[:, at.CFM].copy()

    @property
    def stiffness(self) -> Array:
        """The stiffness of the implicit spring that each row is [N/m or N m/rad]."""
        return stiffness_of(self.world.dt, self.erp, self.cfm)[0]

    @property
    def damping(self) -> Array:
        """The damping of the implicit spring that each row is [N s/m or N m s/rad]."""
        return stiffness_of(self.world.dt, self.erp, self.cfm)[1]

    def soften(
        self, *, erp: ArrayLike | None = None, cfm: ArrayLike | None = None, stiffness: ArrayLike | None = None,
        damping: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """Set erp and cfm, or stiffness and damping, of the rows (one number, or one each)."""
        now = (self.erp, self.cfm) if erp is None or cfm is None else (0.0, 0.0)
        e, c, there = softness(
            self.world.dt, self.count, self._title,
            now[0] if erp is None and stiffness is None and damping is None else erp,
            now[1] if cfm is None and stiffness is None and damping is None else cfm,
            stiffness, damping, (0.0, 0.0),
        )  # fmt: skip
        self._rows[:, at.ERP], self._rows[:, at.CFM] = e, c
        if stiffness is not None or damping is not None:
            self._links[:, at.WANTED] = there

    @property
    def limits(self) -> tuple[Array, Array]:
        """Lower and upper limits of the rows' forces [N or N m]; assigning takes (lo, hi)."""
        return self._rows[:, at.LO].copy(), self._rows[:, at.HI].copy()

    @limits.setter
    def limits(self, value: tuple[ArrayLike, ArrayLike]) -> None:
        lo, hi = (as_rows(x, self.count, f"a limit of {self._title}") for x in value)
        check_limits(lo, hi, self._title)
        self._rows[:, at.LO], self._rows[:, at.HI] = lo, hi

    @property
    def _title(self) -> str:
        return f"constraint {self.name!r}"

    # --- what drives it

    @property
    def goal(self) -> Array:
        """What a motor drives to: angles [rad], a displacement [m], or a quaternion (w, x, y, z) of a ball joint."""
        return self._frame[at.GOAL : at.GOAL + self._goal_size].copy()

    @goal.setter
    def goal(self, value: ArrayLike) -> None:
        array = as_rows(value, self._goal_size, f"the goal of {self._title}")
        if self.kind == "vector motor":
            length = float(np.linalg.norm(array))
            if not abs(length - 1) < 1e-6:
                raise ArgumentError(f"the goal of {self._title} is {array.tolist()}: give a quaternion of length 1")
            array = array / length
        self._frame[at.GOAL : at.GOAL + self._goal_size] = array

    @property
    def _goal_size(self) -> int:
        if self.kind == "vector motor":
            return 4
        if self.kind in ("motor", "range"):
            return self.count
        raise ArgumentError(f"{self._title} is a {self.kind}: only motors have a goal")

    @property
    def goal_rate(self) -> Array:
        """How fast the goal moves, or the velocity that a motor without erp drives to [rad/s or m/s]."""
        return self._frame[at.GOAL_RATE : at.GOAL_RATE + min(self.count, 3)].copy()

    @goal_rate.setter
    def goal_rate(self, value: ArrayLike) -> None:
        size = min(self.count, 3)
        self._frame[at.GOAL_RATE : at.GOAL_RATE + size] = as_rows(value, size, f"the goal rate of {self._title}")

    @property
    def anchor(self) -> Array:
        """Where the anchor on the parent's side is in the world [m]; of a marker, assigning moves it."""
        held = self._frame[at.ANCHOR_B : at.ANCHOR_B + 3]
        if self.parent is None:
            return held.copy()
        return self.parent.center + self.parent.rotation @ held

    @anchor.setter
    def anchor(self, value: ArrayLike) -> None:
        place = as_rows(value, 3, f"the anchor of {self._title}")
        if not np.isfinite(place).all():
            raise ArgumentError(f"the anchor of {self._title} is {place.tolist()}: switch it off with enabled = False")
        if self.parent is not None:
            place = self.parent.rotation.T @ (place - self.parent.center)
        self._frame[at.ANCHOR_B : at.ANCHOR_B + 3] = place

    @property
    def anchor_velocity(self) -> Array:
        """Velocity of the anchor on the parent's side, of its own (a marker's) [m/s], world axes."""
        return self._frame[at.RATE_B : at.RATE_B + 3].copy()

    @anchor_velocity.setter
    def anchor_velocity(self, value: ArrayLike) -> None:
        self._frame[at.RATE_B : at.RATE_B + 3] = as_rows(value, 3, f"the anchor velocity of {self._title}")

    @property
    def point(self) -> Array:
        """Where the anchor on the child's side is in the world [m]."""
        return self.child.center + self.child.rotation @ self._frame[at.ANCHOR_A : at.ANCHOR_A + 3]

    @property
    def local_point(self) -> Array:
        """The anchor in the child's frame [m]; assigning moves the attachment."""
        return self._frame[at.ANCHOR_A : at.ANCHOR_A + 3] + self.child.com

    @local_point.setter
    def local_point(self, value: ArrayLike) -> None:
        self._frame[at.ANCHOR_A : at.ANCHOR_A + 3] = as_rows(value, 3, f"the point of {self._title}") - self.child.com

    # --- what came out

    @property
    def force(self) -> Array:
        """Generalised force of each row in the last step [N or N m], shape (count,)."""
        return self._rows[:, at.FORCE].copy()

    @property
    def violation(self) -> Array:
        """By how much each row was violated before the last step [m or rad], shape (count,)."""
        return self._rows[:, at.PHI].copy()

    @property
    def speed(self) -> Array:
        """J v of each row after the last step [m/s or rad/s], shape (count,)."""
        return self._rows[:, at.SPEED].copy()

    @property
    def angles(self) -> Array:
        """The angles [rad] (or displacement [m]) of a hinge, motor or range before the last step."""
        return self._frame[at.ANGLE : at.ANGLE + min(self.count, 3)].copy()

    @property
    def work(self) -> Array:
        """Energy that each row has put into the bodies since the world began [J], shape (count,)."""
        return self._rows[:, at.WORK].copy()

    @property
    def at_limit(self) -> Array:
        """-1, 0 or 1 for each row: at its lower limit of force, between, at its upper."""
        return np.sign(self._links[:, at.SIDE]) * (self._links[:, at.ON] == 1)

    def wrench(self, on: str = "child", *, frame: str = "world", about: str = "center") -> Array:
        """Return [torque; force] of the constraint on its child or parent in the last step, and in whose axes.

        `on` is "child" or "parent"; `frame` "world", "child" or "parent"; the torque is about the "center" of mass of
        the body acted on, or about the "anchor" of the constraint on it. Places and axes are those before the step,
        where the force was found.
        """
        if on not in ("child", "parent") or frame not in ("world", "child", "parent"):
            raise ArgumentError(f"on={on!r}, frame={frame!r}: use 'child' or 'parent', and 'world' or one of these")
        if self.parent is None and "parent" in (on, frame):
            if frame == "parent":
                raise ArgumentError(f"{self._title} has no parent body: use frame='world'")
        columns = slice(0, 6) if on == "child" else slice(6, 12)
        total = self._rows[:, at.FORCE] @ self._rows[:, columns]
        if about == "anchor":
            arm = (
                self._frame[at.ANCHOR_A : at.ANCHOR_A + 3]
                if on == "child"
                else self._frame[at.ANCHOR_B : at.ANCHOR_B + 3]
            )
            body = self.child if on == "child" else self.parent
            turn = np.eye(3) if body is None else self._rotation_then(body)
            total[:3] -= np.cross(turn @ arm, total[3:])
        elif about != "center":
            raise ArgumentError(f"about is {about!r}: use 'center' or 'anchor'")
        if frame != "world":
            body = self.child if frame == "child" else self.parent
            assert body is not None
            turn = self._rotation_then(body)
            total = np.concatenate((turn.T @ total[:3], turn.T @ total[3:]))
        return total

    def _rotation_then(self, body: Body) -> Array:
        """Return the rotation of a body before the last step, when the forces were computed."""
        stored = self.world.tables["bodies"][body.index, at.R : at.R + 9].reshape(3, 3)
        return stored if stored.any() else body.rotation

    def set_target(self, target: Target, row: int = 0) -> None:
        """Give a row another target of the same number of pieces (its parameters may change from step to step)."""
        links = self._links[row]
        pieces = target.pieces()
        if links[at.SHAPE] != target.shape or links[at.PIECES_OF] != len(pieces):
            raise ArgumentError(f"row {row} of {self._title} had a target of another shape: add a new constraint")
        first = int(links[at.TARGET])
        self.world.tables["pieces"][first : first + len(pieces)] = pieces

    def describe(self) -> dict[str, Any]:
        """Return what it is and what came out, for tables."""
        lo, hi = self.limits
        return {
            "name": self.name, "kind": self.kind, "child": self.child.name,
            "parent": self.parent.name if self.parent else None, "force": self.force, "violation": self.violation,
            "lo": lo, "hi": hi, "erp": self.erp, "cfm": self.cfm, "work": self.work,
        }  # fmt: skip
