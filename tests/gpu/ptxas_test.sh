#!/usr/bin/env bash
# ptxas_test.sh FOLDER LIST [--update]: registers and spills of every kernel, as ptxas reported them while FOLDER was
# built, against the kept LIST. Registers are compared where the same ptxas built them; a spill or a stack frame that
# the list does not have fails anywhere, and so does what ptxas remarks on lost performance (wgmma serialised,
# setmaxnreg ignored): it says so as "info", with a number, and nowhere else. Architectures that were not built are not
# compared. The kernels whose waits give up (device_check_stall) are held to that too, where they were built: serialised
# they would be other kernels.
set -euo pipefail
folder=$1 list=$2 update=${3:-}
export LC_ALL=C
mapfile -t reports < <(find "$folder" -name '*.ptxas' -path '*stormcell_gpu*' | sort)
if [ ${#reports[@]} -eq 0 ]; then echo "no reports of ptxas below $folder"; exit 77; fi

mapfile -t stalls < <(find "$folder" -name '*.ptxas' -path '*device_check_stall*/grouped/*' | sort)
if remarks=$(grep -h 'ptxas info *: (C[0-9]' "${reports[@]}" "${stalls[@]}" | sort | uniq -c); then
  echo "ptxas remarks:"
  echo "$remarks"
  exit 1
fi
version=$("${NVCC:-nvcc}" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p' || true)
table=$(cat "${reports[@]}" | c++filt | awk '
  /Compiling entry function/ {
    arch = $0; sub(/.* for \047/, "", arch); sub(/\047.*/, "", arch)
    name = $0; sub(/[^\047]*\047/, "", name); sub(/\047 for \047.*/, "", name)
    command = ""
    next
  }
  /bytes stack frame/ { stack = $1; stores = $5; loads = $9 }
  /Used [0-9]+ registers/ {
    registers = $0; sub(/.*Used /, "", registers); sub(/ registers.*/, "", registers)
    print name "\t" arch "\t" registers "\t" stack "\t" stores "\t" loads
  }' | while IFS=$'\t' read -r name rest; do
    short=$(c++filt "$name" |
      sed -E 's/stormcell::(gpu|card):://g; s/^void //; s/\(.*//; s/run_kernel<(.*)>$/\1/; s/ +$//')
    printf '%s\t%s\n' "$short" "$rest"
  done | sort -u)

if [ "$update" = --update ]; then
  {
    echo \
      "# Kernel, architecture, registers, bytes of stack frame, spill stores, spill loads; by ptxas of CUDA $version."
    echo "# Kept by: tests/gpu/ptxas_test.sh build/gpu tests/gpu/ptxas.txt --update"
    printf '%s\n' "$table"
  } >"$list"
  exit 0
fi
kept_version=$(sed -n '1s/.*CUDA \([0-9.]*\)\.$/\1/p' "$list")
printf '%s\n' "$table" | awk -F'\t' -v list="$list" -v same="$([ "$version" = "$kept_version" ] && echo 1 || echo 0)" '
  BEGIN {
    while ((getline line < list) > 0) {
      if (line ~ /^#/) continue
      split(line, f, "\t"); key = f[1] "\t" f[2]
      kept[key] = line; registers[key] = f[3]; spills[key] = f[4] + f[5] + f[6]
    }
  }
  {
    key = $1 "\t" $2; seen[key] = 1; built[$2] = 1; ++kernels
    if (!(key in kept)) { print "new: " $0; ++wrong; next }
    if ($4 + $5 + $6 > spills[key]) { print "spills more: " $0 " (kept: " kept[key] ")"; ++wrong }
    else if (same && $3 != registers[key]) { print "registers: " $0 " (kept: " kept[key] ")"; ++wrong }
  }
  END {
    for (key in kept) {
      split(key, of, "\t")
      if (of[2] in built && !(key in seen)) { print "gone: " kept[key]; ++wrong }
    }
    print kernels " kernels, " wrong + 0 " differences from " list
    exit wrong > 0
  }'
