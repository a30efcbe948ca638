#!/usr/bin/env bash
# reproducible_test.sh ROOT: two builds of the commit, in two folders whose names have different lengths, give packages
# with the same bytes. Takes two whole builds; a compiler cache would make the second from the objects of the first, so
# it is switched off (STORMCELL_CACHED=1: not).
set -euo pipefail
root=$(cd "$1" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${STORMCELL_CACHED:-}" ]; then export CCACHE_DISABLE=1; fi
for folder in a another-folder; do
  git clone -q "$root" "$work/$folder"
  "$work/$folder/dev" package >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
done
failures=0 looked=0
for file in "$work"/a/build/package/*.deb "$work"/a/build/package/*.tar.gz; do
  looked=$((looked + 1))
  if ! cmp "$file" "$work/another-folder/build/package/${file##*/}"; then failures=$((failures + 1)); fi
done
echo "$looked packages looked at, $failures differ"
[ "$looked" -ge 3 ] && [ "$failures" -eq 0 ]
