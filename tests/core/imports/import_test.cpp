// Exported sessions come back: random sessions through the native trace, and traces that no session ever wrote.
#include "core/imports/import.h"

#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>

#include "core/base/error.h"
#include "core/comparison/analyze.h"
#include "core/exports/export_formats.h"
#include "core/formats/safetensors_writer.h"
#include "core/profile/recorder.h"
#include "core/readings/session_view.h"
#include "core/session/session_reader.h"
#include "core/session/session_writer.h"
#include "tests/core/profile/synthetic.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using namespace testing;

constexpr int kSessions = 12;

/// A session of a seed: both stacks of synthetic.h, or one request that is decoded step by step with residency and
/// bytes.
void record(const std::string& path, uint32_t seed) {
  testing::Drawn<std::mt19937> random(seed);
  RunLayout layout = two_stacks(static_cast<int32_t>(2 + random() % 300));
  for (RouterInfo& r : layout.routers)
    r.layer = static_cast<int32_t>(random() % 50), r.branch_bytes = 100 + random() % 50, r.dense_bytes = random() % 3;
  SessionWriter session(path, {"fingerprint-" + std::to_string(seed), "made-up", "made", "{}"});
  RunStart start;
  start.kind = "profile";
  start.layout = layout;
  const auto run = session.begin_run(start);
  Recorder recorder({run.get()});
  const BatchSize size{static_cast<int32_t>(1 + random() % 5), static_cast<int32_t>(1 + random() % 20)};
  const auto batches = static_cast<int64_t>(1 + random() % 30);
  for (int64_t b = 0; b < batches; ++b) {
    BatchRecord& batch = recorder.begin_batch();
    if (seed % 2 == 0) {
      fill(layout, b, size, batch);
    } else {
      batch.number = b;
      const auto cells = static_cast<int32_t>(b == 0 ? 1 + random() % 9 : 1 + random() % 3);
      batch.add_space(0, {7, 1, cells, static_cast<int32_t>(b * 10), b == 0 ? Phase::prefill : Phase::decode});
      for (int32_t r = 0; r < 2; ++r) {
        std::vector<int32_t> choice(static_cast<size_t>(cells));
        std::vector<float> weight(choice.size());
        std::vector<uint8_t> residency(choice.size());
        std::vector<int64_t> bytes(choice.size());
        for (size_t i = 0; i < choice.size(); ++i) {
          choice[i] = choose(random, layout.routers[static_cast<size_t>(r)].branches);
          weight[i] = static_cast<float>(random() % 100) / 8;
          residency[i] = static_cast<uint8_t>(random() % 3);
          bytes[i] = static_cast<int64_t>(random() % 5) << 33;
        }
        DecisionRecord d;
        d.router = r;
        d.choice = choice;
        d.weight = weight;
        d.residency = residency;
        if (b == 0) d.bytes_read = bytes;
        batch.add_decision(d);
      }
    }
    recorder.submit();
  }
  recorder.finish();
  run->finish(RunStatus::finished, "{}");
}

/// Empty, or what differs between two runs. Batches of a stack that no router met are not in a trace.
std::string difference(const SessionReader& a, const SessionReader& b) {
  if (a.summary().model.fingerprint != b.summary().model.fingerprint) return "fingerprint";
  const RunSummary run_a = a.find_run(""), run_b = b.find_run("");
  const RunLayout la = a.layout(run_a.id), lb = b.layout(run_b.id);
  if (la.spaces != lb.spaces) return "spaces";
  if (!(la.routers == lb.routers)) return "routers";
  if (run_a.batches != run_b.batches) return "batches";
  for (int64_t n = 0; n < run_a.batches; ++n) {
    const std::string where = " of batch " + std::to_string(n);
    const auto sa = a.spaces(run_a.id, n), sb = b.spaces(run_b.id, n);
    if (sa.size() != sb.size()) return "number of spaces" + where;
    for (size_t i = 0; i < sa.size(); ++i) {
      const CellTable &x = sa[i].cells, &y = sb[i].cells;
      if (sa[i].space != sb[i].space || x.cells() != y.cells() || sa[i].mask != sb[i].mask ||
          sa[i].real_cells != sb[i].real_cells)
        return "cells" + where;
      for (int64_t row = 0; row < x.cells(); ++row)
        if (!(x.id(row) == y.id(row))) return "cell " + std::to_string(row) + where;
    }
    for (size_t r = 0; r < la.routers.size(); ++r) {
      const auto da = a.decision(run_a.id, static_cast<int32_t>(r), n),
                 db = b.decision(run_b.id, static_cast<int32_t>(r), n);
      if (!da || da->cells == 0) {
        if (db && db->cells > 0) return "a decision too many" + where;
        continue;
      }
      if (!db) return "a decision is missing" + where;
      if (da->choice != db->choice) return "choices" + where;
      if (da->residency != db->residency) return "residency" + where;
      for (size_t i = 0; i < da->choice.size(); ++i)
        if (is_kept(da->choice[i]) && da->weight[i] != db->weight[i]) return "weights" + where;
      const auto bytes = [&](const StoredDecision& d, size_t i) {
        return !d.bytes_read.empty()                        ? d.bytes_read[i]
               : d.residency.empty() || d.residency[i] != 0 ? 0
                                                            : la.routers[r].branch_bytes;
      };
      for (size_t i = 0; i < da->choice.size(); ++i)
        if (bytes(*da, i) != bytes(*db, i)) return "bytes" + where;
      for (int64_t c = 0; c < da->cells; ++c) {
        const auto row = [&](const StoredDecision& d) {
          return d.ancestor.empty() ? c : int64_t{d.ancestor[static_cast<size_t>(c)]};
        };
        if (row(*da) != row(*db)) return "rows" + where;
      }
    }
  }
  return {};
}

}  // namespace

class ImportTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string at(const std::string& name) const { return folder_.filePath(QString::fromStdString(name)).toStdString(); }

 private slots:
  void an_exported_session_comes_back_data() {
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < kSessions; ++seed) QTest::addRow("seed %d", seed) << seed;
  }
  void an_exported_session_comes_back() {
    QFETCH(int, seed);
    const std::string name = std::to_string(seed), session = at(name + ".storm"), back = at(name + "-back.storm"),
                      trace = at(name + ".safetensors");
    record(session, static_cast<uint32_t>(seed));
    export_session("native", {session, trace, {}});
    ImportOptions options;
    options.traces = {trace};
    options.session = back;
    const ImportFigures figures = import_traces(options);
    QCOMPARE(figures.format, std::string("native"));
    QCOMPARE(difference(SessionReader(session), SessionReader(back)), std::string());
    const auto loads = read_loads(session, 0), again = read_loads(back, 0);
    for (size_t r = 0; r < loads->rows.size(); ++r) {
      QVERIFY(loads->rows[r].load == again->rows[r].load);
      QVERIFY(loads->rows[r].dropped == again->rows[r].dropped);
    }
  }

  void a_trace_in_any_order_keeps_the_name_of_every_cell() {
    // Requests of different lengths, prompts and steps mixed as a server mixes them; nothing says where a batch ends.
    testing::Drawn<std::mt19937> random(5);
    std::vector<int32_t> request, position, phase, choice;
    std::vector<int32_t> next(6);
    for (int round = 0; round < 200; ++round) {
      const auto r = static_cast<int32_t>(random() % next.size());
      const auto cells = static_cast<int32_t>(next[static_cast<size_t>(r)] == 0 ? 1 + random() % 30 : 1);
      for (int32_t c = 0; c < cells; ++c) {
        request.push_back(r);
        position.push_back(next[static_cast<size_t>(r)]++);
        phase.push_back(cells == 1);
        choice.push_back((r * 3 + position.back() * 5) % 16);
        choice.push_back((r * 3 + position.back() * 5 + 1 + r % 3) % 16);
      }
    }
    const auto n = static_cast<int64_t>(request.size());
    const std::string trace = at("any.safetensors"), session = at("any.storm");
    const std::vector<TensorToWrite> tensors = {{"layer.0.indices", DType::i32, {n, 2}, choice.data()},
                                                {"cell.request", DType::i32, {n}, request.data()},
                                                {"cell.position", DType::i32, {n}, position.data()},
                                                {"cell.phase", DType::i32, {n}, phase.data()}};
    write_safetensors(trace, tensors);
    ImportOptions options;
    options.traces = {trace};
    options.session = session;
    QCOMPARE(import_traces(options).rows_read, 2 * n);
    const SessionReader reader(session);
    int64_t seen = 0;
    for (int64_t b = 0; b < reader.find_run("").batches; ++b) {
      const BatchSpace space = reader.spaces(1, b).at(0);
      const auto d = reader.decision(1, 0, b);
      QVERIFY(d && d->cells == space.cells.cells());
      for (int64_t row = 0; row < d->cells; ++row, ++seen) {
        const CellId id = space.cells.id(row);
        const auto i = static_cast<size_t>(seen);
        QCOMPARE(id.sequence, int64_t{request[i]});
        QCOMPARE(id.position, position[i]);
        QVERIFY((id.phase == Phase::decode) == (phase[i] == 1));
        QCOMPARE(d->choice[static_cast<size_t>(2 * row)], choice[2 * i]);
      }
    }
    QCOMPARE(seen, n);
  }

  void a_long_call_reports_and_stops() {
    struct Stop : ProgressSink {
      CancellationToken cancel;
      int calls = 0;
      void report(std::string_view, int64_t, int64_t) override {
        if (++calls == 40) cancel.cancel();
      }
    } stop;
    constexpr int64_t kTokens = 20000, kLayers = 8;
    std::string file = "# route_trace v1\n# n_layer=8 n_expert=8 n_expert_used=1\nturn,phase,step,layer,slot,expert\n";
    for (int64_t t = 0; t < kTokens * 8; ++t)
      for (int64_t l = 0; l < kLayers; ++l)
        file += "0,1," + std::to_string(t) + "," + std::to_string(l) + ",0," + std::to_string((t + l) % 8) + "\n";
    std::ofstream(at("long.csv"), std::ios::binary) << file;
    ImportOptions options;
    options.traces = {at("long.csv")};
    options.session = at("long.storm");
    bool interrupted = false;
    try {
      import_traces(options, {stop.cancel, &stop});
    } catch (const Error& e) {
      interrupted = e.kind() == ErrorKind::interrupted;
    }
    QVERIFY(interrupted);
    const SessionReader reader(options.session);
    QVERIFY(reader.find_run("").batches > 0);
    QCOMPARE(static_cast<int>(reader.find_run("").status), static_cast<int>(RunStatus::interrupted));
    const AnalyzeFigures figures = analyze_session(options.session);
    const auto& load = figures.routers.at(0).load;
    QVERIFY(std::accumulate(load.begin(), load.end(), int64_t{0}) > 0);
  }

  void imbalance_entropy_and_gini_are_those_of_their_formulas() {
    std::ofstream(at("even.csv"))
        << "# route_trace v1\n# n_layer=2 n_expert=4 n_expert_used=1\nturn,phase,step,layer,slot,expert\n"
           "0,1,0,0,0,0\n0,1,0,1,0,3\n0,1,1,0,0,1\n0,1,1,1,0,3\n0,1,2,0,0,2\n0,1,2,1,0,3\n0,1,3,0,0,3\n0,1,3,1,0,3\n";
    ImportOptions options;
    options.traces = {at("even.csv")};
    options.session = at("even.storm");
    import_traces(options);
    const AnalyzeFigures f = analyze_session(options.session);
    const RouterAnalysis &even = f.routers.at(0), &one = f.routers.at(1);
    QCOMPARE(even.imbalance, 0.0);
    QCOMPARE(even.entropy_bits, 2.0);
    QCOMPARE(even.gini, 0.0);
    QCOMPARE(even.touched, int64_t{4});
    QCOMPARE(even.balancedness, 1.0);
    QCOMPARE(one.imbalance, 3.0);
    QCOMPARE(one.entropy_bits, 0.0);
    QCOMPARE(one.gini, 0.75);
    QCOMPARE(one.touched, int64_t{1});
    QVERIFY(std::abs(one.balancedness - .25) < 1e-5);
  }
};

STORMCELL_TEST(ImportTest)

}  // namespace stormcell

#include "import_test.moc"
