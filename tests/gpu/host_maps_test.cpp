// Convolutions and windows of maps on the host device, in several orders against the oracle. And faults in their plans.
#include "tests/gpu/map_cases.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

struct Convolved {
  int64_t outputs = 4, size_h = 3, size_w = 3, stride = 1, padding = 1, groups = 1;
  bool bias = true, residual = false, residual_first = false;
  const char* activation = "none";
};

/// The residual is another convolution of the same map.
ValueId convolved(MixtureBuilder& b, ValueId x, const Convolved& c, const std::string& name) {
  const int64_t channels = b.width_of(x);
  std::vector<ValueId> inputs{x, b.drawn(name + ".weight", {c.outputs, c.size_h, c.size_w, channels / c.groups}, 0.3)};
  Attributes attributes{
      {"stride", c.stride}, {"padding", c.padding}, {"groups", c.groups}, {"activation", std::string(c.activation)}};
  std::string extras;
  if (c.bias) inputs.push_back(b.drawn(name + ".bias", {c.outputs}, 0.4)), extras = "bias";
  if (c.residual) {
    Convolved plain = c;
    plain.residual = false, plain.activation = "none";
    inputs.push_back(convolved(b, x, plain, name + ".residual"));
    extras += extras.empty() ? "residual" : "+residual";
    if (c.residual_first) attributes.set("residual_first", int64_t{1});
  }
  if (!extras.empty()) attributes.set("extras", extras);
  return b.value("conv2d", std::move(inputs), std::move(attributes), name);
}

struct MapSizes {
  int64_t maps, height, width, channels;
};

RandomCase convolution(const MapSizes& of, const Convolved& c, DType format = DType::f32) {
  MixtureBuilder b(31);
  b.weight_dtype = format;
  b.output("y", convolved(b, b.maps(of.maps, of.height, of.width, of.channels), c, "conv"));
  return b.take("convolution to " + std::to_string(c.outputs) + " channels");
}

RandomCase pooled(const MapSizes& of, const char* kind, int64_t size, int64_t stride, int64_t padding) {
  MixtureBuilder b(32);
  Attributes attributes{{"kind", std::string(kind)}};
  if (size > 0) attributes.set("size", size), attributes.set("stride", stride), attributes.set("padding", padding);
  b.output("y", b.value("pool", {b.maps(of.maps, of.height, of.width, of.channels)}, std::move(attributes), "pool"));
  return b.take(std::string("pool, ") + kind);
}

RandomCase shuffled(const MapSizes& of, int64_t factor) {
  MixtureBuilder b(34);
  const ValueId x = b.maps(of.maps, of.height, of.width, of.channels);
  // The map of a product is nobody else's: its memory becomes the result's. That of an input does not.
  const ValueId made = b.value("scale", {x}, {{"factor", 2.0}}, "made");
  b.output("made", b.value("pixel_shuffle", {made}, {{"factor", factor}}, "of.made"));
  b.output("given", b.value("pixel_shuffle", {x}, {{"factor", factor}}, "of.given"));
  return b.take("pixel shuffle");
}

RandomCase resized(const MapSizes& of, const char* mode, int64_t height, int64_t width) {
  MixtureBuilder b(35);
  b.output("y", b.value("resize", {b.maps(of.maps, of.height, of.width, of.channels)},
                        {{"height", height}, {"width", width}, {"mode", std::string(mode)}}, "resized"));
  return b.take(std::string("resize, ") + mode);
}

struct Patches {
  int64_t height, width, stride;
  const char* border = "shift";
};

/// Pictures to patches, flat ones too; where no pixel is cut, back to pictures.
RandomCase patches_of(const MapSizes& of, const Patches& cut) {
  MixtureBuilder b(36);
  const ValueId x = b.maps(of.maps, of.height, of.width, of.channels);
  const bool shifts = std::string(cut.border) == "shift";
  const auto steps = [&](int64_t room) { return (shifts ? room + cut.stride - 1 : room) / cut.stride + 1; };
  const SpaceId cells =
      b.dense_space("patches", b.space_of(x), Dim(steps(of.height - cut.height) * steps(of.width - cut.width)));
  const auto unfolded = [&](int64_t flat, const char* name) {
    return b.value("unfold", {x},
                   {{"space", int64_t{cells}},
                    {"height", cut.height},
                    {"width", cut.width},
                    {"stride", cut.stride},
                    {"border", std::string(cut.border)},
                    {"flat", flat}},
                   name);
  };
  b.output("flat", unfolded(1, "flat"));
  const ValueId patches = unfolded(0, "patches.of");
  b.output("patches", patches);
  if (shifts)
    b.output("picture", b.value("fold", {b.value("activation", {patches}, {{"kind", std::string("relu")}}, "active")},
                                {{"height", of.height}, {"width", of.width}, {"stride", cut.stride}}, "picture"));
  return b.take(std::string("patches, ") + cut.border);
}

/// Cells of a grid, four to one.
RandomCase merged_cells(int64_t parents, int64_t height, int64_t width, const char* order) {
  MixtureBuilder b(38);
  const SpaceId pictures = b.root_space("pictures", b.bound_symbol("N", parents)),
                cells = b.dense_space("cells", pictures, Dim(height * width)),
                squares = b.dense_space("squares", pictures, Dim(height * width / 4));
  b.output("y",
           b.value("merge_cells", {b.floats("x", cells, {3})},
                   {{"space", int64_t{squares}}, {"height", height}, {"width", width}, {"order", std::string(order)}},
                   "merged"));
  return b.take(std::string("merged cells, ") + order);
}

/// Maps side by side, channel by channel, and each channel about a mean of its own.
RandomCase channels_of(const MapSizes& of) {
  MixtureBuilder b(37);
  const ValueId x = b.maps(of.maps, of.height, of.width, of.channels);
  const ValueId y = b.conv(x, 5, 3, 1, "more"), joined = b.value("concat", {x, y, x}, {}, "joined");
  b.output("joined", joined);
  const int64_t channels = b.width_of(joined);
  b.output("standard",
           b.value("standardize", {joined, b.drawn("mean", {channels}, 0.5), b.drawn("deviation", {channels}, 0.1, 1)},
                   {}, "standard"));
  return b.take("channels");
}

/// Maps to three branches by label, each with a convolution of its own.
RandomCase branches_of_maps(const std::vector<int32_t>& labels) {
  MixtureBuilder b(33);
  const ValueId x = b.maps(std::ssize(labels), 5, 3, 4);
  const ValueId decision = b.labelled(b.space_of(x), 3, "moe");
  std::vector<ValueId> parts = b.scatter(x, decision, {0, 1, 2});
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = b.conv(parts[i], 4, i % 2 ? 1 : 3, 1, "expert." + std::to_string(i), "relu");
  b.output("y", b.gather(std::move(parts), b.space_of(x), "sum", kNone, "joined"));
  RandomCase c = b.take("branches of maps");
  c.inputs["moe.labels"] = labels;
  return c;
}

}  // namespace

class HostMapsTest : public QObject {
  Q_OBJECT
 private slots:
  void convolutions_give_the_oracle_s_answers() {
    const MapSizes odd{2, 7, 5, 3};
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t padding : {0, 1, 2})
        agrees(convolution(odd, {.stride = stride, .padding = padding, .activation = "silu"}));
    agrees(convolution(odd, {.size_h = 1, .size_w = 5, .padding = 0, .bias = false}));
    agrees(convolution(odd, {.residual = true, .activation = "relu"}));
    agrees(convolution(odd, {.bias = false, .residual = true, .residual_first = true, .activation = "relu"}));
    agrees(convolution({1, 1, 1, 1}, {.outputs = 1}));
    // More columns and more rows than a tile has, and a depth that is no multiple of its own.
    agrees(convolution({3, 9, 11, 7}, {.outputs = 70}));
    agrees(convolution(odd, {.outputs = 6}, DType::bf16));
  }

  void convolutions_in_groups_give_the_oracle_s_answers() {
    for (const DType format : {DType::f32, DType::bf16}) {
      agrees(convolution({2, 7, 5, 6}, {.outputs = 6, .stride = 2, .groups = 6, .activation = "relu"}, format));
      agrees(convolution({2, 7, 5, 6}, {.outputs = 9, .groups = 3, .residual = true}, format));
    }
    agrees(convolution({1, 1, 1, 2}, {.outputs = 2, .groups = 2}));
  }

  void windows_give_the_oracle_s_answers() {
    for (const char* kind : {"average", "max"})
      for (const int64_t padding : {0, 1}) {
        agrees(pooled({2, 7, 5, 3}, kind, 3, 2, padding));
        agrees(pooled({2, 4, 6, 5}, kind, 2, 1, padding));
      }
    agrees(pooled({3, 7, 5, 3}, "global_average", 0, 0, 0));
    agrees(pooled({1, 1, 1, 1}, "max", 1, 1, 0));
  }

  void pixels_in_other_places_give_the_oracle_s_answers() {
    agrees(shuffled({2, 3, 5, 12}, 2));
    agrees(shuffled({1, 1, 1, 9}, 3));
    for (const char* mode : {"nearest", "bilinear"}) {
      agrees(resized({2, 7, 5, 3}, mode, 3, 11));
      agrees(resized({2, 4, 6, 3}, mode, 9, 4));
      agrees(resized({1, 1, 1, 1}, mode, 2, 3));
    }
    for (const Patches& cut : {Patches{3, 2, 2}, Patches{3, 3, 1}, Patches{7, 5, 3}, Patches{1, 1, 1}})
      agrees(patches_of({2, 7, 5, 3}, cut));
    agrees(patches_of({2, 7, 5, 3}, {2, 2, 2, "cut"}));
    for (const char* order : {"columns", "rows"}) {
      agrees(merged_cells(3, 4, 6, order));
      agrees(merged_cells(1, 2, 2, order));
    }
  }

  void channels_give_the_oracle_s_answers() {
    for (const MapSizes& of : {MapSizes{2, 7, 5, 3}, MapSizes{1, 1, 1, 1}, MapSizes{2, 3, 3, 4}})
      agrees(channels_of(of));
  }

  void branches_of_maps_give_the_oracle_s_answers() {
    for (const auto& labels : std::vector<std::vector<int32_t>>{{0, 1, 2, 1}, {2, 2}, {1}})
      agrees(branches_of_maps(labels));
  }

  void a_fault_in_maps_is_found() {
    const RandomCase dense = convolution({2, 7, 5, 3}, {.residual = true, .activation = "relu"});
    const RandomCase grouped = convolution({2, 7, 5, 6}, {.outputs = 9, .groups = 3});
    const RandomCase largest = pooled({2, 7, 5, 3}, "max", 3, 2, 1);
    const RandomCase mean = pooled({2, 7, 5, 3}, "average", 3, 2, 1);
    const RandomCase shuffle = shuffled({2, 3, 5, 12}, 2), between = resized({2, 7, 5, 3}, "bilinear", 3, 11);
    const RandomCase patches = patches_of({2, 7, 5, 3}, {3, 2, 2});
    const auto in_fold = [](gpu::PixelArgs& a) {
      if (a.map == gpu::PixelMap::fold) a.grid_columns = 1;
    };
    const auto in_place = [](gpu::PixelArgs& a) {
      // The fault: the result's own memory stands in for the copy.
      if (a.ref[gpu::PixelArgs::kX].memory == gpu::Memory::control)
        a.ref[gpu::PixelArgs::kX] = a.ref[gpu::PixelArgs::kTo];
    };
    const RandomCase squares = merged_cells(3, 4, 6, "columns");
    using gpu::ConvArgs, gpu::PixelArgs, gpu::PoolArgs;
    using gpu::ConvKernel, gpu::PixelKernel, gpu::PoolKernel;
    const ArgumentFault faults[] = {
        argument_fault<ConvKernel>("no padding", dense, [](ConvArgs& a) { a.padding = 0; }),
        argument_fault<ConvKernel>("height and width", dense, [](ConvArgs& a) { std::swap(a.height, a.width); }),
        argument_fault<ConvKernel>("the residual first", dense, [](ConvArgs& a) { a.residual_first = true; }),
        argument_fault<gpu::GroupedConvKernel>("one group", grouped, [](ConvArgs& a) { a.groups = 1; }),
        argument_fault<PoolKernel>("the mean", largest, [](PoolArgs& a) { a.largest = false; }),
        argument_fault<PixelKernel>("a map read where it is written", shuffle, in_place),
        argument_fault<PixelKernel>("another factor", shuffle, [](PixelArgs& a) { a.factor = 1; }),
        argument_fault<PixelKernel>("the nearest pixel", between, [](PixelArgs& a) { a.map = gpu::PixelMap::nearest; }),
        argument_fault<PixelKernel>("patches beside each other", patches, [](PixelArgs& a) { a.stride = 3; }),
        argument_fault<PixelKernel>("squares row by row", squares, [](PixelArgs& a) { a.by_columns = false; }),
        argument_fault<PixelKernel>("patches of a column", patches, in_fold),
        argument_fault<PoolKernel>("another window", mean, [](PoolArgs& a) { a.size_h = 2; }),
    };
    for (const ArgumentFault& fault : faults)
      QVERIFY2(missed(fault).empty(), (std::string(fault.name) + ": " + missed(fault)).c_str());
  }

 private:
  static void agrees(const RandomCase& c) {
    HostDevice device;
    device.order_seed = 7;
    const std::string wrong = difference_in_orders(device, c, 2);
    QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
  }
};

STORMCELL_TEST(HostMapsTest)

}  // namespace stormcell::testing
#include "host_maps_test.moc"
