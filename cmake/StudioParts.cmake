# What the Studio is made of: Qt 6 Widgets and Svg, and Dear ImGui as Debian has it. STORMCELL_STUDIO_WHOLE is true
# where all of it is whole.
set(STORMCELL_STUDIO_WHOLE OFF)
stormcell_whole(STORMCELL_QT FIND "Qt6 COMPONENTS Widgets Svg" TARGETS Qt6::Widgets Qt6::Svg
  SOURCE "#include <QApplication>\n#include <QSvgGenerator>\n\
int main(int n, char** v) { QApplication a(n, v); QSvgGenerator g; return 0; }")
if(NOT STORMCELL_QT)
  stormcell_left_out("the Studio" "Qt 6 Widgets and Svg (qt6-base-dev, qt6-svg-dev): ${STORMCELL_QT_REASON}")
  return()
endif()
# ImGui's archive needs stb; the static one where it is, so that programs need no more at run time.
pkg_check_modules(IMGUI QUIET imgui>=1.86)
find_library(STORMCELL_IMGUI NAMES libimgui.a)
find_library(STORMCELL_STB NAMES libstb.a stb)
stormcell_whole(STORMCELL_IMGUI_LINKS NEEDS IMGUI_FOUND STORMCELL_IMGUI STORMCELL_STB LIBRARIES ${STORMCELL_IMGUI}
  ${STORMCELL_STB} m ${CMAKE_DL_LIBS} INCLUDES ${IMGUI_INCLUDE_DIRS}
  SOURCE "#include <imgui.h>\nint main() { ImGui::CreateContext(); unsigned char* p; int w, h; \
ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&p, &w, &h); }")
if(NOT STORMCELL_IMGUI_LINKS)
  stormcell_left_out("the Studio" "Dear ImGui and stb (libimgui-dev, libstb-dev): ${STORMCELL_IMGUI_LINKS_REASON}")
  return()
endif()
find_package(Qt6 REQUIRED COMPONENTS Widgets Svg)
set(STORMCELL_STUDIO_WHOLE ON)
