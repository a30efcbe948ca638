#!/usr/bin/env bash
# run.sh PART [--played] [--out FOLDER]: proves the CUDA device on the card that is there, from the folder that
# ./dev package card makes. The part `right` takes at most nine minutes: are the answers right? Each step is a process
# with a limit, so that one that fails, faults or hangs stops no other. FOLDER (default: results) gets what each step
# printed, and PART.jsonl with a line for each step. --played: a rehearsal without a card, which the processor plays;
# models run on the CPU.
# Exit: 0 all passed; 1 something failed; 2 bad usage; 77 there is no card.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
usage() { echo "run.sh: $1 (run.sh right [--played] [--out FOLDER])" >&2; exit 2; }
if [ "${1:-}" != right ]; then usage "'${1:-}': expected the part 'right'"; fi
part=$1 out=$here/results device=cuda played=()
shift
while [ $# -gt 0 ]; do
  case $1 in
    --played) played=(--played) device=cpu ;;
    --out) [ $# -ge 2 ] || usage "--out: expected a folder"; out=$2; shift ;;
    *) usage "'$1': expected --played or --out" ;;
  esac
  shift
done
mkdir -p "$out" || exit 2
: >"$out/$part.jsonl"
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
failures=0

# step NAME SECONDS COMMAND...: leaves the exit status in $status.
step() {
  local name=$1 limit=$2 begin=$SECONDS result=failed
  shift 2
  status=0
  timeout -k 5 "$limit" "$@" >"$out/$name.txt" 2>&1 || status=$?
  case $status in
    0) result=passed ;;
    77) result=absent ;;
    124 | 137) result="ran past $limit s" ;;
  esac
  if [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then failures=$((failures + 1)); fi
  printf '{"part": "%s", "step": "%s", "result": "%s", "status": %d, "seconds": %d}\n' \
    "$part" "$name" "$result" "$status" $((SECONDS - begin)) | tee -a "$out/$part.jsonl"
}
check() { step "$1" "$2" "$here/bin/card_check" ${played[@]+"${played[@]}"} --out "$out/cases.jsonl" "$1"; }
model() {  # NAME SECONDS VERB MODEL [OPTION...]
  local name=$1 limit=$2
  shift 2
  step "$name" "$limit" "$here/bin/stormcell" "$@" --device "$device" --verify-seconds 3 --json "$out/$name.json"
}

: >"$out/cases.jsonl"
step doctor 20 "$here/bin/stormcell" doctor
check operators 60
if [ "$status" -eq 77 ]; then
  tail -n 1 "$out/operators.txt"
  exit 77
fi
check failures 15
check guards 20
check replays 40
check mixtures 60
check graphs 45
data=(--data demo:switch-names-sample --batches 2)
model names 20 run demo:switch-names "${data[@]}" --measure-seconds 2
model names-bf16 20 run demo:switch-names "${data[@]}" --dtype bf16 --measure-seconds 2
model names-tokens 20 generate demo:switch-names "${data[@]}" --max-new-tokens 16
if [ ${#played[@]} -eq 0 ]; then
  # Most of the time it draws 620 million weights.
  model base-8 70 run preset:switch-base-8 --data random:1x32 --measure-seconds 2
  # The kernels of one layer, some of which have changed since a card ran them.
  step kernels 150 "$here/bin/device_check" --seconds 140 --out "$out/kernels.json" \
    --families limits,plain,gemv,swapped,large,mixed,repeats,routing,dispatch,layer,faults
fi
if [ "$failures" -gt 0 ]; then echo "$failures steps failed: see $out/$part.jsonl"; exit 1; fi
