"""Small helpers of the readers: what was left out, by name, and names that must be unique."""

from __future__ import annotations

from collections.abc import Iterable

FREE_FROM_PLACE = "kinetree: free joints start from the body's place"
"""The custom text by which an MJCF says that its free coordinates are relative, as kinetree's are, not absolute."""


class Notes:
    """Collects what a file says that the model does not represent, one line a kind of thing."""

    def __init__(self) -> None:
        """Start without notes."""
        self._things: dict[str, list[str]] = {}

    def add(self, what: str, *names: str) -> None:
        """Note that `what` is not represented, for the things of these names."""
        known = self._things.setdefault(what, [])
        known.extend(name for name in dict.fromkeys(names) if name not in known)

    def lines(self) -> tuple[str, ...]:
        """Return one line a kind, with all names."""
        return tuple(f"{what}: {', '.join(names)}" if names else what for what, names in self._things.items())


class Names:
    """Hands out names that are not taken yet."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """Start with the names that are `taken`."""
        self.taken = set(taken)

    def new(self, *wishes: str) -> str:
        """Take and return the first free wish; if none is free, the last one with a number."""
        for wish in wishes:
            if wish and wish not in self.taken:
                self.taken.add(wish)
                return wish
        number = 2
        while f"{wishes[-1]}_{number}" in self.taken:
            number += 1
        name = f"{wishes[-1]}_{number}"
        self.taken.add(name)
        return name
