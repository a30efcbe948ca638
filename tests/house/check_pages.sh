#!/usr/bin/env bash
# check_pages.sh ROOT: pages that users read are in plain English. In README, docs/add-*.md, docs/guide, docs/reference,
# docs/method, docs/servers, docs/{architecture,concepts,missing,models,session-format,status}.md and the newer pages of
# docs/benchmarks no sentence has more than 40 words, or more than one colon or semicolon. A page of the guide has at
# most 1,500 words, begins with a command and ends with the section "Next". A line of the status has a state and a test
# that exists. Links between pages of the tree lead to a page and to a title that are there. The list of decisions has
# each of them.
# A sentence ends at . ! or ? or with its paragraph, title, list item or table cell. Code and what programs print do not
# count.
set -euo pipefail
cd "$1"
most_words=40
most_marks=1
most_page_words=1500
failures=0
complain() { echo "$*"; failures=$((failures + 1)); }

plain=()
for f in README.md docs/add-*.md docs/{architecture,concepts,missing,models,session-format,status}.md docs/guide/*.md \
  docs/reference/*.md docs/method/*.md docs/servers/*.md \
  docs/benchmarks/{demos,engine,gpu-plans,house,imports,measuring}.md; do
  if [ -f "$f" ]; then plain+=("$f"); fi
done
if [ ${#plain[@]} -eq 0 ]; then echo "no pages below $PWD"; exit 1; fi

while IFS= read -r hit; do complain "$hit"; done < <(
  awk -v most_words="$most_words" -v most_marks="$most_marks" '
    function judge(sentence,    rest, words, marks, list, n, i) {
      n = split(sentence, list, /[ \t]+/)
      for (i = 1; i <= n; i++) if (list[i] ~ /[[:alnum:]]/) words++
      # A mark within a word, as in 3:2 or an address, separates nothing.
      marks = gsub(/[:;]([ "*_)]|$)/, "&", sentence)
      rest = substr(sentence, 1, 60)
      if (words > most_words) print file ":" first ": a sentence of " words " words, at most " most_words ": " rest
      if (marks > most_marks) print file ":" first ": " marks " colons and semicolons in a sentence: " rest
    }
    function end_block(    rest, at) {
      rest = block
      block = ""
      gsub(/!\[[^]]*\]\([^)]*\)/, "", rest)
      while (match(rest, /\]\([^)]*\)/)) rest = substr(rest, 1, RSTART - 1) substr(rest, RSTART + RLENGTH)
      gsub(/[][]/, "", rest)
      sub(/^ +/, "", rest)
      while (match(rest, /[.!?][*_")]*( |$)/)) {
        at = RSTART + RLENGTH - 1
        judge(substr(rest, 1, at))
        rest = substr(rest, at + 1)
      }
      if (rest != "") judge(rest)
    }
    function add(text) {
      gsub(/``[^`]*``|`[^`]*`/, "", text)
      if (block == "") { first = FNR; file = FILENAME }
      block = block " " text
    }
    FNR == 1 { end_block(); fenced = 0 }
    /^ *(```|~~~)/ { end_block(); fenced = !fenced; next }
    fenced { next }
    /^ *$/ { end_block(); next }
    /^ *\|[-| :]*\|$/ { end_block(); next }
    /^ *\|/ {
      end_block()
      line = $0
      gsub(/\\\|/, "/", line)
      gsub(/`[^`]*`/, "", line)
      cells = split(line, cell, "|")
      for (c = 1; c <= cells; c++) if (cell[c] ~ /[[:alnum:]]/) { add(cell[c]); end_block() }
      next
    }
    /^#+ / { end_block(); sub(/^#+ /, ""); add($0); end_block(); next }
    /^ *([-*]|[0-9]+\.) / { end_block(); sub(/^ *([-*]|[0-9]+\.) /, ""); add($0); next }
    { add($0) }
    END { end_block() }' "${plain[@]}")

for f in docs/guide/*.md; do
  if [ ! -f "$f" ]; then continue; fi
  words=$(awk '/^ *```/ { fenced = !fenced; next } !fenced' "$f" | wc -w)
  if [ "$words" -gt "$most_page_words" ]; then complain "$f: $words words, at most $most_page_words"; fi
  if ! awk '/^#/ { next } /^ *$/ { next } { exit !/^```/ }' "$f"; then
    complain "$f: does not begin with a command and what it prints"
  fi
  if [ "$(grep '^## ' "$f" | tail -1)" != "## Next" ]; then complain "$f: does not end with the section Next"; fi
done

# A line of the status: feature | works, partly or missing, and what is missing | its test, or a dash.
if [ -f docs/status.md ]; then
  while IFS= read -r hit; do complain "$hit"; done < <(
    awk '/^\| *feature *\|/ || /^\|[-| ]*\|$/ { next }
      /^\|/ {
        if (split($0, cell, / *\| */) != 5) { print "docs/status.md:" FNR ": not three cells"; next }
        if (cell[3] !~ /^(works|partly: .+|missing(: .+)?)$/)
          print "docs/status.md:" FNR ": the state is works, partly: WHAT IS MISSING, or missing, not " cell[3]
        if (cell[4] == "") print "docs/status.md:" FNR ": names no test; a dash says that there is none"
      }' docs/status.md)
  while IFS= read -r class; do
    if ! grep -rqE "class $class( |\$)" tests --include='*_test.cpp'; then
      complain "docs/status.md: no test $class"
    fi
  done < <(grep -oE '\b[A-Z][A-Za-z0-9]*Test\b' docs/status.md | sort -u)
fi

# titles_of PAGE: its anchors, as GitHub makes them.
titles_of() {
  awk '/^ *```/ { fenced = !fenced } !fenced && /^#+ / { sub(/^#+ /, ""); print tolower($0) }' "$1" |
    sed -E 's/\]\([^)]*\)//g; s/[^[:alnum:] _-]//g; s/ /-/g'
}
while IFS= read -r hit; do complain "$hit"; done < <(
  find . -name '*.md' -not -path './build*' -not -path './.git/*' | sed 's|^\./||' | sort | while IFS= read -r f; do
    awk '/^ *```/ { fenced = !fenced; next } fenced { next } {
        gsub(/`[^`]*`/, "")
        while (match($0, /\]\([^) ]+\)/)) {
          print FNR " " substr($0, RSTART + 2, RLENGTH - 3)
          $0 = substr($0, RSTART + RLENGTH)
        }
      }' "$f" | while read -r line link; do
      case $link in *://* | mailto:*) continue ;; esac
      target=${link%%#*} title=
      case $link in *#*) title=${link#*#} ;; esac
      page=$f
      if [ -n "$target" ]; then page=$(dirname "$f")/$target; fi
      if [ ! -e "$page" ]; then
        echo "$f:$line: $link leads nowhere"
      elif [ -n "$title" ] && [ -f "$page" ] && ! titles_of "$page" | grep -qxF -- "$title"; then
        echo "$f:$line: $link: no such title"
      fi
    done
  done)

for f in docs/decisions/[0-9]*.md; do
  if [ -f "$f" ] && ! grep -qsF "(${f##*/})" docs/decisions/README.md; then
    complain "$f: has no row in docs/decisions/README.md"
  fi
done

echo "${#plain[@]} pages looked at, $failures complaints"
[ "$failures" -eq 0 ]
