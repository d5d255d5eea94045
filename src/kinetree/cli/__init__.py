"""The command line: one file a command, put together in `app`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

INTERRUPTED = 128 + signal.SIGINT
BAD_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command in `arguments` (those of the process if None) and return the exit code.

    0 is success, 1 a fault of the program or a failed check, 2 bad input, 130 an interruption. Errors are one line on
    stderr; `--debug`, anywhere on the line, shows the traceback instead.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = _to_stdout([word for word in words if word != "--debug"])
    try:
        from .app import command
    except ImportError as error:
        if debug or error.name is None or error.name.partition(".")[0] not in ("typer", "rich", "click"):
            raise
        return _complain(
            f"the command line needs {error.name}; install it with: pip install 'kinetree[cli]'", BAD_INPUT
        )
    if debug:
        return _code(command().main(words, prog_name="kinetree", standalone_mode=False))
    try:
        code = _code(command().main(words, prog_name="kinetree", standalone_mode=False))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the interpreter complains when it ends
        return 1
    except SystemExit as stop:  # the option parser's own answer to a closed pipe
        return _code(stop.code)
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 the last resort, so that no user meets a traceback
        return _explain(error)


def _to_stdout(words: list[str]) -> list[str]:
    """Let `bench --json` without the name of a file mean what it does elsewhere: `--json -`, standard output.

    The name of a file has a dot or a slash in it, that of a table or an option has not.
    """
    if words[:1] != ["bench"]:
        return words
    result: list[str] = []
    for number, word in enumerate(words, start=1):
        result.append(word)
        following = words[number] if number < len(words) else ""
        named = following == "-" or (not following.startswith("-") and any(sign in following for sign in "./\\"))
        if word == "--json" and not named:
            result.append("-")
    return result


def _code(result: object) -> int:
    return result if isinstance(result, int) else 0


def _explain(error: BaseException) -> int:
    """Say in one line what went wrong; returns the exit code."""
    import typer

    from ..errors import KinetreeError

    if isinstance(error, (KeyboardInterrupt, typer.Abort)):  # before a command began
        return _complain("interrupted", INTERRUPTED)
    if isinstance(error, KinetreeError):
        return _complain(str(error), BAD_INPUT)
    message = getattr(error, "format_message", None)  # a usage error of the option parser
    if callable(message):
        if not message().strip():  # help was shown instead
            return BAD_INPUT
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return _complain(f"{message()}{hint}", BAD_INPUT)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return _complain(f"{place}{error.strerror or error}", BAD_INPUT)
    if isinstance(error, MemoryError):
        return _complain(f"not enough memory ({error}): take a smaller model, or record less often", BAD_INPUT)
    return _complain(f"a fault of kinetree, {type(error).__name__}: {error}; --debug shows where", 1)


def _complain(message: str, code: int) -> int:
    line = " ".join(message.split())
    print(f"kinetree: {line}", file=sys.stderr)
    return code
