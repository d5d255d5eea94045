#!/bin/sh
# Bring Chromium and its driver for the tests that need a browser, where the system's package manager may.
#
# Without them those tests are skipped, which is said loudly here; in CI (CI=true) they fail (tests/conftest.py).
set -u
present() {
    command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1
}
present && exit 0

if command -v apt-get >/dev/null 2>&1; then
    root=
    [ "$(id -u)" = 0 ] || root="sudo -n"
    if [ -z "$root" ] || sudo -n true 2>/dev/null; then
        echo "chromium and chromium-driver from the system's packages (once)"
        get="$root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120"
        log=$(mktemp)
        { $get install --no-install-recommends chromium chromium-driver ||
            { $get update && $get install --no-install-recommends chromium chromium-driver; }; } >"$log" 2>&1 ||
            tail -n 3 "$log"
        rm -f "$log"
    fi
fi
present && exit 0

echo "!!! NO CHROMIUM: the browser tests will be SKIPPED (install chromium and chromium-driver to run them) !!!" >&2
