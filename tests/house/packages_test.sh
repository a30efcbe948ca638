#!/usr/bin/env bash
# packages_test.sh ROOT together|each: configuration (nothing is compiled but probes) ends well with every optional part
# as it is, absent, and found but not whole; what is left out is said. `together` tries all parts at once, `each` one
# after another.
set -euo pipefail
root=$1 which=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
unset CUDACXX

# Packages that are found and are not whole.
fake=$work/fake
mkdir -p "$fake/lib/cmake" "$fake/pkgconfig" "$fake/programs" "$fake/fonts"
ends() {  # PACKAGE COMMAND: a configuration file that runs the command
  mkdir -p "$fake/lib/cmake/$1"
  echo "$2" >"$fake/lib/cmake/$1/$1Config.cmake"
}
ends benchmark 'find_package(NotThereAtAll REQUIRED)'
ends dnnl 'message(FATAL_ERROR "OpenCL is missing")'
ends Qt6Svg 'find_package(NotThereAtAll REQUIRED)'
mkdir -p "$fake/qt"
echo 'message(FATAL_ERROR "Qt is broken")' >"$fake/qt/Qt6Config.cmake"
mkdir -p "$fake/hollow/benchmark"
cat >"$fake/hollow/benchmark/benchmarkConfig.cmake" <<'CMAKE'
add_library(benchmark::benchmark SHARED IMPORTED)
set_target_properties(benchmark::benchmark PROPERTIES
  IMPORTED_LOCATION /nowhere/libbenchmark.so INTERFACE_INCLUDE_DIRECTORIES "")
CMAKE
printf 'Name: imgui\nDescription: x\nVersion: 1.90\nRequires: not-there-at-all\n' >"$fake/pkgconfig/imgui.pc"
printf 'Name: libavformat\nDescription: x\nVersion: 60\nRequires: not-there-at-all\n' >"$fake/pkgconfig/libavformat.pc"
mkdir -p "$fake/old" "$fake/headless" "$fake/video"
printf 'Name: libavformat\nDescription: x\nVersion: 60\nLibs: -L%s -lnowhere\n' "$fake/lib" \
  >"$fake/video/libavformat.pc"
printf 'Name: imgui\nDescription: x\nVersion: 1.2\n' >"$fake/old/imgui.pc"
printf 'Name: imgui\nDescription: x\nVersion: 1.90\nCflags: -I%s\n' "$fake/fonts" >"$fake/headless/imgui.pc"
for library in libdnnl.so libicui18n.so libimgui.a libstb.a libpng.so libjpeg.so; do : >"$fake/lib/$library"; done
: >"$fake/fonts/DejaVuSans.ttf"
printf '#!/bin/sh\nexit 1\n' | tee "$fake/programs/ld.mold" >"$fake/programs/nvcc"
chmod +x "$fake/programs/"*

# configure NAME [ENVIRONMENT=...]... [-D...]...: into $output; false where it ends with an error.
configure() {
  local name=$1 variables=() options=()
  shift
  for word in "$@"; do
    case $word in -*) options+=("$word") ;; *) variables+=("$word") ;; esac
  done
  rm -rf "$work/build"
  if ! output=$(
    env "${variables[@]}" cmake -G Ninja -S "$root" -B "$work/build" -DCMAKE_BUILD_TYPE=Release "${options[@]}" \
      2>&1 </dev/null
  ); then
    echo "FAIL $name: configuration ends with an error:"
    grep -A6 'CMake Error' <<<"$output" | head -12
    failures=$((failures + 1))
    return 1
  fi
  echo "ok   $name: configured"
}
# left_out NAME PART REASON: the last configuration says so.
left_out() {
  if grep -q -e "^-- Left out: $2: .*$3" <<<"$output"; then
    echo "ok   $1: $2 is left out, and said"
  else
    echo "FAIL $1: no line 'Left out: $2: ... $3' among:"
    grep 'Left out' <<<"$output" || echo "(none)"
    failures=$((failures + 1))
  fi
}
# without NAME TARGET / with NAME TARGET: the build has no such target / has it.
has_target() { grep -qE "^build ([^ ]*/)?$1: " "$work/build/build.ninja"; }
without() {
  if has_target "$2"; then
    echo "FAIL $1: $2 would be built"
    failures=$((failures + 1))
  else
    echo "ok   $1: no $2"
  fi
}
with() {
  if has_target "$2"; then
    echo "ok   $1: $2 would be built"
  else
    echo "FAIL $1: $2 is left out"
    failures=$((failures + 1))
  fi
}
installed() { local path; for path in "$@"; do if [ ! -e "$path" ]; then return 1; fi; done; }

no_cuda=-DSTORMCELL_CUDA=OFF
font="the pictures' own font"
mpi="the layer over MPI (label slow)"

together() {
  local name="as it is here"
  if configure "$name" $no_cuda; then
    with "$name" stormcell
    with "$name" test_cell
    # What a Debian package left on this machine is whole and is used.
    if installed /usr/include/benchmark/benchmark.h; then with "$name" kernels_bench; fi
    if installed /usr/include/x86_64-linux-gnu/qt6/QtSvg/QSvgGenerator /usr/include/imgui/imgui.h \
      /usr/include/stb/stb_truetype.h; then
      with "$name" stormcell-studio
    fi
    if installed /usr/bin/mpicxx /usr/bin/mpirun; then with "$name" expert_parallel; fi
    if installed /usr/include/unicode/translit.h; then with "$name" stormcell-prepare-switch-names; fi
  fi

  name="all absent"
  if configure "$name" CUDACXX=/nowhere/nvcc PKG_CONFIG_PATH="$fake/pkgconfig" -DSTORMCELL_CUDA=AUTO -DCCACHE=OFF \
    -DMOLD=OFF -DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON \
    -DCMAKE_DISABLE_FIND_PACKAGE_Qt6Svg=ON -DCMAKE_DISABLE_FIND_PACKAGE_ICU=ON -DSTORMCELL_ONEDNN=OFF \
    -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON -DCMAKE_DISABLE_FIND_PACKAGE_JPEG=ON -DSTORMCELL_MPICXX=OFF; then
    left_out "$name" ccache "not found"
    left_out "$name" mold "not found"
    left_out "$name" kernels_bench "not found"
    left_out "$name" "the Studio" "Svg.*not found"
    left_out "$name" "the data of demo:switch-names" "not found"
    left_out "$name" "kernels for GPUs" "not found"
    left_out "$name" "reading of PNG" "not found"
    left_out "$name" "reading of JPEG" "not found"
    left_out "$name" "reading of video" "not found"
    left_out "$name" "$mpi" "not found"
    without "$name" expert_parallel
    without "$name" kernels_bench
    without "$name" stormcell-studio
    without "$name" stormcell-prepare-switch-names
    with "$name" stormcell
    with "$name" test_cell
  fi

  name="none whole"
  if configure "$name" CUDACXX="$fake/programs/nvcc" COMPILER_PATH="$fake/programs" PKG_CONFIG_PATH="$fake/pkgconfig" \
    -DSTORMCELL_CUDA=AUTO -DCCACHE=/bin/false -DMOLD="$fake/programs/ld.mold" -DCMAKE_PREFIX_PATH="$fake" \
      -DQt6_DIR="$(qt_folder)" \
    -DICU_I18N_LIBRARY_RELEASE="$fake/lib/libicui18n.so" -DPNG_LIBRARY_RELEASE="$fake/lib/libpng.so" \
    -DJPEG_LIBRARY_RELEASE="$fake/lib/libjpeg.so" -DSTORMCELL_MPICXX=/bin/true -DMPI_CXX_COMPILER=/bin/false; then
    left_out "$name" ccache "does not compile"
    left_out "$name" mold "not whole"
    left_out "$name" kernels_bench "not whole"
    left_out "$name" "the Studio" "not whole\|not found"
    left_out "$name" "the data of demo:switch-names" "not whole"
    left_out "$name" "kernels for GPUs" "not found\|not whole"
    left_out "$name" "reading of PNG" "not whole\|not found"
    left_out "$name" "reading of JPEG" "not whole\|not found"
    left_out "$name" "reading of video" "not whole\|not found"
    left_out "$name" "$mpi" "not found\|not whole"
    without "$name" expert_parallel
    without "$name" kernels_bench
    without "$name" stormcell-studio
    with "$name" stormcell
    with "$name" test_cell
  fi
}

# The real Qt, which the tests need, beside a fake part of it.
qt_folder() {
  for folder in /usr/lib/*/cmake/Qt6 /usr/lib/cmake/Qt6 /usr/lib64/cmake/Qt6; do
    if [ -e "$folder/Qt6Config.cmake" ]; then
      echo "$folder"
      return
    fi
  done
}

# one NAME PART REASON [ENVIRONMENT=...]... [-D...]...
one() {
  local name=$1 part=$2 reason=$3
  shift 3
  if configure "$name" "$@"; then left_out "$name" "$part" "$reason"; with "$name" stormcell; fi
}

each() {
  local headless=(-DSTORMCELL_STUDIO=OFF $no_cuda) studio=(-DSTORMCELL_TESTS=OFF $no_cuda)
  one "no ccache" ccache "not found" "${headless[@]}" -DCCACHE=OFF
  one "a ccache that fails" ccache "does not compile" "${headless[@]}" -DCCACHE=/bin/false
  one "no mold" mold "not found" "${headless[@]}" -DMOLD=OFF
  one "a mold that does not link" mold "not whole" "${headless[@]}" COMPILER_PATH="$fake/programs" \
    -DMOLD="$fake/programs/ld.mold"
  one "no Google Benchmark" kernels_bench "not found" "${headless[@]}" -DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON
  one "a Google Benchmark whose configuration fails" kernels_bench "not whole" "${headless[@]}" \
    -DCMAKE_PREFIX_PATH="$fake"
  one "a Google Benchmark without its library" kernels_bench "not whole" "${headless[@]}" \
    -DCMAKE_PREFIX_PATH="$fake/hollow"
  if installed /usr/include/benchmark/benchmark.h; then
    local rival="the rival oneDNN in kernels_bench"
    one "no oneDNN" "$rival" "not found" "${headless[@]}" -DSTORMCELL_ONEDNN=OFF
    one "a oneDNN that does not link" "$rival" "not whole" "${headless[@]}" -DSTORMCELL_ONEDNN="$fake/lib/libdnnl.so" \
      -DSTORMCELL_ONEDNN_HEADERS="$fake"
    one "no OpenMP" "$rival" "not found" "${headless[@]}" -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON \
      -DSTORMCELL_ONEDNN="$fake/lib/libdnnl.so" \
      -DSTORMCELL_ONEDNN_HEADERS="$fake"
    if configure "a oneDNN whose configuration fails" "${headless[@]}" -Ddnnl_DIR="$fake/lib/cmake/dnnl"; then
      with "a oneDNN whose configuration fails" kernels_bench
    fi
  fi
  one "no ICU" "the data of demo:switch-names" "not found" "${headless[@]}" -DCMAKE_DISABLE_FIND_PACKAGE_ICU=ON
  one "an ICU that does not link" "the data of demo:switch-names" "not whole" "${headless[@]}" \
    -DICU_I18N_LIBRARY_RELEASE="$fake/lib/libicui18n.so"
  one "no libpng" "reading of PNG" "not found" "${headless[@]}" -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
  one "a libpng that does not link" "reading of PNG" "not whole\|not found" "${headless[@]}" \
    -DPNG_LIBRARY_RELEASE="$fake/lib/libpng.so"
  one "no libjpeg" "reading of JPEG" "not found" "${headless[@]}" -DCMAKE_DISABLE_FIND_PACKAGE_JPEG=ON
  one "a libjpeg that does not link" "reading of JPEG" "not whole\|not found" "${headless[@]}" \
    -DJPEG_LIBRARY_RELEASE="$fake/lib/libjpeg.so"
  one "FFmpeg's libraries without what they require" "reading of video" "not found" "${headless[@]}" \
    PKG_CONFIG_PATH="$fake/pkgconfig"
  one "FFmpeg's libraries that do not link" "reading of video" "not found\|not whole" "${headless[@]}" \
    PKG_CONFIG_PATH="$fake/video"
  one "no MPI" "$mpi" "not found" "${headless[@]}" -DSTORMCELL_MPICXX=OFF
  one "an MPI that compiles nothing" "$mpi" "not found\|not whole" "${headless[@]}" -DSTORMCELL_MPICXX=/bin/true \
    -DMPI_CXX_COMPILER=/bin/false
  one "no Qt" "the Studio" "not found" "${studio[@]}" -DCMAKE_DISABLE_FIND_PACKAGE_Qt6=ON
  one "a Qt whose configuration fails" "the Studio" "not whole" "${studio[@]}" -DQt6_DIR="$fake/qt"
  one "no Qt Svg" "the Studio" "not found" "${studio[@]}" -DCMAKE_DISABLE_FIND_PACKAGE_Qt6Svg=ON
  one "a Qt Svg whose configuration fails" "the Studio" "not whole\|not found" "${studio[@]}" \
    -DQt6Svg_DIR="$fake/lib/cmake/Qt6Svg"
  if installed "$(qt_folder)" /usr/include/x86_64-linux-gnu/qt6/QtSvg/QSvgGenerator; then
    one "no ImGui" "the Studio" "ImGui.*not found" "${studio[@]}" -DSTORMCELL_IMGUI=OFF
    one "an ImGui without what it requires" "the Studio" "ImGui.*not found" "${studio[@]}" \
      PKG_CONFIG_PATH="$fake/pkgconfig"
    one "an ImGui that is too old" "the Studio" "ImGui.*not found" "${studio[@]}" PKG_CONFIG_PATH="$fake/old"
    one "an ImGui without headers" "the Studio" "ImGui.*not whole" "${studio[@]}" PKG_CONFIG_PATH="$fake/headless"
    one "no stb" "the Studio" "stb.*not found" "${studio[@]}" -DSTORMCELL_STB=OFF
    if installed /usr/include/imgui/imgui.h; then
      one "an ImGui that does not link" "the Studio" "ImGui.*not whole" "${studio[@]}" \
        -DSTORMCELL_IMGUI="$fake/lib/libimgui.a"
      if installed /usr/include/stb/stb_truetype.h; then
        one "no font" "$font" "not found" "${studio[@]}" -DSTORMCELL_FONT=OFF
        one "half a font" "$font" "not found" "${studio[@]}" -DSTORMCELL_FONT="$fake/fonts/DejaVuSans.ttf"
        one "no display server" "real mouse and keys in studio_e2e (label slow)" "not found" $no_cuda \
          -DSTORMCELL_XVFB_RUN=/bin/true -DSTORMCELL_XAUTH=OFF
      fi
    fi
  fi
  one "no CUDA compiler" "kernels for GPUs" "not found" -DSTORMCELL_STUDIO=OFF -DSTORMCELL_TESTS=OFF \
    CUDACXX=/nowhere/nvcc
  one "a CUDA compiler that fails" "kernels for GPUs" "not found\|not whole" -DSTORMCELL_STUDIO=OFF \
    -DSTORMCELL_TESTS=OFF CUDACXX="$fake/programs/nvcc"
}

"$which"
if [ "$failures" -gt 0 ]; then echo "$failures failures"; exit 1; fi
