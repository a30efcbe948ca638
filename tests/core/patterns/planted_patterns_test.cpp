// Figures of planted recordings beside those that tests/reference/make_patterns.py counts from the papers' definitions.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/chance/even_shares.h"
#include "core/chance/even_vocabulary.h"
#include "core/patterns/patterns.h"
#include "core/patterns/saturation.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

using Expected = nlohmann::json;

std::string planted(const std::string& name) { return reference_path("patterns") + "/" + name; }

Expected expected_figures() {
  std::ifstream file(planted("expected.json"));
  return Expected::parse(file);
}

bool is_near(double value, const Expected& wanted, double part = 1e-9) {
  const auto of = wanted.get<double>();
  return std::abs(value - of) <= part * std::max(1.0, std::abs(of));
}

/// [[from, to, cells], ...]
Expected list_of_pairs(const PairTable& table) {
  Expected list = Expected::array();
  for (const PairCount& p : table.entries) list.push_back({p.from, p.to, p.count});
  return list;
}

const MarginFigures& margins(const PatternRouter& r, MarginKind kind) {
  return r.margins.at(kind == MarginKind::cut ? 0 : 1);
}

/// Whether a closed form, or our draws, are those of numpy's draws: within `part` of their interval's width.
bool is_chance(const ChanceRange& range, const Expected& drawn, double part) {
  const double low = drawn["low"], high = drawn["high"], mean = drawn["mean"], width = high - low;
  return std::abs(range.low - low) <= part * width && std::abs(range.high - high) <= part * width &&
         std::abs(range.middle - mean) <= part * width;
}

}  // namespace

class PlantedPatternsTest : public QObject {
  Q_OBJECT
  Expected wanted_;
  PatternFigures found_;

 private slots:
  void initTestCase() {
    wanted_ = expected_figures();
    PatternOptions options;
    options.recordings = {planted("last.safetensors")};
    options.labels = planted("labels.csv");
    options.fewest_cells = wanted_["fewest"];
    options.margins = wanted_["limits"].get<std::vector<double>>();
    found_ = count_patterns(options);
  }

  void cells_are_those_without_padding() {
    QCOMPARE(found_.cells, wanted_["cells"].get<int64_t>());
    QCOMPARE(found_.cells_without_label, wanted_["without_label"].get<int64_t>());
    QCOMPARE(found_.routers.size(), wanted_["routers"].size());
    QVERIFY(found_.lacks.empty());
  }

  void loads_and_their_balance_are_those_of_the_script() {
    for (size_t r = 0; r < found_.routers.size(); ++r) {
      const PatternRouter& router = found_.routers[r];
      const Expected& wanted = wanted_["routers"][r];
      QCOMPARE(router.layer, static_cast<int32_t>(2 * r + 1));
      QCOMPARE(router.cells, wanted["cells"].get<int64_t>());
      QCOMPARE(router.load, wanted["load"].get<std::vector<int64_t>>());
      QVERIFY(is_near(router.imbalance, wanted["imbalance"]) && is_near(router.gini, wanted["gini"]) &&
              is_near(router.entropy_bits, wanted["entropy_bits"]));
    }
  }

  void coactivation_has_all_pairs_and_apart_those_of_neighbouring_ranks() {
    for (size_t r = 0; r < found_.routers.size(); ++r) {
      QVERIFY(list_of_pairs(found_.routers[r].together->all) == wanted_["routers"][r]["together"]);
      QVERIFY(list_of_pairs(found_.routers[r].together->neighbours) == wanted_["routers"][r]["neighbours"]);
    }
  }

  void margins_are_counted_below_each_limit() {
    for (size_t r = 0; r < found_.routers.size(); ++r)
      for (const MarginKind kind : {MarginKind::cut, MarginKind::first}) {
        const MarginFigures& m = margins(found_.routers[r], kind);
        const std::string name(to_text(kind));
        const Expected& wanted = wanted_["routers"][r];
        for (size_t i = 0; i < m.below.size(); ++i) QCOMPARE(m.below[i].cells, wanted["below"][name][i].get<int64_t>());
        // A bin is a fourth of a power of two wide.
        const double ratio = m.median / wanted["median"][name].get<double>();
        QVERIFY2(ratio > .8 && ratio < 1.25, name.c_str());
        QCOMPARE(std::accumulate(m.bins.begin(), m.bins.end(), int64_t{0}), m.cells);
      }
  }

  void labels_have_the_loads_of_their_requests() {
    for (size_t r = 0; r < found_.routers.size(); ++r) {
      const Expected& wanted = wanted_["labels"][r];
      QCOMPARE(found_.routers[r].labels.size(), wanted["load"].size());
      for (const LabelFigures& label : found_.routers[r].labels) {
        QCOMPARE(label.cells, wanted["cells"][label.label].get<int64_t>());
        QCOMPARE(label.load, wanted["load"][label.label].get<std::vector<int64_t>>());
        // Each branch of each label at each router may find something.
        const auto many = static_cast<double>(found_.questions * std::ssize(found_.routers) *
                                              std::ssize(found_.label_names) * found_.routers[r].branches);
        QCOMPARE(label.beyond, wanted["rarest"][label.label].get<double>() * many <= .05);
      }
      QVERIFY(is_near(*found_.routers[r].label_bits, wanted["bits"]));
      QVERIFY(found_.routers[r].label_chance->beside == BesideChance::more_skewed);
    }
  }

  void transitions_of_any_gap_are_those_of_the_script() {
    PatternOptions options;
    options.recordings = {planted("last.safetensors")};
    options.layer_pairs = {{1, 7}};  // the numbers of the model's layers
    const PatternFigures far = count_patterns(options);
    options.layer_pairs.clear();
    options.gap = 3;
    const PatternFigures by_gap = count_patterns(options);
    QCOMPARE(far.gaps.size(), size_t{1});
    QCOMPARE(by_gap.gaps.size(), size_t{1});
    for (const Expected& wanted : wanted_["gaps"]) {
      const bool is_far = wanted["to"].get<int32_t>() - wanted["from"].get<int32_t>() == 3;
      const GapFigures& gap = is_far ? far.gaps[0] : found_.gaps[wanted["from"].get<size_t>()];
      QCOMPARE(gap.from, wanted["from"].get<int32_t>());
      QCOMPARE(gap.to, wanted["to"].get<int32_t>());
      QVERIFY(list_of_pairs(gap.all) == wanted["all"] && list_of_pairs(gap.equal_ranks) == wanted["equal"]);
      if (is_far) QVERIFY(list_of_pairs(by_gap.gaps[0].all) == wanted["all"]);
    }
  }

  void vocabulary_is_that_of_the_script_data() {
    QTest::addColumn<int>("first");
    QTest::newRow("all choices") << 0;
    QTest::newRow("first choices") << 1;
  }
  void vocabulary_is_that_of_the_script() {
    QFETCH(int, first);
    PatternOptions options;
    options.recordings = {planted("last.safetensors")};
    options.fewest_cells = wanted_["fewest"];
    options.first_choices = first;
    const PatternFigures found = count_patterns(options);
    for (size_t r = 0; r < found.routers.size(); ++r) {
      const VocabularyFigures& v = found.routers[r].vocabulary->figures;
      const Expected& wanted = wanted_[first ? "vocabulary_of_first" : "vocabulary"][r];
      QCOMPARE(v.tokens, wanted["tokens"].get<int64_t>());
      QCOMPARE(v.tokens_left_out, wanted["left_out"].get<int64_t>());
      QVERIFY(is_near(*v.specialization, wanted["specialization"]));
      for (size_t b = 0; b < v.branches.size(); ++b) {
        const std::string branch = std::to_string(b);
        QCOMPARE(v.branches[b].tokens > 0, wanted["experts"].contains(branch));
        if (v.branches[b].tokens == 0) continue;
        const Expected& of = wanted["experts"][branch];
        QCOMPARE(v.branches[b].tokens, of["tokens"].get<int64_t>());
        QCOMPARE(v.branches[b].strongest[0].token, of["first"].get<int32_t>());
        QVERIFY(is_near(*v.branches[b].specialization, of["specialization"]));
      }
    }
  }

  void saturation_is_that_of_the_script() {
    const SaturationFigures s = saturation_of({{"10%=" + planted("early.safetensors"), planted("middle.safetensors"),
                                                "last=" + planted("last.safetensors")}});
    QVERIFY(s.by_tokens && s.names == std::vector<std::string>({"10%", "middle", "last"}));
    QCOMPARE(s.cells, wanted_["cells"].get<int64_t>());
    for (size_t r = 0; r < s.routers.size(); ++r)
      for (size_t i = 0; i < 2; ++i) {
        const SaturationPoint& point = s.routers[r].points[i];
        const Expected& wanted = wanted_["saturation"][r][i];
        QCOMPARE(point.cells, wanted["cells"].get<int64_t>());
        QVERIFY(is_near(*point.share, wanted["share"]) && is_near(*point.first_share, wanted["first_share"]) &&
                is_near(*point.by_load, wanted["by_load"]));
        QVERIFY(point.beyond);  // the checkpoints share what was planted
      }
  }

  void chance_is_that_of_even_routers_that_the_script_draws() {
    const Expected &drawn = wanted_["chance"], &labels = wanted_["labels"][0]["cells"];
    const int64_t cells = wanted_["routers"][0]["cells"], of_label = labels["code"];
    // A sum of few whole numbers is not quite normal.
    constexpr double kPart = .12;
    QVERIFY(is_chance(agreement_beside_chance({cells, 3, 3, 8}, .4).range, drawn["agreement"], kPart));
    QVERIFY(is_chance(branch_beside_uniform(of_label / 2, of_label, 3, 8).range, drawn["branch_share"], kPart));
    int64_t choices = 0;
    for (const Expected& many : labels) choices += 3 * many.get<int64_t>();
    QVERIFY(is_chance(label_bits_beside_chance(choices, 3, 8, 3, .1).range, drawn["label_bits"], kPart));
    std::map<int64_t, int64_t> tokens_with;
    for (const auto& [many, tokens] : wanted_["vocabulary"][0]["tokens_with"].items())
      tokens_with[std::stoll(many)] = tokens;
    QVERIFY(is_chance(EvenVocabulary(8, 3).judge(tokens_with, .9).range, drawn["vocabulary"], kPart));
    QVERIFY(EvenVocabulary(8, 3).judge(tokens_with, .9).beside == BesideChance::more_skewed);
  }

  void a_second_read_of_a_native_file_counts_the_same() {
    // With several recordings the vocabulary of later layers is counted in another pass, by another reader.
    PatternOptions options;
    options.recordings = {"a=" + planted("last.safetensors"), "b=" + planted("last.safetensors")};
    options.fewest_cells = 2 * wanted_["fewest"].get<int64_t>();
    const PatternFigures twice = count_patterns(options);
    for (size_t r = 0; r < twice.routers.size(); ++r) {
      QVERIFY(
          is_near(*twice.routers[r].vocabulary->figures.specialization, wanted_["vocabulary"][r]["specialization"]));
      QCOMPARE(twice.routers[r].labels.size(), size_t{2});
      QCOMPARE(twice.routers[r].labels[0].load, found_.routers[r].load);
    }
  }
};

STORMCELL_TEST(PlantedPatternsTest)

}  // namespace stormcell::testing

#include "planted_patterns_test.moc"
