"""`kinetree warmup`: compile everything now, so that nothing has to wait later."""

from __future__ import annotations

from .common import JsonOption, print_facts, print_json


def warmup(json: JsonOption = False) -> None:
    """Compile all kernels into the cache; takes minutes the first time and a moment after that.

    [bold]Examples[/bold]

      kinetree warmup
    """
    from .._jit import cache_folder
    from .warm import warm_up

    seconds = warm_up()
    folder = cache_folder()
    if json:
        print_json(
            {"seconds": seconds, "total": sum(seconds.values()), "cache": None if folder is None else str(folder)}
        )
    else:
        facts = {name: f"{value:.2f} s" for name, value in seconds.items()}
        print_facts({**facts, "cache": str(folder) if folder else "none: no folder can be written to; see doctor"})
