// A map becomes planes, is convolved there and becomes pixels of channels again: for 8 channels at 32 x 32 the two
// turns take a third of a convolution's time, so that a chain of residual blocks turns once at each end and stays in
// planes between.
//
// Rows of a plane share the zeros between them: the margin behind a row is the one before the next. The first pixel of
// each row is aligned.
//
// A chain's maps go whole to threads as far as each gets as many: a map stays in one L2. All threads take what is left
// through the chain together, each its rows of the line of these maps, and meet after each convolution: rows beside a
// band come from a neighbour's cache. To compute them again instead would cost two rows a side for each block, more
// than a map has where a chain is long.
#include "core/cpu/kernels/planar_conv2d.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/align.h"
#include "core/cpu/kernels/kernel_table.h"

namespace stormcell::cpu {
namespace {

constexpr int64_t kGroup = 12;    ///< output channels of a group of weights, at most
constexpr int64_t kAligned = 16;  ///< floats
/// Vectors read so far behind the last pixel, and more: four of 16 floats.
constexpr int64_t kBehind = 64;
/// Floats of a band's planes: they stay in L2.
constexpr int64_t kBandFloats = 64 * 1024;
/// Multiply-adds of one thread while threads wait for one another once: about a microsecond.
constexpr int64_t kMeeting = 64 * 1024;

int64_t aligned(int64_t floats) { return (floats + kAligned - 1) / kAligned * kAligned; }

/// Rows of pixels in planes, with zeros around them.
struct PlaneLayout {
  int64_t channels, rows, width, margin;  ///< rows with those of the margin

  int64_t row() const { return aligned(width + margin); }
  int64_t plane() const { return rows * row() + aligned(margin); }
  int64_t floats() const { return channels * plane() + kBehind; }
  /// The first pixel of the first row of the first plane.
  int64_t origin() const { return aligned(margin); }
};

typedef float Four __attribute__((vector_size(16)));
Four load4(const float* p) {
  Four a;
  std::memcpy(&a, p, sizeof a);
  return a;
}
void store4(float* p, Four a) { std::memcpy(p, &a, sizeof a); }

/// Four rows of four, `from_step` apart, to their columns, `to_step` apart.
void turn4(const float* from, int64_t from_step, float* to, int64_t to_step) {
  const Four a = load4(from), b = load4(from + from_step), c = load4(from + 2 * from_step),
             d = load4(from + 3 * from_step);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store4(to, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  store4(to + to_step, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  store4(to + 2 * to_step, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  store4(to + 3 * to_step, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

/// [m][n] floats, rows `from_step` apart, to [n][m], rows `to_step` apart.
void turn(const float* from, int64_t from_step, int64_t m, int64_t n, float* to, int64_t to_step) {
  const int64_t m4 = m / 4 * 4, n4 = n / 4 * 4;
  for (int64_t i = 0; i < m4; i += 4)
    for (int64_t j = 0; j < n4; j += 4) turn4(from + i * from_step + j, from_step, to + j * to_step + i, to_step);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = i < m4 ? n4 : 0; j < n; ++j) to[j * to_step + i] = from[i * from_step + j];
}

/// Rows [rows, width, channels] to planes; `first`: their first pixel there.
void to_planes(const float* map, int64_t rows, const PlaneLayout& to, float* first) {
  for (int64_t y = 0; y < rows; ++y)
    turn(map + y * to.width * to.channels, to.channels, to.width, to.channels, first + y * to.row(), to.plane());
}
/// All rows of the planes, from row `begin` of a map on; rows that the map does not have are zeros, as the margins are.
void band_to_planes(const float* map, int64_t height, int64_t begin, const PlaneLayout& to, float* planes) {
  std::memset(planes, 0, static_cast<size_t>(to.floats()) * sizeof(float));
  const int64_t first = std::max<int64_t>(begin, 0), end = std::min(begin + to.rows, height);
  to_planes(map + first * to.width * to.channels, end - first, to, planes + to.origin() + (first - begin) * to.row());
}
void from_planes(const float* first, const PlaneLayout& from, int64_t rows, float* map) {
  for (int64_t y = 0; y < rows; ++y)
    turn(first + y * from.row(), from.plane(), from.channels, from.width, map + y * from.width * from.channels,
         from.channels);
}

struct Group {
  int64_t first, count;
};
int64_t group_count(int64_t outputs) { return (outputs + kGroup - 1) / kGroup; }
Group group_at(int64_t outputs, int64_t index) {
  const int64_t groups = group_count(outputs), first = outputs * index / groups;
  return {first, outputs * (index + 1) / groups - first};
}

/// One convolution from planes to planes.
struct PlaneStep {
  const Conv2dShape& shape;
  const float *x, *weights, *bias;
  int64_t x_plane, x_row;  ///< x: the field of the first output pixel
  bool relu;
  const float* residual;
  float* y;
  int64_t y_plane, y_row, rows;
};
void convolve(const PlaneStep& step) {
  const Conv2dShape& s = step.shape;
  for (int64_t g = 0; g < group_count(s.out_channels); ++g) {
    const Group group = group_at(s.out_channels, g);
    PlanarTask task;
    task.x = step.x, task.x_plane = step.x_plane, task.x_row = step.x_row;
    task.channels = s.in_channels, task.kernel_rows = s.kernel_height, task.kernel_columns = s.kernel_width;
    task.weights = step.weights + group.first * s.group_k();
    task.bias = step.bias ? step.bias + group.first : nullptr;
    task.relu = step.relu;
    task.residual = step.residual ? step.residual + group.first * step.y_plane : nullptr;
    task.outputs = group.count;
    task.rows = step.rows, task.pixels = s.out_width();
    task.y = step.y + group.first * step.y_plane, task.y_plane = step.y_plane, task.y_row = step.y_row;
    kernels().convolve_planes(task);
  }
}

PlaneLayout input_layout(const Conv2dShape& s, int64_t out_rows) {
  return {s.in_channels, out_rows + s.kernel_height - 1, s.width, s.pad_width};
}
PlaneLayout output_layout(const Conv2dShape& s, int64_t out_rows) {
  return {s.out_channels, out_rows, s.out_width(), 0};
}
int64_t band_floats(const Conv2dShape& s, int64_t out_rows) {
  return aligned(input_layout(s, out_rows).floats()) + aligned(output_layout(s, out_rows).floats());
}

/// Rows of a band at most, by what stays in L2.
int64_t most_rows(const Conv2dShape& s) {
  const int64_t two = band_floats(s, 2), row = two - band_floats(s, 1);
  return std::clamp<int64_t>(2 + (kBandFloats - two) / row, 1, s.out_height());
}
/// Multiply-adds of a row of output pixels.
int64_t row_work(const Conv2dShape& s) { return s.out_width() * s.out_channels * s.group_k(); }

/// As many bands as L2 wants, or more if the busiest thread then has less to do: a row that two bands read is turned
/// twice, for about half a row's time.
int64_t bands_of_map(const Conv2dShape& s, int threads) {
  const int64_t height = s.out_height(), least = (height + most_rows(s) - 1) / most_rows(s);
  const auto time = [&](int64_t bands) {
    const int64_t units = s.images * bands, halves = 2 * ((height + bands - 1) / bands) + s.kernel_height - 1;
    return (units + threads - 1) / threads * halves * row_work(s) / 2 + (units > 1 ? kMeeting : 0);
  };
  int64_t best = least;
  // Among as many consecutive numbers as there are threads one is a multiple of the threads: with it all do the same.
  for (int64_t bands = least + 1; bands < std::min(least + threads, height + 1); ++bands)
    if (time(bands) < time(best)) best = bands;
  return best;
}

/// A map on its way through a chain, in two sets of planes: x, and the map between the two convolutions of a block.
/// Each step is taken for some rows; a convolution also reads those around them.
class ChainMap {
 public:
  static int64_t floats(const Conv2dShape& s) { return 2 * aligned(layout(s).floats()); }
  /// `planes`: floats() of them, zeros before the map is read.
  ChainMap(const Conv2dShape& s, float* planes)
      : s_(s), layout_(layout(s)), x_(planes), between_(planes + aligned(layout_.floats())) {}

  void read(const float* map, int64_t row, int64_t rows) const {
    to_planes(map + row * s_.width * s_.in_channels, rows, layout_, pixel(x_, row));
  }
  void first_convolution(const ResidualBlockWeights& block, int64_t row, int64_t rows) const {
    convolve({.shape = s_,
              .x = field(x_, row),
              .weights = block.first,
              .bias = block.first_bias,
              .x_plane = layout_.plane(),
              .x_row = layout_.row(),
              .relu = true,
              .residual = nullptr,
              .y = pixel(between_, row),
              .y_plane = layout_.plane(),
              .y_row = layout_.row(),
              .rows = rows});
  }
  void second_convolution(const ResidualBlockWeights& block, int64_t row, int64_t rows) const {
    convolve({.shape = s_,
              .x = field(between_, row),
              .weights = block.second,
              .bias = block.second_bias,
              .x_plane = layout_.plane(),
              .x_row = layout_.row(),
              .relu = false,
              .residual = pixel(x_, row),
              .y = pixel(x_, row),
              .y_plane = layout_.plane(),
              .y_row = layout_.row(),
              .rows = rows});
  }
  void write(float* map, int64_t row, int64_t rows) const {
    from_planes(pixel(x_, row), layout_, rows, map + row * s_.width * s_.in_channels);
  }

 private:
  static PlaneLayout layout(const Conv2dShape& s) {
    return {s.in_channels, s.height + 2 * s.pad_height, s.width, s.pad_width};
  }
  float* pixel(float* planes, int64_t row) const {
    return planes + layout_.origin() + (row + s_.pad_height) * layout_.row();
  }
  /// The field of a row's first pixel.
  const float* field(const float* planes, int64_t row) const {
    return planes + layout_.origin() - s_.pad_width + row * layout_.row();
  }

  const Conv2dShape& s_;
  PlaneLayout layout_;
  float *x_, *between_;
};

}  // namespace

bool is_planar(const Conv2dShape& s) {
  return s.groups == 1 && s.stride_height == 1 && s.stride_width == 1 && s.dilation_height == 1 &&
         s.dilation_width == 1 && s.pad_height < s.kernel_height && s.pad_width < s.kernel_width &&
         s.kernel_width <= kBehind / 2;
}

size_t planar_conv2d_bytes(const Conv2dShape& s) {
  return static_cast<size_t>(s.out_channels * s.group_k()) * sizeof(float);
}

void pack_planar_conv2d(const Conv2dShape& s, const void* weights, DType stored, float* out) {
  const int64_t k = s.group_k();
  std::vector<float> channel(k);
  const std::byte* from = static_cast<const std::byte*>(weights);
  for (int64_t g = 0; g < group_count(s.out_channels); ++g) {
    const Group group = group_at(s.out_channels, g);
    for (int64_t o = 0; o < group.count; ++o) {
      to_f32(from + static_cast<size_t>((group.first + o) * k) * element_size(stored), stored, channel.data(),
             static_cast<size_t>(k));
      for (int64_t i = 0; i < k; ++i) out[group.first * k + i * group.count + o] = channel[i];
    }
  }
}

void planar_conv2d(ThreadTeam& team, const Conv2dShape& s, const float* x, const float* weights,
                   const PlanarEpilogue& epilogue, float* y, std::byte* scratch) {
  const OneBranch<float> all(x, s.images, weights, epilogue.bias);
  planar_conv2d(team, s, all.maps, epilogue, y, scratch);
}

void planar_conv2d(ThreadTeam& team, const Conv2dShape& shape, const GroupedMaps<float>& maps,
                   const PlanarEpilogue& epilogue, float* y, std::byte* scratch) {
  Conv2dShape s = shape;
  s.images = maps.maps();
  if (s.images <= 0) return;
  const bool relu_of_sum = epilogue.relu && epilogue.residual && epilogue.residual_first;
  const int64_t bands = bands_of_map(s, team.size()), mine = band_floats(s, most_rows(s)),
                row = s.out_width() * s.out_channels;
  team.split(s.images * bands, 1, [&](int64_t begin_unit, int64_t end_unit, int member) {
    float* const planes = reinterpret_cast<float*>(scratch) + member * mine;
    for_each_unit(maps, bands, begin_unit, end_unit, [&](int32_t branch, int64_t slot, int64_t band) {
      if (team.cancelled()) return;
      const int64_t begin = s.out_height() * band / bands, rows = s.out_height() * (band + 1) / bands - begin;
      const PlaneLayout in = input_layout(s, rows), out = output_layout(s, rows);
      float* const sums = planes + aligned(in.floats());
      band_to_planes(maps.map(slot, s.height * s.width * s.in_channels), s.height, begin - s.pad_height, in, planes);
      convolve({.shape = s,
                .x = planes + in.origin() - s.pad_width,
                .weights = maps.weights[branch],
                .bias = maps.bias(branch),
                .x_plane = in.plane(),
                .x_row = in.row(),
                .relu = epilogue.relu && !relu_of_sum,
                .residual = nullptr,
                .y = sums,
                .y_plane = out.plane(),
                .y_row = out.row(),
                .rows = rows});
      const int64_t at = (slot * s.out_height() + begin) * row;
      from_planes(sums, out, rows, y + at);
      if (epilogue.residual) kernels().add(y + at, epilogue.residual + at, rows * row, y + at);
      if (relu_of_sum) kernels().activate(Activation::relu, y + at, rows * row, y + at);
    });
  });
}

size_t planar_conv2d_scratch_bytes(const Conv2dShape& s, int threads) {
  return static_cast<size_t>(threads) * static_cast<size_t>(band_floats(s, most_rows(s))) * sizeof(float);
}

void residual_blocks(ThreadTeam& team, const Conv2dShape& s, const float* x,
                     std::span<const ResidualBlockWeights> blocks, float* y, std::byte* scratch) {
  const OneBranch<ResidualBlockWeights> all(x, s.images, blocks.data(), nullptr);
  residual_blocks(team, s, all.maps, blocks.size(), y, scratch);
}

void residual_blocks(ThreadTeam& team, const Conv2dShape& s, const GroupedMaps<ResidualBlockWeights>& maps,
                     size_t blocks, float* y, std::byte* scratch) {
  const int64_t all = maps.maps(), shared = maps_shared_by_threads(s, all, team.size()), whole = all - shared;
  const int64_t floats = ChainMap::floats(s), image = s.height * s.width * s.in_channels;
  float* const planes = reinterpret_cast<float*>(scratch);
  team.split(whole, 1, [&](int64_t begin, int64_t end, int member) {
    for_each_unit(maps, 1, begin, end, [&](int32_t branch, int64_t slot, int64_t) {
      if (team.cancelled()) return;
      float* const mine = planes + member * floats;
      std::fill_n(mine, floats, 0.0f);
      const ChainMap map(s, mine);
      map.read(maps.map(slot, image), 0, s.height);
      for (size_t i = 0; i < blocks; ++i) {
        map.first_convolution(maps.weights[branch][i], 0, s.height);
        map.second_convolution(maps.weights[branch][i], 0, s.height);
      }
      map.write(y + slot * image, 0, s.height);
    });
  });
  if (shared == 0) return;

  // One step of the maps that are left, which all threads have taken when it returns: take(map, branch, slot, row,
  // rows).
  const auto step = [&](auto&& take) {
    if (team.cancelled()) return;
    team.split(shared * s.height, 1, [&](int64_t begin, int64_t end, int) {
      int64_t nth = begin / s.height;
      for_each_unit(maps, 1, whole + nth, whole + (end + s.height - 1) / s.height,
                    [&](int32_t branch, int64_t slot, int64_t) {
                      const int64_t row = std::max<int64_t>(begin - nth * s.height, 0),
                                    last = std::min(end - nth * s.height, s.height);
                      take(ChainMap(s, planes + nth * floats), branch, slot, row, last - row);
                      ++nth;
                    });
    });
  };
  team.split(shared * floats, kAligned,
             [&](int64_t begin, int64_t end, int) { std::fill(planes + begin, planes + end, 0.0f); });
  step([&](const ChainMap& map, int32_t, int64_t slot, int64_t row, int64_t rows) {
    map.read(maps.map(slot, image), row, rows);
  });
  for (size_t i = 0; i < blocks; ++i) {
    step([&](const ChainMap& map, int32_t branch, int64_t, int64_t row, int64_t rows) {
      map.first_convolution(maps.weights[branch][i], row, rows);
    });
    step([&](const ChainMap& map, int32_t branch, int64_t, int64_t row, int64_t rows) {
      map.second_convolution(maps.weights[branch][i], row, rows);
    });
  }
  step([&](const ChainMap& map, int32_t, int64_t slot, int64_t row, int64_t rows) {
    map.write(y + slot * image, row, rows);
  });
}

int64_t maps_shared_by_threads(const Conv2dShape& s, int64_t maps, int threads) {
  const int64_t rest = maps % threads,
                rows = (rest * s.height + threads - 1) / threads;  // rows of a thread, if they are shared
  return rest > 0 && (s.height - rows) * row_work(s) > kMeeting ? rest : 0;
}

size_t residual_blocks_scratch_bytes(const Conv2dShape& s, int threads) {
  return static_cast<size_t>(threads) * static_cast<size_t>(ChainMap::floats(s)) * sizeof(float);
}

}  // namespace stormcell::cpu
