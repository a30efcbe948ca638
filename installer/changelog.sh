#!/usr/bin/env bash
# changelog.sh CHANGELOG.md: the same in the form of Debian's packages. The first version is that of the packages.
set -euo pipefail
LC_ALL=C
export LC_ALL
version="" date=""
finish() {
  if [ -z "$version" ]; then return; fi
  printf '\n -- Stormcell maintainers <maintainers@stormcell.example>  %s\n\n' "$(date -u -R -d "$date")"
}
while IFS= read -r line; do
  if [[ $line =~ ^##\ ([0-9.]+)\ \(([0-9-]+)\)$ ]]; then
    finish
    version=${BASH_REMATCH[1]} date=${BASH_REMATCH[2]}
    printf 'stormcell (%s) unstable; urgency=medium\n\n' "$version"
  elif [[ $line == "- "* ]]; then
    fold -s -w 72 <<<"${line#- }" | sed -e 's/ *$//' -e '1s/^/  * /' -e '1!s/^/    /' -e 's/`//g'
  fi
done <"$1"
finish
