# Every header must compile by itself, and twice in one file. The build makes one object for each header, and fails if
# one does not compile. The standard headers are precompiled, which halves the time; tests/house/check_includes.sh
# checks that each is included where it is used.
# Left out are headers of SEEN that their own source includes first. SEEN names folders that are compiled with the same
# precompiled headers. Such a header compiles by itself in its source, or in the test house_alone if sources are
# compiled together. tests/house/check_sources.sh checks that each header counts once.
# A tree that ./dev demo or ./dev test has made leaves all these objects out: there house_alone compiles the headers
# that changed, and house_alone_all (slow) compiles all of them.
# stormcell_header_test(NAME FOLDERS folder... [SEEN folder...] LIBRARIES target...)
function(stormcell_header_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;SEEN;LIBRARIES")
  set(generated)
  foreach(folder ${arg_FOLDERS})
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.h)
    foreach(header ${headers})
      string(REGEX REPLACE "h$" "cpp" own ${header})
      if(folder IN_LIST arg_SEEN AND EXISTS ${PROJECT_SOURCE_DIR}/${own})
        file(STRINGS ${PROJECT_SOURCE_DIR}/${own} first REGEX "^#include" LIMIT_COUNT 1)
        if(first STREQUAL "#include \"${header}\"")
          continue()
        endif()
      endif()
      set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}/${header}.cpp)
      file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
      list(APPEND generated ${source})
    endforeach()
  endforeach()
  if(NOT generated)
    return()
  endif()
  add_library(${name} OBJECT ${generated})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  # Only that it compiles counts.
  target_compile_options(${name} PRIVATE -O0 -g0)
  target_precompile_headers(${name} PRIVATE ${STORMCELL_STANDARD_HEADERS})
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ${STORMCELL_TOGETHER})
endfunction()
