"""Write requirements/*.txt: exact versions with the hashes of all files that the public registry has of them.

The registry's hashes are the ones to pin, so pip's own configuration (extra indexes, folders of wheels) is left out,
and no index, host or path is written into the files. `python tools/lock.py --upgrade` takes the newest versions.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
OPTIONS = [
    "--quiet", "--strip-extras", "--allow-unsafe", "--generate-hashes", "--no-header", "--no-annotate",
    "--no-emit-options", "--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host",
]  # fmt: skip
OURSELVES = re.compile(r"^(#|kinetree @).*\n", re.MULTILINE)  # extras that name other extras of ours, and remarks on it
FOREIGN = re.compile(r"://|^-|file:|@ ", re.MULTILINE)


def trust_hashes_of_the_index() -> None:
    """Let pip-tools take a file's hash from its link, where the index gives it, instead of downloading every file."""
    from piptools.repositories.pypi import PyPIRepository

    download = PyPIRepository._get_file_hash

    def file_hash(self: Any, link: Any) -> str:
        return f"sha256:{link.hash}" if link.hash_name == "sha256" else str(download(self, link))

    setattr(PyPIRepository, "_get_file_hash", file_hash)  # noqa: B010 mypy forbids the plain assignment


def lock(name: str, arguments: Sequence[str]) -> None:
    """Write requirements/`name`.txt."""
    from piptools.scripts.compile import cli

    target = FOLDER / f"{name}.txt"
    cli([*OPTIONS, *arguments, "--output-file", str(target)], standalone_mode=False)
    text = OURSELVES.sub("", target.read_text())
    if found := FOREIGN.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise SystemExit(f"{target}, line {line}: names a host, a path or an option of pip")
    target.write_text(f"# Exact versions and hashes for `make {name}`; written by `make lock`.\n{text}")
    print(f"{target.relative_to(ROOT)}: {text.count('==')} packages")


def main(arguments: Sequence[str]) -> None:
    """Lock the full set, then the set of the demonstration with the same versions."""
    os.chdir(ROOT)
    os.environ.update({"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""})
    trust_hashes_of_the_index()
    lock("test", [*arguments, "--extra", "dev", "pyproject.toml"])
    extras = ["--extra", "cli", "--extra", "render", "--extra", "tables"]
    lock("demo", ["--constraint", "requirements/test.txt", *extras, "requirements/build.in", "pyproject.toml"])


if __name__ == "__main__":
    main(sys.argv[1:])
