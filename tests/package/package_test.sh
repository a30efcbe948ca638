#!/usr/bin/env bash
# package_test.sh ROOT: the packages of build/package as their users have them. Lint, licences, sizes, symbols, no
# folder of the build. Then in bare systems, which debootstrap makes: installed by apt-get alone, the demo runs
# verified, the Studio writes every view without a display, an upgrade keeps what the user set, and purging leaves
# nothing behind. The archive runs on Debian 12 and 13. Needs root, debootstrap and Debian's mirror; without them it is
# skipped (77). STORMCELL_CHROOTS=FOLDER keeps the bare systems there for the next time.
set -euo pipefail
root=$(cd "$1" && pwd -P)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
packages=$root/build/package
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "needs root and debootstrap (./dev deps package-test)"
  exit 77
fi
shopt -s nullglob
debs=("$packages"/*.deb) archives=("$packages"/stormcell-*.tar.gz)
if [ ${#debs[@]} -eq 0 ] || [ ${#archives[@]} -eq 0 ]; then echo "nothing in $packages: ./dev package"; exit 77; fi
work=$(mktemp -d)
mounted=()
finish() {
  for place in "${mounted[@]}"; do umount "$place" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT
failures=0
complain() { echo "FAIL $*"; failures=$((failures + 1)); }
ok() { echo "ok   $*"; }

# --- The files --------------------------------------------------------------------------------------------------------

for deb in "${debs[@]}"; do
  name=$(dpkg-deb -f "$deb" Package)
  mkdir -p "$work/$name"
  dpkg-deb -x "$deb" "$work/$name"
  if [ ! -s "$work/$name/usr/share/doc/$name/copyright" ]; then complain "$name: no copyright"; fi
  if grep -rlaF "$root" "$work/$name"; then complain "$name: names $root"; else ok "$name names no folder"; fi
done
if command -v lintian >/dev/null; then
  said=$(lintian --fail-on none --tag-display-limit 0 "${debs[@]}" 2>&1 | grep -E '^[EW]: ' || true)
  if [ -n "$said" ]; then complain "lintian:"; echo "$said"; else ok "lintian: no error and no warning"; fi
fi
# The limits in MiB, of installed files.
declare -A limit=([stormcell]=25 [stormcell-studio]=40)
for name in "${!limit[@]}"; do
  size=$(du -sk --apparent-size "$work/$name" | cut -f1)
  if [ "$size" -gt $((limit[$name] << 10)) ]; then
    complain "$name: $size KiB, at most ${limit[$name]} MiB"
  else
    ok "$name: $size KiB"
  fi
done
if bash "$here/check_symbols.sh" "${archives[0]}"; then ok "symbols of the archive"; else complain "symbols"; fi
# The module for GPUs is made for Debian 12, whose glibc is newer: the check has to notice.
if [ -d "$work/stormcell-cuda" ] && bash "$here/check_symbols.sh" "$work/stormcell-cuda" >/dev/null; then
  complain "check_symbols.sh finds nothing in stormcell-cuda, which needs GLIBC_2.36"
fi
mkdir "$work/archive"
tar -C "$work/archive" -xzf "${archives[0]}"
if grep -rlaF "$root" "$work/archive"; then complain "the archive names $root"; fi
if command -v man >/dev/null; then
  for page in "$work/archive"/*/share/man/man1/*.1 "$work"/stormcell-studio/usr/share/man/man1/*.1.gz; do
    said=$(MANWIDTH=100 man --warnings -l "$page" 2>&1 >/dev/null | head -n 3)
    if [ -n "$said" ]; then complain "$page: $said"; fi
  done
  ok "manual pages are whole"
fi

# --- Bare systems -----------------------------------------------------------------------------------------------------

mirror=$(awk '/^URIs:/ { print $2; exit } /^deb / { print $2; exit }' /etc/apt/sources.list.d/debian.sources \
  /etc/apt/sources.list 2>/dev/null)
kept=${STORMCELL_CHROOTS:-$work}

# bare RELEASE NAME: a new folder $work/NAME with the base system.
bare() {
  local base=$kept/base-$1 place=$work/$2
  if [ ! -e "$base/etc/debian_version" ]; then
    mkdir -p "$base"
    # Every script of the later releases is the same.
    debootstrap --variant=minbase --include=ca-certificates "$1" "$base" "$mirror" /usr/share/debootstrap/scripts/sid \
      >"$work/debootstrap.log" 2>&1 || { tail -n 5 "$work/debootstrap.log"; return 1; }
    rm -f "$base"/var/cache/apt/archives/*.deb
  fi
  cp -a "$base" "$place"
  cp /etc/resolv.conf /etc/hosts "$place/etc/"
  cp -r /etc/apt/apt.conf.d/. "$place/etc/apt/apt.conf.d/"
  cp /etc/ssl/certs/ca-certificates.crt "$place/etc/ssl/certs/"
  mount -t proc proc "$place/proc"
  mounted+=("$place/proc")
}
# within NAME COMMAND: as a user without a checkout would.
within() {
  chroot "$work/$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    bash -c "set -euo pipefail; $2" </dev/null
}
# passes NAME WHAT COMMAND
passes() {
  if within "$1" "$3" >"$work/said" 2>&1; then ok "$1: $2"; else complain "$1: $2"; tail -n 15 "$work/said"; fi
}
files_of() {
  (cd "$work/$1" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./root \) -prune -o -print | sort)
}

bare bookworm debian12
mkdir "$work/debian12/packages"
cp "${debs[@]}" "$work/debian12/packages/"
passes debian12 "has package lists" "apt-get -q update"
files_of debian12 >"$work/before"
passes debian12 "installs what it needs from Debian alone" \
  "apt-get -q install -y --no-install-recommends /packages/*.deb"
passes debian12 "the demo runs verified without a source tree" \
  "cd /tmp
   stormcell optimize demo:switch-names --data demo:switch-names-sample --measure-seconds 2 -o d.storm --json s.json
   grep -q '\"passed\": true' s.json"
passes debian12 "every view is written without a display" \
  "cd /tmp; n=0
   for view in \$(stormcell-studio --views); do
     stormcell-studio --export \$view -o \$view.png /usr/share/stormcell/sample/sample.storm || [ \$? -eq 1 ]
     test -s \$view.png; n=\$((n + 1))
   done; test \$n -ge 12"
passes debian12 "a folder of a model opens in the Studio" \
  "cd /tmp; stormcell-studio --export model -o model.png /usr/share/stormcell/demos/switch-names; test -s model.png"
passes debian12 "desktops know the files that the Studio opens" \
  "apt-get -q install -y --no-install-recommends desktop-file-utils shared-mime-info
   grep -q ':application/x-stormcell-session:\*\.storm' /usr/share/mime/globs2
   for type in application/x-stormcell-session application/json text/csv inode/directory; do
     grep -q \"^\$type=.*stormcell-studio.desktop\" /usr/share/applications/mimeinfo.cache
   done"
passes debian12 "completion of the Studio knows its views" \
  "source /usr/share/bash-completion/completions/stormcell-studio
   COMP_LINE='stormcell-studio --export heat' COMP_POINT=30; _stormcell_studio; test \"\${COMPREPLY[*]}\" = heatmap"
passes debian12 "doctor names the module, or says that there is none" \
  "if [ -e /usr/lib/stormcell/stormcell_cuda.so ]; then stormcell doctor | grep -q 'no driver'
   else stormcell doctor | grep -q 'no module'; fi"
passes debian12 "completion knows verbs and demos" \
  "source /usr/share/bash-completion/completions/stormcell
   COMP_LINE='stormcell optimize demo:sw' COMP_POINT=26; _stormcell; echo \"\${COMPREPLY[*]}\" | grep -q switch-names
   COMP_LINE='stormcell opt' COMP_POINT=13; _stormcell; test \"\${COMPREPLY[*]}\" = optimize"
passes debian12 "the data of a demo is missed in one line that says what to do" \
  "cd /tmp; ! stormcell run demo:switch-names --data demo:switch-names 2>said
   grep -q '/usr/lib/stormcell/make-demo-data switch-names' said; test \$(wc -l <said) -eq 1"

passes debian12 "the data of the demo of names is made and used without a source tree" \
  "apt-get -q install -y --no-install-recommends iso-codes libicu72
   /usr/lib/stormcell/make-demo-data switch-names; cd /tmp
   stormcell run demo:switch-names --data demo:switch-names --batches 2 --measure-seconds 1 --json run.json
   grep -q '\"passed\": true' run.json"

# A version that follows: the same files under another number.
for deb in "${debs[@]}"; do
  name=$(dpkg-deb -f "$deb" Package) version=$(dpkg-deb -f "$deb" Version)
  dpkg-deb -R "$deb" "$work/next-$name"
  sed -i "s/$version/$version.1/g" "$work/next-$name/DEBIAN/control"
  dpkg-deb --root-owner-group -Zgzip -b "$work/next-$name" "$work/debian12/packages/next-$name.deb" >/dev/null
done
mkdir -p "$work/debian12/root/.config/stormcell"
echo '[General]' >"$work/debian12/root/.config/stormcell/stormcell-studio.conf"
passes debian12 "an upgrade keeps what the user set" \
  "apt-get -q install -y --no-install-recommends /packages/next-*.deb
   dpkg-query -W -f '\${Version}' stormcell-studio | grep -q '\.1\$'
   grep -q General /root/.config/stormcell/stormcell-studio.conf"
rm -rf "$work/debian12/packages/"*
passes debian12 "is purged with what it brought" \
  "apt-get -q purge -y 'stormcell*'; apt-get -q autoremove -y --purge"
left=$(comm -13 "$work/before" <(files_of debian12) | grep -i stormcell || true)
if [ -e "$work/debian12/usr/share/applications/mimeinfo.cache" ] &&
  grep -q stormcell "$work/debian12/usr/share/applications/mimeinfo.cache"; then
  complain "debian12: desktops still name the Studio"
fi
if [ -n "$left" ]; then complain "debian12: files are left: $left"; else ok "debian12: no file is left"; fi

for release in bookworm trixie; do
  if ! bare "$release" "archive-$release"; then complain "archive-$release: no base system"; continue; fi
  passes "archive-$release" "has a libstdc++" "test -e /usr/lib/x86_64-linux-gnu/libstdc++.so.6"
  mkdir "$work/archive-$release/opt/a folder"
  cp -r "$work/archive"/* "$work/archive-$release/opt/a folder/s"
  passes "archive-$release" "the demo runs verified from any folder" \
    "cd /tmp; '/opt/a folder/s/bin/stormcell' optimize demo:switch-names --data demo:switch-names-sample \
       --measure-seconds 2 -o demo.storm --json s.json
     grep -q '\"passed\": true' s.json"
  passes "archive-$release" "doctor says that it reads no video" \
    "'/opt/a folder/s/bin/stormcell' doctor | grep -q 'reads no video'"
done

if [ "$failures" -gt 0 ]; then echo "$failures failures"; exit 1; fi
