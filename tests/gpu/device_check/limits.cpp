// The card's limits, probed in the same run as everything that is held against them.
#include <algorithm>

#include "gpu/launch/device.h"
#include "tests/gpu/device_check/cublas.h"
#include "tests/gpu/device_check/families.h"

namespace stormcell::device_check {

void check_limits(const Task&, Report& report) {
  const gpu::Device* device = nullptr;
  must(gpu::current_device(device));
  report.passed("card", card_text());

  const Queue queue;
  constexpr int64_t kBytes = int64_t{2} << 30;
  const Memory a(kBytes), b(kBytes), sink(256);
  fill_bf16(a.as<void>(), kBytes / 2, 1, 1, queue.stream());
  report.begins("copy bandwidth");
  const double by_driver = time_calls(
      queue, 4,
      [&](int) {
        must(cudaMemcpyAsync(b.as<void>(), a.as<void>(), kBytes, cudaMemcpyDeviceToDevice, queue.stream()),
             "cudaMemcpyAsync");
      },
      0.2);
  const double by_kernel = time_calls(
      queue, 4, [&](int) { copy_all(b.as<void>(), a.as<void>(), kBytes, device->multiprocessors, queue.stream()); },
      0.2);
  // On an H200 the driver's way takes longer than our own combine.
  report.measured(
      "copy bandwidth", 2 * static_cast<double>(kBytes) / std::min(by_driver, by_kernel) / 1e9, "GB/s", 0,
      std::string("bytes read and written, 2 GiB by ") + (by_driver < by_kernel ? "cudaMemcpyAsync" : "a kernel"));
  report.begins("read bandwidth");
  const double read = time_calls(
      queue, 4, [&](int) { read_all(a.as<void>(), kBytes, device->multiprocessors, sink.as<float>(), queue.stream()); },
      0.2);
  report.measured("read bandwidth", static_cast<double>(kBytes) / read / 1e9, "GB/s", 0, "a kernel that reads 2 GiB");

  report.begins("bf16 rate");
  std::string why;
  const Cublas cublas(queue, why);
  if (!cublas.found()) return report.absent("bf16 rate", why);
  constexpr int kSide = 8192;
  const Memory x(int64_t{kSide} * kSide * 2), w(int64_t{kSide} * kSide * 2), y(int64_t{kSide} * kSide * 2);
  fill_bf16(x.as<void>(), int64_t{kSide} * kSide, 1, 2, queue.stream());
  fill_bf16(w.as<void>(), int64_t{kSide} * kSide, 1, 3, queue.stream());
  const double product = time_calls_plainly(
      queue, 4, [&](int) { cublas.product(kSide, kSide, kSide, x.as<void>(), w.as<void>(), y.as<void>()); }, 0.5);
  report.measured("bf16 rate", 2.0 * kSide * kSide * kSide / product / 1e12, "TFLOP/s", 0,
                  "cublasGemmEx of " + cublas.name() + ", 8192 cubed, random numbers");
}

}  // namespace stormcell::device_check
