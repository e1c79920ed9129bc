#!/usr/bin/env bash
# Makes .venv (ours) and .venv-learners (what learners may import): `environments.sh run|test`.
#
# Law: a stamp in an environment says what was installed, by which Python and where; while it fits, nothing is done.
# Files are made readable for every uid, because a sandbox opens the learners' environment as a stranger.
# Reads PYTHON, LEARNERS_BASE and LEARNERS_PIP_ARGS.
set -euo pipefail
umask 022

part=${1:?run or test}
here=$(pwd -P)

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

# describe PYTHON VARIABLE: one line that names an interpreter; refuses one that is too old.
describe() {
    local said
    said=$("$1" -c 'import os, sys; print(sys.version_info >= (3, 11), os.path.realpath(sys.executable), sys.version.split()[0])' 2>&1) ||
        fail "$1 cannot be run: $said" "name another Python: make setup $2=/usr/bin/python3.12"
    [[ $said == True* ]] ||
        fail "$1 is Python ${said##* }; Tasree needs 3.11 or newer." "المطلوب Python 3.11 أو أحدث." \
            "name another one: make setup $2=/usr/bin/python3.12"
    echo "$here ${said#True }"
}

# anew FOLDER PYTHON PLACE: an environment that belongs to this place. Moved or copied folders, and another Python,
# leave scripts and links that point elsewhere, so such an environment is made again from nothing.
anew() {
    if [ -f "$1/.place" ] && [ "$(<"$1/.place")" != "$3" ] || ! [ -x "$1/bin/pip" ]; then
        echo "setup: making $1"
        rm -rf "$1"
        "$2" -m venv "$1"
    fi
    printf '%s' "$3" >"$1/.place"
}

# stamped FOLDER STAMP WANTED: whether this was done already.
stamped() {
    [ -f "$1/.stamp-$2" ] && [ "$(<"$1/.stamp-$2")" = "$3" ] && [ -e "$1/bin/python" ]
}

# wanted PLACE LOCK: what a stamp says. Pip's further arguments are not in it: they choose among builds of one version.
wanted() {
    echo "$1 $(sha256sum <"requirements/$2.lock")"
}

# fill FOLDER PYTHON PLACE LOCK [PIP'S ARGUMENTS]: the stamp is written last, so what was cut short is done again.
fill() {
    local folder=$1 python=$2 place=$3 lock=$4 stamp
    shift 4
    stamp=$(wanted "$place" "$lock")
    if ! stamped "$folder" "$lock" "$stamp"; then
        anew "$folder" "$python" "$place"
        echo "setup: installing requirements/$lock.lock into $folder"
        "$folder/bin/python" -m pip install -qq --no-input --disable-pip-version-check \
            --requirement "requirements/$lock.lock" "$@" </dev/null
        printf '%s' "$stamp" >"$folder/.stamp-$lock"
    fi
}

# Our packages, as a link to this folder, so that `python -m bot` works wherever it is called.
link() {
    if ! stamped .venv link "$1"; then
        .venv/bin/python -m pip install -qq --no-input --disable-pip-version-check \
            --no-build-isolation --no-deps --editable . </dev/null
        printf '%s' "$1" >.venv/.stamp-link
    fi
}

# seen FOLDER GIVEN DEFAULT: which interpreter to look at. Without a word from the caller an environment keeps the one
# that it was made with, so that `make run` does not undo `make setup PYTHON=...`.
seen() {
    if [ -z "$2" ] && "$1/bin/python" -c '' 2>/dev/null; then echo "$1/bin/python"; else echo "${2:-$3}"; fi
}

place=$(describe "$(seen .venv "${PYTHON:-}" python3)" PYTHON)
case $part in
run) stamped .venv dev "$(wanted "$place" dev)" || fill .venv "${PYTHON:-python3}" "$place" app ;;
test) fill .venv "${PYTHON:-python3}" "$place" dev ;;
*) fail "run or test was expected, not $part" ;;
esac
link "$place"

base=/usr/bin/python3
place=$(describe "$(seen .venv-learners "${LEARNERS_BASE:-}" "$base")" LEARNERS_BASE)
read -ra further <<<"${LEARNERS_PIP_ARGS:-}"
fill .venv-learners "${LEARNERS_BASE:-$base}" "$place" learners "${further[@]}"
