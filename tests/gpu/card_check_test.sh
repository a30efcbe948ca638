#!/usr/bin/env bash
# card_check_test.sh PROGRAM: the cases that a card will run pass on the card that the processor plays; bad usage is
# refused, and the absence of a card is said.
set -euo pipefail
program=$1
script=$(cd "$(dirname "$0")" && pwd -P)/card_check/run.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
expect() { if ! "${@:2}"; then echo "not so: $1"; failures=$((failures + 1)); fi; }

for family in $("$program" --list); do
  status=0
  "$program" --played --out "$folder/cases.jsonl" "$family" >"$folder/said" || status=$?
  expect "the family $family passes on the played card" test "$status" -eq 0
done
expect "each family has cases that pass" \
  test "$(grep '"result": "passed"' "$folder/cases.jsonl" | grep -o '"family": "[a-z]*"' | sort -u | wc -l)" -eq \
  "$("$program" --list | wc -l)"
if grep '"result": "failed"' "$folder/cases.jsonl"; then failures=$((failures + 1)); fi

usage() {
  local status=0
  "$@" >/dev/null 2>"$folder/usage" || status=$?
  expect "exit code 2: ${*:2}" test "$status" -eq 2
  expect "one line that says why: ${*:2}" test "$(wc -l <"$folder/usage")" -eq 1
}
usage "$program"
usage "$program" nothing-like-it
usage "$program" --out
usage "$program" operators guards
usage bash "$script"
usage bash "$script" fast
usage bash "$script" right --wrong
"$program" --help >"$folder/help"
expect "help names each family" test "$(grep -c -F -f <("$program" --list | sed 's/^/  /') "$folder/help")" -eq \
  "$("$program" --list | wc -l)"
if [ ! -e /dev/nvidiactl ]; then
  status=0
  "$program" operators >"$folder/none" || status=$?
  expect "exit code 77 without a card" test "$status" -eq 77
  expect "a line that says so" grep -q '^no card to check: --device: "cuda": ' "$folder/none"
fi

# The folder of the package, with programs that stand in: one step fails, the others run.
mkdir -p "$folder/card/bin"
cp "$script" "$folder/card/"
# shellcheck disable=SC2016
printf '#!/usr/bin/env bash\ncase "${*: -1}" in guards) exit 1 ;; esac\n' >"$folder/card/bin/card_check"
printf '#!/usr/bin/env bash\nexit 0\n' >"$folder/card/bin/stormcell"
chmod +x "$folder/card/bin/"*
status=0
"$folder/card/run.sh" right --played --out "$folder/out" >/dev/null || status=$?
expect "exit code 1 after a step that failed" test "$status" -eq 1
expect "a line for each step" test "$(wc -l <"$folder/out/right.jsonl")" -eq 10
expect "the step that failed" grep -q '"step": "guards", "result": "failed", "status": 1' "$folder/out/right.jsonl"
expect "and no other" test "$(grep -c '"result": "passed"' "$folder/out/right.jsonl")" -eq 9
printf '#!/usr/bin/env bash\necho "no card to check: none"\nexit 77\n' >"$folder/card/bin/card_check"
status=0
"$folder/card/run.sh" right --out "$folder/out" >"$folder/said" || status=$?
expect "exit code 77 where there is no card" test "$status" -eq 77
expect "the line of the first step" grep -q '^no card to check: none$' "$folder/said"
limits=$(grep -oE '^ *(check|model|step) [a-z0-9-]+ [0-9]+' "$script" | grep -oE '[0-9]+$' |
  awk "{ all += \$1 } END { print all }")
expect "nine minutes at most, not $limits s" test "$limits" -le 540
exit "$failures"
