#!/usr/bin/env bash
# Runs the CUDA compiler (as CMake's launcher) and keeps what ptxas says of registers and spills beside the object, as
# OBJECT.ptxas; everything else that it says is shown.
set -uo pipefail
object=""
for ((i = 1; i < $#; i++)); do
  if [ "${!i}" = -o ]; then next=$((i + 1)); object=${!next}; fi
done
said=$(mktemp)
trap 'rm -f "$said"' EXIT
"$@" 2>"$said"
status=$?
if [ "$status" -eq 0 ] && [[ $object == *.o ]] && grep -q '^ptxas info' "$said"; then
  grep -E '^ptxas info|bytes stack frame' "$said" >"$object.ptxas"
fi
grep -vE '^ptxas info|bytes stack frame|^$' "$said" >&2
exit "$status"
