"""A readable account of a model: sizes, masses, the tree with its joints and limits, and what to mind."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import layout as at
from .joints import Helical, Universal
from .model import Model

LONGEST = 150  # lines of the tree
RUN = 8  # bodies in a row that are all shown; of a longer row only the ends are
BRANCHES = 12  # branches of one body that are shown


def describe(model: Model) -> str:
    """Return sizes, masses, the tree of bodies with joints and limits (long trees shortened), and warnings."""
    facts = summary(model)
    title = model.name or "model"
    trees = f"{facts['trees']} trees" if facts["trees"] != 1 else "1 tree"
    lines = [
        f"{title}: {facts['bodies']} bodies in {trees}, {facts['joints']} moving joints, {model.nv} degrees of freedom",
        f"total mass {model.total_mass:.6g} kg; {facts['depth']} bodies deep; "
        + ", ".join(f"{number} {kind}" for kind, number in facts["joint_kinds"].items()),
        "",
        *_tree(model),
    ]
    if facts["warnings"]:
        lines += ["", "warnings:", *(f"  - {warning}" for warning in facts["warnings"])]
    return "\n".join(lines)


def summary(model: Model) -> dict[str, Any]:
    """Return the sizes, masses and warnings of a model as plain numbers and texts."""
    kinds: dict[str, int] = {}
    numbers, counts = np.unique(model.joint_kinds, return_counts=True)
    for kind, number in zip(numbers.tolist(), counts.tolist(), strict=True):
        kinds[_KIND_NAMES[kind]] = number
    return {
        "name": model.name,
        "bodies": model.nbodies,
        "joints": model.njoints,
        "nq": model.nq,
        "nv": model.nv,
        "trees": int((model.parents < 0).sum()),
        "depth": int(_depths(model).max()),
        "total_mass": model.total_mass,
        "joint_kinds": kinds,
        "shapes": len(model.shape_bodies),
        "markers": len(model.marker_names),
        "warnings": [*model.warnings, *remarks(model)],
    }


def body_rows(model: Model) -> list[dict[str, Any]]:
    """Return one row for each body: names, joint, limits and mass; limits that are not there are None."""
    low, high = model.limits
    rows = []
    for i, name in enumerate(model.names):
        joint, own = model.joint(i), slice(model.v_starts[i], model.v_starts[i + 1])
        rows.append(
            {
                "name": name,
                "parent": None if model.parents[i] < 0 else model.names[model.parents[i]],
                "joint": model.body_joint_names[i],
                "kind": joint.name,
                **{key: list(v) if isinstance(v, tuple) else v for key, v in joint.parameters().items()},
                "lower": [value if np.isfinite(value) else None for value in low[own].tolist()],
                "upper": [value if np.isfinite(value) else None for value in high[own].tolist()],
                "mass": float(model.masses[i]),
                "com": model.coms[i].tolist(),
            }
        )
    return rows


def remarks(model: Model) -> list[str]:
    """Say what a user should know and may have overlooked."""
    result = []
    massless = np.flatnonzero((model.masses == 0) & (model.joint_kinds != at.FIXED))
    if massless.size:
        result.append(f"{_some(model, massless)} no mass of their own: only what they carry resists their joints")
    low, high = model.limits
    neutral = np.zeros(model.nv)
    outside = np.flatnonzero((neutral < low) | (neutral > high))
    if outside.size:
        bodies = np.unique(np.searchsorted(model.v_starts, outside, side="right") - 1)
        result.append(f"the neutral position is outside the limits of {_names(model, bodies)}")
    return result


_KIND_NAMES = (
    "revolute", "prismatic", "helical", "universal", "spherical", "planar", "free", "fixed",
)  # fmt: skip


def _names(model: Model, bodies: np.ndarray, most: int = 5) -> str:
    names = [repr(model.names[body]) for body in bodies[:most].tolist()]
    return ", ".join(names) + (f" and {len(bodies) - most} more" if len(bodies) > most else "")


def _some(model: Model, bodies: np.ndarray) -> str:
    return f"{_names(model, bodies)} {'has' if len(bodies) == 1 else 'have'}"


def _depths(model: Model) -> np.ndarray:
    depth = [0] * model.nbodies
    for i, parent in enumerate(model.parents.tolist()):
        depth[i] = 1 if parent < 0 else depth[parent] + 1
    return np.array(depth)


def _tree(model: Model) -> list[str]:
    """Draw the tree; a row of only children stands below each other without further indentation."""
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(model.parents.tolist()):
        children.setdefault(parent, []).append(i)
    lines: list[str] = []
    drawn = 0
    stack: list[tuple[int, int, str]] = [(root, 0, "") for root in reversed(children[-1][:BRANCHES])]
    if len(children[-1]) > BRANCHES:
        stack.insert(0, (-1, 0, f"... and {len(children[-1]) - BRANCHES} more trees"))
    while stack:
        body, level, note = stack.pop()
        if len(lines) >= LONGEST:
            lines.append(f"... {model.nbodies - drawn} of {model.nbodies} bodies are not shown")
            break
        if note:
            lines.append("  " * level + note)
            continue
        run = [body]
        while len(children.get(run[-1], ())) == 1:
            run.append(children[run[-1]][0])
        shown = run if len(run) <= RUN else [*run[: RUN // 2], -1, run[-1]]
        drawn += len(run)
        for one in shown:
            text = f"... {len(run) - RUN // 2 - 1} more in a row" if one < 0 else _line(model, one)
            lines.append("  " * level + text)
        below = children.get(run[-1], [])
        if len(below) > BRANCHES:
            stack.append((-1, level + 1, f"... and {len(below) - BRANCHES} more branches of {model.names[run[-1]]}"))
        stack.extend((child, level + 1, "") for child in reversed(below[:BRANCHES]))
    return lines


def _line(model: Model, body: int) -> str:
    joint = model.joint(body)
    text = joint.name
    if isinstance(joint, Universal):
        text += f" about {_axis(joint.first)} and {_axis(joint.second)}"
    elif "axis" in joint.parameters():
        text += f" {'along' if joint.name == 'prismatic' else 'about'} {_axis(joint.parameters()['axis'])}"
    if isinstance(joint, Helical):
        text += f", {joint.pitch:g} m/rad"
    name = model.body_joint_names[body]
    if name != model.names[body] and joint.nv:
        text += f" {name!r}"
    low, high = (limit[model.v_starts[body] : model.v_starts[body + 1]] for limit in model.limits)
    if joint.nv and (np.isfinite(low).any() or np.isfinite(high).any()):
        linear = joint.name == "prismatic"
        unit, scale = ("m", 1.0) if linear else ("deg", 180 / np.pi)
        if joint.name in ("planar", "free"):
            unit, scale = "rad, m", 1.0
        pairs = [f"{a:.4g} to {b:.4g}" for a, b in zip((scale * low).tolist(), (scale * high).tolist(), strict=True)]
        text += f", {'; '.join(pairs)} {unit}"
    mass = f"{model.masses[body]:.4g} kg" if model.masses[body] > 0 else "massless"
    return f"{model.names[body]}: {text}, {mass}"


def _axis(axis: Any) -> str:
    values = np.array(axis, dtype=float)
    for name, unit in zip("xyz", np.eye(3), strict=True):
        for sign, prefix in ((1.0, ""), (-1.0, "-")):
            if np.array_equal(values, sign * unit):
                return prefix + name
    return "(" + ", ".join(f"{value:.4g}" for value in values.tolist()) + ")"
