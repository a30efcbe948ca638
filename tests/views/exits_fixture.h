// A session of a network with early exits, with its curve and its pictures as far as they are asked for.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/profile/recorder.h"
#include "core/session/session_writer.h"
#include "core/summary/results.h"
#include "core/summary/summary_json.h"
#include "tests/core/session/session_fixture.h"
#include "tests/views/cells_fixture.h"

namespace stormcell::testing {

/// Six of ten items in a row leave at the first exit, two at the second; ten classes, each with some of all.
inline int32_t exit_of(int64_t item) {
  const int64_t step = (item + item / 10) % 5;
  return step < 3 ? 0 : step == 3 ? 1 : 2;
}

struct ExitsFixture {
  int64_t batches = 12, per_batch = 10;
  bool decisions = true, figures = true, margins = true, pictures = false;
  int64_t picture_every = 2;        ///< items of a batch
  std::vector<int64_t> wrong = {};  ///< items that are answered wrong, where the run is to say it
};

inline ExitCurve some_curve(int64_t items) {
  ExitCurve c{"accuracy", "share", "picture", items, {0.9, 0.9}};
  const int64_t fifth = items / 5;
  c.exits = {{"exits.0.router", 0.43, 3 * fifth, 0.99, 0.9},
             {"exits.1.router", 0.79, fifth, 0.97, 0.95},
             {"", 1, fifth, 0.9, 0.98}};
  c.chosen = {0.9, 0.616, 0.97, {{0.95, 0.985}}, {3 * fifth, fifth, fifth}};
  c.curve = {{0, 0.43, 0.9, {{0.86, 0.93}}, {items, 0, 0}},
             {0.5, 0.5, 0.94, {{0.91, 0.96}}, {4 * fifth, fifth, 0}},
             {0.8, 0.57, 0.965, {{0.94, 0.98}}, {7 * fifth / 2, fifth, items - 9 * fifth / 2}},
             {0.95, 0.7, 0.975, {{0.95, 0.99}}, {2 * fifth, fifth, 2 * fifth}},
             {2, 1, 0.98, {{0.96, 0.99}}, {0, 0, items}}};
  for (int64_t g = 0; g < 10; ++g) {
    ExitClass of{std::to_string(g), {0, 0, 0}};
    for (int64_t i = g; i < items; i += 10) ++of.items[static_cast<size_t>(exit_of(i))];
    c.classes.push_back(of);
  }
  return c;
}

inline std::string make_exits_session(const std::string& path, const ExitsFixture& f = {}) {
  RunLayout layout;
  layout.spaces = {"picture"};
  layout.routers = {{"exits.0.router", 2, 1, "exit-threshold", 0, "picture"},
                    {"exits.1.router", 2, 1, "exit-threshold", 0, "picture", 0, 1}};
  layout.edges = {{0, 1, {1}}};
  SessionWriter writer(path, some_model());
  RunStart start = some_run("exits", layout);
  start.decisions = f.decisions, start.inputs = f.pictures;
  auto run = writer.begin_run(start);
  Recorder recorder({run.get()});
  for (int64_t number = 0; number < f.batches; ++number) {
    BatchRecord& batch = recorder.begin_batch();
    batch.number = number;
    batch.add_space(0, {number * f.per_batch, static_cast<int32_t>(f.per_batch), 1, 0, Phase::forward, 0});
    std::vector<int32_t> first, second, rows;
    for (int64_t i = 0; i < f.per_batch; ++i) {
      const int32_t exit = exit_of(number * f.per_batch + i);
      first.push_back(exit == 0 ? 0 : 1);
      if (exit > 0) second.push_back(exit - 1), rows.push_back(static_cast<int32_t>(i));
    }
    const std::vector<float> ones(first.size(), 1), margins(f.margins ? first.size() : 0, 0.125F);
    batch.add_decision({.router = 0, .choice = first, .weight = ones, .margin = margins});
    batch.add_decision({.router = 1,
                        .choice = second,
                        .weight = std::span(ones).first(second.size()),
                        .ancestor = rows,
                        .margin = std::span(margins).first(f.margins ? second.size() : 0)});
    for (int64_t i = 0; i < f.per_batch; ++i) batch.add_sequence(std::to_string((number * f.per_batch + i) % 10));
    // Digits of one channel.
    for (int64_t i = 0; f.pictures && i < f.per_batch; i += f.picture_every)
      batch.add_thumbnail(static_cast<size_t>(i), some_thumbnail(number + i, 1));
    recorder.submit();
  }
  recorder.finish();
  RunSummaryFigures figures;
  figures.verb = "profile", figures.model.name = "demo:some-digits";
  if (f.figures) {
    ExitTarget& target = figures.exit_target.emplace();
    target.of = Bounded::quality, target.target = 0.96, target.met = true, target.measure = "accuracy",
    target.unit = "share";
  }
  if (f.figures) figures.exits = some_curve(f.batches * f.per_batch);
  if (!f.wrong.empty()) {
    const int64_t items = f.batches * f.per_batch, right = items - static_cast<int64_t>(f.wrong.size());
    QualityFigures& quality = figures.quality.emplace();
    quality.items = items;
    quality.baseline = PlanQuality{static_cast<double>(right) / static_cast<double>(items), {}, items, right};
    for (const int64_t item : f.wrong) quality.wrong.push_back({item, "none"});
  }
  run->finish(RunStatus::finished, to_json(figures));
  run.reset();
  writer.close();
  return path;
}

}  // namespace stormcell::testing
