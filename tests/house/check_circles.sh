#!/usr/bin/env bash
# check_circles.sh ROOT: no circle of three or more header/source pairs below core/, simulator/, gpu/, views/ and app/.
# A pair is x.h with x.cpp (and x.avx512.cpp, x.cu ...). It points to each pair whose header one of its files includes.
# check_layers.sh compares rooms; this check compares the files within them, so that a reader can take them one after
# the other. Two pairs that include each other are allowed.
set -euo pipefail
cd "$1"
mapfile -t files < <(for top in core simulator gpu views app; do
  if [ -d "$top" ]; then find "$top" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \); fi
done | sort)
if [ ${#files[@]} -eq 0 ]; then echo "no sources below $PWD"; exit 1; fi

awk '
  function pair_of(path) {
    sub(/\.[^\/]*$/, "", path)
    return path
  }
  function node(pair) {
    if (!(pair in number)) { number[pair] = ++pairs; name[pairs] = pair }
    return number[pair]
  }

  FNR == 1 { from = node(pair_of(FILENAME)) }
  /^[ \t]*#[ \t]*include[ \t]*"(core|simulator|gpu|views|app)\// {
    path = $0
    sub(/^[^"]*"/, "", path)
    sub(/".*$/, "", path)
    to = node(pair_of(path))
    if (from == to) next
    ++edges
    source[edges] = from; target[edges] = to
    where[edges] = FILENAME ":" FNR ": includes " path
    of[from] = of[from] " " edges
  }

  # Tarjan (SIAM J. Comput. 1, 1972): low[v] is the earliest visit that v reaches on the stack. Where it is that of v
  # itself, the pairs from v on are those that reach each other.
  function visit(v,    list, n, i, w, size, members) {
    visited[v] = low[v] = ++visits
    stack[++height] = v
    on_stack[v] = 1
    n = split(of[v], list, " ")
    for (i = 1; i <= n; i++) {
      w = target[list[i]]
      if (!(w in visited)) { visit(w); if (low[w] < low[v]) low[v] = low[w] }
      else if (on_stack[w] && visited[w] < low[v]) low[v] = visited[w]
    }
    if (low[v] != visited[v]) return
    do {
      w = stack[height--]
      on_stack[w] = 0; circle[w] = v
      members = " " name[w] members
      ++size
    } while (w != v)
    if (size < 3) return
    ++circles
    print "a circle of " size " pairs:" members
    for (i = 1; i <= edges; i++) if (circle[source[i]] == v && circle[target[i]] == v) print "  " where[i]
  }
  END {
    for (v = 1; v <= pairs; v++) if (!(v in visited)) visit(v)
    print pairs " pairs looked at, " circles + 0 " circles of three or more"
    exit circles > 0
  }' "${files[@]}"
