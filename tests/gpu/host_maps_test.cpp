// Convolutions and windows of maps on the host device, in several orders against the oracle. And faults in their plans.
#include <cstring>

#include "gpu/plan/kernel_list.h"
#include "tests/gpu/host_run.h"
#include "tests/gpu/planted_fault.h"
#include "tests/testing/mixture_case.h"
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

std::string maps_difference(HostDevice& device, const RandomCase& c, int orders) {
  HostRun run(device, c);
  for (int i = 0; i < orders; ++i)
    if (std::string wrong = difference(c, run.program(), run.run()); !wrong.empty()) return wrong;
  return {};
}

template <class Kernel, class Change>
std::function<void(gpu::Plan&)> maps_fault(const Change& change) {
  return [change](gpu::Plan& plan) {
    for (gpu::PlanNode& node : plan.nodes) {
      if (node.kernel != gpu::PlanKernels::place<Kernel>()) continue;
      typename Kernel::Args args;
      std::memcpy(&args, node.args.data(), sizeof args);
      change(args);
      std::memcpy(node.args.data(), &args, sizeof args);
    }
  };
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

  void branches_of_maps_give_the_oracle_s_answers() {
    for (const auto& labels : std::vector<std::vector<int32_t>>{{0, 1, 2, 1}, {2, 2}, {1}})
      agrees(branches_of_maps(labels));
  }

  void a_fault_in_maps_is_found() {
    const RandomCase dense = convolution({2, 7, 5, 3}, {.residual = true, .activation = "relu"});
    const RandomCase grouped = convolution({2, 7, 5, 6}, {.outputs = 9, .groups = 3});
    const RandomCase largest = pooled({2, 7, 5, 3}, "max", 3, 2, 1);
    const RandomCase mean = pooled({2, 7, 5, 3}, "average", 3, 2, 1);
    struct Fault {
      const char* name;
      std::function<void(gpu::Plan&)> plant;
      const RandomCase& c;
    };
    const Fault faults[] = {
        {"no padding", maps_fault<gpu::ConvKernel>([](gpu::ConvArgs& a) { a.padding = 0; }), dense},
        {"height and width", maps_fault<gpu::ConvKernel>([](gpu::ConvArgs& a) { std::swap(a.height, a.width); }),
         dense},
        {"the residual first", maps_fault<gpu::ConvKernel>([](gpu::ConvArgs& a) { a.residual_first = true; }), dense},
        {"one group", maps_fault<gpu::GroupedConvKernel>([](gpu::ConvArgs& a) { a.groups = 1; }), grouped},
        {"the mean", maps_fault<gpu::PoolKernel>([](gpu::PoolArgs& a) { a.largest = false; }), largest},
        {"another window", maps_fault<gpu::PoolKernel>([](gpu::PoolArgs& a) { a.size_h = 2; }), mean},
    };
    for (const Fault& fault : faults)
      QVERIFY2(is_found_in_a_process([&] {
                 HostDevice device;
                 device.tamper = fault.plant;
                 return !maps_difference(device, fault.c, 1).empty();
               }),
               fault.name);
  }

 private:
  static void agrees(const RandomCase& c) {
    HostDevice device;
    device.order_seed = 7;
    const std::string wrong = maps_difference(device, c, 2);
    QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
  }
};

STORMCELL_TEST(HostMapsTest)

}  // namespace stormcell::testing
#include "host_maps_test.moc"
