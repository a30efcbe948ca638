#!/usr/bin/env bash
# The house checks must notice what they are there for: each case is a small tree with one defect.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

# clean_tree: a project of two files that breaks no rule.
clean_tree() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/core/base" "$tree/core/graph" "$tree/app/cli" "$tree/views/heatmap"
  echo '#pragma once' >"$tree/core/base/error.h"
  printf '#pragma once\n#include <vector>\n#include "core/base/error.h"\n' >"$tree/core/graph/graph.h"
}

# expect WHICH VERDICT TEXT NAME: the check of the tree gives the verdict (passes, notices) and says TEXT.
expect() {
  local which=$1 verdict=$2 text=$3 name=$4 output status=0
  output=$("$BASH" "$here/check_$which.sh" "$tree" 2>&1) || status=$?
  case $verdict:$status in
    passes:0 | notices:1) ;;
    *)
      echo "FAIL $name: exit status $status, expected that it $verdict"
      echo "$output"
      failures=$((failures + 1))
      return
      ;;
  esac
  if [[ $output != *"$text"* ]]; then
    echo "FAIL $name: expected '$text' in:"
    echo "$output"
    failures=$((failures + 1))
    return
  fi
  echo "ok   $name"
}

# layers FILE INCLUDE VERDICT TEXT NAME
layers() {
  clean_tree
  mkdir -p "$tree/$(dirname "$1")"
  echo "#include $2" >"$tree/$1"
  expect layers "$3" "$4" "$5"
}

clean_tree
expect layers passes "0 not allowed" "a clean tree has no wrong arrows"
expect circles passes "0 circles" "a clean tree has no circles"
expect sources passes "0 complaints" "a clean tree has clean sources"
expect includes passes "0 complaints" "a clean tree includes what it uses"

# includes LINE VERDICT TEXT NAME: a source that includes core/graph/graph.h, which has <vector>.
includes() {
  clean_tree
  printf '#include "core/graph/graph.h"\n%s\n' "$1" >"$tree/core/graph/use.cpp"
  expect includes "$2" "$3" "$4"
}
clean_tree
mkdir -p "$tree/cmake"
echo 'set(STORMCELL_STANDARD_HEADERS <vector> <regex>)' >"$tree/cmake/Precompiled.cmake"
expect includes notices "<regex> is precompiled" "a precompiled header that the check does not know"
includes 'std::map<int, int> m;' notices "use.cpp:2: uses map and includes no <map>" \
  "a header that only the precompiled ones bring"
includes 'int64_t n;' notices "use.cpp:2: uses int64_t and includes no <cstdint>" "a fixed width without its header"
includes 'std::vector<int> v;' passes "0 complaints" "what a header of ours includes"
includes 'const char* text = "std::map"; // std::set' passes "0 complaints" "names in texts and comments"

# alone TEXT VERDICT OUTPUT NAME [FOLDER]: a unit of two sources, of which the second has the text; it sees what the
# first includes.
alone() {
  clean_tree
  local unity=$tree/build/Unity/unity_0_cxx.cxx output status=0
  mkdir -p "$tree/build/Unity"
  printf '#include <vector>\n' >"$tree/core/graph/first.cpp"
  printf '%s\n' "$1" >"$tree/core/graph/second.cpp"
  printf '#include "%s"\n' "$tree/core/graph/first.cpp" "$tree/core/graph/second.cpp" >"$unity"
  printf '[{\n"directory": "%s",\n"command": "%s -o unity.o -c %s",\n"file": "%s"\n}]\n' "$tree/build" "${CXX:-g++}" \
    "$unity" "$unity" \
    >"$tree/build/compile_commands.json"
  output=$("$BASH" "$here/check_alone.sh" "$tree" "$tree/build" "${5:-all}" 2>&1) || status=$?
  if [ "$status" -ne "$2" ] || [[ $output != *"$3"* ]]; then
    echo "FAIL $4: exit status $status: $output"
    failures=$((failures + 1))
    return
  fi
  echo "ok   $4"
}
alone 'std::vector<int> v;' 1 "second.cpp: does not compile by itself" "an include that only a neighbour has"
alone '#include <vector>
std::vector<int> v;' 0 "2 sources compile by themselves" "a source with its own include"
alone 'std::vector<int> v;' 1 "second.cpp: does not compile by itself" "the same in one folder" core/graph
alone '#include <vector>' 1 "the build has no source of: tests/bench" "a folder that no build has" tests/bench

# changed TEXT STATUS OUTPUT NAME: the same, where git knows both sources and the second has the text since its last
# commit.
changed() {
  local output status=0
  git -C "$tree" -c user.name=a -c user.email=a@b commit -q -am "$4" --allow-empty
  printf '%s\n' "$1" >>"$tree/core/graph/second.cpp"
  output=$("$BASH" "$here/check_alone.sh" "$tree" "$tree/build" 2>&1) || status=$?
  if [ "$status" -ne "$2" ] || [[ $output != *"$3"* ]]; then
    echo "FAIL $4: exit status $status: $output"
    failures=$((failures + 1))
    return
  fi
  echo "ok   $4"
}
if command -v git >/dev/null; then
  git -C "$tree" init -q
  git -C "$tree" add core
  changed '' 0 "1 sources compile by themselves" "one changed source of two"
  changed 'std::map<int, int> m;' 1 "second.cpp: does not compile by itself" "a change that forgets an include"
  # A header without a source: what HeaderTest.cmake makes for it is compiled.
  made=$tree/build/tests/house/header_check/core/graph/third.h.cpp
  mkdir -p "${made%/*}"
  git -C "$tree" checkout -q core
  echo 'std::set<int> s;' >"$tree/core/graph/third.h"
  printf '#include "%s"\n' "$tree/core/graph/third.h" >"$made"
  sed -i \
    "s#}\]#},{\n\"directory\": \"$tree/build\",\n\"command\": \"${CXX:-g++} -o third.o -c $made\",\n\"file\": \"$made\"\n}]#" \
    "$tree/build/compile_commands.json"
  changed '' 1 "third.h.cpp: does not compile by itself" "a header that forgets an include"
  rm -rf "$tree/.git"
fi

layers core/base/up.h '"core/graph/graph.h"' notices "core/base may not include core/graph" "an arrow that points up"
layers core/data/side.cpp '"core/models/model.h"' notices "core/data may not include core/models" \
  "an arrow between neighbours that the table does not have"
layers core/experiment/down.h '"core/graph/graph.h"' passes "0 not allowed" "an arrow that points down"
layers app/cli/deep.cpp '"core/graph/graph.h"' notices "app/cli may not include core/graph" \
  "a program that reaches below the façade"
layers views/heatmap/view.cpp '"core/experiment/experiment.h"' passes "0 not allowed" "a view on the façade"
layers core/base/relative.h '"../graph/graph.h"' notices "from the top of the project" "a relative include"
layers core/graph/widget.h '<QWidget>' notices "no Qt here" "Qt in the core"
layers core/graph/qualified.cpp '<QtCore/qstring.h>' notices "no Qt here" "Qt in the core, by its module"
layers core/cpu/device.cpp '<cuda_runtime.h>' notices "no CUDA here" "CUDA in the core"
layers core/graph/sub/text.h '<nlohmann/json.hpp>' notices "sources only" "a heavy header in a header"
layers core/graph/text.cpp '<nlohmann/json.hpp>' passes "0 not allowed" "a heavy header in a source"
layers core/graph/store.cpp '<sqlite3.h>' notices "no SQLite here" "SQLite outside the session"
layers core/session/store.cpp '<sqlite3.h>' passes "0 not allowed" "SQLite in the session"
layers core/misc/thing.h '<vector>' notices "has no row" "a folder that the table does not know"

# circle FROM TO...: each source includes the header of the next pair, the last one that of the first pair.
circle() {
  clean_tree
  local pairs=("$@") i
  for ((i = 0; i < $#; i++)); do
    echo '#pragma once' >"$tree/core/graph/${pairs[i]}.h"
    echo "#include \"core/graph/${pairs[(i + 1) % $#]}.h\"" >"$tree/core/graph/${pairs[i]}.cpp"
  done
}
circle node edge flow
expect circles notices "a circle of 3 pairs" "three pairs that include each other in a circle"
expect circles notices "core/graph/edge.cpp:1: includes core/graph/flow.h" "the includes that make the circle"
circle node edge
expect circles passes "0 circles" "two pairs that include each other"
circle node edge flow
echo '' >"$tree/core/graph/flow.cpp"
expect circles passes "0 circles" "a chain of three pairs"
circle node edge flow
echo '#include "core/graph/node.h"' >"$tree/core/graph/flow.avx512.cpp"
echo '' >"$tree/core/graph/flow.cpp"
expect circles notices "a circle of 3 pairs" "a circle through a source of one instruction set"

clean_tree
mkdir -p "$tree/core/graph/ops"
echo 'constexpr AttributeRule kAttributes[] = {{"stride", AttributeKind::integer}};' >"$tree/core/graph/ops/conv2d.cpp"
echo 'auto s = n.attributes.integer("strid", 1);' >"$tree/core/graph/typo.cpp"
expect sources notices "typo.cpp:1: no operator declares the attribute strid" \
  "an attribute that is read and not declared"
echo 'auto s = integer_of(m.node(), "strid");' >"$tree/core/graph/typo.cpp"
expect sources notices "typo.cpp:1: no operator declares the attribute strid" \
  "an attribute that is read by its default and not declared"
echo 'auto s = n.attributes.integer("stride", 1);' >"$tree/core/graph/typo.cpp"
expect sources passes "0 complaints" "an attribute that is declared"

clean_tree
echo 'if (node.op->name == "route") return;' >"$tree/core/graph/by_name.cpp"
expect sources notices "by_name.cpp:1: asks for an operator's name" \
  "code that asks what a node is by its operator's name"

clean_tree
for ((i = 0; i < 11; i++)); do echo 'if (type == DType::bf16) return;' >"$tree/core/graph/format$i.cpp"; done
expect sources notices "11 files name DType::bf16" "a number format that many files know by name"

clean_tree
for ((i = 0; i < 22; i++)); do echo 'const auto x = static_cast<size_t>(y);'; done >"$tree/core/graph/casts.cpp"
expect sources notices "core has 22 casts" "a cast in each line"

clean_tree
for ((i = 0; i < 11; i++)); do echo 'y += x[a + static_cast<size_t>(i)];'; done >"$tree/core/graph/index.cpp"
expect sources notices "11 casts to size_t or ptrdiff_t within an index" "casts within indices"

clean_tree
for f in 1 2; do
  for ((i = 0; i < 720; i++)); do echo "/// What is there."; done >"$tree/core/graph/openings$f.cpp"
done
expect sources notices "1440 comments open with Of, What or Where" "comments that open without their noun"

# long FILE LINES VERDICT TEXT NAME
long() {
  clean_tree
  for ((i = 0; i < $2; i++)); do echo "// line"; done >"$tree/$1"
  expect sources "$3" "$4" "$5"
  rm "$tree/$1"
}
long core/graph/long.cpp 500 passes "0 complaints" "a source of 500 lines"
long core/graph/long.cpp 501 notices "core/graph/long.cpp: 501 lines; at most 500" "a source that is too long"
long core/graph/long.py 501 notices "core/graph/long.py: 501 lines; at most 500" "a script that is too long"
long dev 800 passes "0 complaints" "a script dev of 800 lines"
long dev 801 notices "dev: 801 lines; at most 800" "a script dev that is too long"

clean_tree
printf 'set(words %s)\n' "$(printf 'word %.0s' {1..30})" >"$tree/core/CMakeLists.txt"
expect sources notices "core/CMakeLists.txt:1: 161 columns, at most 120" "a line of CMake that is too long"
rm "$tree/core/CMakeLists.txt"
printf 'echo %s\n' "$(printf 'word %.0s' {1..30})" >"$tree/core/long.sh"
expect sources notices "core/long.sh:1: " "a line of a script that is too long"
printf 'echo "%s"\n' "$(printf 'word %.0s' {1..30})" >"$tree/core/long.sh"
expect sources passes "0 complaints" "a text that is longer than a line"

clean_tree
printf '// see /%s/somebody/model\n' home >"$tree/core/graph/path.cpp"
expect sources notices "path.cpp:1" "a path of one machine"

clean_tree
printf 'void rows_data() {}\nvoid rows() {}\nvoid opening_reads_no_data() {}\n' >"$tree/core/graph/graph_test.cpp"
expect sources notices "opening_reads_no_data() has no test" "a test that is taken for the rows of another"

clean_tree
echo '#include <vector>' >"$tree/core/graph/twice.h"
expect sources notices "twice.h: no #pragma once" "a header that counts twice"

clean_tree
for f in error graph; do
  printf '#pragma once\nnamespace stormcell {\nstruct Flow {\n};\n}\n' >"$tree/core/base/$f.h"
done
expect sources notices "core/base/graph.h:3: stormcell::Flow is another type in core/base/error.h" \
  "two types of one name"
printf '#pragma once\nnamespace stormcell {\nnamespace {\nstruct Flow {\n};\n}  // namespace\n}\n' \
  >"$tree/core/base/graph.h"
expect sources passes "0 complaints" "a type of one source alone"

clean_tree
mkdir -p "$tree/tests/fuzz/corpus/json"
echo '[]' >"$tree/tests/fuzz/corpus/json/01878536cae609112bdd4617265346eed3c4b131"
expect sources notices "pack it" "a fuzz input that only a hash names"

clean_tree
head -c $(((39 << 20) + 1)) /dev/zero >"$tree/big.bin"
expect sources notices "at most" "too many bytes"

# pages TEXT VERDICT OUTPUT NAME: a page of the method with the text, and a page of the guide.
pages() {
  clean_tree
  mkdir -p "$tree/docs/guide" "$tree/docs/method"
  printf '# Start\n\n```\n$ stormcell\n```\nIt runs: see.\n\n## Next\n- [The method](../method/timing.md#timing)\n' \
    >"$tree/docs/guide/start.md"
  printf '# Timing\n\n%b\n' "$1" >"$tree/docs/method/timing.md"
  expect pages "$2" "$3" "$4"
}
words20=$(printf 'word %.0s' {1..20})
pages "$words20$words20." passes "0 complaints" "a sentence of 40 words"
pages "$words20\n$words20 word." notices "timing.md:3: a sentence of 41 words" "a sentence of 41 words in two lines"
pages "$words20. $words20\n\n$words20" passes "0 complaints" "sentences that end with a stop and with a paragraph"
pages "$words20 \`$words20$words20\` \n\n\`\`\`\n$words20$words20$words20\n\`\`\`" passes "0 complaints" "words in code"
pages "- $words20\n- $words20\n\n| $words20 | $words20 |\n|---|---|\n| $words20 | $words20 |" passes "0 complaints" \
  "list items and cells are sentences"
pages "| a | b |\n|---|---|\n| c | $words20$words20 word |" notices "timing.md:5: a sentence of 41 words" \
  "a cell that is too long"
pages 'It is so: a; b.' notices "2 colons and semicolons in a sentence" "a sentence of three parts"
pages 'It is at 3:2 and https://a.b/c:d, so: a.' passes "0 complaints" "colons within words"
pages 'See [that](../guide/begin.md).' notices "timing.md:3: ../guide/begin.md leads nowhere" "a link to no page"
pages 'See [that](../guide/start.md#begin).' notices "../guide/start.md#begin: no such title" "a link to no title"
pages 'See `[that](../guide/begin.md)`.' passes "0 complaints" "a link in code"
pages '' passes "0 complaints" "a page of the guide in its form"
sed -i '/^## Next/d' "$tree/docs/guide/start.md"
expect pages notices "start.md: does not end with the section Next" "a page of the guide that leads nowhere"
printf '# Start\n\nText first.\n\n## Next\n' >"$tree/docs/guide/start.md"
expect pages notices "start.md: does not begin with a command" "a page of the guide without a command"
{ printf '# Start\n\n```\n$ stormcell\n```\n'; for ((i = 0; i < 72; i++)); do echo "$words20."; done
  printf '\n## Next\n'; } >"$tree/docs/guide/start.md"
expect pages notices "start.md: 1516 words, at most 1500" "a page of the guide that is too long"
pages '' passes "0 complaints" "a page of the guide that is short"
mkdir -p "$tree/docs/decisions"
echo '# A shape' >"$tree/docs/decisions/001-shape.md"
expect pages notices "001-shape.md: has no row" "a decision that the list does not have"

# status ROW VERDICT OUTPUT NAME: a page of the status with one row, beside a test class.
status() {
  pages '' passes "0 complaints" "a tree for the status"
  mkdir -p "$tree/tests"
  printf 'class RunTest : public QObject {\n' >"$tree/tests/run_test.cpp"
  printf '# Status\n\n| feature | state | test |\n|---|---|---|\n%b\n' "$1" >"$tree/docs/status.md"
  expect pages "$2" "$3" "$4"
}
status '| runs | works | `runtime` (RunTest) |' passes "0 complaints" "a line of the status"
status '| runs | partly: no card | - |' passes "0 complaints" "a line that says what is missing"
status '| trains | missing | - |' passes "0 complaints" "a line of what is missing"
status '| runs | partly | - |' notices "status.md:5: the state is works" "partly, without what is missing"
status '| runs | met | - |' notices "status.md:5: the state is works" "a state of another name"
status '| runs | works | |' notices "status.md:5: names no test" "a line without a test"
status '| runs | works |' notices "status.md:5: not three cells" "a line of two cells"
status '| runs | works | `runtime` (WalkTest) |' notices "status.md: no test WalkTest" "a test that is not there"
status "| $words20$words20 word | works | - |" notices "status.md:5: a sentence of 41 words" \
  "a cell of the status that is too long"
status '| runs: fast; far | works | - |' notices "2 colons and semicolons" "a cell of the status with two marks"

# programs ADDRESS VERDICT TEXT NAME: a program with data from 0x3000 whose protection begins at ADDRESS.
programs() {
  clean_tree
  mkdir -p "$tree/bin"
  printf '#!/bin/sh\necho "  LOAD 0x1000 0x1000 0x1000 0xffd 0xffd R E 0x1000"\n' >"$tree/readelf"
  printf \
    'echo "  LOAD 0x2000 0x3000 0x3000 0x220 0x1000 RW 0x1000"\necho "  GNU_RELRO 0x0 %s %s 0x223 0x1003 R 0x1"\n' \
    "$1" "$1" >>"$tree/readelf"
  touch "$tree/bin/program"
  chmod +x "$tree/readelf" "$tree/bin/program"
  READELF="$tree/readelf" expect programs "$2" "$3" "$4"
}
programs 0x2ffd notices "bin/program: protects the page 0x2000, which is not loaded" "a program that its loader refuses"
programs 0x3010 passes "1 programs, 0 that do not start" "a program that starts"
rm "$tree/bin/program"
expect programs notices "0 programs" "a build without programs"

[ "$failures" -eq 0 ]
