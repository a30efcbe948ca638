// Sessions of the same tokens whose choices are planted cell by cell.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "core/profile/recorder.h"
#include "core/session/session_writer.h"
#include "tests/core/session/session_fixture.h"
#include "tests/views/cells_fixture.h"

namespace stormcell::testing {

struct PlantedChoice {
  int32_t router = 0, sequence = 0, position = 0;
  std::array<int32_t, 2> branches{};
};
struct PlantedRun {
  std::vector<PlantedChoice> planted;
  bool margins = false;
  int32_t branches = 8;
  int64_t first_sequence = 0;
  bool inputs = true;  ///< tokens and their texts are recorded
  bool scores = false;
};

/// A router's score of a branch that a cell chose as its `rank`-th, or did not choose.
inline float planted_score(int32_t rank) { return rank < 0 ? -1.F : 2.F - 0.5F * static_cast<float>(rank); }

inline constexpr int32_t kPlantedRouters = 3, kPlantedSequences = 4, kPlantedPositions = 6;

/// Both choices of a cell that nothing is planted in.
inline std::array<int32_t, 2> unplanted_choice(int32_t router, int32_t position) {
  return {(position + router) % 4, (position + router) % 4 + 4};
}
inline int32_t planted_token(int32_t sequence, int32_t position) {
  return 2 + (sequence * kPlantedPositions + position) % static_cast<int32_t>(kPieces.size() - 2);
}

/// One run for each element, in its order.
inline std::string make_planted_session(const std::string& path, const std::vector<PlantedRun>& runs) {
  SessionWriter writer(path, some_model());
  for (const PlantedRun& of : runs) {
    RunLayout layout;
    layout.spaces = {"token"};
    for (int32_t r = 0; r < kPlantedRouters; ++r)
      layout.routers.push_back(
          {"model.layers." + std::to_string(r) + ".mlp", of.branches, 2, "top-k", 0, "model", -1, -1, r});
    layout.edges = {{0, 1, {}}, {1, 2, {}}};
    RunStart start = some_run("planted", layout);
    start.inputs = of.inputs;
    start.piece = [](int32_t token) {
      return token < static_cast<int32_t>(kPieces.size()) ? std::string(kPieces[static_cast<size_t>(token)]) : "";
    };
    auto run = writer.begin_run(start);
    Recorder recorder({run.get()});
    BatchRecord& batch = recorder.begin_batch();
    batch.number = 0;
    std::vector<int32_t> tokens;
    for (int32_t q = 0; q < kPlantedSequences; ++q)
      for (int32_t p = 0; p < kPlantedPositions; ++p) tokens.push_back(planted_token(q, p));
    const size_t cells = tokens.size();
    if (!of.inputs) tokens.clear();
    const std::vector<int32_t> mask(cells, 1);
    batch.add_space(0, {of.first_sequence, kPlantedSequences, kPlantedPositions, 0, Phase::forward, 0}, mask, tokens);
    for (int32_t r = 0; r < kPlantedRouters; ++r) {
      std::vector<int32_t> choice;
      for (int32_t q = 0; q < kPlantedSequences; ++q)
        for (int32_t p = 0; p < kPlantedPositions; ++p) {
          std::array<int32_t, 2> branches = unplanted_choice(r, p);
          for (const PlantedChoice& planted : of.planted)
            if (planted.router == r && planted.sequence == q && planted.position == p) branches = planted.branches;
          choice.insert(choice.end(), branches.begin(), branches.end());
        }
      const std::vector<float> weight(choice.size(), 0.5F), margin(of.margins ? cells : 0, 0.25F);
      std::vector<float> scores(of.scores ? cells * static_cast<size_t>(of.branches) : 0, planted_score(-1));
      for (size_t i = 0; of.scores && i < choice.size(); ++i)
        scores[i / 2 * static_cast<size_t>(of.branches) + static_cast<size_t>(choice[i])] =
            planted_score(static_cast<int32_t>(i % 2));
      DecisionRecord decision{.router = r, .choice = choice, .weight = weight};
      decision.scores = scores;
      decision.margin = margin;
      batch.add_decision(decision);
    }
    for (int32_t q = 0; q < kPlantedSequences; ++q) batch.add_sequence("", "some text");
    recorder.submit();
    recorder.finish();
    run->finish(RunStatus::finished, "{}");
    run.reset();
  }
  writer.close();
  return path;
}

}  // namespace stormcell::testing
