// Calibration on planted laws: what can be said of a call that nobody measured, and what cannot.
#include "core/cost/calibration.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "tests/testing/testing.h"

namespace stormcell::testing::calibration_test {
namespace {

MeasuredCall network_call(const std::string& op, const std::string& laboratory, const std::string& gpu, int64_t nodes,
                          double us) {
  MeasuredCall c;
  c.id = op + laboratory + std::to_string(nodes), c.op = op, c.mode = "low-latency", c.dtype = "fp8";
  c.gpu = gpu, c.laboratory = laboratory, c.nodes = nodes, c.ranks = 8 * nodes, c.gpus_per_node = 8, c.nic_gbit = 400;
  c.tokens_per_rank = 128, c.top_k = 8, c.experts = 256, c.hidden = 7168, c.bytes_per_copy = 7000, c.source = "planted",
  c.us = us;
  return c;
}

/// t0 + slope * what leaves the node, in the units of 128 tokens.
double over_network(double t0, double slope, int64_t nodes) {
  return t0 + slope * (1 - 1. / static_cast<double>(nodes));
}

MeasuredCall fabric_call(const std::string& op, int64_t ranks, int64_t tokens, double us) {
  MeasuredCall c = network_call(op, "here", "G", 1, us);
  c.id = op + std::to_string(ranks) + "x" + std::to_string(tokens);
  c.ranks = ranks, c.gpus_per_node = 72, c.nic_gbit = 0, c.tokens_per_rank = tokens;
  return c;
}

/// Start-up and slope linear in log2(ranks).
double over_fabric(int64_t ranks, int64_t tokens) {
  const double doublings = std::log2(static_cast<double>(ranks));
  return 10 + 2 * doublings + static_cast<double>(tokens) * (0.1 + 0.01 * doublings);
}

MeasuredCall product_call(const std::string& gpu, int64_t ranks, double us) {
  MeasuredCall c;
  c.id = gpu + std::to_string(ranks), c.op = "experts", c.mode = "decode", c.dtype = "fp8", c.gpu = gpu,
  c.laboratory = "here";
  c.ranks = ranks, c.tokens_total = 256, c.top_k = 8, c.experts = 256, c.hidden = 7168, c.ffn = 2048,
  c.source = "planted", c.us = us;
  return c;
}

/// Reading the weights takes 30 us; beyond 120 rows the products do.
double over_rows(double rows) { return std::max(30., rows / 4); }

MeasuredCall rows_call(int64_t rows, double us) {
  MeasuredCall c;
  c.id = "rows" + std::to_string(rows), c.op = "product", c.dtype = "bf16", c.gpu = "G", c.laboratory = "here",
  c.source = "planted";
  c.experts = 4, c.inputs = 512, c.outputs = 2048, c.rows = rows, c.us = us;
  return c;
}
std::vector<MeasuredCall> rows_calls() {
  std::vector<MeasuredCall> calls;
  for (const int64_t rows : {1, 16, 64, 120, 256, 1024})
    calls.push_back(rows_call(rows, over_rows(static_cast<double>(rows))));
  return calls;
}

/// The four weights of rows_call(), or others, each with rows of its own.
MeasuredCall grouped_call(const std::string& rows_each, double us) {
  MeasuredCall c = rows_call(0, us);
  c.id = "grouped " + rows_each, c.op = "grouped", c.rows_each = rows_each, c.experts = 0;
  const std::vector<AlikeRows> rows = alike_rows(rows_each).value();
  for (const AlikeRows& r : rows) c.experts += r.weights, c.rows += r.weights * r.rows;
  return c;
}

/// Three laboratories: one measured all worlds; of the others one is slower by an addend, one by a factor, and each has
/// 16 ranks alone.
std::vector<MeasuredCall> laboratories() {
  std::vector<MeasuredCall> calls;
  for (const int64_t nodes : {2, 4, 8, 16})
    calls.push_back(network_call("dispatch", "wide", "G", nodes, over_network(40, 150, nodes)));
  calls.push_back(network_call("dispatch", "added", "H", 2, over_network(40, 150, 2) + 12));
  calls.push_back(network_call("dispatch", "scaled", "I", 2, over_network(40, 150, 2) * 1.2));
  return calls;
}

bool close(double a, double b) { return std::fabs(a / b - 1) < 1e-9; }

}  // namespace

class CalibrationTest : public QObject {
  Q_OBJECT
 private slots:
  void a_call_that_was_measured_is_its_time() {
    std::vector<MeasuredCall> calls = laboratories();
    calls.push_back(calls[0]), calls.back().id = "again", calls.back().us += 10;
    const Prediction p = Calibration(calls).predict(calls[0]);
    QCOMPARE(p.kind, PredictionKind::measured);
    QVERIFY(close(*p.us, calls[0].us + 5));  // the mean of two
    QVERIFY(p.from == std::vector<size_t>({0, calls.size() - 1}));
  }

  void between_measured_worlds_the_law_is_followed() {
    std::vector<MeasuredCall> calls = laboratories();
    const MeasuredCall asked = calls[1];
    calls.erase(calls.begin() + 1);
    const Prediction p = Calibration(calls).predict(asked);
    QCOMPARE(p.kind, PredictionKind::interpolated);
    QVERIFY2(close(*p.us, asked.us), std::to_string(*p.us).c_str());
    QVERIFY(p.from == std::vector<size_t>({0, 1}) && p.held_out);
  }

  void another_laboratory_borrows_at_its_own_anchor() {
    const Calibration calibration(laboratories());
    for (const int64_t nodes : {4, 8}) {
      const double wide = over_network(40, 150, nodes), two = over_network(40, 150, 2);
      const Prediction added = calibration.predict(network_call("dispatch", "added", "H", nodes, 0));
      const Prediction scaled = calibration.predict(network_call("dispatch", "scaled", "I", nodes, 0));
      QCOMPARE(added.kind, PredictionKind::borrowed);
      QVERIFY(close(added.low_us, wide + 12) && close(added.high_us, wide * (two + 12) / two));
      QVERIFY(close(scaled.low_us, wide + two * 0.2) && close(scaled.high_us, wide * 1.2));
      QVERIFY(close(*added.us, (added.low_us + added.high_us) / 2));
      QVERIFY(added.from[0] == 4 && scaled.from[0] == 5);  // its own first
      QVERIFY2(added.laboratories && close(*added.laboratories, 1.2 - 1), "the slowest of 16 ranks / the fastest - 1");
      QVERIFY(added.held_out.has_value());
    }
  }

  void what_nobody_measured_is_not_told_data() {
    QTest::addColumn<QString>("what");
    for (const char* what :
         {"more ranks than anybody", "no anchor", "another card", "within another node", "products of another GPU"})
      QTest::newRow(what) << what;
  }
  void what_nobody_measured_is_not_told() {
    QFETCH(QString, what);
    std::vector<MeasuredCall> calls = laboratories();
    calls.push_back(product_call("G", 8, 400)), calls.push_back(product_call("G", 64, 70));
    calls.push_back(fabric_call("dispatch", 8, 128, 30));
    MeasuredCall asked = network_call("dispatch", "added", "H", 4, 0);
    if (what == "more ranks than anybody") asked = network_call("dispatch", "added", "H", 32, 0);
    if (what == "no anchor") asked.laboratory = "elsewhere";
    if (what == "another card") asked.nic_gbit = 200;
    if (what == "within another node") asked = fabric_call("dispatch", 8, 128, 0), asked.gpu = "H";
    if (what == "products of another GPU") asked = product_call("H", 16, 0);
    const Prediction p = Calibration(calls).predict(asked);
    QVERIFY(p.kind == PredictionKind::none && !p.us && !p.why_not.empty() && p.from.empty());
  }

  void products_are_told_over_their_rows() {
    const Calibration calibration(rows_calls());
    QVERIFY(calibration.fits().empty() && calibration.over_rows().size() == 1 && calibration.over_rows()[0].calls == 6);
    QVERIFY(doubts_about(calibration).empty());
    const auto at = [&](int64_t rows) { return calibration.predict(rows_call(rows, 0)); };
    QCOMPARE(at(64).kind, PredictionKind::measured);
    for (const int64_t rows : {2, 40, 121, 500, 1000}) {
      QCOMPARE(at(rows).kind, PredictionKind::interpolated);
      QVERIFY2(close(*at(rows).us, over_rows(static_cast<double>(rows))), std::to_string(*at(rows).us).c_str());
      QVERIFY(at(rows).held_out && at(rows).from.size() == 2);
    }
    QVERIFY(at(2000).kind == PredictionKind::extrapolated && close(*at(2000).us, 500));
    QVERIFY(at(2049).kind == PredictionKind::none && !at(2049).why_not.empty());
    for (const char* what : {"gpu", "inputs", "outputs", "experts", "dtype"}) {
      MeasuredCall other = rows_call(40, 0);
      const std::string_view w = what;
      if (w == "gpu") other.gpu = "H";
      if (w == "inputs") other.inputs = 1024;
      if (w == "outputs") other.outputs = 512;
      if (w == "experts") other.experts = 8;
      if (w == "dtype") other.dtype = "fp8";
      QVERIFY2(calibration.predict(other).kind == PredictionKind::none, what);
    }
    MeasuredCall elsewhere = rows_call(40, 0);
    elsewhere.laboratory = "there";
    QVERIFY(calibration.predict(elsewhere).kind == PredictionKind::borrowed &&
            close(*calibration.predict(elsewhere).us, 30));
  }

  void a_product_that_is_left_out_is_left_out_with_all_its_times() {
    std::vector<MeasuredCall> calls = rows_calls();
    const double error = *Calibration(calls).predict(rows_call(125, 0)).held_out;
    QVERIFY2(close(error, std::lerp(30., 64., (120 - 64.) / (256 - 64)) / 30 - 1), std::to_string(error).c_str());
    for (int again = 0; again < 3; ++again)
      calls.push_back(rows_call(120, 30)), calls.back().id += "again" + std::to_string(again);
    QVERIFY(close(*Calibration(calls).predict(rows_call(125, 0)).held_out, error));
  }

  void products_that_fall_are_doubted_and_those_that_bend_are_not() {
    std::vector<MeasuredCall> calls = rows_calls();
    calls[4].us = 20;
    const auto doubts = doubts_about(Calibration(calls));
    QVERIFY2(!doubts.empty() &&
                 doubts[0].starts_with("product of G, 256 rows (rows256) is faster than rows120 with fewer rows"),
             doubts.empty() ? "none" : doubts[0].c_str());
    // A curve may bend between its points: what is off a line is no outlier.
    calls = {rows_call(1, 30), rows_call(100, 30), rows_call(10000, 2500)};
    QVERIFY(doubts_about(Calibration(calls)).empty());
  }

  void rows_of_each_weight_are_read_and_written() {
    const auto rows = alike_rows("3 120 14x3 2x0");
    QVERIFY(rows && rows->size() == 3 && (*rows)[0].rows == 120 && (*rows)[1].weights == 15 && (*rows)[2].rows == 0);
    QCOMPARE(to_text(*rows), std::string("120 15x3 2x0"));
    QCOMPARE(to_text(*alike_rows(to_text(*rows))), to_text(*rows));
    QVERIFY(alike_rows("") && alike_rows("")->empty());
    for (const char* wrong : {"a", "3,4", "-1", "3x", "x3", "0x3", "3x4x5", "1.5", "2000000", "99999999999999999999"})
      QVERIFY2(!alike_rows(wrong), wrong);
  }

  void grouped_products_are_what_experts_of_a_step_cost() {
    // A quarter of what four weights take together with as many rows.
    const auto law = [](std::initializer_list<double> rows) {
      double us = 0;
      for (const double r : rows) us += over_rows(r) / 4;
      return us;
    };
    std::vector<MeasuredCall> calls = rows_calls();
    const Calibration calibration(calls);
    const Prediction p = calibration.predict(grouped_call("500 16 1 0", 0));
    QCOMPARE(p.kind, PredictionKind::interpolated);
    QVERIFY2(close(*p.us, law({500, 16, 1})), std::to_string(*p.us).c_str());
    QVERIFY(p.from == std::vector<size_t>({4, 5, 1, 0}) &&
            !p.held_out);  // no such call says whether times may be summed
    const Prediction six = calibration.predict(grouped_call("2000 5x40", 0));
    QVERIFY(six.kind == PredictionKind::extrapolated && close(*six.us, law({2000, 40, 40, 40, 40, 40})));
    QCOMPARE(calibration.predict(grouped_call("3000 40", 0)).why_not,
             std::string("too far from the rows that were measured"));
    MeasuredCall other = grouped_call("40 50", 0);
    other.outputs = 512;
    QVERIFY(calibration.predict(other).kind == PredictionKind::none && !calibration.predict(other).why_not.empty());
    MeasuredCall elsewhere = grouped_call("40 50", 0);
    elsewhere.laboratory = "there";
    QVERIFY(calibration.predict(elsewhere).kind == PredictionKind::borrowed &&
            close(*calibration.predict(elsewhere).us, law({40, 50})));
    // The nearer one of two numbers of weights a call to those with rows.
    std::vector<MeasuredCall> both = calls;
    for (MeasuredCall c : calls) c.experts = 32, c.us *= 6, c.id += "of 32", both.push_back(c);
    QVERIFY(close(*Calibration(both).predict(grouped_call("2x40 30x0", 0)).us, law({40, 40})));
    QVERIFY(close(*Calibration(both).predict(grouped_call("30x40", 0)).us, 30 * 30 * 6 / 32.));
    // One that was measured is its time, and tells how far sums are off; it is no point of the curve.
    calls.push_back(grouped_call("500 16 1 0", 1.1 * law({500, 16, 1})));
    const Calibration more(calls);
    const Prediction same = more.predict(grouped_call("500 16 1 0", 0)), near = more.predict(grouped_call("400 16", 0));
    QVERIFY(same.kind == PredictionKind::measured && close(*same.us, 1.1 * law({500, 16, 1})));
    QVERIFY(near.kind == PredictionKind::interpolated && close(*near.us, law({400, 16})));
    QVERIFY(near.held_out && close(*near.held_out, 1 / 1.1 - 1) && same.held_out && close(*same.held_out, 1 / 1.1 - 1));
    QVERIFY(close(*more.predict(rows_call(500, 0)).us, 125) && more.fits().empty() && more.over_rows().size() == 1);
    QVERIFY(doubts_about(more).empty());
    // Times x 1.3, predictions x 1.3.
    for (MeasuredCall& c : calls) c.us *= 1.3;
    for (const char* rows : {"500 16 1 0", "400 16", "2000 5x40"})
      QVERIFY(
          close(*Calibration(calls).predict(grouped_call(rows, 0)).us, 1.3 * *more.predict(grouped_call(rows, 0)).us));
    calls.back().us *= 1.5;
    const std::vector<std::string> doubts = doubts_about(Calibration(calls));
    QVERIFY2(doubts.size() == 1 && doubts[0].starts_with("grouped of G, 517 rows") && doubts[0].ends_with("by +65 %"),
             doubts.empty() ? "none" : doubts[0].c_str());
    // Timed twice it does not tell itself.
    calls.push_back(calls.back());
    calls.back().id += " again";
    const std::vector<std::string> again = doubts_about(Calibration(calls));
    QVERIFY2(again.size() == 1 && again[0].ends_with("by +65 %"), std::to_string(again.size()).c_str());
  }

  void within_a_fabric_start_up_and_slope_follow_the_ranks() {
    std::vector<MeasuredCall> calls;
    for (const int64_t ranks : {8, 64})
      for (const int64_t tokens : {128, 2048})
        calls.push_back(fabric_call("dispatch", ranks, tokens, over_fabric(ranks, tokens)));
    const Calibration calibration(calls);
    for (const auto& [ranks, tokens] :
         {std::pair<int64_t, int64_t>{16, 128}, {32, 512}, {16, 2048}, {8, 1000}, {64, 300}}) {
      const Prediction p = calibration.predict(fabric_call("dispatch", ranks, tokens, 0));
      QCOMPARE(p.kind, PredictionKind::interpolated);
      QVERIFY2(close(*p.us, over_fabric(ranks, tokens)), (std::to_string(ranks) + " " + std::to_string(*p.us)).c_str());
    }
    QCOMPARE(calibration.predict(fabric_call("dispatch", 8, 3000, 0)).kind, PredictionKind::extrapolated);
    QVERIFY(close(*calibration.predict(fabric_call("dispatch", 8, 3000, 0)).us, over_fabric(8, 3000)));
    QCOMPARE(calibration.predict(fabric_call("dispatch", 8, 5000, 0)).kind, PredictionKind::none);
    QCOMPARE(calibration.predict(fabric_call("dispatch", 128, 128, 0)).kind, PredictionKind::none);
    QCOMPARE(calibration.fits().size(), size_t{2});
  }

  void one_size_of_message_borrows_the_slope_of_the_way_back() {
    std::vector<MeasuredCall> calls;
    for (const int64_t ranks : {8, 64}) {
      for (const int64_t tokens : {128, 2048})
        calls.push_back(fabric_call("dispatch", ranks, tokens, over_fabric(ranks, tokens)));
      calls.push_back(fabric_call("combine", ranks, 128, over_fabric(ranks, 128) + 7));
    }
    const Prediction p = Calibration(calls).predict(fabric_call("combine", 16, 1024, 0));
    QCOMPARE(p.kind, PredictionKind::borrowed);
    QVERIFY2(close(*p.us, over_fabric(16, 1024) + 7), std::to_string(*p.us).c_str());
  }

  void an_all_to_all_has_no_way_back_to_borrow_of() {
    std::vector<MeasuredCall> calls;
    for (const int64_t tokens : {128, 2048})
      calls.push_back(fabric_call("dispatch", 8, tokens, over_fabric(8, tokens)));
    for (const char* op : {"alltoall", "all_reduce"}) {
      calls.push_back(fabric_call(op, 8, 128, 40));
      const Prediction p = Calibration(calls).predict(fabric_call(op, 8, 1024, 0));
      QVERIFY2(p.kind == PredictionKind::none && p.why_not == "no two sizes were measured with as many ranks",
               p.why_not.c_str());
    }
  }

  void products_cost_the_weights_that_they_read() {
    // 20 us and 11 us for each of a rank's experts; 256 tokens of 8 choices touch all but e^-8 of them.
    const auto us = [](int64_t ranks) { return 20 + 11 * 256. / static_cast<double>(ranks); };
    const Calibration calibration({product_call("G", 8, us(8)), product_call("G", 64, us(64))});
    for (const int64_t ranks : {16, 32}) {
      const Prediction p = calibration.predict(product_call("G", ranks, 0));
      QCOMPARE(p.kind, PredictionKind::interpolated);
      QVERIFY(close(*p.us, us(ranks)));
    }
    MeasuredCall few = product_call("G", 8, 0), many = few;
    few.tokens_total = 32, many.tokens_total = 4096;
    QVERIFY(std::fabs(*calibration.predict(few).us - (20 + 11 * 32 * (1 - std::pow(1 - 8. / 256, 32)))) < 0.5);
    QCOMPARE(calibration.predict(many).kind,
             PredictionKind::none);  // 128 rows an expert: no longer the reading of weights
  }

  void predictions_follow_the_measured_times() {
    std::vector<MeasuredCall> calls = laboratories();
    for (const int64_t ranks : {8, 64})
      for (const int64_t tokens : {128, 2048})
        calls.push_back(fabric_call("dispatch", ranks, tokens, over_fabric(ranks, tokens) + 3));
    calls.push_back(fabric_call("combine", 8, 128, 40)), calls.push_back(fabric_call("combine", 64, 128, 47));
    std::vector<MeasuredCall> slower = calls;
    for (MeasuredCall& c : slower) c.us *= 1.3;
    const Calibration before(calls), after(slower);
    for (const MeasuredCall& asked : {network_call("dispatch", "added", "H", 8, 0),
                                      network_call("dispatch", "wide", "G", 3, 0), fabric_call("dispatch", 32, 700, 0),
                                      fabric_call("dispatch", 8, 3000, 0), fabric_call("combine", 16, 500, 0)}) {
      const Prediction a = before.predict(asked), b = after.predict(asked);
      QVERIFY2(a.us && close(*b.us, 1.3 * *a.us), asked.id.c_str());
      QVERIFY(a.kind == b.kind && a.held_out.has_value() == b.held_out.has_value());
    }
  }

  void clean_calls_raise_no_doubts() {
    std::vector<MeasuredCall> calls = laboratories();
    calls.push_back(product_call("G", 8, 400)), calls.push_back(product_call("G", 64, 70));
    const std::vector<std::string> doubts = doubts_about(Calibration(calls));
    QVERIFY2(doubts.empty(), doubts.empty() ? "" : doubts[0].c_str());
  }

  void each_doubt_is_told_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("words");
    QTest::newRow("one table") << "table"
                               << "G and H have the same times";
    QTest::newRow("falls") << "falls"
                           << "(dispatchwide16) is faster than dispatchwide8 with fewer ranks";
    QTest::newRow("outlier") << "outlier"
                             << "(dispatchwide4) is off what its neighbours say by +60 %";
    QTest::newRow("no source") << "source"
                               << "dispatchwide2 says no source";
  }
  void each_doubt_is_told() {
    QFETCH(QString, what);
    QFETCH(QString, words);
    std::vector<MeasuredCall> calls = laboratories();
    if (what == "table")
      for (const int64_t ranks : {8, 64})
        for (const char* gpu : {"G", "H"}) calls.push_back(product_call(gpu, ranks, ranks == 8 ? 400 : 70));
    if (what == "falls") calls[3].us = calls[2].us * 0.98;
    if (what == "outlier") calls[1].us *= 1.6;
    if (what == "source") calls[0].source.clear();
    std::string all;
    for (const std::string& doubt : doubts_about(Calibration(calls))) all += doubt + "\n";
    QVERIFY2(all.find(words.toStdString()) != std::string::npos, all.c_str());
  }
};

STORMCELL_TEST(CalibrationTest)

}  // namespace stormcell::testing::calibration_test

#include "calibration_test.moc"
