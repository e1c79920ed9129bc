#!/usr/bin/env bash
# Runs all of tests/gpu in one go on a GPU host: tests/gpu/all.sh [--out FOLDER] [--scale PERCENT] [PART]...
#
# Without a PART, all of them: probe several attacks_warm warm agreement forgeries mistakes inspect record models; only by
# name: attacks, the same cases started cold, and examples, which record runs too. Each writes FOLDER/PART.jsonl and
# FOLDER/PART.log (default: gpu-out) and is ended at its time; --scale 50 halves every time. What measures by itself runs
# beside what does so on another GPU and other cores; models and record have the host to themselves, and all of its GPUs.
# With two H200 the whole takes about a quarter of an hour.
# Prints a line for each part; exit status 1 when one did not end well.
set -uo pipefail
cd "$(dirname "$0")/../.."
out=$PWD/gpu-out scale=100 chosen=()
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=$2 && shift 2 ;;
    --scale) scale=$2 && shift 2 ;;
    -*) sed -n 2,10p "$0" >&2 && exit 2 ;;
    *) chosen+=("$1") && shift ;;
    esac
done
mkdir -p "$out"
. tests/gpu/setup.sh >"$out/setup.log" 2>&1
learners=$TASREE_SANDBOX_PYTHON
declare -A seconds=([probe]=60 [several]=90 [attacks]=400 [attacks_warm]=180 [warm]=260 [agreement]=150 [forgeries]=170
    [mistakes]=220 [inspect]=110 [examples]=400 [record]=300 [models]=330)
wanted=("${chosen[@]}")
[ ${#wanted[@]} -gt 0 ] || wanted=(probe several attacks_warm warm agreement forgeries mistakes inspect record models)
for part in "${wanted[@]}"; do
    [ -n "${seconds[$part]:-}" ] || { echo "no such part: $part; there are: ${!seconds[*]}" >&2 && exit 2; }
done
gpus=$(find /dev -maxdepth 1 -name 'nvidia[0-9]*' | sed 's/.*nvidia//' | sort -n)
first=$(head -1 <<<"$gpus") last=$(tail -1 <<<"$gpus")
cores=$(nproc)
failed=0

command_of() { # PART SECONDS
    case $1 in
    probe) echo "$runner -m sandbox_runner probe" ;;
    several) echo "$runner tests/gpu/examples.py --several" ;;
    attacks) echo "$runner tests/gpu/attacks.py" ;;
    attacks_warm) echo "$runner tests/gpu/attacks.py --warm" ;;
    warm) echo "$runner tests/gpu/warm.py" ;;
    agreement) echo "$runner tests/gpu/agreement.py $learners" ;;
    forgeries) echo "$runner tests/gpu/forgeries.py $learners" ;;
    mistakes) echo "$runner tests/gpu/mistakes.py $learners" ;;
    inspect) echo "$runner tests/gpu/inspecting.py" ;;
    examples) echo "$runner tests/gpu/examples.py" ;;
    record) echo "$runner tests/gpu/record.py --seconds $(($2 - 110)) --out $out/record.json" ;;
    models) echo "$learners tests/gpu/models.py --seconds $(($2 - 25))" ;;
    esac
}

part() { # PART GPUS CORES: runs one part on these GPUs and cores
    local name=$1 limit=$((seconds[$1] * scale / 100)) began=$SECONDS status
    local own=(TASREE_RUNNER_GPUS="$2" TASREE_RUNNER_LOCK="/tmp/tasree-lock-$2" CUDA_VISIBLE_DEVICES="$2"
        TASREE_RUNNER_BASE_UID=$((TASREE_RUNNER_BASE_UID + 1000 * (${2%%,*} + 1))))
    # shellcheck disable=SC2046 # the words of a command
    env "${own[@]}" taskset -c "$3" timeout -k 5 "$limit" $(command_of "$name" "$limit") \
        >"$out/$name.jsonl" 2>"$out/$name.log" </dev/null
    status=$?
    printf '{"part": "%s", "status": %d, "seconds": %d, "cut": %s, "lines": %d}\n' "$name" $status \
        $((SECONDS - began)) "$([ $status = 124 ] && echo true || echo false)" "$(wc -l <"$out/$name.jsonl")"
    return $status
}

lane() { # GPUS CORES PART...: those of these parts that are wanted, one after the other
    local on=$1 where=$2 bad=0
    shift 2
    for name in "$@"; do
        [[ " ${wanted[*]} " != *" $name "* ]] || part "$name" "$on" "$where" || bad=1
    done
    return $bad
}

all=$(paste -sd, <<<"$gpus")
[ -n "$all" ] || { echo "no NVIDIA GPU on this host" >&2 && exit 1; }
if [ "$first" = "$last" ]; then
    lane "$all" "0-$((cores - 1))" probe several attacks attacks_warm warm agreement forgeries mistakes inspect examples record models || failed=1
else
    half=$((cores / 2))
    lane "$all" "0-$((cores - 1))" several || failed=1
    lane "$first" "0-$((half - 1))" attacks attacks_warm probe agreement forgeries &
    one=$!
    lane "$last" "$half-$((cores - 1))" warm inspect mistakes || failed=1
    wait $one || failed=1
    lane "$all" "0-$((cores - 1))" examples record models || failed=1
fi
exit $failed
