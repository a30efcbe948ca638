#include "gpu/device/probe.h"

#include <algorithm>
#include <chrono>

#include "gpu/device/card_kernels.h"
#include "gpu/device/probe_kernels.h"

namespace stormcell::card {
namespace {

constexpr int kRuns = 2;  // at least, of which the fastest counts
constexpr int64_t kBlocksOfMultiprocessor = 8;
constexpr int64_t kFewTurns = 64, kMostTurns = 1 << 16;

/// Seconds of the fastest launch; at least kRuns launches, and more until `seconds` are over.
template <class Args>
double fastest(StreamParts& parts, int32_t kernel, int64_t blocks, const Args& args, double seconds,
               const CancellationToken& cancel) {
  using Clock = std::chrono::steady_clock;
  const Card& card = parts.card;
  const CudaStream stream(parts);
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  double best = 0;
  const Clock::time_point first = Clock::now();
  for (int run = 0; run < kRuns || since(first) < seconds; ++run) {
    if (cancel.cancelled()) break;
    const Clock::time_point begin = Clock::now();
    card.must(card.calls().launch(card.index(), kernel, blocks, &args, stream.handle()), "cudaLaunchKernelExC",
              "of a probe, " + std::to_string(blocks) + " blocks");
    card.must(card.calls().synchronize(card.index(), stream.handle()), "cudaStreamSynchronize", "after a probe");
    const double took = std::max(since(begin), 1e-9);
    best = run == 0 ? took : std::min(best, took);
  }
  return best;
}

double per_second(double amount, double seconds) { return seconds > 0 ? amount / seconds / 1e9 : 0; }

}  // namespace

DeviceProbe probe_card(Device& device, StreamParts& parts, const ProbeLimits& limits, const CancellationToken& cancel) {
  const int64_t blocks = kBlocksOfMultiprocessor * parts.card.facts().multiprocessors;
  const auto sink = device.allocate(sizeof(float), "probe");
  FmaProbeArgs multiplied;
  multiplied.sink = reinterpret_cast<float*>(sink->address().value);
  multiplied.factor = 0.5f;
  // The fewest turns show how long one takes; then as many as fill a tenth of the time.
  multiplied.turns = kFewTurns;
  const double few = fastest(parts, kPlaceOf<FmaProbe>, blocks, multiplied, 0, cancel);
  if (few > 0)
    multiplied.turns = std::clamp<int64_t>(
        static_cast<int64_t>(static_cast<double>(kFewTurns) * limits.seconds / 10 / few), kFewTurns, kMostTurns);
  const double flops = 2.0 * FmaProbe::kSums * FmaProbe::kThreads * static_cast<double>(blocks * multiplied.turns);
  DeviceProbe probe;
  probe.f32_gflops = per_second(flops, fastest(parts, kPlaceOf<FmaProbe>, blocks, multiplied, limits.seconds, cancel));
  probe.bf16_gflops = probe.f32_gflops;

  const auto memory = device.allocate(std::max<int64_t>(limits.bytes, sizeof(gpu::Sixteen)), "probe");
  ReadProbeArgs read;
  read.from = reinterpret_cast<const gpu::Sixteen*>(memory->address().value);
  read.count = memory->bytes() / static_cast<int64_t>(sizeof(gpu::Sixteen));
  read.sink = multiplied.sink;
  probe.read_gbs = per_second(static_cast<double>(read.count) * sizeof(gpu::Sixteen),
                              fastest(parts, kPlaceOf<ReadProbe>, blocks, read, limits.seconds, cancel));
  probe.kernels = parts.card.calls().architectures;
  probe.placement = "one GPU";
  return probe;
}

}  // namespace stormcell::card
