"""What marker labels hide: subject prefixes, unlabelled points, duplicates."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from ..errors import ArgumentError
from ..io.recording import Recording
from ..typing import Array

UNLABELLED = re.compile(r"^(\*\d*|u_?\d+|unlabell?ed.*|uname.*|c_\d+|\d+|)$", re.IGNORECASE)


def clean_labels(recording: Recording, subject: str | None, notes: list[str]) -> tuple[list[str], Array]:
    """Return labels without subject prefixes and their positions; drops unlabelled points, merges duplicates."""
    labels, positions = list(recording.labels), recording.positions
    owners = [_prefix(label) for label in labels]
    names = Counter(owner for owner, label in zip(owners, labels) if owner and not UNLABELLED.match(_bare(label)))
    if subject is not None and subject not in names:
        raise ArgumentError(
            f"{recording.path}: there is no subject {subject!r}; the markers belong to: {', '.join(names) or 'nobody'}"
        )
    chosen = subject or (names.most_common(1)[0][0] if names else "")
    keep = [k for k in range(len(labels)) if owners[k] in ("", chosen) or not names]
    others = sorted(name for name in names if name != chosen)
    if others:
        notes.append(f"markers of other subjects are left out: {', '.join(others)} (subject={chosen!r} is analysed)")
    unnamed = [k for k in keep if UNLABELLED.match(_bare(labels[k]))]
    if unnamed:
        notes.append(f"{len(unnamed)} points without a label are left out, such as {labels[unnamed[0]]!r}")
    keep = [k for k in keep if k not in set(unnamed)]
    bare = [_bare(labels[k]) for k in keep]
    if chosen and keep:
        notes.append(f"the prefix {chosen!r} is taken off the labels")
    return _merged(bare, positions[:, keep], notes)


def _prefix(label: str) -> str:
    head, colon, _ = label.rpartition(":")
    return head if colon else ""


def _bare(label: str) -> str:
    return label.rpartition(":")[2].strip()


def _merged(labels: list[str], positions: Array, notes: list[str]) -> tuple[list[str], Array]:
    """Let the fuller of two markers of one name stand, and fill its gaps from the other where they agree."""
    order: list[str] = []
    columns: dict[str, Array] = {}
    for k, label in enumerate(labels):
        own = positions[:, k].copy()
        if label not in columns:
            order.append(label)
            columns[label] = own
            continue
        old = columns[label]
        a, b = np.isfinite(old).all(1), np.isfinite(own).all(1)
        apart = np.linalg.norm(old[a & b] - own[a & b], axis=1)
        first, second = (old, own) if a.sum() >= b.sum() else (own, old)
        if apart.size and np.median(apart) > 0.02:
            columns[label] = first
            notes.append(
                f"two markers are labelled {label!r}, {np.median(apart):.3f} m apart: the one that is seen more often "
                "is kept"
            )
        else:
            columns[label] = np.where(np.isfinite(first), first, second)
            notes.append(f"two markers are labelled {label!r}: they are joined, one filling the other's gaps")
    return order, np.stack([columns[label] for label in order], axis=1) if order else np.zeros((len(positions), 0, 3))
