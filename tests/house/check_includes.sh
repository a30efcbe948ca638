#!/usr/bin/env bash
# check_includes.sh ROOT: a source that uses a name of a precompiled standard header includes that header, itself or
# through a header of ours. With precompiled headers no compiler sees that one is forgotten.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$1"
mapfile -t files < <(
  find core gpu app views simulator tests -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) \
    2>/dev/null | sort)
if [ ${#files[@]} -eq 0 ]; then echo "no sources below $PWD"; exit 1; fi

# The table below must know each header that is precompiled.
if [ -e cmake/Precompiled.cmake ]; then
  for header in $(
    sed -n '/^set(STORMCELL_STANDARD_HEADERS/,/)/p' cmake/Precompiled.cmake | grep -oE '<[a-z_]+>' | tr -d '<>'); do
    if ! grep -qE "^ *(give\\(|any = )\"([a-z_. ]* )?$header[ \"]" "$here/check_includes.sh"; then
      echo "cmake/Precompiled.cmake: <$header> is precompiled, and check_includes.sh knows no name of it"
      exit 1
    fi
  done
fi
awk '
  # give HEADERS NAMES: any of the headers declares each of the names.
  function give(headers, names,    list, n, i) {
    n = split(names, list, " ")
    for (i = 1; i <= n; i++) of[list[i]] = headers
  }
  BEGIN {
    give("algorithm", "adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if equal equal_range fill fill_n find find_if " \
         "find_if_not for_each generate includes is_permutation is_sorted lexicographical_compare lower_bound max max_element merge min min_element minmax " \
         "minmax_element mismatch next_permutation none_of nth_element partial_sort partition partition_point ranges remove_if replace replace_if reverse " \
         "rotate search set_difference set_intersection set_union shuffle sort stable_partition stable_sort swap_ranges transform unique upper_bound")
    give("array", "array to_array")
    give("charconv", "from_chars to_chars chars_format")
    give("cmath", "cbrt ceil copysign cos erf erfc exp exp2 expm1 fabs floor fmod frexp hypot ilogb isfinite isinf isnan ldexp lerp lgamma llround log log10 " \
         "log1p log2 lround nan nearbyint nextafter pow round sin sqrt tan tanh trunc")
    give("cmath cstdlib", "abs")
    give("cstdint", "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t")
    give("cstring string.h", "memchr memcmp memcpy memmove memset strchr strcmp strerror strlen")
    give("fstream", "ifstream ofstream fstream")
    give("functional", "function greater hash invoke plus")
    give("functional map set", "less")
    give("map", "map multimap")
    give("memory", "make_shared make_unique make_unique_for_overwrite shared_ptr unique_ptr weak_ptr")
    give("optional", "nullopt optional make_optional")
    give("set", "set multiset")
    give("span", "as_bytes as_writable_bytes span")
    give("string", "string to_string stod stof stoi stol stoll stoul stoull")
    give("string string_view", "string_view")
    give("vector", "vector")
    any = "algorithm array functional map memory optional set span string string_view tuple utility vector"
    give(any, "exchange forward make_pair move pair swap")
  }
  {
    line = $0
    if (match(line, /^#include [<"][^>"]+[>"]/)) {
      name = substr(line, RSTART + 10, RLENGTH - 11)
      if (line ~ /^#include "/) ours[FILENAME] = ours[FILENAME] " " name
      else standard[FILENAME, name] = 1
      next
    }
    gsub(/\\./, "", line)
    gsub(/"[^"]*"/, "", line)
    sub(/\/\/.*/, "", line)
    if (FILENAME ~ /\.cuh?$/) next  # compiled without precompiled headers
    while (match(line, /std::[a-z_0-9]+/)) {
      name = substr(line, RSTART + 5, RLENGTH - 5)
      if (name in of && !((FILENAME, name) in first)) {
        first[FILENAME, name] = FNR
        used[FILENAME] = used[FILENAME] " " name
      }
      line = substr(line, 1, RSTART - 1) " " substr(line, RSTART + RLENGTH)
    }
    while (match(line, /(^|[^A-Za-z0-9_:])u?int(8|16|32|64)_t/)) {
      name = substr(line, RSTART, RLENGTH); sub(/^[^ui]/, "", name)
      if (!((FILENAME, name) in first)) { first[FILENAME, name] = FNR; used[FILENAME] = used[FILENAME] " " name }
      line = substr(line, RSTART + RLENGTH)
    }
  }
  # Files that a file includes, itself first, in reached[1..n].
  function reach(file,    queue, n, i, j, list, m) {
    delete seen
    queue[1] = file; seen[file] = 1; n = 1
    for (i = 1; i <= n; i++) {
      m = split(ours[queue[i]], list, " ")
      for (j = 1; j <= m; j++) if (!(list[j] in seen)) { seen[list[j]] = 1; queue[++n] = list[j] }
    }
    for (i = 1; i <= n; i++) reached[i] = queue[i]
    return n
  }
  END {
    for (file in used) {
      n = reach(file)
      m = split(used[file], names, " ")
      for (i = 1; i <= m; i++) {
        name = names[i]; found = 0
        k = split(of[name], headers, " ")
        for (j = 1; j <= k && !found; j++)
          for (l = 1; l <= n && !found; l++) if ((reached[l], headers[j]) in standard) found = 1
        if (!found) {
          printf "%s:%d: uses %s and includes no <%s>\n", file, first[file, name], name, headers[1]
          ++missing
        }
      }
    }
    printf "%d sources looked at, %d complaints\n", ARGC - 1, missing
    exit missing > 0
  }' "${files[@]}"
