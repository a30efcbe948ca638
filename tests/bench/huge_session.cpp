#include "tests/bench/huge_session.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/profile/recorder.h"
#include "core/session/session_writer.h"

namespace stormcell::bench {
namespace {

/// splitmix64: the same session on every machine.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
};

RunLayout layout_of(const HugeSession& size) {
  static const char* const kOps[] = {"norm",  "linear",  "attention",       "linear", "add",
                                     "route", "scatter", "grouped_product", "gather"};
  RunLayout layout;
  layout.spaces = {"tokens"};
  for (int32_t r = 0; r < size.routers; ++r)
    layout.routers.push_back(
        {"layers." + std::to_string(r) + ".mlp.gate", size.branches, 1, "top-k", 0, "decoder", -1, -1, r});
  const int32_t per_router = std::max(1, size.events / size.routers);
  for (int32_t e = 0; e < size.events; ++e) {
    const int32_t r = std::min(e / per_router, size.routers - 1);
    const char* op = kOps[e % static_cast<int32_t>(std::size(kOps))];
    const bool routed = std::string_view(op) == "route" || std::string_view(op) == "scatter" ||
                        std::string_view(op) == "grouped_product";
    layout.steps.push_back({"layers." + std::to_string(r) + "." + op, op, routed ? r : -1, -1, 1e6, 1e5});
  }
  return layout;
}

}  // namespace

void write_huge_session(const std::string& file, const HugeSession& size) {
  RunStart start;
  start.kind = "profile";
  start.name = "huge";
  start.layout = layout_of(size);
  // 4096 draws of Zipf's law, made once: a place in this table is a draw.
  std::vector<int32_t> zipf;
  double sum = 0, at = 0;
  for (int32_t b = 1; b <= size.branches; ++b) sum += 1.0 / b;
  for (int32_t b = 1; b <= size.branches; ++b) {
    at += 1.0 / b / sum;
    while (static_cast<double>(zipf.size()) < at * 4096) zipf.push_back(b - 1);
  }
  zipf.resize(4096, size.branches - 1);

  SessionWriter writer(file, {"8f6fa2c1d0e94b37", "huge", "made up", "{}"});
  auto run = writer.begin_run(start);
  {
    Recorder recorder({run.get()});
    Random random{1};
    std::vector<int32_t> choice(static_cast<size_t>(size.cells));
    std::vector<float> weight(static_cast<size_t>(size.cells));
    uint64_t time = 1'000'000;
    for (int64_t b = 0; b < size.batches; ++b) {
      BatchRecord& batch = recorder.begin_batch();
      batch.number = b;
      batch.add_space(0, {b, 1, size.cells, 0, Phase::forward});
      for (int32_t r = 0; r < size.routers; ++r) {
        const auto drift = static_cast<int32_t>(b * 4 / size.batches) * 37 + r * 101;
        for (size_t c = 0; c < choice.size(); ++c) {
          const uint64_t draw = random.next();
          choice[c] = (zipf[draw & 4095] * 53 + drift) % size.branches;
          weight[c] = static_cast<float>((draw >> 40) & 0xFFFF) / 65536;
        }
        DecisionRecord d;
        d.router = r;
        d.choice = choice;
        d.weight = weight;
        batch.add_decision(d);
      }
      const uint64_t begin = time;
      for (int32_t e = 0; e < size.events; ++e) {
        const uint64_t length = 2'000 + random.next() % 20'000;
        batch.events.push_back({time, time + length, static_cast<uint32_t>(e), static_cast<uint16_t>(e % 2)});
        time += length / 2 + 200;
      }
      batch.latency_ms = static_cast<double>(time - begin) * 1e-6;
      recorder.submit();
    }
    recorder.finish();
  }
  run->finish(RunStatus::finished);
  run.reset();
  writer.close();
}

}  // namespace stormcell::bench
