#!/usr/bin/env bash
# Write requirements/*.txt: exact versions with the hashes of every file of the public registry.
#
# The registry's hashes are the ones to pin: pip's own configuration (extra indexes, folders of wheels) is left out while
# locking, and no index, host or path is written into the files. `tools/lock.sh --upgrade` takes the newest versions.
set -euo pipefail
cd "$(dirname "$0")/.."
export PIP_CONFIG_FILE=/dev/null PIP_FIND_LINKS= PIP_EXTRA_INDEX_URL= CUSTOM_COMPILE_COMMAND="make lock"
options=(--quiet --strip-extras --allow-unsafe --generate-hashes --resolver=backtracking
    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options)

compile() { # NAME OPTIONS...: into requirements/NAME.txt
    local name=$1
    shift
    python -m piptools compile "${options[@]}" "$@" --output-file "requirements/$name.txt"
    # what a comment says of where a requirement came from is of no use, and names paths
    sed -i -e '/^ *# /d' -e '/^--/d' -e '/^$/d' "requirements/$name.txt"
    sed -i "1i # Exact versions and hashes for \`make $name\`; written by \`make lock\`." "requirements/$name.txt"
    if grep -nE '://|^-[^ ]|file:' "requirements/$name.txt"; then
        echo "requirements/$name.txt names a host or an option" >&2
        exit 1
    fi
}

compile test "$@" --extra dev pyproject.toml
compile demo --constraint requirements/test.txt --extra cli --extra render --extra tables \
    requirements/build.in pyproject.toml
