# Headers that most sources include are parsed once for each kind of target. What a source needs it still includes
# itself: check_includes.sh of tests/house looks, and the fuzzers and the preset tsan compile without. Not
# <filesystem>: it brings std::quoted(), which a call of our own would find.
set(STORMCELL_STANDARD_HEADERS <algorithm> <array> <charconv> <cmath> <cstdint> <cstring> <fstream> <functional> <map>
  <memory> <optional> <set> <span> <string> <string_view> <utility> <vector>)
if(STORMCELL_FUZZ OR NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
# Without these options a compiler cache does not see the content of a precompiled header, or sees a new one each time.
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
elseif(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# stormcell_precompiled(NAME HEADERS <header>... LIBRARIES target...): what targets with the same flags share by
# stormcell_precompile(TARGET NAME).
function(stormcell_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;LIBRARIES")
  set(source ${CMAKE_BINARY_DIR}/precompiled/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Carries the precompiled headers.\n")
  add_library(stormcell_precompiled_${name} OBJECT ${source})
  target_link_libraries(stormcell_precompiled_${name} PRIVATE stormcell_options ${arg_LIBRARIES})
  if(name MATCHES "tests")
    stormcell_compile_test(stormcell_precompiled_${name})  # a precompiled header serves only sources of its own level
  endif()
  target_precompile_headers(stormcell_precompiled_${name} PRIVATE ${STORMCELL_STANDARD_HEADERS} ${arg_HEADERS})
endfunction()
function(stormcell_precompile target name)
  target_precompile_headers(${target} REUSE_FROM stormcell_precompiled_${name})
  # With a precompiled header, GCC 12 warns of code that it inlines from <string>, as if it were ours. Without one it
  # does not.
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target}
      PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds$<SEMICOLON>-Wno-stringop-overflow>)
  endif()
endfunction()

# Code that computes for long runs at -O3: kernels, the oracle, placement, profiles, readers of traces, the session's
# codec.
function(stormcell_compile_hot target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O3>)
endfunction()
function(stormcell_compile_hot_sources)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
endfunction()
# Code that computes nothing for long compiles faster at a lower level: tests, the command line, windows, texts.
function(stormcell_compile_fast target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
  if(STORMCELL_SANITIZE STREQUAL "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Half of its time; a precompiled header serves only sources of its own level.
    target_compile_options(${target} PRIVATE -O0)
    get_target_property(reused ${target} PRECOMPILE_HEADERS_REUSE_FROM)
    if(reused MATCHES "_standard$")
      set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    endif()
  endif()
  stormcell_leave_pointers_out(${target})
endfunction()
# Leaves out the checks of every pointer under AddressSanitizer: they cost a third of the compiler's time, and
# AddressSanitizer sees most faults itself. For code that casts no pointer to another type.
function(stormcell_leave_pointers_out target)
  if(STORMCELL_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow)
  endif()
endfunction()
# Tests compile at that level too, and without optimisation under a sanitizer, which halves its build's time: only the
# code under test must run fast there.
function(stormcell_compile_test target)
  stormcell_compile_fast(${target})
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo>>:-O0>)
endfunction()
# Kernels that tests play on the host run for long under sanitizers too: not without optimisation there.
function(stormcell_compile_played target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
  stormcell_leave_pointers_out(${target})
endfunction()

# Compiles several sources at a time if STORMCELL_TOGETHER is on: under sanitizers, and in a tree that ./dev demo or
# ./dev test has made. This pays if most of the time goes into what the sources share (large structs, JSON, Qt Test).
# In other trees each source is a unit of its own. A source that forgets an include fails there, and in the tests
# house_alone and house_alone_all.
# Names within the files of one target must therefore differ; those that several files want stand in a namespace of the
# file.
# stormcell_compile_together(TARGET)
function(stormcell_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${STORMCELL_TOGETHER} UNITY_BUILD_BATCH_SIZE 8)
  if(STORMCELL_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC takes the sources of a unit for headers, in which a type of an anonymous namespace would be another one in
    # each source.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endfunction()
