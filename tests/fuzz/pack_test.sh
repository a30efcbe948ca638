#!/usr/bin/env bash
# pack_test.sh FUZZ_PACK FUZZ_REPLAY: packing loses nothing, and a replay notices a pack that is not whole.
set -euo pipefail
tool=$1 replay=("$2" npy)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect STATUS TEXT NAME COMMAND...: the command ends with STATUS and says TEXT.
expect() {
  local wanted=$1 text=$2 name=$3 output status=0
  shift 3
  output=$("$@" 2>&1) || status=$?
  if [ "$status" -ne "$wanted" ] || [[ $output != *"$text"* ]]; then
    echo "FAIL $name: exit status $status, expected $wanted and '$text' in:"
    echo "$output" | tail -3
    failures=$((failures + 1))
  else
    echo "ok   $name"
  fi
}

# Three inputs by hash (one empty, one with line ends and a zero byte), one by name.
mkdir -p "$folder/inputs"
printf '' >"$folder/inputs/da39a3ee5e6b4b0d3255bfef95601890afd80709"
printf 'a\n\n\0b' >"$folder/inputs/1111111111111111111111111111111111111111"
printf '\x93NUMPY' >"$folder/inputs/2222222222222222222222222222222222222222"
printf 'kept as a file' >"$folder/inputs/speaking-name"
sums() { (cd "$1" && sha256sum -- * | cut -d' ' -f1 | sort); }
before=$(sums "$folder/inputs")

expect 0 "3 files packed, 0 inputs before, 3 now" "hash-named files are packed" "$tool" pack "$folder/inputs" \
  "$folder/p.pack"
expect 0 "speaking-name" "named ones stay" ls "$folder/inputs"
expect 0 "0 files packed, 3 inputs before, 3 now" "packing again changes nothing" "$tool" pack "$folder/inputs" \
  "$folder/p.pack"
expect 0 "3 inputs unpacked" "unpacking" "$tool" unpack "$folder/p.pack" "$folder/out"
cp "$folder/inputs/speaking-name" "$folder/out/"
if [ "$before" = "$(sums "$folder/out")" ]; then
  echo "ok   the same bytes come out"
else
  echo "FAIL other bytes come out"
  failures=$((failures + 1))
fi

expect 0 "4 inputs: 1 files, 3 packed" "a whole pack is replayed" "${replay[@]}" "$folder/inputs" "$folder/p.pack" 4
expect 1 "at least 5 are expected" "fewer inputs than stated" "${replay[@]}" "$folder/inputs" "$folder/p.pack" 5
expect 1 "not a whole pack" "no pack at all" "${replay[@]}" "$folder/inputs" "$folder/inputs/speaking-name" 1
expect 1 "cannot be read" "a pack that is not there" "${replay[@]}" "$folder/inputs" "$folder/none.pack" 1

size=$(stat -c %s "$folder/p.pack")
head -c $((size - 1)) "$folder/p.pack" >"$folder/cut.pack"
expect 1 "not a whole pack: it ends within" "a pack that is cut" "${replay[@]}" "$folder/inputs" "$folder/cut.pack" 1
{ cat "$folder/p.pack"; echo; } >"$folder/long.pack"
expect 1 "bytes follow" "a pack with more at its end" "${replay[@]}" "$folder/inputs" "$folder/long.pack" 1
{ head -c $((size - 1)) "$folder/p.pack"; printf '!'; } >"$folder/changed.pack"
expect 1 "another SHA-256" "a pack with a changed byte" "${replay[@]}" "$folder/inputs" "$folder/changed.pack" 1
sed '2s/3/2/' "$folder/p.pack" >"$folder/fewer.pack"
expect 1 "more inputs than it states" "an index with more inputs than its number" "${replay[@]}" "$folder/inputs" \
  "$folder/fewer.pack" 1
[ "$failures" -eq 0 ]
