"""The Python that the README and the documentation show runs as it stands, page by page, from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
PAGES = sorted(
    page for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] if BLOCK.search(page.read_text("utf-8"))
)

pytestmark = [pytest.mark.slow_python, pytest.mark.no_bounds]


def code_of(page: Path) -> str:
    """Join the blocks of a page, with blank lines in between, so that a traceback has the page's line numbers."""
    text = page.read_text("utf-8")
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(2))
        for k, line in enumerate(block[2].splitlines()):
            lines[first + k] = line.removeprefix(block[1])
    return "\n".join(lines)


def test_the_readme_shows_code():
    """The README is among the pages whose code is run, so that a changed fence cannot silence the test."""
    assert ROOT / "README.md" in PAGES
    assert len(PAGES) >= 5, PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_of_the_page_runs(page, tmp_path, monkeypatch):
    """All blocks of one page run in one namespace, in a folder of their own; their asserts hold."""
    monkeypatch.chdir(tmp_path)
    exec(compile(code_of(page), str(page), "exec"), {"__name__": "__page__"})


def test_the_reference_names_what_is_public():
    """Every public name stands on some page of the reference, under its module."""
    import kinetree

    pages = "\n".join(page.read_text("utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    homes = {*kinetree._HOMES, *kinetree._MODULES.values()}
    missing = sorted(home for home in homes if not re.search(rf"^::: {re.escape(home)}(\.|$)", pages, re.MULTILINE))
    assert not missing, f"docs/reference does not mention {missing}"


def commands_shown() -> list[tuple[str, str]]:
    """Find the lines `$ kinetree ...` in the blocks of the pages, with the page that shows them."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    line = re.compile(r"^\$ kinetree (.*)$", re.MULTILINE)
    return [(page.name, shown) for page in pages for shown in line.findall(page.read_text("utf-8"))]


def test_commands_that_are_shown_exist():
    """Each command line that the pages show names a command and options that there are."""
    from kinetree.cli.app import command

    commands = command().commands
    shown = commands_shown()
    assert len(shown) >= 5
    for page, line in shown:
        name, *words = line.split()
        assert name in commands, f"{page}: kinetree {line}"
        options = {option for parameter in commands[name].params for option in parameter.opts}
        unknown = [word for word in words if word.startswith("-") and word not in options]
        assert not unknown, f"{page}: kinetree {line} has no option {unknown}"


def test_every_command_is_documented():
    """The page of the command line has a row for each command."""
    from kinetree.cli.app import command

    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    missing = [name for name in command().commands if f"| `kinetree {name}" not in page]
    assert not missing, f"docs/command-line.md does not mention {missing}"
