#!/usr/bin/env bash
# check_symbols.sh ARCHIVE.tar.gz|FOLDER: every program and library in it runs with glibc 2.35 and the libstdc++ of GCC
# 12. No versioned symbol is above GLIBC_2.35, GLIBCXX_3.4.30, CXXABI_1.3.13 or GCC_12.0.0. A library that a file needs
# is one of the C and C++ compilers', or lies in lib/. No file names an absolute folder to look for libraries in.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
folder=$1
if [ -f "$folder" ]; then
  tar -C "$scratch" -xzf "$folder"
  folder=$scratch
fi
failures=0 looked=0
complain() { echo "$*"; failures=$((failures + 1)); }
declare -A most=([GLIBC]=2.35 [GLIBCXX]=3.4.30 [CXXABI]=1.3.13 [GCC]=12.0.0)

while IFS= read -r file; do
  if ! cmp -s -n 4 "$file" <(printf '\177ELF'); then continue; fi
  looked=$((looked + 1))
  name=${file#"$folder"/}
  while IFS=_ read -r kind version; do
    if [ "$(printf '%s\n' "${most[$kind]}" "$version" | sort -V | tail -n 1)" != "${most[$kind]}" ]; then
      complain "$name: needs ${kind}_$version, at most ${kind}_${most[$kind]}"
    fi
  done < <(objdump -T "$file" | grep -oE '\b(GLIBC|GLIBCXX|CXXABI|GCC)_[0-9][0-9.]*' | sort -u)
  while read -r library; do
    case $library in
      libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | ld-linux-x86-64.so.2) ;;
      libstdc++.so.6 | libgcc_s.so.1) ;;
      *) if [ -z "$(find "$folder" -path "*/lib/$library")" ]; then complain "$name: $library is not in lib/"; fi ;;
    esac
  done < <(objdump -p "$file" | awk '$1 == "NEEDED" { print $2 }')
  if objdump -p "$file" | grep -E '^ *(RPATH|RUNPATH) ' | grep -v "[\$]ORIGIN/../lib$"; then
    complain "$name: looks for libraries elsewhere"
  fi
done < <(find "$folder" -type f)
for left in libc libstdc++ libgcc_s; do
  if [ -n "$(find "$folder" -name "$left.so*")" ]; then complain "$left is in the archive"; fi
done
if [ "$looked" -eq 0 ]; then complain "$1: no program in it"; fi
echo "$looked files looked at, $failures complaints"
[ "$failures" -eq 0 ]
