#include "views/drawing/imgui/raster.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace stormcell::views {
namespace {

struct Clip {
  int x0, y0, x1, y1;
};
struct RasterTone {
  uint r, g, b, a;
  explicit RasterTone(ImU32 c) : r(c & 255), g(c >> 8 & 255), b(c >> 16 & 255), a(c >> 24) {}
};

void blend(QRgb& to, uint r, uint g, uint b, uint a) {
  if (a == 0) return;
  const uint rest = 255 - a;
  const auto mix = [&](uint over, int under) {
    return static_cast<int>((over * a + static_cast<uint>(under) * rest + 127) / 255);
  };
  to = qRgb(mix(r, qRed(to)), mix(g, qGreen(to)), mix(b, qBlue(to)));
}

/// An upright rectangle of one colour: backgrounds, bars and every glyph.
void fill_quad(QImage& target, const Clip& clip, const ImGuiAtlas& atlas, const ImDrawVert& p, const ImDrawVert& q,
               ImVec2 scale) {
  const float fx0 = p.pos.x * scale.x, fy0 = p.pos.y * scale.y, fx1 = q.pos.x * scale.x, fy1 = q.pos.y * scale.y;
  const int x0 = std::max(clip.x0, static_cast<int>(std::lround(fx0))),
            x1 = std::min(clip.x1, static_cast<int>(std::lround(fx1)));
  const int y0 = std::max(clip.y0, static_cast<int>(std::lround(fy0))),
            y1 = std::min(clip.y1, static_cast<int>(std::lround(fy1)));
  if (x0 >= x1 || y0 >= y1) return;
  const RasterTone tone(p.col);
  const bool solid = p.uv.x == q.uv.x && p.uv.y == q.uv.y;
  const float du = (q.uv.x - p.uv.x) * static_cast<float>(atlas.width) / (fx1 - fx0),
              dv = (q.uv.y - p.uv.y) * static_cast<float>(atlas.height) / (fy1 - fy0);
  for (int y = y0; y < y1; ++y) {
    auto* line = reinterpret_cast<QRgb*>(target.scanLine(y));
    if (solid && tone.a == 255) {
      std::fill(line + x0, line + x1,
                qRgb(static_cast<int>(tone.r), static_cast<int>(tone.g), static_cast<int>(tone.b)));
      continue;
    }
    const int v = std::clamp(
        static_cast<int>(p.uv.y * static_cast<float>(atlas.height) + (static_cast<float>(y) + 0.5f - fy0) * dv), 0,
        atlas.height - 1);
    for (int x = x0; x < x1; ++x) {
      uint cover = 255;
      if (!solid) {
        const int u = std::clamp(
            static_cast<int>(p.uv.x * static_cast<float>(atlas.width) + (static_cast<float>(x) + 0.5f - fx0) * du), 0,
            atlas.width - 1);
        cover = atlas.texels[static_cast<size_t>(v) * static_cast<size_t>(atlas.width) + static_cast<size_t>(u)];
      }
      blend(line[x], tone.r, tone.g, tone.b, tone.a * cover / 255);
    }
  }
}

/// Any other triangle, in sixteenths of a pixel with the top-left rule: shared edges are drawn exactly once, so
/// translucent shapes have no seams.
void fill_triangle(QImage& target, const Clip& clip, const ImDrawVert* v[3], ImVec2 scale) {
  constexpr int kSub = 16;
  qint64 x[3], y[3];
  for (int i = 0; i < 3; ++i)
    x[i] = std::lround(v[i]->pos.x * scale.x * kSub), y[i] = std::lround(v[i]->pos.y * scale.y * kSub);
  qint64 area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
  if (area == 0) return;
  if (area < 0) {
    std::swap(x[1], x[2]), std::swap(y[1], y[2]), std::swap(v[1], v[2]);
    area = -area;
  }
  const auto pixel = [](qint64 f) { return static_cast<int>(f >= 0 ? f / kSub : -((-f + kSub - 1) / kSub)); };
  const int x0 = std::max(clip.x0, pixel(std::min({x[0], x[1], x[2]}))),
            x1 = std::min(clip.x1, pixel(std::max({x[0], x[1], x[2]})) + 1);
  const int y0 = std::max(clip.y0, pixel(std::min({y[0], y[1], y[2]}))),
            y1 = std::min(clip.y1, pixel(std::max({y[0], y[1], y[2]})) + 1);
  qint64 bias[3], dx[3], dy[3];
  for (int e = 0; e < 3; ++e) {  // edge e lies opposite to corner e
    const int i = (e + 1) % 3, j = (e + 2) % 3;
    dx[e] = x[j] - x[i], dy[e] = y[j] - y[i];
    bias[e] = dy[e] < 0 || (dy[e] == 0 && dx[e] > 0) ? 0 : -1;
  }
  const RasterTone tone[3] = {RasterTone(v[0]->col), RasterTone(v[1]->col), RasterTone(v[2]->col)};
  const float inverse = 1.0f / static_cast<float>(area);
  for (int py = y0; py < y1; ++py) {
    auto* line = reinterpret_cast<QRgb*>(target.scanLine(py));
    for (int px = x0; px < x1; ++px) {
      const qint64 cx = qint64{px} * kSub + kSub / 2, cy = qint64{py} * kSub + kSub / 2;
      qint64 w[3];
      bool inside = true;
      for (int e = 0; e < 3 && inside; ++e) {
        const int i = (e + 1) % 3;
        w[e] = dx[e] * (cy - y[i]) - dy[e] * (cx - x[i]);
        inside = w[e] + bias[e] >= 0;
      }
      if (!inside) continue;
      const auto mix = [&](uint RasterTone::*channel) {
        float sum = 0.5f;
        for (int i = 0; i < 3; ++i) sum += static_cast<float>(w[i]) * inverse * static_cast<float>(tone[i].*channel);
        return static_cast<uint>(sum);
      };
      blend(line[px], mix(&RasterTone::r), mix(&RasterTone::g), mix(&RasterTone::b), mix(&RasterTone::a));
    }
  }
}

/// ImGui writes rectangles as two triangles (a, b, c), (a, c, d), a at the top left and c at the bottom right.
bool is_quad(const ImDrawVert* v, const ImDrawIdx* i) {
  if (i[3] != i[0] || i[4] != i[2]) return false;
  const ImDrawVert &a = v[i[0]], &b = v[i[1]], &c = v[i[2]], &d = v[i[5]];
  return a.pos.y == b.pos.y && b.pos.x == c.pos.x && c.pos.y == d.pos.y && d.pos.x == a.pos.x && a.col == b.col &&
         a.col == c.col && a.col == d.col;
}

}  // namespace

void rasterize(const ImDrawData& data, const ImGuiAtlas& atlas, QImage& target) {
  const ImVec2 scale = data.FramebufferScale;
  for (int n = 0; n < data.CmdListsCount; ++n) {
    const ImDrawList* list = data.CmdLists[n];
    for (const ImDrawCmd& command : list->CmdBuffer) {
      if (command.UserCallback) continue;
      const Clip clip{std::max(0, static_cast<int>(command.ClipRect.x * scale.x)),
                      std::max(0, static_cast<int>(command.ClipRect.y * scale.y)),
                      std::min(target.width(), static_cast<int>(command.ClipRect.z * scale.x)),
                      std::min(target.height(), static_cast<int>(command.ClipRect.w * scale.y))};
      const ImDrawVert* v = list->VtxBuffer.Data + command.VtxOffset;
      const ImDrawIdx* i = list->IdxBuffer.Data + command.IdxOffset;
      for (unsigned k = 0; k + 2 < command.ElemCount;) {
        if (k + 5 < command.ElemCount && is_quad(v, i + k)) {
          fill_quad(target, clip, atlas, v[i[k]], v[i[k + 2]], scale);
          k += 6;
          continue;
        }
        const ImDrawVert* corners[3] = {&v[i[k]], &v[i[k + 1]], &v[i[k + 2]]};
        fill_triangle(target, clip, corners, scale);
        k += 3;
      }
    }
  }
}

}  // namespace stormcell::views
