#!/usr/bin/env bash
# device_check_test.sh PROGRAM: what can be tested of device_check without a card: it goes on after families that fail,
# throw, crash and hang, tells of each, writes JSON, refuses bad usage, and says so where there is no card.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
expect() { if ! "${@:2}"; then echo "not so: $1"; failures=$((failures + 1)); fi; }

status=0
"$program" --families selftest-fails,selftest-throws,selftest-crashes,selftest-hangs,selftest-stays,selftest-passes \
  --out "$folder/out.json" >"$folder/table" || status=$?
expect "exit code 1 after a failure" test "$status" -eq 1
for words in 'failed +selftest-fails +fails +on purpose' 'failed +selftest-throws +stopped' \
  'passed +selftest-crashes +before the crash' \
  'failed +selftest-crashes +all +ended by signal' \
  "failed +selftest-hangs +all +killed after 1 s in 'the case that hangs'" \
  'passed +selftest-stays +knows its limit +1 s' 'passed +selftest-passes' '4 passed, 4 failed, 0 measured'; do
  expect "the table has: $words" grep -Eq "$words" "$folder/table"
done
expect "eight records of JSON" test "$(grep -c '"family": "selftest-' "$folder/out.json")" -eq 8
if command -v python3 >/dev/null; then
  expect "JSON that can be read" python3 -c "import json,sys; json.load(open(sys.argv[1]))" "$folder/out.json"
fi

status=0
"$program" --families selftest-passes >/dev/null || status=$?
expect "exit code 0" test "$status" -eq 0
status=0
"$program" --families selftest-passes --seconds 1 >"$folder/late" || status=$?
expect "exit code 1 for a family without time" test "$status" -eq 1
expect "which is absent" grep -Eq '^absent +selftest-passes +all +no time left' "$folder/late"
status=0
"$program" --families nothing-like-it 2>"$folder/usage" || status=$?
expect "exit code 2 for a family that is not there" test "$status" -eq 2
status=0
"$program" --wrong 2>/dev/null || status=$?
expect "exit code 2 for an unknown option" test "$status" -eq 2
status=0
"$program" --families selftest-passes --out "$folder/no/such/folder.json" >/dev/null 2>"$folder/usage" || status=$?
expect "exit code 2 for results that cannot be written, before anything runs" test "$status" -eq 2
expect "a line that names them" grep -q 'no/such/folder.json' "$folder/usage"
status=0
"$program" --blocks none 2>/dev/null || status=$?
expect "exit code 2 for a number of blocks that is none" test "$status" -eq 2
expect "bounds of both layers' 41 points without a card" test "$("$program" --bounds | grep -c '^| [0-9]')" -eq 82
expect "the tensor pipe bounds 16,384 rows on 8 experts" grep -Eq '16384 x 8 .* tensor pipe \|' <("$program" --bounds)
"$program" --help >"$folder/help"
while read -r option; do
  if [ "$option" != --help ]; then expect "help names $option" grep -q "^  $option " "$folder/help"; fi
done < <(grep -o 'option == "--[a-z]*"' "$(dirname "$0")/device_check/main.cpp" | grep -o -- '--[a-z]*')
"$program" --families selftest-passes --blocks 2 --points 2-3 --out "$folder/few.json" >/dev/null
for words in '"card": "not asked for"' '"blocks": "2"' '"points": "2-3"'; do
  expect "results that say what they are of: $words" grep -q "$words" "$folder/few.json"
done
for points in 0 3-2 all; do
  status=0
  "$program" --points "$points" --bounds >/dev/null 2>&1 || status=$?
  expect "exit code 2 for points that are none ($points)" test "$status" -eq 2
done
time='{"family": "bench-switch", "case": "%s", "result": "measured", "value": "%s us", "number": %s, "share": 0, "note": ""},\n'
# shellcheck disable=SC2059
printf "$time" here 10 10 there 20 20 >"$folder/a.json"
# shellcheck disable=SC2059
printf "$time" there 15 15 elsewhere 3 3 >"$folder/b.json"
"$program" --compare "$folder/a.json" "$folder/b.json" >"$folder/compared"
expect "times that two results have in common" grep -Eq '^ +0.75 +20 us +15 us +bench-switch, there$' "$folder/compared"
expect "no others" test "$(wc -l <"$folder/compared")" -eq 1
status=0
"$program" --compare "$folder/a.json" "$folder/few.json" 2>/dev/null || status=$?
expect "exit code 2 where there are none" test "$status" -eq 2
# Products over rows as calls.
printf '%s\n' '{"date": "2026-11-27 17:36 UTC",' ' "card": "NVIDIA H200, 9.0, 132 multiprocessors",' \
  '  {"family": "bench-rows", "case": "768 x 2048, 16 weights, 4 rows each", "result": "measured", "value": "19.6 us", "number": 19.61, "share": 0, "note": ""},' \
    >"$folder/rows.json"
"$program" --calls "$folder/rows.json" ours >"$folder/calls.csv"
expect "a line of names and a call" test "$(cat "$folder/calls.csv")" = \
  'op,gpu,dtype,inputs,outputs,experts,rows,us,laboratory,source
product,H200,bf16,768,2048,16,4,19.61,ours,device_check 2026-11-27 17:36 UTC'
status=0
"$program" --calls "$folder/a.json" ours 2>/dev/null || status=$?
expect "exit code 2 where there are no calls" test "$status" -eq 2
status=0
"$program" --calls "$folder/not-there.json" ours 2>"$folder/usage" || status=$?
expect "exit code 2 for a file that is not there" test "$status" -eq 2
expect "a line that says so" grep -q 'not-there.json cannot be read' "$folder/usage"
# What of compute-sanitizer is asked for is that of the families that are named.
if ! command -v compute-sanitizer >/dev/null && [ ! -e /usr/local/cuda/bin/compute-sanitizer ]; then
  mkdir "$folder/tools"
  # shellcheck disable=SC2016
  printf '#!/usr/bin/env bash\nif [ "$1" != --version ]; then shift 4; exec "$@"; fi\n' \
    >"$folder/tools/compute-sanitizer"
  chmod +x "$folder/tools/compute-sanitizer"
  PATH=$folder/tools:$PATH "$program" --families selftest-sanitized,selftest-passes --sanitize >"$folder/sanitized"
  expect "three tools for one of two families" test \
    "$(grep -Ec '^passed +(mem|race|sync)check +selftest-sanitized' "$folder/sanitized")" -eq 3
  expect "and none for others" test "$(grep -c '^passed .*check ' "$folder/sanitized")" -eq 3
fi
status=0
"$program" --seconds soon 2>/dev/null || status=$?
expect "exit code 2 for a time that is none" test "$status" -eq 2
# What was found before the machine or the program goes is in the file already.
TMPDIR=$folder "$program" --families selftest-passes,selftest-waits --out "$folder/early.json" >/dev/null &
runs=$!
for _ in $(seq 100); do
  if grep -qs '"case": "passes"' "$folder/early.json"; then break; fi
  sleep 0.05
done
expect "results after each family" grep -qs '"case": "passes"' "$folder/early.json"
child=$(cat "/proc/$runs/task/$runs/children" 2>/dev/null || true)
kill "$runs"
wait "$runs" 2>/dev/null || true
if [ -n "$child" ]; then
  lives() { grep -Eqs '^State:\s+[^ZX]' "/proc/${child// /}/status"; }
  for _ in $(seq 40); do
    if ! lives; then break; fi
    sleep 0.05
  done
  if lives; then expect "a family ends with who started it" false; fi
fi
expect "a list of families" grep -q '^bench-routing$' <("$program" --list)
if command -v objdump >/dev/null; then
  newest=$(objdump -T "$program" | grep -o 'GLIBC_2\.[0-9]*' | sort -t. -k2 -n | tail -1)
  expect "it starts with glibc 2.35, not $newest" test "${newest#GLIBC_2.}" -le 35
fi
# On a machine with a card this would be the real thing, which is not this test's business.
if [ ! -e /dev/nvidiactl ]; then
  status=0
  "$program" --out "$folder/none.json" >"$folder/none" || status=$?
  expect "exit code 77 without a card" test "$status" -eq 77
  expect "a line that says so" grep -Eq 'no card to check: (there is no NVIDIA driver|the driver )' "$folder/none"
  expect "JSON that says so" grep -q '"family": "limits", "case": "card", "result": "absent"' "$folder/none.json"
fi
if python3 -c 'import sys; sys.exit(0)' 2>/dev/null &&
  ! python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
  # Rivals that are not there are named, and those that are there compared.
  case='{"family": "bench-switch", "case": "768/3072 relu top-1, 64 x 8, uniform, product 1%s", "result": "measured", "value": "", "number": %s, "share": 0, "note": ""}\n'
  # shellcheck disable=SC2059
  printf "$case" "" 10 ", cuBLAS loop" 12 ", cublasGemmGroupedBatchedEx" 9 >"$folder/mine.jsonl"
  python3 "$(dirname "$program")/rivals.py" --records "$folder/rivals.jsonl" --mine "$folder/mine.jsonl"
  expect "absent rivals are named" grep -q '"case": "PyTorch, Triton", "result": "absent"' "$folder/rivals.jsonl"
  expect "the best rival at a point" grep -q \
    'product 1: against cublasGemmGroupedBatchedEx", "result": "measured", "value": "0.90 times' "$folder/rivals.jsonl"
  expect "who is ahead" grep -q '"0 of 1 ahead".*at 0"' "$folder/rivals.jsonl"
fi
exit "$failures"
