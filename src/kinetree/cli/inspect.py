"""`kinetree inspect`: what is in a model."""

from __future__ import annotations

from .common import JsonOption, ModelArgument, load_model, print_json


def inspect(model: ModelArgument, json: JsonOption = False) -> None:
    """Show the bodies, joints, limits and masses of a MODEL, and what was noticed about it.

    [bold]Examples[/bold]

      kinetree inspect robot.urdf

      kinetree inspect humanoid --json
    """
    from ..model.describe import body_rows, describe, summary

    body = load_model(model)
    if json:
        print_json({**summary(body), "body_list": body_rows(body)})
    else:
        print(describe(body))
