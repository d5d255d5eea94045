"""Draw the pictures of docs/howto/human.md: the report of the embedded walk, photographed by Chromium."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from kinetree.human import analyse

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "images"


def main() -> None:
    """Analyse the walk, write its report, and take the picture of its first page."""
    with tempfile.TemporaryDirectory() as folder:
        analyse(None, mass=75.0, out=folder)
        target = PICTURES / "human-report.png"
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1060,1500"]
        subprocess.run([*command, f"--screenshot={target}", (Path(folder) / "report.html").as_uri()], check=True)
    print(target)


if __name__ == "__main__":
    main()
