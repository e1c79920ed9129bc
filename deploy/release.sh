#!/usr/bin/env bash
# Bring this checkout to another release, with a backup before; and back, with that backup.
#
#   deploy/release.sh upgrade RELEASE     a tag or a commit; prints the backup of each bot
#   deploy/release.sh rollback BACKUP...  the release and the data as they were before that upgrade
#
# Run it where the checkout is, by who may write it. What it needs to know comes from the environment:
#   DATA     the bots' folders, by spaces (every /var/lib/tasree/* with a key in it; else TASREE_DATA)
#   BACKUPS  where backups are kept (/var/backups/tasree)
#   AS       the user that the bots are (tasree, where that user exists and root asks)
#   STOP     the command that stops the bots (systemctl stop 'tasree-web*' 'tasree-telegram*' 'tasree-discord*')
#   START    the command that starts them (systemctl start of those that ran)
#   SETUP    the command that sets a release up (make setup);   PYTHON  the interpreter it gives (.venv/bin/python)
#
# Law: nothing is changed before each bot's data is in a backup that was read again. A release that cannot be set up, or
# whose doctor finds something wrong, is left before it is started: the old one is put back and started.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}/$#" in
upgrade/2 | rollback/[2-9] | rollback/[1-9][0-9]) ;;
*)
    sed -n '2,6p' deploy/release.sh | cut -c3-
    exit 2
    ;;
esac

: "${BACKUPS:=/var/backups/tasree}" "${SETUP:=make setup}" "${PYTHON:=.venv/bin/python}"
units=""
if [ -z "${STOP:-}" ]; then
    units=$(systemctl list-units --plain --no-legend --state=active 'tasree-web*' 'tasree-telegram*' 'tasree-discord*' |
        awk '{print $1}' | tr '\n' ' ')
    STOP="${units:+systemctl stop $units}"
    START="${START:-${units:+systemctl start $units}}"
fi
if [ -z "${DATA:-}" ]; then
    for key in /var/lib/tasree/*/key; do [ -e "$key" ] && DATA="${DATA:-} $(dirname "$key")"; done
    DATA="${DATA:-${TASREE_DATA:?name the folders of the bots in DATA}}"
fi
if [ -z "${AS:-}" ] && [ "$(id -u)" = 0 ] && id -u tasree >/dev/null 2>&1; then AS=tasree; fi

say() { printf '%s\n' "release.sh: $*"; }

# A bot's command on one folder, as the bots' user. Its runner is not asked: secrets of it are systemd's to hand out.
bot() {
    local folder=$1 call
    shift
    call=(env TASREE_RUNNER=embedded TASREE_DATA="$folder" "$PYTHON" -m bot "$@")
    if [ -n "${AS:-}" ]; then call=(runuser -u "$AS" -- "${call[@]}"); fi
    "${call[@]}"
}

# Check a release out and set it up; false, with a word, where it is not fit to be started.
fit() {
    if ! { git checkout --quiet --detach "$1" && bash -c "$SETUP"; }; then
        say "$1 cannot be set up"
        return 1
    fi
    for folder in $DATA; do
        bot "$folder" doctor --no-runner || { say "$1 finds something wrong with $folder"; return 1; }
    done
}

# The bot's folder with that name; false where there is none.
of() {
    for folder in $DATA; do
        if [ "$(basename "$folder")" = "$1" ]; then printf '%s\n' "$folder" && return 0; fi
    done
    return 1
}

start() { if [ -n "${START:-}" ]; then bash -c "$START"; fi; }
stop() { if [ -n "${STOP:-}" ]; then bash -c "$STOP"; fi; }

upgrade() {
    local release=$1 old made=() file
    git rev-parse --quiet --verify "$release^{commit}" >/dev/null || { say "$release is no release here: git fetch --tags"; exit 2; }
    [ -z "$(git status --porcelain --untracked-files=no)" ] || { say "this checkout was changed by hand: git status"; exit 2; }
    old=$(git rev-parse HEAD)
    install -d -m 700 ${AS:+-o "$AS"} "$BACKUPS"
    stop
    for folder in $DATA; do
        file="$BACKUPS/$(basename "$folder")-$(date -u +%Y%m%dT%H%M%S)-$old.backup"
        bot "$folder" backup "$file" || { say "no backup of $folder: nothing was changed"; start; exit 1; }
        made+=("$file")
    done
    if ! fit "$release"; then
        git checkout --quiet --detach "$old" && bash -c "$SETUP"
        start
        say "the old release serves again; nothing of the data was changed"
        exit 1
    fi
    start
    say "now at $release. Back to before: deploy/release.sh rollback ${made[*]}"
}

rollback() {
    local old="" file name folder
    for file in "$@"; do
        [ -r "$file" ] || { say "$file cannot be read"; exit 2; }
        name=$(basename "$file" .backup)
        [ -z "$old" ] || [ "$old" = "${name##*-}" ] || { say "these backups are of different releases"; exit 2; }
        old=${name##*-}
        of "${name%-*-*}" >/dev/null || { say "$file is of none of the folders $DATA: nothing was changed"; exit 2; }
    done
    git rev-parse --quiet --verify "$old^{commit}" >/dev/null || { say "$file does not name a release of this checkout"; exit 2; }
    stop
    git checkout --quiet --detach "$old" && bash -c "$SETUP"
    for file in "$@"; do
        name=$(basename "$file" .backup)
        folder=$(of "${name%-*-*}")
        bot "$folder" restore --replace "$file" || {
            say "$file was not put into $folder: the bots stay stopped, and what was in the folder is as it was"
            exit 1
        }
    done
    start
    say "back at $old; what was there lies beside it, as *.before-TIME"
}

case "$1" in
upgrade) upgrade "$2" ;;
rollback) rollback "${@:2}" ;;
esac
