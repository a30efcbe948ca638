// Grouped products, one regime a family, against a reference in double.
#include <cstdio>

#include "gpu/launch/device.h"
#include "tests/gpu/device_check/families.h"
#include "tests/gpu/device_check/product_case.h"

namespace stormcell::device_check {
namespace {

struct Shape {
  int32_t n, k;
  std::vector<int32_t> rows;  // of each expert
};

/// How a product is stored: as layers do, whose epilogues have code of their own (with_epilogue), then by that of all
/// others.
struct Stored {
  bool gated, gathered;
  gpu::Activation activation;
  bool bias;
};
constexpr Stored kStored[] = {{false, false, gpu::Activation::relu, true}, {false, false, gpu::Activation::relu, false},
                              {false, true, gpu::Activation::none, true},  {false, true, gpu::Activation::none, false},
                              {false, false, gpu::Activation::none, true}, {false, false, gpu::Activation::none, false},
                              {true, false, gpu::Activation::silu, true},  {true, false, gpu::Activation::silu, false},
                              {false, true, gpu::Activation::relu, true},  {true, true, gpu::Activation::relu, true}};
/// In whole numbers where the activation keeps them whole.
ProductCase stored_case(const Shape& shape, const Stored& stored, bool may_be_many) {
  const bool whole = stored.activation != gpu::Activation::silu;
  return {shape.n,         shape.k,           shape.rows, gpu::Format::bf16, stored.gated,
          stored.gathered, stored.activation, whole,      may_be_many,       stored.bias};
}

/// `kernel`: what it must have been computed by; empty: by several.
bool check_product(Report& report, const ProductCase& product, ProductOnCard& on_card, const Queue& queue,
                   const std::string& kernel) {
  on_card.make_map();
  on_card.run();
  queue.wait();
  if (const gpu::Status rows = on_card.check_rows(); !rows.ok()) {
    report.failed(product.name(), rows.text());
    return false;
  }
  const int64_t slots = on_card.slots();
  const Difference difference = product_difference(on_card.call(), slots, on_card.x_rows(), slots,
                                                   slots * product.n * int64_t{product.k} > 40000000 ? 96 : product.n);
  const int64_t past = on_card.written_past();
  char note[160];
  if (product.whole)
    std::snprintf(note, sizeof note, "%lld of %lld numbers are not the reference's; %s",
                  static_cast<long long>(difference.unlike), static_cast<long long>(difference.numbers),
                  on_card.kernels().c_str());
  else
    std::snprintf(note, sizeof note, "relative difference %.2e over %lld numbers; %s", difference.relative,
                  static_cast<long long>(difference.numbers), on_card.kernels().c_str());
  if (past > 0) {
    report.check(false, product.name(), std::to_string(past) + " bytes behind y were written; " + on_card.kernels());
    return false;
  }
  const bool is_meant = kernel.empty() || on_card.kernels() == kernel;
  const bool right =
      is_meant && (product.whole ? difference.unlike == 0 : difference.relative <= tolerance(product.format));
  report.check(right, product.name(), note);
  return right;
}
void check_product(Report& report, const ProductCase& product, const gpu::RegimeLimits& limits, const Queue& queue,
                   const char* kernel) {
  report.begins(product.name());
  ProductOnCard on_card(product, limits, queue);
  check_product(report, product, on_card, queue, kernel);
}

/// Every combination on small shapes, then real ones; both once more as layers store them and with whole numbers, in
/// which one missing step of one slot shows.
void check_regime(const Task& task, Report& report, const char* kernel, const gpu::RegimeLimits& limits,
                  const std::vector<Shape>& small, const std::vector<Shape>& real, bool f32_too,
                  bool may_be_many = false) {
  const gpu::Device* device = nullptr;
  must(gpu::current_device(device));
  if (limits.tensor_cores && !device->has_wgmma())
    return report.absent("all", std::string(device->name) + " has no wgmma");
  const Queue queue;
  int turn = 0;
  for (const gpu::Format format : {gpu::Format::bf16, gpu::Format::f32}) {
    if (format == gpu::Format::f32 && !f32_too) continue;
    for (const Shape& shape : small)
      for (const bool gated : {false, true})
        for (const bool gathered : {false, true})
          check_product(report,
                        {shape.n, shape.k, shape.rows, format, gated, gathered,
                         static_cast<gpu::Activation>(turn++ % 5), false, may_be_many},
                        limits, queue, kernel);
  }
  const auto check_stored = [&](const Shape& shape) {
    for (const Stored& stored : kStored)
      check_product(report, stored_case(shape, stored, may_be_many), limits, queue, kernel);
  };
  for (const Shape& shape : small) check_stored(shape);
  if (task.small) return;
  for (const Shape& shape : real) {
    for (const bool gated : {false, true})
      check_product(
          report,
          {shape.n, shape.k, shape.rows, gpu::Format::bf16, gated, true, gpu::Activation::silu, false, may_be_many},
          limits, queue, kernel);
    check_stored(shape);
  }
}

}  // namespace

void check_plain(const Task& task, Report& report) {
  check_regime(task, report, "plain", {0, 0, false}, {{5, 3, {1, 0, 2}}, {70, 33, {65, 0, 3, 130}}},
               {{768, 512, {100, 0, 300, 7}}}, true);
}
void check_gemv(const Task& task, Report& report) {
  check_regime(task, report, "gemv", {8, 0, false}, {{5, 8, {1, 0, 2}}, {34, 264, {1, 2, 3, 4, 5, 0, 8}}},
               {{3072, 768, {1, 1, 1, 1, 0, 0, 1, 1}}, {768, 3072, {2, 4, 8, 1}}, {2048, 768, {3, 7}}}, true);
}
// The first faults of a tensor-core kernel show in the first of these: one tile, one stage; then several stages,
// tiles, experts. By the kernel of few rows alone, then by that of both kinds of tiles; the latter not under
// compute-sanitizer, which takes registers that setmaxnreg has given away (`large` and `mixed` have it there too).
void check_swapped(const Task& task, Report& report) {
  for (const bool may_be_many : {false, true}) {
    if (task.small && may_be_many) break;
    std::vector<Shape> small = {{64, 64, {8}}, {64, 64, {3}},      {64, 1024, {16}}, {200, 136, {33, 0, 64, 1, 9}},
                                {8, 8, {5}},   {72, 8, {3, 0, 61}}};
    if (may_be_many) small.push_back({64, 64, {0, 0}});  // as a decision may be that drops or chooses nothing
    check_regime(
        task, report, may_be_many ? "joined" : "swapped", {0, 64, true}, small,
        {{3072, 768, {64, 5, 0, 17, 33, 1, 8, 16}}, {768, 3072, {9, 64}}, {768, 2048, std::vector<int32_t>(128, 6)}},
        false, may_be_many);
  }
}
void check_large(const Task& task, Report& report) {
  check_regime(task, report, "joined", {0, 0, true},
               {{256, 64, {128}},
                {256, 64, {256}},
                {256, 64, {3}},
                {256, 1024, {65}},
                {200, 136, {129, 0, 64, 300}},
                {8, 8, {5}},
                {72, 8, {3, 0, 70}}},
               {{3072, 768, {512, 65, 0, 700}}, {768, 3072, {129, 2048}}, {2048, 768, std::vector<int32_t>(64, 130)}},
               false);
}

// All regimes in one map and one product; then each of two without tiles in its place.
void check_mixed(const Task& task, Report& report) {
  check_regime(task, report, "", {4, 64, true},
               {{200, 136, {1, 65, 0, 5, 64, 3, 300}},
                {200, 136, {9, 0, 64, 33, 10}},
                {200, 136, {65, 300}},
                {72, 8, {3, 0, 70}}},
               {{768, 3072, {2, 900, 40, 0, 4, 128, 9}}}, false);
}

// The same product over and over: a fence that is missing shows as a number that differs now and then, and nowhere
// else.
void check_repeats(const Task&, Report& report) {
  const gpu::Device* device = nullptr;
  must(gpu::current_device(device));
  if (!device->has_wgmma()) return report.absent("all", std::string(device->name) + " has no wgmma");
  constexpr int kRuns = 10000, kAtOnce = 500;
  const Queue queue;
  struct Repeated {
    const char *regime, *kernel;
    gpu::RegimeLimits limits;
    Shape shape;
  };
  for (const Repeated& repeated :
       {Repeated{"swapped", "swapped", {0, 64, true}, {3072, 768, {64, 5, 0, 17, 33, 1, 8, 16}}},
        Repeated{"large", "joined", {0, 0, true}, {2048, 768, {512, 65, 0, 300}}},
        Repeated{"both", "joined", {0, 64, true}, {2048, 768, {512, 5, 0, 300, 64, 9}}}})
    for (const Stored& stored : kStored) {
      ProductCase product = stored_case(repeated.shape, stored, false);
      product.whole = false;
      const std::string name = std::string(repeated.regime) + ", " + std::to_string(kRuns) + " runs, " + product.name();
      report.begins(name);
      ProductOnCard on_card(product, repeated.limits, queue);
      if (!check_product(report, product, on_card, queue, repeated.kernel)) continue;
      report.begins(name);
      const Memory once(on_card.y_bytes()), differ = to_card(std::vector<unsigned long long>{0});
      must(cudaMemcpy(once.as<void>(), on_card.call().y, static_cast<size_t>(on_card.y_bytes()),
                      cudaMemcpyDeviceToDevice),
           "copy");
      unsigned long long numbers = 0;
      int run = 0;
      while (run < kRuns && numbers == 0) {
        for (const int until = run + kAtOnce; run < until; ++run) {
          must(cudaMemsetAsync(on_card.call().y, 0xff, static_cast<size_t>(on_card.y_bytes()), queue.stream()),
               "poison");
          on_card.run();
          count_different(on_card.call().y, once.as<void>(), on_card.y_bytes(), differ.as<unsigned long long>(),
                          queue.stream());
        }
        queue.wait();
        numbers = from_card(differ.as<unsigned long long>(), 1)[0];
      }
      const int64_t past = on_card.written_past();
      if (past > 0) report.failed(name, std::to_string(past) + " bytes behind y were written");
      report.check(numbers == 0, name,
                   numbers == 0 ? ""
                                : std::to_string(numbers) + " words differ from the first run's, up to run " +
                                      std::to_string(run));
    }
}

}  // namespace stormcell::device_check
