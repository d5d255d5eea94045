#!/bin/sh
# Make the environment: setup.sh PYTHON VENV (demo | test). Does nothing when it is up to date.
#
# The larger set (test) contains the smaller one (demo), so that a stamp of `test` serves both.
set -eu
python=$1 venv=$2 set=$3
lock=requirements/$set.txt

if [ -z "$python" ] || ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "kinetree needs Python 3.11 or newer; found: ${python:-none}. Set it with: make PYTHON=/path/to/python3.11" >&2
    exit 1
fi

stamp() { # the state that .venv must be in for set $1
    cat "requirements/$1.txt" pyproject.toml | cksum
}

for done in "$set" test; do
    if [ -x "$venv/bin/python" ] && [ "$(cat "$venv/.kinetree-$done" 2>/dev/null)" = "$(stamp "$done")" ]; then
        exit 0
    fi
done

start=$(date +%s)
if [ ! -x "$venv/bin/python" ]; then
    echo "[1/3] an environment in $venv"
    if ! "$python" -m venv "$venv" 2>/dev/null; then
        # Debian's Python comes without ensurepip; virtualenv brings its own pip
        rm -rf "$venv"
        "$python" -m pip install --quiet --target "$venv.tools" virtualenv
        PYTHONPATH="$venv.tools" "$python" -m virtualenv --quiet "$venv"
        rm -rf "$venv.tools"
    fi
fi
packages=$(grep -c '==' "$lock")
echo "[2/3] $packages packages from $lock, exact versions with hashes"
install="$venv/bin/python -m pip install --disable-pip-version-check --no-deps"
{ $install --require-hashes -r "$lock" 2>"$venv/pip.log" || echo PIP-FAILED; } |
    awk -v all="$packages" '
        /^(Collecting|Processing) / {n++; sub(/.*\//, "", $2); printf "      %3d/%d %s\n", n, all, $2; fflush()}
        /^Requirement already/ {n++}
        /^Installing/ {print "      unpacking"; fflush()}
        /^PIP-FAILED/ {failed = 1}
        END {exit failed}' || {
    cat "$venv/pip.log" >&2
    exit 1
}
echo "[3/3] kinetree itself"
$install --quiet --no-build-isolation --editable .
"$venv/bin/python" -c 'import kinetree'
stamp "$set" >"$venv/.kinetree-$set"
echo "set up in $(($(date +%s) - start)) s"
