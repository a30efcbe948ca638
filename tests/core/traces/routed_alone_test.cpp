// Shared experts that a server fused are taken out of a trace, with the weights and bytes of their choices.
#include "core/traces/routed_alone.h"

#include "tests/core/formats/scratch.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Keeps what it is handed.
class Kept : public TraceSink {
 public:
  void begin(const TraceHeader& h) override { header = h; }
  void batch(std::span<const TraceCells>, std::span<const DecisionRecord> decisions) override {
    for (const DecisionRecord& d : decisions) {
      choices.emplace_back(d.choice.begin(), d.choice.end()), weights.emplace_back(d.weight.begin(), d.weight.end());
      residency.emplace_back(d.residency.begin(), d.residency.end()),
          bytes.emplace_back(d.bytes_read.begin(), d.bytes_read.end());
    }
  }
  void loads(int64_t, int32_t, std::span<const int64_t> counts) override {
    counted.emplace_back(counts.begin(), counts.end());
  }
  TraceHeader header;
  std::vector<std::vector<int32_t>> choices;
  std::vector<std::vector<float>> weights;
  std::vector<std::vector<uint8_t>> residency;
  std::vector<std::vector<int64_t>> bytes, counted;
};

TraceHeader header_of(int32_t branches, int32_t fan_out, bool counts = false) {
  TraceHeader header;
  header.counts = counts;
  header.routers.resize(1);
  header.routers[0].name = "layer.3", header.routers[0].branches = branches, header.routers[0].fan_out = fan_out;
  return header;
}

}  // namespace

class RoutedAloneTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  /// A trace of a model of 4 routed experts, and so many shared ones.
  TraceSource source_of(int32_t shared) const {
    TraceSource source{MappedFile::open(scratch_.write("trace", "its content is not looked at")), {}};
    source.model.branches = 4, source.model.shared = shared;
    return source;
  }

 private slots:
  void choices_of_shared_experts_go_with_all_that_is_told_of_them() {
    const TraceSource source = source_of(2);
    Kept kept;
    RoutedAlone routed(source, kept);
    TraceHeader header = header_of(6, 4);
    header.recorded_slots.layers = {{{0, 1, 4, 2, 3, 5}, {7, 8, 20, 9, 6, 20}}};
    routed.begin(header);
    QVERIFY(kept.header.routers[0].branches == 4 && kept.header.routers[0].fan_out == 2);
    QVERIFY((kept.header.recorded_slots.layers[0].expert == std::vector<int32_t>{0, 1, -1, 2, 3, -1}));
    QVERIFY((kept.header.recorded_slots.layers[0].load == std::vector<int64_t>{7, 8, 0, 9, 6, 0}));
    // The shared ones stand anywhere; a token that was not recorded; one that a capacity left one choice.
    const std::vector<int32_t> choice = {1,         3,         4,         5,         5, 0, 2,         4,
                                         kNoBranch, kNoBranch, kNoBranch, kNoBranch, 4, 2, kNoBranch, 5};
    std::vector<float> weight;
    std::vector<uint8_t> residency;
    std::vector<int64_t> bytes;
    for (size_t i = 0; i < choice.size(); ++i)
      weight.push_back(static_cast<float>(i)), residency.push_back(static_cast<uint8_t>(i % 3)),
          bytes.push_back(static_cast<int64_t>(i));
    const DecisionRecord decision{.choice = choice, .weight = weight, .residency = residency, .bytes_read = bytes};
    routed.batch({}, {&decision, 1});
    QVERIFY((kept.choices[0] == std::vector<int32_t>{1, 3, 0, 2, kNoBranch, kNoBranch, 2, kNoBranch}));
    QVERIFY((kept.weights[0] == std::vector<float>{0, 1, 5, 6, 0, 0, 13, 0}));
    QVERIFY((kept.residency[0] == std::vector<uint8_t>{0, 1, 2, 0, 0, 0, 1, 0}));
    QVERIFY((kept.bytes[0] == std::vector<int64_t>{0, 1, 5, 6, 0, 0, 13, 0}));
    // 11 choices were read of which 6 are shared, 5 masked: two of the token that was not recorded would have been.
    const TraceCounts counts = routed.routed({.rows_read = 11, .rows_skipped = 3, .rows_masked = 5});
    QVERIFY(counts.rows_read == 5 && counts.rows_skipped == 3 && counts.rows_masked == 3 && counts.rows_shared == 6);
  }

  void counts_of_shared_experts_go_too() {
    const TraceSource source = source_of(1);
    Kept kept;
    RoutedAlone routed(source, kept);
    routed.begin(header_of(5, 2, true));
    QVERIFY(kept.header.routers[0].branches == 4 &&
            kept.header.routers[0].fan_out == 2);  // of counts it is what the model says
    routed.loads(0, 0, std::vector<int64_t>{3, 2, 1, 4, 5});
    QVERIFY((kept.counted[0] == std::vector<int64_t>{3, 2, 1, 4}));
    QCOMPARE(bad_input_complaint([&] {
               routed.loads(1, 0, std::vector<int64_t>{3, 2, 1, 4, 3});
             }).find("layer.3 chose a routed expert more often than the shared ones after them") != std::string::npos,
             true);
  }

  void dropped_choices_stay_dropped() {
    const TraceSource source = source_of(1);
    Kept kept;
    RoutedAlone routed(source, kept);
    routed.begin(header_of(5, 3));
    const std::vector<int32_t> choice = {dropped_from(3), 4, 1, 0, 2, dropped_from(4)};
    const DecisionRecord decision{.choice = choice};
    routed.batch({}, {&decision, 1});
    QVERIFY((kept.choices[0] == std::vector<int32_t>{dropped_from(3), 1, 0, 2}));
  }

  void what_was_not_fused_passes_as_it_is() {
    for (const int32_t shared : {0, 1}) {
      const TraceSource source = source_of(shared);
      Kept kept;
      RoutedAlone routed(source, kept);
      routed.begin(header_of(4, 2));
      const std::vector<int32_t> choice = {0, 3};
      const DecisionRecord decision{.choice = choice};
      routed.batch({}, {&decision, 1});
      QVERIFY(kept.choices[0] == choice && kept.header.routers[0].branches == 4);
      QCOMPARE(routed.routed({.rows_read = 2}).rows_shared, int64_t{0});
    }
  }

  void ids_that_are_no_shared_experts_are_told() {
    TraceSource source = source_of(1);
    Kept kept;
    RoutedAlone routed(source, kept);
    routed.begin(header_of(5, 3));
    const std::vector<int32_t> choice = {0, 3, 4, 0, 1, 2};
    const DecisionRecord decision{.choice = choice};
    QVERIFY(bad_input_complaint([&] {
              routed.batch({}, {&decision, 1});
            })
                .find("layer.3 has a token of 3 routed choices, 2 choices beside the shared ones (--shared-experts 0 "
                      "where") != std::string::npos);
    QVERIFY(bad_input_complaint([&] { RoutedAlone(source, kept).begin(header_of(5, 1)); }).find("all of them shared") !=
            std::string::npos);
    source.model.branches = 0;
    QVERIFY(bad_input_complaint([&] { RoutedAlone(source, kept).begin(header_of(1, 1)); }).find("all of them shared") !=
            std::string::npos);
  }
};

STORMCELL_TEST(RoutedAloneTest)

}  // namespace stormcell::testing

#include "routed_alone_test.moc"
