#!/usr/bin/env bash
# check_programs.sh BUILD: every program below BUILD can be started: what its loader protects from writing (GNU_RELRO)
# begins in a page that it has loaded. Linkers have got this wrong at one length of the code in hundreds, where nobody
# sees it before another machine builds it.
set -euo pipefail
cd "$1"
mapfile -t programs < <(for folder in bin tests bench; do
  if [ -d "$folder" ]; then find "$folder" -maxdepth 1 -type f -perm -u+x; fi
done | sort)

failures=0 seen=0
for program in "${programs[@]}"; do
  if ! segments=$("${READELF:-readelf}" -lW "$program" 2>/dev/null); then continue; fi  # a script
  seen=$((seen + 1))
  begins=() ends=() protected=
  while read -r kind _ address _ _ bytes _; do
    case $kind in
      LOAD) begins+=($((address & ~4095))); ends+=($((address + bytes))) ;;
      GNU_RELRO) protected=$((address & ~4095)) ;;
    esac
  done <<<"$segments"
  if [ -z "$protected" ]; then continue; fi
  inside=no
  for i in "${!begins[@]}"; do
    if ((protected >= begins[i] && protected < ends[i])); then inside=yes; fi
  done
  if [ $inside = no ]; then
    printf '%s: protects the page 0x%x, which is not loaded: it does not start\n' "$program" "$protected"
    failures=$((failures + 1))
  fi
done
echo "$seen programs, $failures that do not start"
[ $seen -gt 0 ] && [ $failures -eq 0 ]
