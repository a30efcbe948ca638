#!/usr/bin/env bash
# check_sources.sh ROOT: no source over 500 lines (dev: 800), no path of somebody's machine, everything together under
# 39 MiB, no test that Qt Test never runs, no attribute that no operator declares, no header that counts twice, no type
# that another has the name of, no question for an operator's name, no number format known by name in many files, few
# casts, hardly any within an index, few comments that open with Of, What or Where, no fuzz input that only a hash
# names, no line of CMake or shell over 120 columns.
set -euo pipefail
cd "$1"
most_lines=500
most_lines_of_dev=800  # one script, so that ./dev needs nothing beside it
most_bytes=$((39 << 20))
failures=0
complain() { echo "$*"; failures=$((failures + 1)); }

# What git knows or would add; without git (an unpacked archive) all but the build folders.
list_files() {
  git -c safe.directory='*' ls-files -co --exclude-standard 2>/dev/null ||
    find . -type f -not -path './build*' -not -path './.git/*' | sed 's|^\./||'
}
mapfile -t files < <(list_files | sort -u | while IFS= read -r f; do if [ -f "$f" ]; then echo "$f"; fi; done)
if [ ${#files[@]} -eq 0 ]; then echo "no files below $PWD"; exit 1; fi

sources=() texts=()
for f in "${files[@]}"; do
  case $f in
    *.h | *.cpp | *.cu | *.cuh | *.py | *.sh | *.cmake | *CMakeLists.txt | dev | .ci/run)
      sources+=("$f") texts+=("$f")
      ;;
    *.md | *.json | *.jsonl | *.txt | *.yml | *.yaml | *.supp | *.in) texts+=("$f") ;;
  esac
done

while read -r lines f; do
  if [ "$f" = dev ]; then most=$most_lines_of_dev; else most=$most_lines; fi
  if [ "$f" != total ] && [ "$lines" -gt "$most" ]; then
    complain "$f: $lines lines; at most $most: split it by thought"
  fi
done < <(printf '%s\0' "${sources[@]}" | xargs -0 wc -l)

# Sources in C++ are clang-format's matter. A word or a text of more than 100 columns may make its line longer.
while IFS= read -r hit; do complain "$hit"; done < <(
  printf '%s\n' "${sources[@]}" | { grep -E '\.(sh|cmake)$|(^|/)CMakeLists\.txt$|^dev$|^\.ci/run$' || true; } |
    tr '\n' '\0' | xargs -0r awk '
    length($0) > 120 {
      rest = $0; longest = 0
      while (match(rest, /"(\\.|[^"\\])*"|\047[^\047]*\047|[^ "\047]+/)) {
        if (RLENGTH > longest) longest = RLENGTH
        rest = substr(rest, RSTART + RLENGTH)
      }
      if (longest <= 100) print FILENAME ":" FNR ": " length($0) " columns, at most 120"
    }')

while IFS= read -r hit; do complain "$hit: a path of one machine"; done < <(
  printf '%s\0' "${texts[@]}" | xargs -0 grep -nHoE '(^|[^A-Za-z0-9_.}])/(home|root|work|Users)/[A-Za-z0-9_]+' || true)

# Most headers compile first in their own source, which includes them once (cmake/HeaderTest.cmake).
while IFS= read -r f; do complain "$f: no #pragma once"; done < <(
  printf '%s\n' "${sources[@]}" | { grep -E '\.(h|cuh)$' || true; } | tr '\n' '\0' |
    xargs -0r grep -L '^#pragma once$' || true)

# Two types of one name are one to the linker, which keeps the code of either for both.
while IFS= read -r hit; do complain "$hit"; done < <(
  printf '%s\n' "${sources[@]}" | { grep -E '^(core|gpu|simulator|views|app)/.*\.(h|cpp)$' || true; } | tr '\n' '\0' |
    xargs -0r awk '
    FNR == 1 { space = ""; unnamed = 0 }
    /^namespace [a-z_:]+ \{/ { space = $2; unnamed = 0 }
    /^namespace \{/ { unnamed = 1 }
    /^\}  \/\/ namespace$/ { unnamed = 0 }
    !unnamed && /^(struct|class|enum class) [A-Za-z0-9_]+( final)?( :[^;{]*)? \{/ {
      name = space "::" ($1 == "enum" ? $3 : $2)
      if (name in defined) print FILENAME ":" FNR ": " name " is another type in " defined[name]
      defined[name] = FILENAME
    }')

# A slot x_data() gives the rows of a test x(); without one it is a test that looks as if it ran.
for f in "${sources[@]}"; do
  case $f in *_test.cpp) ;; *) continue ;; esac
  while IFS= read -r name; do
    if ! grep -qE "void ${name}\(\)" "$f"; then
      complain "$f: ${name}_data() has no test ${name}(): Qt Test never runs it"
    fi
  done < <(grep -oE 'void [A-Za-z0-9_]+_data\(\)' "$f" | sed -E 's/void (.*)_data\(\)/\1/' || true)
done

# An attribute that code reads or sets and no operator declares would be refused in every graph.
declared=$(
  cat core/graph/ops/*.cpp core/graph/protocol_attributes.h 2>/dev/null |
    grep -oE '\{"[a-z_]+", AttributeKind' | cut -d'"' -f2
  echo extras)
while IFS= read -r hit; do
  if ! grep -qxF -- "${hit##*\"}" <<<"$declared"; then
    complain "${hit%:\"*}: no operator declares the attribute ${hit##*\"}"
  fi
done < <(
  grep -rnoE --include='*.cpp' --include='*.h' 'attributes(\(\))?\.(integer|real|word|list|has|set|erase)\("[a-z_]+|\b(integer|flag|real|word)_of\([^"]*, "[a-z_]+' core 2>/dev/null |
    sed -E 's/:(attributes|integer_of|flag_of|real_of|word_of).*[( ]"/:"/' || true)

# What a node is, its operator's role and declared properties say (core/graph/roles.h); an operator's own files are its
# definition and its kernels. The table looks names up.
while IFS= read -r hit; do complain "$hit: asks for an operator's name; ask its role"; done < <(
  grep -rnE --include='*.cpp' --include='*.h' --include='*.cu' \
    'op->name *[!=]=|op->name\.(starts_with|find|compare)|= *[a-z_.]+(->|\.)op->name;' core gpu app views 2>/dev/null |
    grep -vE '^core/graph/operators\.cpp:' | cut -d: -f1,2 || true)

# What a number format does, its row says (docs/add-a-number-format.md): few files need to know one by name.
most_that_name_a_format=10
mapfile -t naming < <(grep -rlE 'DType::(bf16|q8_0)\b' core app views simulator gpu 2>/dev/null | sort || true)
if [ ${#naming[@]} -gt "$most_that_name_a_format" ]; then
  complain "${#naming[@]} files name DType::bf16 or DType::q8_0, at most $most_that_name_a_format: ask format_of(): ${naming[*]}"
fi

# Indices, sizes and offsets are converted by the containers; where a cast is needed, it says something. Each number of
# a thousand lines.
most_casts=20
mapfile -t core_sources < <(printf '%s\n' "${sources[@]}" | grep -E '^core/.*\.(h|cpp)$' || true)
if [ ${#core_sources[@]} -gt 0 ]; then
  read -r casts lines < <(
    cat "${core_sources[@]}" | awk '{ casts += gsub(/static_cast</, "") } END { print casts + 0, NR }')
  if [ $((casts * 1000)) -gt $((most_casts * (lines > 1000 ? lines : 1000))) ]; then
    complain "core has $casts casts in $lines lines, at most $most_casts in 1,000: an index, a size and a difference of iterators need none"
  fi
fi

# An index needs no cast to size_t: row_of(), IdVector and IdSpan take enumerations and ids. What is left are ids in
# memory of a device, and indices that are computed as real numbers; the limit only falls.
most_index_casts=10
mapfile -t index_casts < <(
  printf '%s\n' "${sources[@]}" | { grep -E '^(core|app|views|gpu|simulator)/.*\.(h|cpp|cu|cuh)$' || true; } |
    tr '\n' '\0' | xargs -0r grep -nHE '\[[^]]*static_cast<(std::)?(size_t|ptrdiff_t)>' || true)
if [ ${#index_casts[@]} -gt "$most_index_casts" ]; then
  complain "${#index_casts[@]} casts to size_t or ptrdiff_t within an index, at most $most_index_casts:"
  printf '  %s\n' "${index_casts[@]}"
fi

# A comment that opens with its noun or verb is read once (style: subject, verb, object). There were 1,432 others; the
# limit only falls.
most_openings=10
openings=$(printf '%s\n' "${sources[@]}" | { grep -E '\.(h|cpp|cu|cuh)$' || true; } | tr '\n' '\0' |
  { xargs -0r grep -hE '^ *///?<? ?(Of|What|Where) ' || true; } | wc -l)
if [ "$openings" -gt "$most_openings" ]; then
  complain "$openings comments open with Of, What or Where, at most $most_openings: begin with the noun or the verb"
fi

# Inputs without a speaking name lie in the target's pack: hundreds of them would be half of all files.
for f in "${files[@]}"; do
  if [[ $f =~ ^tests/fuzz/corpus/.*/[0-9a-f]{40}$ ]]; then
    complain "$f: pack it (tests/fuzz/README.md), or name it after what it is"
  fi
done

bytes=$(printf '%s\0' "${files[@]}" | xargs -0 stat -c %s | awk '{ sum += $1 } END { print sum }')
if [ "$bytes" -gt "$most_bytes" ]; then complain "all files together: $bytes bytes, at most $most_bytes"; fi

echo "${#files[@]} files looked at, $bytes bytes, $failures complaints"
[ "$failures" -eq 0 ]
