"""A queue that gives the largest value first: a binary heap in two arrays."""

from __future__ import annotations

from .._jit import leaf


@leaf
def push(keys, items, count, key, item):
    """Put an item in; returns the new count."""
    i = count
    while i > 0:
        up = (i - 1) // 2
        if keys[up] >= key:
            break
        keys[i], items[i] = keys[up], items[up]
        i = up
    keys[i], items[i] = key, item
    return count + 1


@leaf
def drop_first(keys, items, count):
    """Take the first item, which has the largest value, out; returns the new count."""
    count -= 1
    key, item = keys[count], items[count]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= count:
            break
        if child + 1 < count and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        keys[i], items[i] = keys[child], items[child]
        i = child
    keys[i], items[i] = key, item
    return count
