#!/usr/bin/env bash
# check_alone.sh ROOT BUILD [all|FOLDER]: compiles by itself each source that changed, or whose header changed. This
# finds an include that a source takes from its neighbour in a unit of several. It also compiles the changed headers
# that no source includes first (cmake/HeaderTest.cmake).
# Changed means since the commit at which this branch left origin's main; on that main itself, since the commit before.
# Those with a changed include come first, and after a minute the rest is left: a change of a thousand sources would
# take half an hour. `all`: every source, for what older commits forgot and what was left. FOLDER: every source in it
# that the build knows, for programs that the build leaves out. Precompiled headers stay; check_includes.sh checks the
# standard ones. Exit 77: there is no git, or no compile_commands.json.
set -euo pipefail
root=$1 build=$2 which=${3:-changed}
commands=$build/compile_commands.json
if [ ! -e "$commands" ]; then echo "no $commands"; exit 77; fi

git_here() { git -c safe.directory='*' -C "$root" "$@"; }
most_seconds=60
# The sources that changed, and for a header its own source and the one that HeaderTest.cmake makes for it. Those with a
# changed include first.
changed_sources() {
  local base
  base=$(git_here merge-base HEAD origin/main 2>/dev/null || git_here rev-parse -q --verify HEAD)
  if [ "$base" = "$(git_here rev-parse HEAD)" ]; then base=$(git_here rev-parse -q --verify HEAD^1 || echo "$base"); fi
  {
    git_here diff --name-only -G '^#include' "$base" --
    git_here ls-files -o --exclude-standard
    git_here diff --name-only "$base" --
  } |
    sed -nE \
      "s#^(.*)\.cpp\$#$root/\1.cpp#p; s#^(.*)\.h\$#$root/\1.cpp\n$build/tests/house/header_check/\1.h.cpp\n$build/tests/house/header_check_qt/\1.h.cpp#p" \
      | awk '!seen[$0]++'
}

# Lines SOURCE TAB COMMAND, for each source: of a unit the command of the unit, with the source in the place of the
# unit's file.
list_commands() {
  local line command="" file source
  while IFS= read -r line; do
    case $line in
      *'"command": "'*)
        command=${line#*\"command\": \"} command=${command%\",*}
        command=${command//\\\"/\"} command=${command//\\\\/\\}
        ;;
      *'"file": "'*)
        file=${line#*\"file\": \"} file=${file%\"*}
        case $file in
          */Unity/unity_*) sed -n 's/^#include "\(.*\)"$/\1/p' "$file" ;;
          *.cpp) echo "$file" ;;
        esac | while IFS= read -r source; do
          printf '%s\t%s\n' "$source" "${command/"-c $file"/-fsyntax-only "$source"}"
        done
        ;;
    esac
  done <"$commands"
}

case $which in
  all) most_seconds=1000000 ;;
  changed)
    if ! git_here rev-parse HEAD >/dev/null 2>&1; then echo "not a git checkout"; exit 77; fi
    mapfile -t wanted < <(changed_sources)
    if [ ${#wanted[@]} -eq 0 ]; then echo "no source changed"; exit 0; fi
    ;;
  *)
    most_seconds=1000000
    wanted=("$root/$which"/*.cpp)
    ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
list_commands | sort -u -t $'\t' -k1,1 >"$scratch/all"
if [ "$which" = all ]; then
  mv "$scratch/all" "$scratch/list"
else
  printf '%s\n' "${wanted[@]}" >"$scratch/wanted"
  awk -F '\t' 'NR == FNR { command[$1] = $0; next } $1 in command { print command[$1] }' "$scratch/all" \
    "$scratch/wanted" >"$scratch/list"
fi
if [ "$which" != changed ] && [ ! -s "$scratch/list" ]; then echo "the build has no source of: $which"; exit 1; fi

# Without the cache, which keeps no results of -fsyntax-only, and without the files that a build would write.
compile_alone() {
  local command
  if [ "$(date +%s)" -ge "$until" ]; then return 0; fi
  echo >>"$scratch/compiled"
  command=$(sed -E 's/^[^\t]*\t//; s/^.*ccache //; s/ -o [^ ]+//; s/ -M(D|T [^ ]+|F [^ ]+)//g' <<<"$1")
  if ! eval "$command" >"$2" 2>&1; then
    echo "${1%%$'\t'*}: does not compile by itself:"
    grep -m 3 'error' "$2" || cat "$2"
    return 1
  fi
}
export -f compile_alone
cd "$build"
jobs=$(nproc 2>/dev/null || echo 2)
until=$(($(date +%s) + most_seconds))
export scratch until
: >"$scratch/compiled"
if ! tr '\n' '\0' <"$scratch/list" |
  xargs -0 -P "$jobs" -I{} bash -c 'compile_alone "$1" "$(mktemp -p "$scratch")"' _ {}; then
  exit 1
fi
compiled=$(wc -l <"$scratch/compiled") all=$(wc -l <"$scratch/list")
echo "$compiled sources compile by themselves"
if [ "$compiled" -lt "$all" ]; then
  echo "$((all - compiled)) changed sources were left for ./dev test --slow, after $most_seconds seconds"
fi
