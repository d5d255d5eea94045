"""The forces of an adaptive simulation: kept together with the room in which its hybrid body is stepped."""

from __future__ import annotations

import numpy as np

from ..kernels import acts as act
from ..kernels import layout as at
from ..kernels import nodes as to
from ..kernels.acts import Acts
from ..kernels.forest import Forest, Small
from ..model.model import Model
from .assembly_tree import AssemblyTree
from .dca import refuse_massless
from .room import make_small, resize

JOINTS = ("stiffness", "damping", "friction", "stops", "rest")


class Loads:
    """What acts, as the kernels take it, and how the present differs from what nodes at rest remember.

    Wrenches that a callback returns become rows of the table of wrenches. Forces may come, change and go at any step;
    only springs and dampers in joints, which are part of what a joint answers, ask for a new beginning.
    """

    acts: Acts
    small: Small

    def __init__(self, model: Model, assembly: AssemblyTree) -> None:
        """Hold nothing yet."""
        self.model, self.assembly = model, assembly
        units = assembly.units
        self.stale = np.zeros(len(units), dtype=bool)
        """The units whose joint has another constant force than the nodes at rest remember."""
        self.ready = False
        self._unit_of_freedom = np.zeros(model.nv, dtype=np.int64)
        for k in range(6):
            has = np.flatnonzero(units[:, to.COUNT] > k)
            self._unit_of_freedom[units[has, to.FREEDOM + k]] = has

    def alike(self, acts: Acts) -> bool:
        """Whether the joints have the same springs, dampers and stops as before."""
        return self.ready and all(getattr(acts, name) is getattr(self._given, name) for name in JOINTS)

    def begin(self, acts: Acts, integrator: int) -> None:
        """Take over all forces."""
        self._given, self.acts = acts, self._tables(acts)
        model = self.model
        self.small = make_small(model.njoints, model.nq, model.nv, integrator, len(self.assembly.units), self.acts)
        self.stale[:] = False
        self.ready = True

    def change(self, acts: Acts, forest: Forest) -> bool:
        """Take over forces that have come, changed or gone; returns whether the hybrid body must be made anew."""
        if acts is self._given:
            return False
        before, now = self.acts, self._tables(acts)
        self._given, self.acts = acts, now
        small = self.small
        if now.feed is not before.feed:
            changed = np.flatnonzero(now.feed != before.feed)
            self.stale[self._unit_of_freedom[changed]] = True
            nv = int(forest.sizes[to.VELOCITIES])
            small.feed[:nv] = now.feed[small.v_of[:nv]]
        if now.wrenches is before.wrenches and now.springs is before.springs:
            return False
        if (
            now.springs is before.springs
            and np.array_equal(now.wrench_links, before.wrench_links)
            and np.array_equal(now.wrenches[:, act.POINT :], before.wrenches[:, act.POINT :])
            and not now.wrench_links[:, 1].any()
        ):  # the same places, and axes of the world: only the numbers are others
            small.wrenches[:, : act.POINT] = now.wrenches[:, : act.POINT]
            return False
        self.small = resize(small, now)
        return True

    def _tables(self, acts: Acts) -> Acts:
        """Return the forces, a callback's wrenches as rows like any other; all are on bodies that take one."""
        model = self.model
        if len(acts.external):
            bodies = np.flatnonzero(acts.external.any(axis=1) & (model.body_links >= 0))
            rows = np.zeros((len(bodies), act.WRENCHES))
            rows[:, act.TORQUE : act.TORQUE + 6] = acts.external[bodies]
            rows[:, act.POINT : act.POINT + 3] = model.body_poses_in_link[bodies, 9:12]
            rows[:, act.UNTIL] = np.inf
            links = np.stack((model.body_links[bodies], np.zeros(len(bodies), dtype=np.int64)), axis=1)
            acts = acts._replace(
                wrenches=np.concatenate((acts.wrenches, rows)),
                wrench_links=np.concatenate((acts.wrench_links, links)),
                external=np.zeros((0, 6)),
            )
        for links in (acts.wrench_links[:, 0], acts.spring_links[:, 0], acts.spring_links[:, 1]):
            refuse_massless(self.assembly, model.topology[links[links >= 0], at.BODY])
        return acts
