# A tree for packages (STORMCELL_CHECKOUT=OFF) makes more than its programs: manual pages and completion, which the
# programs print, and icons in the sizes of freedesktop from their SVG. The target `package_files` is everything that
# packages have.
find_program(STORMCELL_RSVG_CONVERT rsvg-convert)
set(folder ${CMAKE_BINARY_DIR}/package)
add_custom_target(package_files)

# stormcell_printed(PROGRAM COMPONENT): its manual pages and its completion, in the component.
function(stormcell_printed program component)
  set(stamp ${folder}/${program}/printed)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> -DNAME=${program} -DOUT=${folder}/${program}
      -DRESOURCES=${PROJECT_SOURCE_DIR}/resources -P ${PROJECT_SOURCE_DIR}/cmake/Printed.cmake
    DEPENDS ${program} ${PROJECT_SOURCE_DIR}/cmake/Printed.cmake VERBATIM)
  add_custom_target(${program}_printed DEPENDS ${stamp})
  add_dependencies(package_files ${program}_printed)
  install(DIRECTORY ${folder}/${program}/man/ DESTINATION share/man/man1 COMPONENT ${component})
  install(FILES ${folder}/${program}/completion DESTINATION share/bash-completion/completions RENAME ${program}
    COMPONENT ${component})
endfunction()

stormcell_printed(stormcell stormcell)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/installer/data/make-demo-data DESTINATION lib/stormcell COMPONENT stormcell)
if(TARGET stormcell-prepare-switch-names)
  add_dependencies(package_files stormcell-prepare-switch-names)
  install(PROGRAMS $<TARGET_FILE:stormcell-prepare-switch-names> DESTINATION lib/stormcell RENAME prepare-switch-names
    COMPONENT stormcell)
endif()

if(TARGET stormcell-studio)
  if(NOT STORMCELL_RSVG_CONVERT)
    message(FATAL_ERROR "A package of the Studio needs rsvg-convert for its icons (Debian: librsvg2-bin)")
  endif()
  stormcell_printed(stormcell-studio stormcell-studio)
  set(icons)
  foreach(icon apps/stormcell-studio mimetypes/application-x-stormcell-session)
    get_filename_component(name ${icon} NAME)
    get_filename_component(kind ${icon} DIRECTORY)
    set(svg ${PROJECT_SOURCE_DIR}/resources/icons/${name}.svg)
    foreach(size 16 22 24 32 48 64 128 256 512)
      set(png ${folder}/icons/${size}x${size}/${kind}/${name}.png)
      add_custom_command(OUTPUT ${png}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}/icons/${size}x${size}/${kind}
        COMMAND ${STORMCELL_RSVG_CONVERT} -w ${size} -h ${size} -o ${png} ${svg} DEPENDS ${svg} VERBATIM)
      list(APPEND icons ${png})
    endforeach()
  endforeach()
  add_custom_target(package_icons DEPENDS ${icons})
  add_dependencies(package_files package_icons)
  install(DIRECTORY ${folder}/icons/ DESTINATION share/icons/hicolor COMPONENT stormcell-studio)
endif()

if(TARGET stormcell_gpu_module)
  add_dependencies(package_files stormcell_gpu_module)
endif()
