#!/usr/bin/env bash
# build_times.sh [--demo] COMMIT...: how long each commit's `./dev test` and `.ci/run` take, cold and warm, on this
# machine: the table of docs/benchmarks/build.md. For hours; nothing else should run meanwhile.
#
# Cold: a clone in a fresh folder, with an empty compiler cache. Warm: a second clone in another folder, with the cache
# that the cold one has filled (commits before the cache came have none: their warm is their cold). `.ci/run` begins
# with `./dev test`, so its first step is that figure. --demo: `./dev demo` in a third clone without a cache, too.
# Lines: COMMIT KIND STEP SECONDS, with the phases that ./dev prints. Exit 1: a run failed, and its line says so.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
demo=""
if [ "${1:-}" = --demo ]; then demo=yes; shift; fi
if [ $# -eq 0 ]; then sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STORMCELL_SKIP_DEPS=1 CCACHE_DIR
failed=0

# timed COMMIT KIND CACHE COMMAND...: in a clone of its own.
timed() {
  local commit=$1 kind=$2 folder begin status=0
  CCACHE_DIR=$3
  shift 3
  folder=$(mktemp -d -p "$work")
  git clone -q "$root" "$folder/main"
  git -C "$folder/main" checkout -q "$commit"
  # The folder beside the project is beside the clone, too.
  if [ -e "$root/../shared" ]; then ln -s "$(realpath "$root/../shared")" "$folder/shared"; fi
  begin=$SECONDS
  (cd "$folder/main" && "$@") >"$work/log" 2>&1 </dev/null || status=$?
  printf '%s %s %s %d%s\n' "$commit" "$kind" "$*" $((SECONDS - begin)) \
    "$([ $status -eq 0 ] || echo " FAILED ($status)")"
  sed -nE "s/^dev: (.*): ([0-9]+) s$/$commit $kind   \1 \2/p; s/^Total Test time \(real\) = +([0-9]+).*$/$commit $kind   ctest \1/p" \
    "$work/log"
  if [ $status -ne 0 ]; then tail -n 20 "$work/log"; failed=1; fi
  rm -rf "$folder"
}

grep -m 1 'model name' /proc/cpuinfo || true
echo "$(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg)"
for commit in "$@"; do
  commit=$(git -C "$root" rev-parse --short=8 "$commit")
  timed "$commit" cold "$work/cache-$commit" .ci/run
  timed "$commit" warm "$work/cache-$commit" .ci/run
  if [ -n "$demo" ]; then timed "$commit" cold "$work/none-$commit" ./dev demo; fi
done
exit "$failed"
