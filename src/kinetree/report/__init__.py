"""Pictures of what a simulation does inside: its assembly tree, coloured by region."""

from __future__ import annotations

from .assembly import draw_assembly_tree

__all__ = ["draw_assembly_tree"]
