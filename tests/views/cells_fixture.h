// Sessions with recorded inputs whose texts are Latin, so that pictures of them need no other font.
#pragma once
#include <array>
#include <random>
#include <string>

#include "core/profile/recorder.h"
#include "core/session/session_writer.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/counts.h"

namespace stormcell::testing {

inline constexpr std::array kPieces = {"<pad>",     "</s>",      "\u2581the",  "\u2581cat", "\u2581sat",  "\u2581on",
                                       "\u2581a",   "\u2581mat", "s",          "ing",       "\u2581and",  "\u2581dog",
                                       "\u2581run", "\u2581to",  "\u2581hill", "\u2581in",  "\u2581rain", "ed"};

struct CellsFixture {
  int64_t batches = 10;
  int32_t sequences = 3, per_sequence = 14;
  uint32_t change = 0;  ///< other decisions of the second router, in part of the cells
  bool inputs = true, decisions = true, margins = false;
  /// false: routers are recorded over the real cells alone, as a plan without padding leaves it
  bool computes_padding = true;
  int32_t columns = 0;        ///< of the grid that the cells of "token" lie in
  bool scattered = false;     ///< each batch holds sequences from all over the run
  int32_t picture_every = 0;  ///< of the first and every so manieth sequence a picture is kept, 24 x 32; 0: of none
  bool phases = false;        ///< every third batch is of the input, the others are of decoding
};

/// Colours that run from left to right and top to bottom, so that it shows where a part of it lies.
inline Thumbnail some_thumbnail(int64_t number, int64_t channels = 3) {
  Thumbnail t{{24, 32}, channels, {}};
  for (int64_t y = 0; y < 24; ++y)
    for (int64_t x = 0; x < 32; ++x)
      for (int64_t c = 0; c < channels; ++c)
        t.pixels.push_back(static_cast<uint8_t>(c == 0 ? x * 8 : c == 1 ? y * 10 : (number * 40) % 256));
  return t;
}

/// Two routers over "token", one with two branches a cell over "decoder_token".
inline RunLayout cells_layout() {
  RunLayout layout;
  layout.spaces = {"token", "decoder_token"};
  layout.routers = {{"encoder.block.1.layer.1.mlp", 4, 1, "switch-top1", 0, "encoder"},
                    {"encoder.block.3.layer.1.mlp", 4, 1, "switch-top1", 0, "encoder"},
                    {"decoder.block.1.layer.2.mlp", 6, 2, "top-k", 1, "decoder"}};
  layout.edges = {{0, 1, {}}};
  return layout;
}

inline std::string make_cells_session(const std::string& path, const CellsFixture& f = {}) {
  SessionWriter writer(path, some_model());
  RunStart start = some_run("cells", cells_layout());
  start.inputs = f.inputs;
  start.decisions = f.decisions;
  start.piece = [](int32_t token) {
    return token < static_cast<int32_t>(kPieces.size()) ? std::string(kPieces[static_cast<size_t>(token)]) : "";
  };
  auto run = writer.begin_run(start);
  Recorder recorder({run.get()});
  for (int64_t number = 0; number < f.batches; ++number) {
    testing::Drawn<std::mt19937> random(static_cast<uint32_t>(number + 1));
    BatchRecord& batch = recorder.begin_batch();
    batch.number = number;
    const Phase phase = !f.phases ? Phase::forward : number % 3 == 0 ? Phase::prefill : Phase::decode;
    const auto cells = static_cast<size_t>(f.sequences * f.per_sequence);
    std::vector<int32_t> mask(cells), tokens(cells);
    for (int32_t q = 0; q < f.sequences; ++q) {
      const auto length = static_cast<int32_t>(4 + random() % static_cast<uint32_t>(f.per_sequence - 3));
      for (int32_t p = 0; p < length; ++p) {
        const auto at = static_cast<size_t>(q * f.per_sequence + p);
        mask[at] = 1;
        tokens[at] = p + 1 == length ? 1 : static_cast<int32_t>(2 + random() % (kPieces.size() - 2));
      }
    }
    if (f.scattered) {
      std::vector<int64_t> items;
      for (int32_t q = 0; q < f.sequences; ++q) items.push_back(q * f.batches + number);
      batch.set_items(items);
    }
    for (int32_t s = 0; s < 2; ++s)
      batch.add_space(s, {number * f.sequences, f.sequences, f.per_sequence, 0, phase, s == 0 ? f.columns : 0}, mask,
                      tokens);
    for (int32_t r = 0; r < 3; ++r) {
      const RouterInfo& info = start.layout.routers[static_cast<size_t>(r)];
      std::vector<int32_t> choice, rows;
      std::vector<float> weight;
      for (size_t c = 0; c < cells; ++c) {
        if (!f.computes_padding && !mask[c]) continue;
        rows.push_back(static_cast<int32_t>(c));
        for (int32_t j = 0; j < info.fan_out; ++j) {
          // A token mostly goes to one branch, so that dictionaries have something to tell.
          auto branch = static_cast<int32_t>((static_cast<uint32_t>(tokens[c]) + (random() % 5 == 0 ? random() : 0)) %
                                             static_cast<uint32_t>(info.branches));
          if (r == 1 && f.change && random() % f.change == 0) branch = (branch + 1) % info.branches;
          if (j > 0 && branch == choice.back()) branch = (branch + 1) % info.branches;
          choice.push_back(r == 0 && random() % 17 == 0 ? dropped_from(branch) : branch);
          weight.push_back(static_cast<float>(250 + random() % 700) / 1000 / static_cast<float>(j + 1));
        }
      }
      DecisionRecord d;
      d.router = r;
      d.choice = choice;
      d.weight = weight;
      if (!f.computes_padding) d.ancestor = rows;
      std::vector<float> margin(f.margins ? rows.size() : 0, 0.25f);
      d.margin = margin;
      batch.add_decision(d);
    }
    for (int32_t q = 0; q < f.sequences; ++q) {
      std::string text;
      for (int32_t p = 0; p < f.per_sequence; ++p)
        if (const int32_t t = tokens[static_cast<size_t>(q * f.per_sequence + p)]; t > 1)
          text += kPieces[static_cast<size_t>(t)];
      for (size_t at; (at = text.find("\u2581")) != std::string::npos;) text.replace(at, 3, " ");
      batch.add_sequence(q % 2 ? "short" : "long", text);
      if (f.picture_every > 0 && q % f.picture_every == 0)
        batch.add_thumbnail(static_cast<size_t>(q), some_thumbnail(number + q));
    }
    recorder.submit();
  }
  recorder.finish();
  run->finish(RunStatus::finished);
  run.reset();
  writer.close();
  return path;
}

}  // namespace stormcell::testing
