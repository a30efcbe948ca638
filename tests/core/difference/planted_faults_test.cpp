// Faults that are planted into recordings are named, each in several strengths; healthy pairs are not accused.
#include <QTemporaryDir>
#include <algorithm>
#include <set>

#include "core/difference/difference.h"
#include "tests/core/difference/made_recordings.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

using Cells = std::vector<MadeRecording::Cell>;

struct PlantedPair {
  std::string name, cause;
  MadeRecording a, b;
  MadeParts parts_a = {}, parts_b = {};
};

const MadeSize kSmall{}, kWide{.requests = 6, .tokens = 48, .layers = 8, .branches = 32, .seed = 5},
    kDense{.requests = 10, .tokens = 30, .layers = 4, .branches = 8, .seed = 9};
const MadeParts kAll{.scores = true}, kIds{.weights = false, .margins = false};

std::string of(const MadeSize& size) { return std::to_string(size.branches) + " branches"; }

void shift_layers(MadeRecording& r, int32_t first, int32_t by) {
  for (auto& cell : r.cells) {
    const auto old = cell.layers;
    const auto n = static_cast<int32_t>(old.size());
    for (int32_t l = first; l < n; ++l) cell.layers[l] = old[std::min(l + by, n - 1)];
  }
}

void permute(MadeRecording& r, int32_t layer, const std::function<int32_t(int32_t)>& image) {
  for (auto& cell : r.cells)
    for (int32_t& id : cell.layers[layer].ids) id = image(id);
}

void shift_tokens(MadeRecording& r, int32_t requests, int32_t by) {
  const Cells old = r.cells;
  for (size_t i = 0; i < old.size(); ++i) {
    const auto from = static_cast<int64_t>(i) + by;
    if (old[i].request >= requests || from < 0 || from >= std::ssize(old)) continue;
    if (old[from].request == old[i].request) r.cells[i].layers = old[from].layers;
  }
}

void exchange_requests(MadeRecording& r, int32_t one, int32_t other) {
  for (auto& cell : r.cells) {
    if (cell.request != one) continue;
    for (auto& with : r.cells)
      if (with.request == other && with.position == cell.position) std::swap(cell.layers, with.layers);
  }
}

/// Every cell also has branch `id`, which comes first.
void share_expert(MadeRecording& r, int32_t layers, int32_t id) {
  for (auto& cell : r.cells)
    for (int32_t l = 0; l < layers; ++l) {
      MadeChoice& made = cell.layers[l];
      made.ids.push_back(id), made.weights.push_back(1);
    }
  r.branches = id + 1;
}

void pad_requests(MadeRecording& r, int32_t end, int32_t token) {
  Cells padded;
  for (size_t i = 0; i < r.cells.size(); ++i) {
    padded.push_back(r.cells[i]);
    if (i + 1 < r.cells.size() && r.cells[i + 1].request == r.cells[i].request) continue;
    auto cell = r.cells[i];
    while (cell.position + 1 < end) {
      ++cell.position, cell.token = token;
      padded.push_back(cell);
    }
  }
  r.cells = std::move(padded);
}

/// Tokens of a request all go the same way, as in a model that routes by script: only in the first `changing` requests
/// they take the next branch of one router from the middle on.
MadeRecording alike_neighbours(const MadeSize& size, int32_t changing) {
  MadeRecording r = record(MadeModel(size), [](int32_t) { return MadeRule{.k = 1}; });
  const Cells old = r.cells;
  for (auto& cell : r.cells) {
    const auto first = std::find_if(old.begin(), old.end(), [&](const auto& c) { return c.request == cell.request; });
    cell.layers = first->layers;
    if (cell.request >= changing || cell.position < size.tokens / 2) continue;
    for (int32_t& id : cell.layers[0].ids) id = (id + 1) % size.branches;
  }
  return r;
}

std::vector<PlantedPair> faults() {
  std::vector<PlantedPair> all;
  const auto plant = [&](const std::string& name, const char* cause, const MadeSize& size, auto change,
                         const MadeParts& parts = {}) {
    const MadeModel model(size);
    PlantedPair pair{name + ", " + of(size), cause, record(model), record(model), parts, parts};
    change(pair.b);
    all.push_back(std::move(pair));
  };
  const auto rules = [&](const std::string& name, const char* cause, const MadeSize& size, const RuleOfLayer& a,
                         const RuleOfLayer& b, const MadeParts& parts = {}) {
    const MadeModel model(size);
    all.push_back({name + ", " + of(size), cause, record(model, a), record(model, b), parts, parts});
  };
  const auto always = [](const MadeRule& rule) { return [rule](int32_t) { return rule; }; };

  for (const MadeSize& size : {kSmall, kWide, kDense}) {
    plant(
        "all layers one further", "layer-shift", size, [](MadeRecording& r) { shift_layers(r, 0, 1); }, kIds);
    plant(
        "the last layer but one has the last one's", "layer-shift", size,
        [&](MadeRecording& r) { shift_layers(r, size.layers - 2, 1); }, kIds);
    plant(
        "ids turned by a quarter", "ids-permuted", size,
        [&](MadeRecording& r) {
          for (int32_t l = 0; l < size.layers; ++l)
            permute(r, l, [&](int32_t id) { return (id + size.branches / 4) % size.branches; });
        },
        kIds);
    plant(
        "two ids of one layer changed places", "ids-permuted", size,
        [&](MadeRecording& r) { permute(r, 1, [](int32_t id) { return id == 2   ? 5
                                                                      : id == 5 ? 2
                                                                                : id; }); }, kIds);
    plant(
        "tokens one later", "token-shift", size, [&](MadeRecording& r) { shift_tokens(r, 99, 1); }, kIds);
    plant(
        "tokens of two requests two earlier", "token-shift", size, [&](MadeRecording& r) { shift_tokens(r, 2, -2); },
        kIds);
    plant(
        "two requests exchanged", "requests-exchanged", size, [](MadeRecording& r) { exchange_requests(r, 1, 4); },
        kIds);
    plant(
        "a shared expert listed", "shared-experts", size,
        [&](MadeRecording& r) { share_expert(r, size.layers, size.branches); }, kIds);
    MadeRule three;
    three.k = 3;
    rules("three choices for two", "other-k", size, always({}), always(three), kIds);
    rules(
        "three choices in one layer", "other-k", size, always({}),
        [three](int32_t l) { return l == 1 ? three : MadeRule{}; }, kIds);
    MadeRule plain;
    plain.renormalise = false;
    rules("not renormalised", "not-renormalised", size, always({}), always(plain));
    rules("softmax over the chosen alone", "softmax-order", size, always(plain), always({}));
    MadeRule scaled;
    scaled.scale = 2.5;
    rules("a factor lost", "scale-lost", size, always(scaled), always({}));
    MadeRule rounded;
    rounded.dropped_bits = 16;
    rules("scores in bf16", "router-precision", size, always({}), always(rounded), kAll);
  }
  MadeRule groups{.k = 4, .groups = 8, .kept_groups = 3}, free{.k = 4};
  rules("groups ignored", "groups-ignored", kWide, always(groups), always(free), kIds);
  rules(
      "groups ignored in one layer", "groups-ignored", kWide, always(groups),
      [=](int32_t l) { return l == 2 ? free : groups; }, kIds);
  MadeRule wide_groups = groups;
  wide_groups.kept_groups = 4;
  rules("more groups kept", "groups-ignored", kWide, always(groups), always(wide_groups), kIds);
  MadeRule sigmoid{.k = 4, .sigmoid = true, .bias_chooses = true}, biased = sigmoid;
  biased.bias_weighs = true;
  rules("bias in weights", "bias-in-weights", kWide, always(sigmoid), always(biased));
  rules("bias in weights, sums kept", "bias-in-weights", kSmall,
        always({.k = 4, .sigmoid = true, .renormalise = false, .bias_chooses = true}),
        always({.k = 4, .sigmoid = true, .renormalise = false, .bias_chooses = true, .bias_weighs = true}));
  MadeRule four{.k = 4}, odds{.k = 4, .sigmoid = true}, twice{.k = 4, .softmax_twice = true};
  rules("softmax for sigmoid", "softmax-order", kWide, always(odds), always(four));
  rules("sigmoid for softmax", "softmax-order", kWide, always(four), always(odds));
  rules("softmax twice", "softmax-order", kSmall, always({.k = 4, .renormalise = false}), always(twice));
  for (const int32_t end : {40, 64}) {
    MadeSize ragged = kSmall;
    ragged.ragged = true;
    MadeParts tokens = kIds;
    tokens.tokens = end == 64;
    plant(
        "padding up to " + std::to_string(end), "padding-recorded", ragged,
        [&](MadeRecording& r) { pad_requests(r, end, 0); }, tokens);
  }
  const MadeModel one(kWide), other({.requests = 6, .tokens = 48, .layers = 8, .branches = 32, .seed = 77});
  all.push_back({"another model's choices", "unlike", record(one), record(other), kIds, kIds});
  return all;
}

std::vector<PlantedPair> healthy_pairs() {
  std::vector<PlantedPair> all;
  for (const MadeSize& size : {kSmall, kWide, kDense}) {
    const MadeModel model(size);
    const MadeRule four{.k = 4, .sigmoid = true, .scale = 2.5, .bias_chooses = true};
    // Two orders of sums; two formats of the model, with the router in f32.
    for (const double noise : {1e-6, 1e-3, 8e-3}) {
      const MadeModel noisy(size, noise);
      all.push_back({"noise " + std::to_string(noise) + ", " + of(size), "agree", record(model), record(noisy)});
      all.push_back({"scores, noise " + std::to_string(noise) + ", " + of(size), "agree", record(model, four),
                     record(noisy, four), kAll, kAll});
    }
    all.push_back({"the same, " + of(size), "agree", record(model), record(model)});
  }
  return all;
}

DifferenceFigures diff_of(const PlantedPair& pair, const QTemporaryDir& folder) {
  const std::string a = folder.filePath("a.safetensors").toStdString(),
                    b = folder.filePath("b.safetensors").toStdString();
  pair.a.write(a, pair.parts_a), pair.b.write(b, pair.parts_b);
  return diff_recordings({a, b});
}

std::string said(const PlantedPair& pair, const DifferenceFigures& f) {
  std::string text = pair.name + " (" + pair.cause +
                     "): " + (f.verdict.cause.empty() ? "cannot be told" : f.verdict.cause) + ": " + f.verdict.evidence;
  for (const DiffCauseFigures& also : f.verdict.also) text += "; also " + also.cause;
  return text;
}

}  // namespace

class PlantedFaultsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

 private slots:
  void planted_faults_are_named() {
    const std::vector<PlantedPair> all = faults();
    QVERIFY(std::ssize(all) >= 50);
    std::string wrong;
    std::set<std::string> causes;
    for (const PlantedPair& pair : all) {
      const DifferenceFigures f = diff_of(pair, folder_);
      causes.insert(pair.cause);
      if (f.verdict.cause != pair.cause) wrong += "\n" + said(pair, f);
    }
    QVERIFY2(causes.size() == 14, "every cause but that they agree is planted");
    QVERIFY2(wrong.empty(), wrong.c_str());
  }

  void healthy_pairs_are_not_accused() {
    int64_t judged = 0;
    std::string wrong;
    for (const PlantedPair& pair : healthy_pairs()) {
      const DifferenceFigures f = diff_of(pair, folder_);
      ++judged;
      if (f.verdict.cause != "agree") wrong += "\n" + said(pair, f);
    }
    QVERIFY(judged >= 20);
    QVERIFY2(wrong.empty(), wrong.c_str());
  }

  void a_shift_of_tokens_is_told_by_the_few_cells_that_change() {
    // As demo:switch-names on its sample: 13 of 600 cells differ after the shift, and each speaks for it.
    const MadeSize size{.requests = 40, .tokens = 15, .layers = 2, .branches = 8, .seed = 3};
    for (const int32_t by : {1, -1}) {
      PlantedPair pair{"few changes", "token-shift", alike_neighbours(size, 13), alike_neighbours(size, 13),
                       kIds,          kIds};
      shift_tokens(pair.b, 99, by);
      const DifferenceFigures f = diff_of(pair, folder_);
      QCOMPARE(f.differing, int64_t{13});
      QVERIFY2(f.verdict.cause == "token-shift", said(pair, f).c_str());
    }
    // As many cells that differ for themselves are no shift, and neither are five that a shift would explain.
    PlantedPair flipped{"few flips", "", alike_neighbours(size, 13), alike_neighbours(size, 13), kIds, kIds};
    for (auto& cell : flipped.b.cells)
      if (cell.request >= 20 && cell.request < 33 && cell.position == 4)
        for (int32_t& id : cell.layers[0].ids) id = (id + 1) % size.branches;
    PlantedPair five{"five changes", "", alike_neighbours(size, 5), alike_neighbours(size, 5), kIds, kIds};
    shift_tokens(five.b, 99, 1);
    for (const PlantedPair& pair : {flipped, five}) {
      const DifferenceFigures f = diff_of(pair, folder_);
      QVERIFY2(f.differing > 0 && f.verdict.cause != "token-shift", said(pair, f).c_str());
    }
  }

  void ids_alone_do_not_tell_near_ties() {
    for (const MadeSize& size : {kSmall, kWide}) {
      const PlantedPair pair{"ids alone", "", record(MadeModel(size)), record(MadeModel(size, .03)), kIds, kIds};
      const DifferenceFigures f = diff_of(pair, folder_);
      QVERIFY2(f.differing > 0 && f.verdict.cause.empty() && !f.verdict.confidence, said(pair, f).c_str());
      QVERIFY2(f.verdict.evidence.ends_with("cannot be told from ids"), said(pair, f).c_str());
      QVERIFY2(!f.verdict.cannot_be_told.empty() && f.verdict.record.starts_with("record scores with profile --record-scores"),
               said(pair, f).c_str());
    }
  }

  /// Scores without the bias that chose tell no near ties, so they accuse nobody, and more scores are not asked for.
  void scores_that_a_bias_overruled_accuse_nobody() {
    const MadeRule biased{.k = 4, .sigmoid = true, .bias_chooses = true};
    const MadeParts kept{.margins = false, .scores = true};
    for (const MadeSize& size : {kSmall, kWide, kDense}) {
      const PlantedPair pair{"biased", "", record(MadeModel(size), biased), record(MadeModel(size, .03), biased),
                             kept,     kept};
      const DifferenceFigures f = diff_of(pair, folder_);
      QVERIFY2(f.differing > 0 && f.verdict.cause.empty() && !f.near_ties, said(pair, f).c_str());
      QVERIFY2(f.verdict.evidence.ends_with("cannot be told from these scores"), said(pair, f).c_str());
      QVERIFY2(f.verdict.record.starts_with("record margins with a recorder"), said(pair, f).c_str());
    }
  }
};

STORMCELL_TEST(PlantedFaultsTest)

}  // namespace stormcell::testing

#include "planted_faults_test.moc"
