#include "core/cpu/weight_layouts.h"

#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/cpu/kernels/direct_conv2d.h"
#include "core/cpu/kernels/packed_weight.h"
#include "core/cpu/kernels/planar_conv2d.h"
#include "core/runtime/kernel_build_context.h"

namespace stormcell::cpu {
namespace {

/// A weight on its way from its file to its place.
struct Writing {
  const WeightKey& key;
  const WeightInfo& info;
  std::shared_ptr<const std::byte> from;  // a layout that needs it no longer lets it go
  std::byte* to;
  /// Calls the function with (begin, end, member) for parts of [0, n).
  std::function<void(int64_t n, const std::function<void(int64_t, int64_t, int)>&)> split;
};

int64_t plain_bytes(const WeightKey&, const WeightInfo& info) { return info.bytes(); }

int64_t plain_f32_bytes(const WeightKey&, const WeightInfo& info) { return info.elements() * 4; }
void write_plain_f32(Writing& w) {
  to_f32(w.from.get(), w.info.dtype, reinterpret_cast<float*>(w.to), static_cast<size_t>(w.info.elements()));
}

int64_t panels_bytes(const WeightKey& key, const WeightInfo& info) {
  return static_cast<int64_t>(packed_bytes(info.shape.at(0), info.shape.at(1), key.dtype));
}
void write_panels(Writing& w) {
  const StoredWeight from{w.from.get(), w.info.dtype, w.info.shape.at(0), w.info.shape.at(1), false, nullptr};
  w.split(panel_count(from.n), [&](int64_t begin, int64_t end, int) { pack(from, w.key.dtype, w.to, begin, end); });
}

constexpr std::string_view kConvPanels = "conv_panels";
/// The shape of a weight [O, kh, kw, c], each group with c channels of its own.
Conv2dShape conv_shape(const WeightKey& key, const WeightInfo& info) {
  Conv2dShape shape;
  const char* groups = key.layout.data() + kConvPanels.size() + 1;
  if (std::from_chars(groups, key.layout.data() + key.layout.size(), shape.groups).ec != std::errc())
    failed("weights", "no groups in layout \"" + key.layout + "\"");
  shape.in_channels = shape.groups * info.shape.at(3);
  shape.out_channels = info.shape.at(0);
  shape.kernel_height = info.shape.at(1);
  shape.kernel_width = info.shape.at(2);
  return shape;
}
// [O, kh, kw, c] as the graph has it to [O, c, kh, kw] as the packing wants it.
std::vector<std::byte> channels_first(const std::byte* from, const std::vector<int64_t>& shape, size_t size) {
  const int64_t o = shape[0], area = shape[1] * shape[2], c = shape[3];
  std::vector<std::byte> to(o * area * c * size);
  for (int64_t i = 0; i < o; ++i)
    for (int64_t a = 0; a < area; ++a)
      for (int64_t x = 0; x < c; ++x)
        std::memcpy(to.data() + static_cast<size_t>((i * c + x) * area + a) * size,
                    from + static_cast<size_t>((i * area + a) * c + x) * size, size);
  return to;
}
int64_t conv_panels_bytes(const WeightKey& key, const WeightInfo& info) {
  return static_cast<int64_t>(packed_conv2d_bytes(conv_shape(key, info), key.dtype));
}
void write_conv_panels(Writing& w) {
  const std::vector<std::byte> turned = channels_first(w.from.get(), w.info.shape, element_size(w.info.dtype));
  w.from.reset();
  pack_conv2d(conv_shape(w.key, w.info), turned.data(), w.info.dtype, nullptr, w.key.dtype, w.to);
}

/// The shape of a weight [O, kh, kw, C].
Conv2dShape direct_shape(const WeightInfo& info) {
  Conv2dShape shape;
  shape.out_channels = info.shape.at(0);
  shape.kernel_height = info.shape.at(1);
  shape.kernel_width = info.shape.at(2);
  shape.in_channels = info.shape.at(3);
  return shape;
}
int64_t direct_convolution_bytes(const WeightKey&, const WeightInfo& info) {
  return static_cast<int64_t>(direct_conv2d_bytes(direct_shape(info)));
}
void write_direct_convolution(Writing& w) {
  pack_direct_conv2d(direct_shape(w.info), w.from.get(), w.info.dtype, reinterpret_cast<float*>(w.to));
}
int64_t planar_convolution_bytes(const WeightKey&, const WeightInfo& info) {
  return static_cast<int64_t>(planar_conv2d_bytes(direct_shape(info)));
}
void write_planar_convolution(Writing& w) {
  pack_planar_conv2d(direct_shape(w.info), w.from.get(), w.info.dtype, reinterpret_cast<float*>(w.to));
}

struct WeightLayout {
  std::string_view name;  ///< the layout up to a '/', behind which its parameter stands
  int64_t (*bytes)(const WeightKey& key, const WeightInfo& info);
  void (*write)(Writing& writing);  ///< null: the bytes stay as they are stored
};
/// The visible list.
constexpr std::array kLayouts = {
    WeightLayout{kPlainLayout, plain_bytes, nullptr},
    WeightLayout{kPlainF32Layout, plain_f32_bytes, write_plain_f32},
    WeightLayout{kPanels, panels_bytes, write_panels},
    WeightLayout{kConvPanels, conv_panels_bytes, write_conv_panels},
    WeightLayout{kDirectConvolution, direct_convolution_bytes, write_direct_convolution},
    WeightLayout{kPlanarConvolution, planar_convolution_bytes, write_planar_convolution},
};

const WeightLayout& layout_of(const WeightKey& key) {
  const std::string_view name = std::string_view(key.layout).substr(0, key.layout.find('/'));
  for (const WeightLayout& layout : kLayouts)
    if (layout.name == name) return layout;
  failed("weights", "no layout \"" + key.layout + "\" on the CPU");
}

const WeightInfo& info_of(const WeightKey& key, const WeightSource& source) {
  const WeightInfo* info = source.find(key.tensor);
  if (!info) failed("weights", "no tensor " + key.tensor);
  return *info;
}

}  // namespace

std::string conv_panels(int64_t groups) { return std::string(kConvPanels) + "/" + std::to_string(groups); }

int64_t cpu_weight_bytes(const WeightKey& key, const WeightInfo& info) { return layout_of(key).bytes(key, info); }

namespace {
/// Writes a weight into its place. One that stays as it is stored is read there, without a copy between.
void write_weight(const WeightKey& key, const WeightSource& source, std::byte* to,
                  std::function<void(int64_t n, const std::function<void(int64_t, int64_t, int)>&)> split) {
  const WeightInfo& info = info_of(key, source);
  const WeightLayout& layout = layout_of(key);
  if (!layout.write) return source.copy(key.tensor, 0, {to, static_cast<size_t>(info.bytes())});
  Writing writing{key, info, source.bytes(key.tensor), to, std::move(split)};
  layout.write(writing);
}
}  // namespace

std::unique_ptr<DeviceBuffer> load_cpu_weight(const WeightKey& key, const WeightSource& source, MemorySpace& space,
                                              ThreadTeam& team) {
  auto buffer = space.allocate(cpu_weight_bytes(key, info_of(key, source)), key.tensor);
  write_weight(key, source, reinterpret_cast<std::byte*>(buffer->address().value),
               [&](int64_t n, const auto& part) { team.split(n, 1, part); });
  return buffer;
}

void load_cpu_weight_to(const WeightKey& key, const WeightSource& source, std::byte* to) {
  write_weight(key, source, to, [](int64_t n, const auto& part) { part(int64_t{0}, n, 0); });
}

}  // namespace stormcell::cpu
