#!/usr/bin/env bash
# Sees to the Debian packages that a part of Tasree needs: `packages.sh run` or `packages.sh test`.
#
# Law: what is there is left alone, so that a host set up by other means (or without apt) passes; what is missing is
# installed only by root, and anybody else is told the exact command.
set -euo pipefail

part=${1:?run or test}

has_library() { # ldconfig lives outside an ordinary user's PATH; all is read, for `grep -q` would break its pipe
    PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | grep "^[[:space:]]*$1 " >/dev/null
}

missing=()
command -v bwrap >/dev/null || missing+=(bubblewrap)
has_library libseccomp.so.2 || missing+=(libseccomp2)
"${LEARNERS_BASE:-/usr/bin/python3}" -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
if [ "$part" = test ]; then
    command -v chromium >/dev/null || missing+=(chromium)
    command -v systemd-analyze >/dev/null || missing+=(systemd) # checks the units; nothing of it is started
    # Debian keeps the server's programs off the PATH, in a folder a version.
    command -v initdb >/dev/null || compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || missing+=(postgresql)
fi
# The second way to confine needs root, and not every distribution has it: without it its tests are skipped and counted.
wished=()
if [ "$part" = test ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! command -v runsc >/dev/null; then
    wished+=(runsc)
fi
[ ${#missing[@]} -gt 0 ] || [ ${#wished[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "setup: missing: ${missing[*]} (Debian's names); install them with this system's package manager." >&2
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    {
        echo "setup: Debian packages are missing. Run this once, then try again:"
        echo "setup: حزم ناقصة من نظام Debian. يلزم تنفيذ هذا الأمر مرة واحدة، ثم إعادة المحاولة:"
        echo
        echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
        echo
    } >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
# Without package lists (a fresh container) apt knows no package, so the lists come first.
if ! apt-cache show bubblewrap "${missing[@]}" >/dev/null 2>&1; then
    apt-get update -qq </dev/null
fi
if [ ${#wished[@]} -gt 0 ] && apt-cache show "${wished[@]}" >/dev/null 2>&1; then
    missing+=("${wished[@]}")
fi
[ ${#missing[@]} -gt 0 ] || exit 0

install() {
    apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
}
echo "setup: installing ${missing[*]}"
install >/dev/null || { apt-get update -qq </dev/null && install; } # old lists name files that are gone
