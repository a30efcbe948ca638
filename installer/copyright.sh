#!/usr/bin/env bash
# copyright.sh stormcell|stormcell-studio|stormcell-cuda|archive [LIBRARY...]: the file `copyright` of a package, or of
# the archive with these libraries. Texts of others are those of Debian's packages on the machine that builds.
set -euo pipefail
what=$1
shift

cat <<'END'
Stormcell
Copyright 2026 The Stormcell maintainers

Licensed under the Apache License, Version 2.0. You may not use these files except in compliance with the License.
END
if [ "$what" = archive ]; then
  echo "The text of the License is in the file LICENSE beside this one."
else
  echo "On Debian systems, the text of the License is in /usr/share/common-licenses/Apache-2.0."
fi

# part PACKAGE WHAT: what is in the file, and its licence as Debian's package says it.
part() {
  local file=/usr/share/doc/$1/copyright
  if [ ! -r "$file" ]; then echo "copyright.sh: $file is missing (sudo apt-get install --reinstall $1)" >&2; exit 1; fi
  printf '\n%s\n%s (Debian package %s)\n%s\n\n' "$(printf '=%.0s' {1..78})" "$2" "$1" "$(printf '=%.0s' {1..78})"
  sed 's/^/  /' "$file"
}

case $what in
  stormcell | archive)
    part nlohmann-json3-dev "nlohmann/json, compiled into the program"
    part libcli11-dev "CLI11, compiled into the program"
    ;;
  stormcell-studio)
    part nlohmann-json3-dev "nlohmann/json, compiled into the program"
    part libimgui-dev "Dear ImGui, compiled into the program"
    part libstb-dev "stb, compiled into the program"
    part fonts-dejavu-core "DejaVu Sans, in the program"
    ;;
  stormcell-cuda)
    cat <<'END'

The module contains parts of the CUDA runtime (libcudart_static), Copyright NVIDIA Corporation. The CUDA Toolkit End
User License Agreement lists it among the files that may be distributed within an application (Attachment A); it is
not free software: it may be used and passed on as part of this module only.
END
    ;;
  *) echo "copyright.sh: '$what': no such package" >&2; exit 2 ;;
esac

# Libraries that travel with the archive, each by the package that has it.
for library in "$@"; do
  # By its name alone: dpkg knows some files below /lib that lie in /usr/lib.
  package=$(dpkg-query -S "*/$(basename "$(readlink -f "$library")")" 2>/dev/null | head -n 1 | cut -d: -f1)
  if [ -z "$package" ]; then echo "copyright.sh: $library: of no package" >&2; exit 1; fi
  part "$package" "lib/${library##*/}, which may be replaced by another build of the same version"
done
