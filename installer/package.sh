# Packages of a version, for ./dev package, which reads this file: Debian's by debhelper, and the archive of the command
# line. Both come from trees of their own (build-package, build-archive), whose programs know no folder of the build.

package_version() { sed -n 's/^## \([0-9.]*\) (.*/\1/p' CHANGELOG.md | head -n 1; }

build_for_packages() {  # PRESET
  builds_at_once=yes
  configure "$1"
  build_targets "$1" package_files
}

# The libraries that read videos: opened at run time, by the version that the program was built with.
video_packages() {
  local library part list=""
  for library in avcodec avformat avutil swscale; do
    part=$(readlink -f "/usr/lib/$(uname -m)-linux-gnu/lib$library.so")
    part=$(basename "$part" | cut -d. -f3)
    list+="${list:+, }lib$library$part"
  done
  echo "$list"
}

package_deb() {
  local work=build/package/work
  rm -rf "$work" build/package/*.deb
  mkdir -p "$work"
  cp -r installer/debian "$work/debian"
  bash installer/changelog.sh CHANGELOG.md >"$work/debian/changelog"
  if ! has_cuda package; then
    # Its paragraph is the last one.
    sed -i '/^Package: stormcell-cuda$/,$d' "$work/debian/control"
    note "package: no CUDA toolkit was found, so stormcell-cuda is left out"
  fi
  (
    cd "$work"
    env -u DEB_BUILD_OPTIONS TREE="$root/build-package" SOURCE="$root" VIDEO="$(video_packages)" LC_ALL=C.UTF-8 \
      debian/rules binary >../debhelper.log 2>&1
  ) || { cat build/package/debhelper.log >&2; return 1; }
  rm -rf "$work"
}

# The command line with its libraries, but for those of the C and C++ compilers, which every Linux has.
package_archive() {
  local name out library date copied=()
  name=stormcell-$(package_version)-linux-$(uname -m)
  out=build/package/$name
  rm -rf "$out" "$out.tar.gz"
  mkdir -p "$out/lib"
  cmake --install build-archive --prefix "$out" --strip >/dev/null
  for library in $(ldd build-archive/bin/stormcell | awk '$2 == "=>" { print $3 }' | sort -u); do
    case ${library##*/} in
      libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | libgcc_s.so.* | libstdc++.so.*) ;;
      *) cp -L "$library" "$out/lib/"; copied+=("$library") ;;
    esac
  done
  mkdir -p "$out/share/doc/stormcell"
  cp LICENSE CHANGELOG.md "$out/share/doc/stormcell/"
  bash installer/copyright.sh archive "${copied[@]}" >"$out/share/doc/stormcell/copyright"
  cp installer/archive.txt "$out/README"
  find "$out" -type d -exec chmod 755 {} +
  find "$out" -type f -exec chmod u=rwX,go=rX {} +
  date=$(sed -n 's/^## [0-9.]* (\(.*\))$/\1/p' CHANGELOG.md | head -n 1)
  tar -C build/package --sort=name --owner=0 --group=0 --numeric-owner --mtime="$date 00:00Z" --format=gnu -c "$name" |
    gzip -9n >"$out.tar.gz"
  rm -rf "$out"
}

make_packages() {  # deb|archive|all
  local file
  phase deps verb_deps cli video studio test package
  # Files of packages may be read by everybody, whatever the user's own files may.
  umask 022
  mkdir -p build/package
  if [ "$1" != archive ]; then
    phase "build for Debian packages" build_for_packages package
    phase "Debian packages" package_deb
  fi
  if [ "$1" != deb ]; then
    phase "build for the archive" build_for_packages archive
    phase archive package_archive
  fi
  for file in build/package/*.deb build/package/*.tar.gz; do
    if [ -f "$file" ]; then note "$file: $(($(stat -c %s "$file") >> 10)) KiB"; fi
  done
}
