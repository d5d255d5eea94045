"""A report as a table in the terminal."""

from __future__ import annotations

from typing import Any

from ..errors import missing_extra
from .core import Report, Row

VERDICTS = {True: "[green]ok[/green]", False: "[bold red]MISSED[/bold red]", None: ""}
SIGNS = {"at most": "≤", "at least": "≥", "information": ""}


def figure(value: float | None) -> str:
    """Return a number with three digits."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def print_report(report: Report, console: Any = None) -> None:
    """Print the rows, group by group, and the verdict."""
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        raise missing_extra("rich", "cli", "printing a table") from None

    table = Table(title=f"kinetree bench {report.name}{' --quick' * report.quick}", title_justify="left")
    for column in ("what", "measured", "target", "", "how"):
        table.add_column(column, justify="right" if column in ("measured", "target") else "left")
    group = ""
    for row in report.rows:
        if row.group != group:
            group = row.group
            table.add_section()
            table.add_row(f"[bold]{escape(group)}[/bold]")
        verdict = "[yellow]not measured[/yellow]" if row.measured is None else VERDICTS[row.ok]
        table.add_row(escape(row.name), _measured(row), _target(row), verdict, escape(row.detail))
    console = console or Console(highlight=False)
    console.print(table)
    console.print(escape(report.verdict()), style="bold")


def _measured(row: Row) -> str:
    return f"{figure(row.measured)} {row.unit}".strip()


def _target(row: Row) -> str:
    return f"{SIGNS[row.sense]} {figure(row.target)}" if row.target is not None else ""
