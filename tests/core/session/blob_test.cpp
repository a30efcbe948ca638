#include "core/session/blob.h"

#include <cstring>
#include <random>

#include "core/base/error.h"
#include "core/profile/statistics.h"
#include "tests/core/profile/synthetic.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using testing::BatchSize;
using testing::fill;
using testing::two_stacks;

// Reads damaged forms of `data`: each must be read or refused with an Error, never more.
template <class Read>
int refused(const blob::Bytes& data, Read read) {
  testing::Drawn<std::mt19937> random(1);
  int refusals = 0;
  const auto attempt = [&](const blob::Bytes& bytes) {
    // An exact copy on the heap, so that a sanitizer sees a read past its end.
    const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
    try {
      read(std::span<const uint8_t>(exact));
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::bad_input) throw std::logic_error("the wrong kind of error");
      ++refusals;
    }
  };
  for (size_t length = 0; length < data.size(); length += 1 + data.size() / 200)
    attempt({data.begin(), data.begin() + static_cast<int64_t>(length)});
  for (int round = 0; round < 2000; ++round) {
    blob::Bytes bytes = data;
    for (uint32_t i = 0; i <= random() % 3 && !bytes.empty(); ++i) {
      // Headers are hit as often as the rest.
      const size_t at = random() % 2 ? random() % bytes.size() : random() % std::min<size_t>(bytes.size(), 24);
      bytes[at] = static_cast<uint8_t>(random() % 2 ? random() : bytes[at] ^ (1u << (random() % 8)));
    }
    attempt(bytes);
  }
  return refusals;
}
}  // namespace

class BlobTest : public QObject {
  Q_OBJECT
 private slots:
  void residency_and_bytes_of_a_decision_come_back() {
    const std::vector<int32_t> choice = {3, 0, ~1, kNoBranch, 2, 1};
    const std::vector<uint8_t> residency = {0, 1, 2, 0, 0, 1};
    for (const int64_t most : {int64_t{0}, int64_t{200}, int64_t{60000}, int64_t{1} << 30, int64_t{1} << 40}) {
      const std::vector<int64_t> bytes = {most, 0, 7, 0, most / 2, 0};
      DecisionRecord d;
      d.choice = choice;
      d.residency = residency;
      d.bytes_read = bytes;
      blob::Bytes data;
      blob::put_decision(d, 4, 2, data);
      const StoredDecision stored = blob::read_decision(data, "test");
      QVERIFY(stored.choice == choice && stored.residency == residency && stored.bytes_read == bytes &&
              stored.weight.empty());
      QVERIFY(refused(data, [](std::span<const uint8_t> bytes_) { blob::read_decision(bytes_, "test"); }) > 0);
    }
  }
  void decisions_come_back_data() {
    QTest::addColumn<int>("branches");
    QTest::addColumn<bool>("scores");
    for (const int branches : {1, 2, 8, 127, 128, 255, 256, 300, 40000}) {
      QTest::newRow(qPrintable(QString("%1 branches").arg(branches))) << branches << false;
      if (branches < 1000)
        QTest::newRow(qPrintable(QString("%1 branches with scores").arg(branches))) << branches << true;
    }
  }
  void decisions_come_back() {
    QFETCH(int, branches);
    QFETCH(bool, scores);
    RunLayout layout = two_stacks(branches);
    if (branches == 1) layout.routers[2].fan_out = 1;  // two different choices of one branch are not to be had
    for (int64_t number = 0; number < 5; ++number) {
      BatchRecord batch;
      fill(layout, number, {}, batch, scores);
      for (size_t i = 0; i < batch.decisions(); ++i) {
        const DecisionRecord d = batch.decision(i);
        const RouterInfo& info = layout.routers[i];
        blob::Bytes data;
        blob::put_decision(d, info.branches, info.fan_out, data);
        const StoredDecision stored = blob::read_decision(data, "test");
        QCOMPARE(stored.branches, info.branches);
        QCOMPARE(stored.fan_out, info.fan_out);
        QVERIFY(std::equal(stored.choice.begin(), stored.choice.end(), d.choice.begin(), d.choice.end()));
        QVERIFY(std::equal(stored.weight.begin(), stored.weight.end(), d.weight.begin(), d.weight.end()));
        QVERIFY(std::equal(stored.ancestor.begin(), stored.ancestor.end(), d.ancestor.begin(), d.ancestor.end()));
        QVERIFY(std::equal(stored.scores.begin(), stored.scores.end(), d.scores.begin(), d.scores.end()));
        QVERIFY(std::equal(stored.margin.begin(), stored.margin.end(), d.margin.begin(), d.margin.end()));
        RouterLoads loads(info.branches);
        add_loads(d, info.fan_out, {}, loads);
        for (size_t b = 0; b < loads.load.size(); ++b) {
          QCOMPARE(int64_t{stored.offsets[b + 1] - stored.offsets[b]}, loads.load[b]);
          QCOMPARE(int64_t{stored.padded[b]}, loads.load[b]);
        }
        const auto cells = stored.cells_by_branch();
        for (size_t b = 0; b + 1 < stored.offsets.size(); ++b)
          for (int32_t s = stored.offsets[b]; s < stored.offsets[b + 1]; ++s) {
            const auto* choice = stored.choice.data() + int64_t{cells[static_cast<size_t>(s)]} * info.fan_out;
            QVERIFY(std::count(choice, choice + info.fan_out, static_cast<int32_t>(b)) == 1);
          }
      }
    }
  }
  void scores_of_a_threshold_are_its_classes() {
    const std::vector<int32_t> choice = {1, 0, 1};
    const std::vector<float> scores = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                             margin = {0.5f, 0.25f, 0.125f};
    DecisionRecord d;
    d.choice = choice;
    d.scores = scores;
    d.margin = margin;
    d.score_columns = 5;  // an exit of two branches that compares five classes
    blob::Bytes data;
    blob::put_decision(d, 2, 1, data);
    const StoredDecision stored = blob::read_decision(data, "test");
    QCOMPARE(stored.score_columns, 5);
    QCOMPARE(stored.scores, scores);
    QCOMPARE(stored.margin, margin);
    for (size_t size = 0; size < data.size(); ++size)
      QVERIFY_THROWS_EXCEPTION(Error, blob::read_decision(std::span(data).first(size), "test"));
    // As many as branches: the form that stood before.
    d.scores = std::span(scores).first(6);
    d.score_columns = 2;
    blob::put_decision(d, 2, 1, data);
    QCOMPARE(data[1] & 128, 0);
    QCOMPARE(blob::read_decision(data, "test").score_columns, 2);
  }
  void the_last_branch_is_not_taken_for_none() {
    for (const int32_t branches : {255, 256, 257, 65536, 128}) {
      const std::vector<int32_t> choice = {branches - 1, 0, dropped_from(branches - 1)};
      for (const size_t n : {size_t{2}, size_t{3}}) {
        DecisionRecord d;
        d.choice = std::span(choice).first(n);
        blob::Bytes data;
        blob::put_decision(d, branches, 1, data);
        const auto stored = blob::read_decision(data, "test").choice;
        QVERIFY(std::equal(stored.begin(), stored.end(), d.choice.begin(), d.choice.end()));
      }
    }
  }
  void a_plain_decision_is_small() {
    std::vector<int32_t> choice(1024, 3), padded = {0, 0, 0, 1024, 0, 0, 0, 0};
    std::vector<float> weight(1024, 0.5f);
    DecisionRecord d;
    d.choice = choice;
    d.weight = weight;
    d.padded = padded;
    blob::Bytes data;
    blob::put_decision(d, 8, 1, data);
    QVERIFY(data.size() <= 1024 * 5 + 40);  // a byte and a float for each cell, and a header
  }
  void padded_loads_are_kept_where_they_differ() {
    const std::vector<int32_t> choice = {0, 0, 0, 1}, padded = {4, 2};
    DecisionRecord d;
    d.choice = choice;
    d.padded = padded;
    blob::Bytes data;
    blob::put_decision(d, 2, 1, data);
    QCOMPARE(blob::read_decision(data, "test").padded, padded);
  }
  void a_decision_without_cells() {
    blob::Bytes data;
    blob::put_decision({}, 4, 2, data);
    const StoredDecision stored = blob::read_decision(data, "test");
    QCOMPARE(stored.cells, int64_t{0});
    QCOMPARE(stored.offsets, (std::vector<int32_t>(5)));
  }

  void loads_come_back_in_every_width() {
    testing::Drawn<std::mt19937_64> random(2);
    for (const int64_t most : {int64_t{0}, int64_t{200}, int64_t{60000}, int64_t{1} << 31, int64_t{1} << 50})
      for (int parts = 0; parts < 16; ++parts) {
        RouterLoads loads(5);
        for (size_t b = 0; b < 5; ++b) {
          const auto some = [&] { return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1)); };
          loads.load[b] = some();
          if (parts & 1) loads.padding[b] = loads.load[b] / 2;
          if (parts & 2) loads.dropped[b] = some();
          loads.padded[b] = parts & 4 ? some() : loads.load[b];
          if (parts & 8) loads.weight[b] = static_cast<float>(some()) / 4;
        }
        blob::Bytes data;
        blob::put_loads(loads, data);
        QCOMPARE(blob::read_loads(data, 5, "test"), loads);
      }
  }
  void pairs_come_back() {
    testing::Drawn<std::mt19937> random(3);
    for (const int32_t columns : {1, 8, 300, 4096}) {
      PairCounter counter(100, columns);
      for (int i = 0; i < 500; ++i)
        counter.add(static_cast<int32_t>(random() % 100),
                    static_cast<int32_t>(random() % static_cast<uint32_t>(columns)));
      PairTable table = counter.take();
      table.entries[0].count = int64_t{1} << 40;
      blob::Bytes data;
      blob::put_pairs(table, data);
      QCOMPARE(blob::read_pairs(data, "test"), table);
    }
    blob::Bytes data;
    blob::put_pairs({3, 4, {}}, data);
    QCOMPARE(blob::read_pairs(data, "test"), (PairTable{3, 4, {}}));
  }
  void events_come_back() {
    std::vector<StepEvent> events = {{5'000'000'000'000ull, 5'000'000'000'900ull, 7, 1},
                                     {4'999'999'999'000ull, 5'000'000'000'000ull, 2, 0}};
    for (uint32_t i = 0; i < 300; ++i)
      events.push_back({6'000'000'000'000ull + i * 12000, 6'000'000'000'000ull + i * 12000 + 11000, i,
                        static_cast<uint16_t>(i % 64)});
    blob::Bytes data;
    blob::put_events(events, data);
    QCOMPARE(blob::read_events(data, "test"), events);
    QVERIFY(data.size() < events.size() * 8);
    blob::put_events({}, data);
    QVERIFY(blob::read_events(data, "test").empty());
  }
  void masks_come_back_data() {
    QTest::addColumn<int>("form");
    QTest::newRow("all real") << 0;
    QTest::newRow("padded at the ends") << 1;
    QTest::newRow("any") << 2;
  }
  void masks_come_back() {
    QFETCH(int, form);
    testing::Drawn<std::mt19937> random(4);
    for (const int length : {1, 7, 16, 300}) {
      std::vector<uint8_t> mask(static_cast<size_t>(length) * 5);
      for (int s = 0; s < 5; ++s) {
        const int end = static_cast<int>(random() % static_cast<uint32_t>(length + 1));
        for (int p = 0; p < length; ++p)
          mask[static_cast<size_t>(s * length + p)] = form == 0 || (form == 1 ? p < end : random() % 2);
      }
      blob::Bytes data;
      blob::put_mask(mask, length, data);
      const auto back = blob::read_mask(data, length * 5, length, "test");
      QVERIFY(form == 0 ? back.empty()
                        : back == mask ||
                              (back.empty() && std::all_of(mask.begin(), mask.end(), [](uint8_t m) { return m; })));
      if (form == 1) QVERIFY(data.size() <= 2 + 5 * 2);
    }
  }
  void numbers_come_back() {
    for (const std::vector<int64_t>& values : {std::vector<int64_t>{},
                                               {0, 255},
                                               {256, 1},
                                               {65536},
                                               {int64_t{1} << 40, 3},
                                               {-1, 5},
                                               {INT64_MIN, INT64_MAX}}) {
      blob::Bytes data;
      blob::put_numbers(values, data);
      QCOMPARE(blob::read_numbers(data, "test"), values);
    }
  }

  void damaged_blobs_are_refused() {
    const RunLayout layout = two_stacks();
    BatchRecord batch;
    fill(layout, 1, {2, 6}, batch, true);
    blob::Bytes data;
    for (const size_t router : {size_t{0}, size_t{2}, size_t{3}}) {
      blob::put_decision(batch.decision(router), layout.routers[router].branches, layout.routers[router].fan_out, data);
      QVERIFY(refused(data, [](auto bytes) { blob::read_decision(bytes, "test"); }) > 100);
    }
    RouterLoads loads(8);
    add_loads(batch.decision(0), 1, batch.space(0).mask, loads);
    blob::put_loads(loads, data);
    QVERIFY(refused(data, [](auto bytes) { blob::read_loads(bytes, 8, "test"); }) > 100);
    PairCounter counter(8, 8);
    for (int i = 0; i < 60; ++i) counter.add(i % 8, i * 3 % 7);
    blob::put_pairs(counter.take(), data);
    QVERIFY(refused(data, [](auto bytes) { blob::read_pairs(bytes, "test"); }) > 100);
    blob::put_events(batch.events, data);
    QVERIFY(refused(data, [](auto bytes) { blob::read_events(bytes, "test"); }) > 100);
    blob::put_mask(std::vector<uint8_t>{1, 0, 1, 1, 0, 0}, 3, data);
    refused(data, [](auto bytes) { blob::read_mask(bytes, 6, 3, "test"); });
    blob::put_mask(std::vector<uint8_t>{0, 1, 1, 1, 0, 0}, 3, data);
    refused(data, [](auto bytes) { blob::read_mask(bytes, 6, 3, "test"); });
    blob::put_numbers(std::vector<int64_t>{300, 5, 6}, data);
    refused(data, [](auto bytes) { blob::read_numbers(bytes, "test"); });
  }
  void a_blob_of_a_newer_version_says_so() {
    blob::Bytes data;
    blob::put_pairs({3, 4, {}}, data);
    data[0] = 2;
    try {
      blob::read_pairs(data, "x.storm");
      QFAIL("was read");
    } catch (const Error& e) {
      QCOMPARE(e.what(), "x.storm: a record of a newer version of Stormcell (use that version)");
    }
  }
};

STORMCELL_TEST(BlobTest)

}  // namespace stormcell

#include "blob_test.moc"
