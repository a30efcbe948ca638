// A session of a mixture of experts whose sizes are told, so that its experts can be placed.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/profile/recorder.h"
#include "core/session/session_writer.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/counts.h"

namespace stormcell::testing {

inline constexpr int32_t kExperts = 16, kLayers = 3, kCells = 24;

/// Each item has a group of experts that go on together, and some that are chosen far more often. Its sizes are told,
/// unless `dataset` says otherwise.
inline std::string make_mixture_session(const std::string& path,
                                        const char* dataset = R"({"hidden":1024,"ffn":2048})") {
  RunLayout layout;
  layout.spaces = {"token"};
  for (int32_t l = 0; l < kLayers; ++l)
    layout.routers.push_back({"model.layers." + std::to_string(l) + ".mlp", kExperts, 2, "top-k", 0, "model", 0, l});
  layout.edges = {{0, 1, {}}, {1, 2, {}}};
  SessionWriter writer(path, some_model());
  RunStart start = some_run("mixture", layout);
  start.dataset = dataset;
  auto run = writer.begin_run(start);
  Recorder recorder({run.get()});
  testing::Drawn<std::mt19937> random(4);
  for (int64_t number = 0; number < 20; ++number) {
    BatchRecord& batch = recorder.begin_batch();
    batch.number = number;
    batch.add_space(0, {number, 1, kCells, 0, Phase::forward, 0});
    for (int32_t r = 0; r < kLayers; ++r) {
      std::vector<int32_t> choice;
      for (int32_t c = 0; c < kCells; ++c) {
        const auto first = static_cast<int32_t>(std::min(random() % 16, random() % 16));
        choice.push_back(first), choice.push_back((first + 4) % kExperts);
      }
      const std::vector<float> weight(choice.size(), 0.5F);
      batch.add_decision({.router = r, .choice = choice, .weight = weight});
    }
    batch.add_sequence("");
    recorder.submit();
  }
  recorder.finish();
  run->finish(RunStatus::finished, "{}");
  run.reset();
  writer.close();
  return path;
}

}  // namespace stormcell::testing
