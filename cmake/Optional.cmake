# Optional parts. A part that is found but not whole is left out, as an absent one is: its configuration ends with an
# error, a header is missing, or a program against it does not link. One line says so, and ./dev shows it.

function(stormcell_left_out part reason)
  message(STATUS "Left out: ${part}: ${reason}")
endfunction()

# stormcell_whole(RESULT SOURCE "program" [LANGUAGE CUDA] [NEEDS variables that are false where a file is absent...]
# [FIND "package [COMPONENTS ...]"]
#                 [TARGETS ...] [LIBRARIES files...] [INCLUDES folders...] [OPTIONS link options...] [SET "commands"])
# RESULT is true if a project of its own finds the package and a program against it links. This is tried apart, because
# a package's configuration may end the one that asks for it. If RESULT is false, ${RESULT}_REASON says why. A whole
# package is not tried again in this build folder. Any other is tried at each configuration, because it may have been
# installed meanwhile.
function(stormcell_whole result)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;LANGUAGE;FIND;SET" "TARGETS;LIBRARIES;INCLUDES;OPTIONS;NEEDS")
  foreach(need ${arg_NEEDS})
    if(NOT ${need})
      set(${result} OFF PARENT_SCOPE)
      set(${result}_REASON "not found" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  if(${result})
    return()
  endif()
  if(NOT arg_LANGUAGE)
    set(arg_LANGUAGE CXX)
  endif()
  set(folder ${CMAKE_BINARY_DIR}/probes/${result})
  file(REMOVE_RECURSE ${folder})
  set(program probe.cpp)
  if(arg_LANGUAGE STREQUAL "CUDA")
    set(program probe.cu)
  endif()
  file(WRITE ${folder}/${program} "${arg_SOURCE}\n")
  set(project "cmake_minimum_required(VERSION 3.25)\n")
  # Where packages are looked for is as in the project.
  get_cmake_property(names CACHE_VARIABLES)
  foreach(name ${names})
    get_property(type CACHE ${name} PROPERTY TYPE)
    if("${${name}}" MATCHES "NOTFOUND$|^$")
      continue()
    elseif(name
      MATCHES "^CMAKE_(PREFIX|MODULE|IGNORE|INCLUDE|LIBRARY|PROGRAM)_.*PATH$|^CMAKE_(FIND_|DISABLE_FIND_PACKAGE_)"
           OR (type MATCHES "^(PATH|FILEPATH|UNINITIALIZED)$" AND NOT name MATCHES "^CMAKE_"))
      string(APPEND project "set(${name} [==[${${name}}]==])\n")
    endif()
  endforeach()
  string(APPEND project
    "set(CMAKE_CXX_STANDARD 20)\nset(CMAKE_EXPORT_COMPILE_COMMANDS OFF)\n${arg_SET}\nproject(probe LANGUAGES CXX)\n")
  if(arg_LANGUAGE STREQUAL "CUDA")
    string(APPEND project "enable_language(CUDA)\n")
  endif()
  if(arg_FIND)
    string(REGEX MATCH "^[^ ]+" package "${arg_FIND}")
    string(APPEND project
      "find_package(${arg_FIND} QUIET)\nif(NOT ${package}_FOUND)\n  message(FATAL_ERROR \"probe: not found\")\n\
endif()\n")
  endif()
  string(APPEND project "add_executable(probe ${program})\n")
  foreach(library ${arg_TARGETS} ${arg_LIBRARIES})
    string(APPEND project "target_link_libraries(probe PRIVATE \"${library}\")\n")
  endforeach()
  foreach(include ${arg_INCLUDES})
    string(APPEND project "target_include_directories(probe SYSTEM PRIVATE \"${include}\")\n")
  endforeach()
  foreach(option ${arg_OPTIONS})
    string(APPEND project "target_link_options(probe PRIVATE \"${option}\")\n")
  endforeach()
  file(WRITE ${folder}/CMakeLists.txt "${project}")
  set(compiler -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}
    -DCMAKE_BUILD_TYPE=Debug)
  if(arg_LANGUAGE STREQUAL "CUDA" AND CMAKE_CUDA_COMPILER)
    list(APPEND compiler -DCMAKE_CUDA_COMPILER=${CMAKE_CUDA_COMPILER})
  endif()
  # The compiler is known; to find it out again would take longer than the rest.
  file(COPY ${CMAKE_BINARY_DIR}/CMakeFiles/${CMAKE_VERSION}/CMakeSystem.cmake
    ${CMAKE_BINARY_DIR}/CMakeFiles/${CMAKE_VERSION}/CMakeCXXCompiler.cmake
    DESTINATION ${folder}/build/CMakeFiles/${CMAKE_VERSION})
  execute_process(COMMAND ${CMAKE_COMMAND} -G ${CMAKE_GENERATOR} -S ${folder} -B ${folder}/build ${compiler}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
  if(NOT failed)
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder}/build RESULT_VARIABLE failed OUTPUT_VARIABLE more
      ERROR_VARIABLE more)
    string(APPEND log "${more}")
  endif()
  if(NOT failed)
    file(REMOVE_RECURSE ${folder})
    set(${result} ON CACHE INTERNAL "A program against it links")
    return()
  endif()
  file(REMOVE_RECURSE ${folder}/build)
  file(WRITE ${folder}/log.txt "${log}")
  if(log
    MATCHES "probe: not found|No CMAKE_CUDA_COMPILER could be found|Failed to find nvcc|Could not find compiler set in \
environment")
    set(${result}_REASON "not found" PARENT_SCOPE)
  else()
    set(${result}_REASON "found, but not whole (${folder}/log.txt)" PARENT_SCOPE)
  endif()
  set(${result} OFF PARENT_SCOPE)
endfunction()

# Finds a compiler cache that compiles. One that cannot (no folder to write to) would end the build at its first file.
macro(stormcell_find_ccache)
  find_program(CCACHE ccache)
  set(STORMCELL_CCACHE OFF)
  if(NOT CCACHE)
    stormcell_left_out("ccache" "not found: what was compiled before is compiled again")
  else()
    file(WRITE ${CMAKE_BINARY_DIR}/probes/ccache.cpp "int main() { return 0; }\n")
    execute_process(COMMAND ${CCACHE} ${CMAKE_CXX_COMPILER} -c ${CMAKE_BINARY_DIR}/probes/ccache.cpp -o
      ${CMAKE_BINARY_DIR}/probes/ccache.o RESULT_VARIABLE STORMCELL_CCACHE_FAILED OUTPUT_QUIET ERROR_QUIET)
    if(STORMCELL_CCACHE_FAILED)
      stormcell_left_out("ccache" "${CCACHE} does not compile")
    else()
      set(STORMCELL_CCACHE ${CCACHE})
      set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
      # A second checkout in another folder finds what the first compiled: paths below the source folder count relative
      # to it, and what a precompiled header holds counts by its content. A user's own settings win.
      set(settings)
      foreach(setting "SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
        "BASEDIR=${PROJECT_SOURCE_DIR}" "NOHASHDIR=1")
        string(REGEX MATCH "^[A-Z]+" key ${setting})
        if(NOT DEFINED ENV{CCACHE_${key}})
          list(APPEND settings CCACHE_${setting})
        endif()
      endforeach()
      if(settings)
        set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${settings} ${CCACHE})
      endif()
    endif()
  endif()
endmacro()
