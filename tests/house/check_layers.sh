#!/usr/bin/env bash
# check_layers.sh ROOT [LAYERS]: every #include below core/, simulator/, gpu/, views/ and app/ follows layers.txt.
set -euo pipefail
root=$1
layers=${2:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/layers.txt}
cd "$root"
mapfile -t files < <(for top in core simulator gpu views app; do
  if [ -d "$top" ]; then find "$top" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \); fi
done | sort)
if [ ${#files[@]} -eq 0 ]; then echo "no sources below $root"; exit 1; fi

awk -v table="$layers" '
  function complain(text) { print text; ++failures }

  # The row that a path belongs to: the longest folder of the table that it lies in; empty where there is none.
  function row_of(path,    folder) {
    folder = path
    while (sub("/[^/]*$", "", folder)) if (folder in allowed) return folder
    return ""
  }
  function below(path, folders,    i, n, f) {
    n = split(folders, f, " ")
    for (i = 1; i <= n; i++) if (index(path, f[i] "/") == 1) return 1
    return 0
  }
  function read_table(    line, n, f, i, names, member, m, row) {
    while ((getline line < table) > 0) {
      if (line ~ /^#/ || line !~ /[^ ]/) continue
      n = split(line, f, " ")
      if (f[1] == "layer" || f[1] == "group") {
        names = ""
        for (i = 4; i <= n; i++) {
          if (f[i] in group) names = names " " group[f[i]]
          else names = names " " f[i]
        }
        if (f[1] == "group") { group[f[2]] = names; continue }
        m = split(names, member, " ")
        for (i = 1; i <= m; i++) {
          row = (member[i] in allowed) ? member[i] : row_of(member[i])
          if (row == "") complain(table ": " f[2] " names " member[i] ", which has no row above")
        }
        allowed[f[2]] = names
      } else {
        ++rules; kind[rules] = f[1]; what[rules] = f[2]; pattern[rules] = "^(" f[3] ")$"; where[rules] = ""
        for (i = 5; i <= n; i++) where[rules] = where[rules] " " f[i]
      }
    }
  }
  function check_arrow(from, path,    to, n, f, i) {
    if (path ~ /(^|\/)\.\.\//) { complain(from ": " path ": includes are written from the top of the project"); return }
    if (path !~ /^(core|simulator|gpu|views|app|tests)\//) return
    to = row_of(path)
    if (row == "" || to == row) return
    n = split(allowed[row], f, " ")
    for (i = 1; i <= n; i++) if (f[i] == to || f[i] == path) return
    complain(from ": " path ": " row " may not include " (to == "" ? path : to))
  }
  function check_rules(from, path,    r, forbidden) {
    for (r = 1; r <= rules; r++) {
      if (path !~ pattern[r]) continue
      if (kind[r] == "never") forbidden = below(FILENAME, where[r])
      else if (kind[r] == "only") forbidden = !below(FILENAME, where[r])
      else forbidden = FILENAME ~ /\.(h|cuh)$/
      if (!forbidden) continue
      complain(from ": " path ": no " what[r] " here" (kind[r] == "source" ? ": include it in sources only" : ""))
    }
  }

  BEGIN { read_table() }
  FNR == 1 {
    row = row_of(FILENAME)
    if (row == "" && !(FILENAME in told)) { told[FILENAME] = 1; complain(FILENAME ": its folder has no row in " table) }
  }
  /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    ++includes
    path = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*[<"]/, "", path)
    sub(/[>"].*$/, "", path)
    if ($0 ~ /include[ \t]*"/) check_arrow(FILENAME ":" FNR, path)
    check_rules(FILENAME ":" FNR, path)
  }
  END {
    print includes + 0 " includes looked at, " failures + 0 " not allowed"
    exit failures > 0
  }' "${files[@]}"
