#!/usr/bin/env bash
# check_version.sh ROOT: one version everywhere. CMake's is that of programs and sessions, the first title of
# CHANGELOG.md that of packages; CITATION.cff and the Studio's metainfo tell the same, with one date.
set -euo pipefail
cd "$1"
failures=0
version=$(sed -n 's/^project(Stormcell VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
date=$(sed -n 's/^## [0-9.]* (\(.*\))$/\1/p' CHANGELOG.md | head -n 1)
if [ -z "$version" ] || [ -z "$date" ]; then echo "no version in CMakeLists.txt, or no date in CHANGELOG.md"; exit 1; fi

# says FILE WHAT EXPECTED
says() {
  if [ "$2" != "$3" ]; then echo "$1: has '$2', expected '$3'"; failures=$((failures + 1)); fi
}
release() { sed -n "s/.*<release version=\"\([^\"]*\)\" date=\"\([^\"]*\)\".*/\\$1/p" "$metainfo" | head -n 1; }
metainfo=installer/linux/stormcell-studio.metainfo.xml
says CHANGELOG.md "$(sed -n 's/^## \([0-9.]*\) (.*/\1/p' CHANGELOG.md | head -n 1)" "$version"
says CITATION.cff "$(sed -n 's/^version: //p' CITATION.cff)" "$version"
says CITATION.cff "$(sed -n 's/^date-released: //p' CITATION.cff)" "$date"
says "$metainfo" "$(release 1)" "$version"
says "$metainfo" "$(release 2)" "$date"
echo "version $version of $date, $failures complaints"
[ "$failures" -eq 0 ]
