// Draws ImGui's lists into an image on the CPU: quicker than OpenGL in software, works without a display, and every
// picture is the same.
#pragma once
#include <QImage>
#include <vector>

struct ImDrawData;

namespace stormcell::views {

/// The font atlas: one byte of coverage a texel.
struct ImGuiAtlas {
  std::vector<unsigned char> texels;
  int width = 0, height = 0;
};
/// `target` must be RGB32 and as large as the display in device pixels.
void rasterize(const ImDrawData& data, const ImGuiAtlas& atlas, QImage& target);

}  // namespace stormcell::views
