#!/usr/bin/env bash
# dev_verbs_test.sh ROOT: every verb of ./dev that builds looks at its packages first. In a copy of the script's
# surroundings no package is installed and nobody is root: each verb must end with 2 and the line that installs them,
# before CMake is called.
set -euo pipefail
root=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

mkdir -p "$tree/programs" "$tree/build"
cp "$root/dev" "$tree/dev"
for entry in app installer resources tests CMakePresets.json; do ln -s "$root/$entry" "$tree/$entry"; done
: >"$tree/build/build.ninja"  # a tree that was built before must look again: what is built now may need more
stand_in() { printf '#!%s\n%s\n' "$BASH" "$2" >"$tree/programs/$1"; chmod +x "$tree/programs/$1"; }
stand_in dpkg-query 'exit 0'
stand_in sudo 'exit 1'
stand_in id 'echo 1000'
stand_in cmake "echo called >>'$tree/cmake-called'; exit 1"
stand_in ctest "echo called >>'$tree/cmake-called'; exit 1"

# asks PACKAGE VERB...: the verb asks for the package.
asks() {
  local package=$1 output status=0
  shift
  rm -f "$tree/cmake-called"
  output=$(env -u STORMCELL_SKIP_DEPS PATH="$tree/programs:$PATH" "$BASH" "$tree/dev" "$@" 2>&1 </dev/null) || status=$?
  if [ "$status" -ne 2 ] || [[ $output != *"sudo apt-get install"*" $package"* ]] || [ -e "$tree/cmake-called" ]; then
    echo "FAIL ./dev $*: expected exit status 2 and a line that installs $package before anything is built; exit status $status:"
    echo "$output" | tail -4
    failures=$((failures + 1))
  else
    echo "ok   ./dev $* asks for $package"
  fi
}

asks libsqlite3-dev build cli
asks libicu-dev data
asks libsqlite3-dev demo
asks libimgui-dev build studio
asks libimgui-dev build
asks qt6-base-dev build --preset asan
asks qt6-base-dev build --preset tsan
asks libsqlite3-dev build --preset headless
asks clang build --preset fuzz
asks libimgui-dev test
asks libavformat-dev test
asks libimgui-dev test --fast
asks qt6-base-dev test --sanitize
asks libavformat-dev test --sanitize
asks zlib1g-dev build cli
asks libpng-dev build cli
asks clang test --slow
asks xauth test --slow
asks libopenmpi-dev test --slow
asks libimgui-dev studio
asks libimgui-dev bench
asks libbenchmark-dev bench
asks libdnnl-dev bench
asks libimgui-dev screenshots
asks libsqlite3-dev sample
asks debhelper package
asks libimgui-dev package deb
asks librsvg2-bin package archive
asks libsqlite3-dev package device
asks qt6-base-dev package card
asks python3-venv fixtures
asks libsqlite3-dev fixtures --train switch-names

if [ "$failures" -gt 0 ]; then echo "$failures verbs do not look at their packages first"; exit 1; fi
