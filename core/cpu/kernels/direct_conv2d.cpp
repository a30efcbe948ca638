// The work is cut into bands of output rows times panels, branch after branch on one line. A band's input rows are
// copied once with their padding, where there is any, and all of its panels read them there; a kernel of 1 x 1 without
// stride takes a map as one row of pixels.
//
// If there are bands for every thread, a thread takes whole bands with all their panels: the copy serves them all. If
// there are not (small maps with many channels, where weights are most of what is read), panels are shared out, and
// each is read by one thread.
#include "core/cpu/kernels/direct_conv2d.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/align.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/panel_epilogue.h"

namespace stormcell::cpu {
namespace {

constexpr int64_t kWidest = 64, kNarrowest = 16;
/// Floats of a band's copied rows and sums together: they stay in L2 beside a panel's chunks.
constexpr int64_t kBandFloats = 48 * 1024;
/// Fewer pixels than this are not worth another pass over a panel.
constexpr int64_t kLeastPixels = 24;
constexpr int64_t kBandsOfThread = 2;

/// The convolution as rows of pixels: those of the maps, or of a 1 x 1 kernel all pixels of all maps in one.
struct OutputRows {
  bool flat = false;
  int64_t maps, rows, pixels;  ///< pixels of a row of outputs
  /// `in_a_row`: the maps lie one after the other.
  OutputRows(const Conv2dShape& s, bool in_a_row)
      : flat(in_a_row && s.kernel_height == 1 && s.kernel_width == 1 && s.stride_height == 1 && s.stride_width == 1 &&
             s.pad_height == 0 && s.pad_width == 0),
        maps(s.images),
        rows(s.out_height()),
        pixels(s.out_width()) {
    // One row of all pixels, cut into rows of equal length but the last.
    if (flat) maps = 1, pixels = s.images * s.height * s.width, rows = 1;
  }
};

bool is_padded(const Conv2dShape& s) { return s.pad_height > 0 || s.pad_width > 0; }
/// Floats of an input row with its padding, as far as outputs read it.
int64_t padded_row(const Conv2dShape& s) {
  return ((s.out_width() - 1) * s.stride_width + s.kernel_width) * s.in_channels;
}
int64_t input_rows(const Conv2dShape& s, int64_t out_rows) {
  return (out_rows - 1) * s.stride_height + s.kernel_height;
}
int64_t aligned(int64_t floats) { return (floats + 15) / 16 * 16; }

/// Floats of one thread for a band of so many rows.
int64_t copied_floats(const Conv2dShape& s, int64_t out_rows) {
  return is_padded(s) ? aligned(input_rows(s, out_rows) * padded_row(s)) : 0;
}
int64_t band_floats(const Conv2dShape& s, int64_t out_rows) {
  return copied_floats(s, out_rows) + out_rows * s.out_width() * kWidest;
}

/// Rows of a band at most, by what stays in L2; pixels of one in the flat case.
int64_t most_rows(const Conv2dShape& s, const OutputRows& rows) {
  if (rows.flat) return kBandFloats / 2 / kWidest;
  int64_t most = 1;
  while (most < rows.rows && band_floats(s, most + 1) <= kBandFloats) ++most;
  return most;
}

/// Bands of one map; of the flat case all of them. `wanted`: units, so that there are some for every thread.
int64_t bands_of_map(const OutputRows& rows, int64_t most, int64_t panels, int64_t wanted) {
  const int64_t extent = rows.flat ? rows.pixels : rows.rows;
  const int64_t least = rows.flat ? kLeastPixels : (kLeastPixels + rows.pixels - 1) / rows.pixels;
  int64_t bands = (extent + most - 1) / most;
  if (rows.maps * bands * panels < wanted)
    bands = std::max(bands, std::min((wanted + rows.maps * panels - 1) / (rows.maps * panels), extent / least));
  return std::max<int64_t>(1, std::min(bands, extent));
}

struct Band {
  int64_t map, begin, end;  ///< rows of outputs; pixels in the flat case
};

/// A convolution of the maps of one branch; the shape has as many images.
class DirectConvolution {
 public:
  /// `most`: rows of a band (most_rows()); `wanted`: units of this branch.
  DirectConvolution(const Conv2dShape& shape, int64_t most, int64_t wanted, const GroupedMaps<float>& maps,
                    int32_t branch, const Epilogue& epilogue, float* y, bool non_temporal)
      : s_(shape),
        rows_(shape, !maps.map_of_slot),
        maps_(maps),
        branch_(branch),
        slot_(maps.offsets[branch]),
        epilogue_(epilogue),
        y_(y),
        panels_(conv_panel_count(shape.out_channels)),
        bands_of_map_(bands_of_map(rows_, most, panels_, wanted)),
        bands_(rows_.maps * bands_of_map_),
        by_band_(bands_ >= wanted),
        non_temporal_(non_temporal) {}

  int64_t units() const { return bands_ * panels_; }
  /// Time of a unit, in pixels.
  int64_t cost() const { return (rows_.maps * rows_.rows * rows_.pixels + bands_ - 1) / bands_; }
  /// Units [begin, end) on one thread.
  void run(int64_t begin, int64_t end, float* scratch) const {
    int64_t copied = -1;
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t band = by_band_ ? unit / panels_ : unit % bands_, panel = by_band_ ? unit % panels_ : unit / bands_;
      const Band b = at(band);
      if (is_padded(s_) && band != copied) copy(b, scratch), copied = band;
      convolve(b, conv_panel(s_.out_channels, panel), scratch);
    }
  }

 private:
  Band at(int64_t band) const {
    const int64_t map = band / bands_of_map_, part = band % bands_of_map_,
                  extent = rows_.flat ? rows_.pixels : rows_.rows;
    return {map, extent * part / bands_of_map_, extent * (part + 1) / bands_of_map_};
  }
  const float* map(int64_t index) const { return maps_.map(slot_ + index, s_.height * s_.width * s_.in_channels); }

  /// The band's input rows with zeros around them.
  void copy(const Band& b, float* to) const {
    const int64_t row = padded_row(s_), channels = s_.in_channels, first = b.begin * s_.stride_height - s_.pad_height;
    const int64_t left = std::min(s_.pad_width * channels, row), inside = std::min(s_.width * channels, row - left);
    for (int64_t i = 0; i < input_rows(s_, b.end - b.begin); ++i, to += row) {
      const int64_t y = first + i;
      if (y < 0 || y >= s_.height) {
        std::fill_n(to, row, 0.0f);
        continue;
      }
      std::fill_n(to, left, 0.0f);
      std::memcpy(to + left, map(b.map) + y * s_.width * channels, static_cast<size_t>(inside) * sizeof(float));
      std::fill_n(to + left + inside, row - left - inside, 0.0f);
    }
  }

  void convolve(const Band& b, ConvPanel panel, float* scratch) const {
    const KernelTable& table = kernels();
    ConvolutionTask task;
    task.ldx = s_.stride_width * s_.in_channels;
    task.k = s_.kernel_width * s_.in_channels;
    task.kernel_rows = s_.kernel_height;
    task.ld_row = is_padded(s_) ? padded_row(s_) : s_.width * s_.in_channels;
    task.ld_out_row = s_.stride_height * task.ld_row;
    task.weights = maps_.weights[branch_] + panel.first * s_.group_k();
    task.width = panel.width;
    int64_t first = (b.map * rows_.rows + b.begin) * rows_.pixels;  // pixel of the branch
    if (rows_.flat) {
      task.pixels = b.end - b.begin;
      task.x = map(0) + b.begin * s_.in_channels;
      first = b.begin;
    } else {
      task.pixels = rows_.pixels;
      task.out_rows = b.end - b.begin;
      task.x = is_padded(s_) ? scratch : map(b.map) + b.begin * task.ld_out_row;
    }
    task.tile = scratch + (rows_.flat ? 0 : copied_floats(s_, task.out_rows));
    table.convolve(task);
    const PanelSums sums{task.tile,
                         panel.width,
                         slot_ * s_.out_height() * s_.out_width() + first,
                         task.out_rows * task.pixels,
                         panel.first,
                         std::min(panel.width, s_.out_channels - panel.first),
                         non_temporal_};
    table.epilogue(panel_epilogue(epilogue_, maps_.bias(branch_), sums, y_, s_.out_channels));
  }

  const Conv2dShape s_;
  const OutputRows rows_;
  const GroupedMaps<float>& maps_;
  int32_t branch_;
  int64_t slot_;  // slot of its first map
  const Epilogue& epilogue_;
  float* y_;
  int64_t panels_, bands_of_map_, bands_;
  bool by_band_, non_temporal_;
};

/// Floats of one thread's scratch, enough whether maps lie one after the other or not.
int64_t thread_floats(const Conv2dShape& s) {
  int64_t most = 0;
  for (const bool in_a_row : {false, true}) {
    const OutputRows rows(s, in_a_row);
    most = std::max(most, rows.flat ? most_rows(s, rows) * kWidest : aligned(band_floats(s, most_rows(s, rows))));
  }
  return most;
}

}  // namespace

int64_t conv_panel_count(int64_t out_channels) {
  const int64_t rest = out_channels % kWidest;
  return out_channels / kWidest + (rest == 0 ? 0 : rest > 2 * kNarrowest && rest <= 3 * kNarrowest ? 2 : 1);
}

ConvPanel conv_panel(int64_t out_channels, int64_t index) {
  const int64_t whole = out_channels / kWidest, first = index * kWidest, rest = out_channels % kWidest;
  if (index < whole) return {first, kWidest};
  if (index > whole) return {whole * kWidest + 2 * kNarrowest, kNarrowest};
  return {first, rest <= kNarrowest ? kNarrowest : rest <= 3 * kNarrowest ? 2 * kNarrowest : kWidest};
}

bool is_direct(const Conv2dShape& s) { return s.groups == 1 && s.dilation_height == 1 && s.dilation_width == 1; }

size_t direct_conv2d_bytes(const Conv2dShape& s) {
  const ConvPanel last = conv_panel(s.out_channels, conv_panel_count(s.out_channels) - 1);
  return static_cast<size_t>((last.first + last.width) * s.group_k()) * sizeof(float);
}

void pack_direct_conv2d(const Conv2dShape& s, const void* weights, DType stored, float* out) {
  const int64_t k = s.group_k();
  std::vector<float> channel(k);
  const std::byte* from = static_cast<const std::byte*>(weights);
  for (int64_t p = 0; p < conv_panel_count(s.out_channels); ++p) {
    const ConvPanel panel = conv_panel(s.out_channels, p);
    float* to = out + panel.first * k;
    for (int64_t c = 0; c < panel.width; ++c) {
      const int64_t o = panel.first + c;
      if (o < s.out_channels)
        to_f32(from + static_cast<size_t>(o * k) * element_size(stored), stored, channel.data(),
               static_cast<size_t>(k));
      else
        std::fill(channel.begin(), channel.end(), 0.0f);
      for (int64_t i = 0; i < k; ++i) to[i * panel.width + c] = channel[i];
    }
  }
}

void direct_conv2d(ThreadTeam& team, const Conv2dShape& s, const float* x, const float* weights,
                   const Epilogue& epilogue, float* y, std::byte* scratch) {
  const OneBranch<float> all(x, s.images, weights, epilogue.bias);
  direct_conv2d(team, s, all.maps, epilogue, y, scratch);
}

void direct_conv2d(ThreadTeam& team, const Conv2dShape& shape, const GroupedMaps<float>& maps, const Epilogue& epilogue,
                   float* y, std::byte* scratch) {
  const int64_t images = maps.maps(), floats = thread_floats(shape), threads = team.size();
  if (images <= 0) return;
  const int64_t most = most_rows(shape, OutputRows(shape, !maps.map_of_slot)),
                units = threads > 1 ? kBandsOfThread * threads : 0;
  const bool non_temporal =
      is_non_temporal(epilogue, y, images * shape.out_height() * shape.out_width(), shape.out_channels);
  const auto of_branch = [&](int32_t branch) {
    Conv2dShape s = shape;
    s.images = maps.maps(branch);
    return DirectConvolution(s, most, (units * s.images + images - 1) / images, maps, branch, epilogue, y,
                             non_temporal);
  };
  int64_t total = 0, count = 0;
  for (int32_t b = 0; b < maps.branches; ++b)
    if (maps.maps(b) > 0) {
      const DirectConvolution convolution = of_branch(b);
      count += convolution.units();
      total += convolution.units() * convolution.cost();
    }
  // The units whose beginning on the line lies in [begin, end).
  const auto run = [&](int64_t begin, int64_t end, int member) {
    int64_t at = 0;
    for (int32_t b = 0; b < maps.branches && at < end && !team.cancelled(); ++b) {
      if (maps.maps(b) == 0) continue;
      const DirectConvolution convolution = of_branch(b);
      const int64_t cost = convolution.cost(), mine = convolution.units();
      const auto unit_at = [&](int64_t place) { return std::clamp<int64_t>((place - at + cost - 1) / cost, 0, mine); };
      if (const int64_t first = unit_at(std::max(begin, at)), last = unit_at(end); first < last)
        convolution.run(first, last, reinterpret_cast<float*>(scratch) + member * floats);
      at += mine * cost;
    }
  };
  if (count == 1) return run(0, total, 0);
  team.run([&](int member) { run(total * member / threads, total * (member + 1) / threads, member); });
}

size_t direct_conv2d_scratch_bytes(const Conv2dShape& s, int threads) {
  return static_cast<size_t>(threads) * static_cast<size_t>(thread_floats(s)) * sizeof(float);
}

}  // namespace stormcell::cpu
