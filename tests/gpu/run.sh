#!/usr/bin/env bash
# Tries the walls on a GPU host without network: tests/gpu/run.sh [--dry-run] [--only ID]...
#
# What it needs, and the variables that say where that is: see setup.sh. Prints one JSON object a line; see attacks.py.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/gpu/setup.sh
exec "$runner" tests/gpu/attacks.py "$@"
