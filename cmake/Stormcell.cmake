# One static library a folder of core/: sources are found by name, so that adding a file is adding a file.
# stormcell_library(NAME DIR DEPS...)
function(stormcell_library name dir)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${dir}/*.cpp)
  # Kernels compiled once for each instruction set carry its name: x.avx512.cpp, x.avx2.cpp.
  if(sources)
    add_library(stormcell_${name} STATIC ${sources})
    target_link_libraries(stormcell_${name} PUBLIC stormcell_options ${ARGN})
    target_include_directories(stormcell_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    stormcell_precompile(stormcell_${name} standard)
    foreach(source ${sources})
      if(source MATCHES "\\.avx[0-9a-z]+\\.cpp$")  # other instructions, other precompiled headers
        set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      endif()
      if(source MATCHES "\\.avx512bf16\\.cpp$")
        set_source_files_properties(${source} PROPERTIES
          COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512bf16;-mfma;-mf16c")
      elseif(source MATCHES "\\.avx512\\.cpp$")
        set_source_files_properties(${source} PROPERTIES
          COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mfma;-mf16c")
      elseif(source MATCHES "\\.avx2\\.cpp$")
        set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")
      endif()
      # Half of the time that such a file takes under AddressSanitizer. The same templates for 128 and 256 bits keep
      # these checks.
      if(source MATCHES "\\.avx512" AND STORMCELL_SANITIZE STREQUAL "address")
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=null,alignment,object-size
          -fno-sanitize-address-use-after-scope)
      endif()
    endforeach()
  else()
    add_library(stormcell_${name} INTERFACE)
    target_link_libraries(stormcell_${name} INTERFACE stormcell_options ${ARGN})
    target_include_directories(stormcell_${name} INTERFACE ${PROJECT_SOURCE_DIR})
  endif()
endfunction()

# One Qt Test program a folder of tests/, or for several small ones: every *_test.cpp there is one test class, listed by
# the generated main.
# stormcell_test(NAME "DIR..." LABELS deps...): ctest runs it with the arguments in NAME_arguments.
function(stormcell_test name dirs labels)
  set(sources)
  foreach(dir ${dirs})
    file(GLOB more CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${dir}/*.cpp)
    list(APPEND sources ${more})
  endforeach()
  if(NOT sources)
    message(FATAL_ERROR "test_${name} has no sources in ${dirs}")  # a program without tests would pass
  endif()
  # What drives widgets gets an application with a window system, everything else one without.
  if("${ARGN}" MATCHES "stormcell_(views|window)")
    list(APPEND sources ${PROJECT_SOURCE_DIR}/tests/testing/main_widgets.cpp)
  else()
    list(APPEND sources ${PROJECT_SOURCE_DIR}/tests/testing/main_core.cpp)
  endif()
  add_executable(test_${name} ${sources})
  if("${ARGN}" MATCHES "stormcell_(views|window)")
    stormcell_precompile(test_${name} widget_tests)
    stormcell_compile_test(test_${name})
  elseif("${ARGN}" MATCHES "stormcell_gpu")
    # Kernels have variables called `slots`, a keyword where Qt's headers came first.
    stormcell_precompile(test_${name} standard)
    stormcell_compile_played(test_${name})
  else()
    stormcell_precompile(test_${name} tests)
    stormcell_compile_test(test_${name})
  endif()
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  stormcell_compile_together(test_${name})
  list(FILTER sources INCLUDE REGEX "_test\\.cpp$")
  stormcell_moc(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE ${ARGN} Qt6::Test stormcell_testing)
  add_test(NAME ${name} COMMAND test_${name} ${${name}_arguments})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" ENVIRONMENT "QT_QPA_PLATFORM=offscreen"
    SKIP_RETURN_CODE 77)
endfunction()
