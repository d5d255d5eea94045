"""From a description to a model: check it, sort it, pack it for the kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._late import call
from ..errors import ModelError
from ..kernels import layout as at
from .check import check_bodies, check_massless
from .description import Body, Description
from .joints import Fixed, Universal
from .links import build_links
from .model import Model
from .numbers import as_numbers

DOF_FIELDS = ("armature", "damping", "friction", "stiffness", "rest")


def compile_model(description: Description) -> Model:
    """Check a description and compile it into a `Model`; what is wrong is a `ModelError` that names the body."""
    if not description.bodies:
        raise ModelError("the model has no bodies: add at least one with ModelBuilder().body(...)")
    bodies, parents = _sorted_by_depth(description.bodies)
    joints = [body.joint for body in bodies]
    kinds = np.array([joint.kind for joint in joints], dtype=np.int64)
    axes = np.array([_axes(joint) for joint in joints])
    placements = np.array([np.concatenate((b.placement[0].ravel(), b.placement[1])) for b in bodies])
    masses = np.array([body.mass for body in bodies], dtype=float)
    coms = np.array([body.com for body in bodies], dtype=float)
    inertias = np.array([body.inertia for body in bodies], dtype=float)
    dofs = _dof_table(bodies)
    check_bodies(bodies, placements, masses, coms, inertias, dofs)
    inertias = (inertias + inertias.transpose(0, 2, 1)) / 2
    q_starts = np.concatenate(([0], np.cumsum([joint.nq for joint in joints])))
    v_starts = np.concatenate(([0], np.cumsum([joint.nv for joint in joints])))
    topology, constants, body_links, body_poses = build_links(
        parents, kinds, axes, placements, masses, coms, inertias, q_starts, v_starts
    )
    names = tuple(body.name for body in bodies)
    check_massless(topology, constants, dofs, names)
    followed: tuple[Any, ...] = ()
    if description.coordinates is not None:
        moving = tuple(body.joint_name or body.name for body in bodies if body.joint.nv)
        followed = description.coordinates.pack(moving)
    return Model(
        description.name, names, parents, tuple(body.joint_name or body.name for body in bodies), kinds, axes,
        placements, masses, coms, inertias, q_starts, v_starts, *_shape_arrays(bodies), *_marker_arrays(bodies),
        tuple(description.warnings), topology, constants, dofs, body_links, body_poses, *followed,
    )  # fmt: skip


def weld_all_but(model: Model, joints: Sequence[str], q: np.ndarray | None) -> Model:
    """Weld all joints but the named ones as they stand at `q` (neutral if None)."""
    keep = {model.joint_body(joint) for joint in joints}
    poses = call("kinetree.dynamics:body_poses", model, model.neutral() if q is None else q)
    bodies = list(model.description().bodies)
    for i, body in enumerate(bodies):
        if i in keep or model.joint_kinds[i] == at.FIXED:
            continue
        parent = model.parents[i]
        pose = poses[i] if parent < 0 else np.linalg.solve(poses[parent], poses[i])
        weld: dict[str, Any] = dict.fromkeys(DOF_FIELDS, 0.0)
        bodies[i] = replace(
            body, joint=Fixed(), placement=(pose[:3, :3], pose[:3, 3]), limits=None, effort=np.inf, **weld
        )
    return compile_model(Description(bodies, model.name, model.warnings))


def _sorted_by_depth(bodies: Sequence[Body]) -> tuple[list[Body], np.ndarray]:
    """Put parents before children, keeping the given order where it does so already; returns the parents' indices."""
    _refuse_duplicates((body.name for body in bodies), "bodies")
    _refuse_duplicates((body.joint_name or body.name for body in bodies), "joints")
    _refuse_duplicates((name for body in bodies for name in body.markers), "markers")
    index = {body.name: i for i, body in enumerate(bodies)}
    parents = np.full(len(bodies), -1, dtype=np.int64)
    for i, body in enumerate(bodies):
        if body.parent is not None:
            if body.parent not in index:
                raise ModelError(f"body {body.name!r} hangs on {body.parent!r}, which does not exist: add that body")
            parents[i] = index[body.parent]
    if np.all(parents < np.arange(len(bodies))):
        return list(bodies), parents
    order = _topological_order(parents)
    if len(order) < len(bodies):
        stuck = _a_cycle(parents, set(range(len(bodies))) - set(order))
        chain = " -> ".join(repr(bodies[i].name) for i in stuck[:8])
        raise ModelError(f"the bodies {chain} form a cycle: the parent of one of them must be the world")
    new = np.empty(len(order), dtype=np.int64)
    new[order] = np.arange(len(order))
    old_parents = parents[order]
    return [bodies[i] for i in order], np.where(old_parents < 0, -1, new[old_parents])


def _topological_order(parents: np.ndarray) -> list[int]:
    """Return the bodies that hang on the world, in the given order but each parent first."""
    placed = np.zeros(len(parents), dtype=bool)
    hopeless = np.zeros(len(parents), dtype=bool)
    order: list[int] = []
    for i in range(len(parents)):
        path: list[int] = []
        j = i
        while j >= 0 and not placed[j] and not hopeless[j] and len(path) <= len(parents):
            path.append(j)
            j = int(parents[j])
        if j >= 0 and not placed[j]:
            hopeless[path] = True
            continue
        for k in reversed(path):
            placed[k] = True
            order.append(k)
    return order


def _a_cycle(parents: np.ndarray, stuck: set[int]) -> list[int]:
    seen: list[int] = []
    at_body = min(stuck)
    first: dict[int, int] = {}
    while at_body not in first:
        first[at_body] = len(seen)
        seen.append(at_body)
        at_body = int(parents[at_body])
    return [*seen[first[at_body] :], at_body]


def _refuse_duplicates(names: Any, kind: str) -> None:
    counts = Counter(names)
    if len(counts) < sum(counts.values()):
        twice = [name for name, count in counts.items() if count > 1][:5]
        raise ModelError(f"several {kind} are named {', '.join(map(repr, twice))}: names must be unique")


def _axes(joint: Any) -> tuple[float, ...]:
    if isinstance(joint, Universal):
        return (*joint.first, *joint.second, 0.0)
    return (*getattr(joint, "axis", (0.0, 0.0, 0.0)), 0.0, 0.0, 0.0, getattr(joint, "pitch", 0.0))


def _dof_table(bodies: Sequence[Body]) -> np.ndarray:
    """Collect what each degree of freedom does by itself, shape [nv, 8]."""
    rows: list[tuple[float, ...] | np.ndarray] = []
    for body in bodies:
        n = body.joint.nv
        low, high = (-np.inf, np.inf) if body.limits is None else _two_limits(body)
        values = (body.armature, body.damping, body.friction, body.stiffness, body.rest, low, high, body.effort)
        if n == 1 and all(type(value) in (float, int) for value in values):
            rows.append(values)
        elif n:
            names = (*DOF_FIELDS, "limits", "limits", "effort")
            rows.extend(np.array([_per_dof(body, key, v) for key, v in zip(names, values, strict=True)]).T)
        elif body.limits is not None:
            raise ModelError(f"body {body.name!r} is fixed and cannot have limits: remove them or give it a joint")
    return np.array(rows, dtype=float).reshape(-1, at.DOFS)


def _two_limits(body: Body) -> tuple[Any, Any]:
    try:
        low, high = body.limits  # type: ignore[misc]
    except (TypeError, ValueError):
        raise ModelError(f"body {body.name!r}: limits is {body.limits!r}: give a pair (lower, upper)") from None
    return low, high


def _per_dof(body: Body, key: str, value: Any) -> np.ndarray:
    array = as_numbers(value, f"body {body.name!r}: {key}")
    if array.ndim == 0 or array.shape == (1,):
        return np.full(body.joint.nv, float(array.reshape(-1)[0]))
    if array.shape != (body.joint.nv,):
        raise ModelError(
            f"body {body.name!r}: {key} has shape {array.shape}, but its {body.joint.name} joint has "
            f"{body.joint.nv} degrees of freedom: give one number or {body.joint.nv}"
        )
    return array


def _shape_arrays(
    bodies: Sequence[Body],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    pairs = [(i, shape) for i, body in enumerate(bodies) for shape in body.shapes]
    nothing = (np.nan, np.nan, np.nan)
    sizes = np.zeros((len(pairs), 3))
    for k, (_, shape) in enumerate(pairs):
        sizes[k, : len(shape.sizes)] = shape.sizes
    return (
        np.array([i for i, _ in pairs], dtype=np.int64),
        np.array([shape.kind for _, shape in pairs], dtype=np.int64),
        sizes,
        np.array([np.concatenate((s.placement[0].ravel(), s.placement[1])) for _, s in pairs]).reshape(-1, 12),
        np.array([shape.color or nothing for _, shape in pairs], dtype=float).reshape(-1, 3),
        np.array([shape.density for _, shape in pairs], dtype=float),
    )


def _marker_arrays(bodies: Sequence[Body]) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    rows = [(name, i, offset) for i, body in enumerate(bodies) for name, offset in body.markers.items()]
    offsets = np.array([np.asarray(offset, dtype=float) for _, _, offset in rows]).reshape(-1, 3)
    return tuple(name for name, _, _ in rows), np.array([i for _, i, _ in rows], dtype=np.int64), offsets
