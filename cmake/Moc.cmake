# Code that Qt's moc makes. AUTOMOC hands moc the folders of all headers, and moc then reads Qt and the standard library
# for each file, twenty times as long as for the file alone. Here it sees the file alone: what it looks for (Q_OBJECT,
# slots, signals, invokables) must not depend on a macro of another file or of the compiler. An #if stands in a slot's
# body, not around the slot.
# stormcell_moc(TARGET FILE...): x.moc for each x.cpp, which includes it at its end, and for each x.h; one source of the
# target includes those of headers. A header without Q_OBJECT has an empty one, so that CMake need not run again when it
# gets a Q_OBJECT.
function(stormcell_moc target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_moc)
  set(made)
  set(of_headers)
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME_WE)
    set(out ${folder}/${name}.moc)
    if(out IN_LIST made)
      message(FATAL_ERROR "${target}: moc reads another file with the name of ${file}")
    endif()
    list(APPEND made ${out})
    set(include)
    if(file MATCHES "\\.h$")
      file(RELATIVE_PATH header ${PROJECT_SOURCE_DIR} ${file})
      set(include -f ${header})
      string(APPEND of_headers "#include \"${name}.moc\"\n")
    endif()
    add_custom_command(OUTPUT ${out} COMMAND Qt6::moc --no-notes ${include} -o ${out} ${file} DEPENDS ${file} VERBATIM)
  endforeach()
  target_sources(${target} PRIVATE ${made})
  target_include_directories(${target} PRIVATE ${folder})
  if(of_headers)
    file(CONFIGURE OUTPUT ${folder}/headers.cpp CONTENT "// What moc makes of the target's headers.\n${of_headers}")
    target_sources(${target} PRIVATE ${folder}/headers.cpp)
  endif()
endfunction()
