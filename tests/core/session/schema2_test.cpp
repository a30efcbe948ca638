// Sessions that the program of schema 2 recorded: today's reader finds what that program itself exported from them.
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/cell/decision.h"
#include "core/profile/layout_edges.h"
#include "core/session/session_reader.h"
#include "core/session/session_writer.h"
#include "tests/core/session/child_process.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using namespace testing;
namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kNames = {"optimize", "generate", "import"};

std::string fixture(const std::string& name) {
  return source_folder() + "/tests/core/session/fixtures/schema2/" + name;
}

/// The rows of an exported table, without its two header lines.
std::vector<std::vector<std::string>> table(const std::string& name) {
  std::ifstream file(fixture(name));
  std::vector<std::vector<std::string>> rows;
  std::string line;
  for (int i = 0; std::getline(file, line); ++i) {
    if (i < 2) continue;
    std::istringstream cells(line);
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  return rows;
}
int64_t whole(const std::string& text) { return std::stoll(text); }
template <class T>
T real(const std::string& text) {
  T value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int32_t router_named(const RunLayout& layout, const std::string& name) {
  for (size_t r = 0; r < layout.routers.size(); ++r)
    if (layout.routers[r].name == name) return static_cast<int32_t>(r);
  return -1;
}

/// Each cell of a batch's decision as the exported rows have it.
std::vector<std::vector<std::string>> rows_of(const SessionReader& reader, int64_t run, const RunLayout& layout,
                                              int64_t batch) {
  std::vector<std::vector<std::string>> rows;
  const auto spaces = reader.spaces(run, batch);
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    const auto d = reader.decision(run, static_cast<int32_t>(r), batch);
    const auto space = std::find_if(spaces.begin(), spaces.end(),
                                    [&](const BatchSpace& s) { return s.space == layout.routers[r].space; });
    if (!d || space == spaces.end()) continue;
    for (int64_t c = 0; c < d->cells; ++c) {
      const int64_t row = d->ancestor.empty() ? c : d->ancestor[static_cast<size_t>(c)];
      const CellId id = space->cells.id(row);
      const bool is_real = space->mask.empty() || space->mask[static_cast<size_t>(row)] != 0;
      for (int32_t k = 0; k < d->fan_out; ++k) {
        const auto slot = static_cast<size_t>(c * d->fan_out + k);
        const int32_t choice = d->choice[slot];
        if (choice == kNoBranch) continue;
        char weight[32];
        const std::string written(weight, std::to_chars(weight, weight + sizeof weight, d->weight.at(slot)).ptr);
        rows.push_back({std::to_string(batch), layout.routers[r].name, std::to_string(id.sequence),
                        std::to_string(id.position), std::to_string(id.step), is_real ? "1" : "0", std::to_string(k),
                        std::to_string(branch_of(choice)), is_dropped(choice) ? "1" : "0", written});
      }
    }
  }
  return rows;
}

std::string joined(const std::vector<std::string>& row) {
  std::string text;
  for (const std::string& cell : row) text += (text.empty() ? "" : ",") + cell;
  return text;
}

/// Empty where every decision of the run is as it was exported, else the first row that is not.
std::string decisions_differ(const SessionReader& reader, int64_t run, const std::string& name) {
  const auto expected = table(name + ".decisions.csv");
  const RunLayout layout = reader.layout(run);
  const int64_t batches = reader.run(run).batches;
  size_t at = 0;
  for (int64_t b = 0; b < batches; ++b)
    for (const auto& row : rows_of(reader, run, layout, b)) {
      if (at >= expected.size())
        return "more rows than the " + std::to_string(expected.size()) + " expected: " + joined(row);
      if (row != expected[at]) return joined(row) + " instead of " + joined(expected[at]);
      ++at;
    }
  if (at == 0) return "no rows";
  return at == expected.size() ? "" : "ends before " + joined(expected[at]);
}

std::string loads_differ(const SessionReader& reader, int64_t run, const std::string& name) {
  const auto expected = table(name + ".loads.csv");
  const RunLayout layout = reader.layout(run);
  std::map<int32_t, RouterLoads> total;
  for (const auto& row : expected) {
    const int32_t router = router_named(layout, row[0]);
    if (router < 0) return "no router " + row[0];
    if (whole(row[2]) > 1)
      return "the table has windows of several batches";  // 0: the router had no cells in the batch
    const auto loads = reader.loads(run, router, 0, {whole(row[1]), whole(row[1]) + 1});
    if (loads.size() != 1 || loads[0].batches != whole(row[2])) return "no window of batch " + row[1];
    const auto branch = static_cast<size_t>(whole(row[3]));
    const RouterLoads& l = loads[0];
    if (l.load[branch] != whole(row[4]) || l.padding[branch] != whole(row[5]) || l.dropped[branch] != whole(row[6]) ||
        l.padded[branch] != whole(row[7]) || std::abs(l.weight[branch] - real<double>(row[8])) > 1e-6)
      return "another load than " + joined(row);
    RouterLoads& sum = total.try_emplace(router, layout.routers[static_cast<size_t>(router)].branches).first->second;
    sum.load[branch] += whole(row[4]), sum.padding[branch] += whole(row[5]), sum.dropped[branch] += whole(row[6]);
  }
  if (total.size() != layout.routers.size()) return "not every router has loads";
  for (const auto& [router, sum] : total) {
    const RouterLoads l = reader.total_loads(run, router);
    if (l.load != sum.load || l.padding != sum.padding || l.dropped != sum.dropped)
      return "the total is not the sum of the windows";
  }
  return {};
}

std::string transitions_differ(const SessionReader& reader, int64_t run, const std::string& name) {
  const RunLayout layout = reader.layout(run);
  std::vector<std::vector<std::string>> rows;
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    for (const int32_t e : edges_from(layout, static_cast<int32_t>(r))) {
      const int32_t next = layout.edges[static_cast<size_t>(e)].to;
      for (const PairCount& p :
           reader.transitions(run, static_cast<int32_t>(r), next, {0, reader.run(run).batches}).entries)
        rows.push_back({layout.routers[r].name, std::to_string(p.from), layout.routers[static_cast<size_t>(next)].name,
                        std::to_string(p.to), std::to_string(p.count)});
    }
  }
  return rows == table(name + ".transitions.csv") && !rows.empty() ? "" : "other transitions";
}

std::string labels_differ(const SessionReader& reader, int64_t run, const std::string& name) {
  const RunLayout layout = reader.layout(run);
  std::vector<std::vector<std::string>> rows;
  for (size_t r = 0; r < layout.routers.size(); ++r)
    for (const LabelLoads& l : reader.label_loads(run, static_cast<int32_t>(r)))
      for (size_t b = 0; b < l.load.size(); ++b)
        rows.push_back({layout.routers[r].name, l.label, std::to_string(b), std::to_string(l.load[b])});
  return rows == table(name + ".labels.csv") ? "" : "other loads by label";
}

/// Everything that the tables say of a session's first program; `run` is the one that was exported.
std::string differs(const SessionReader& reader, int64_t run, const std::string& name) {
  for (const auto& check : {decisions_differ, loads_differ, transitions_differ, labels_differ})
    if (std::string what = check(reader, run, name); !what.empty()) return what;
  return {};
}
int64_t exported_run(const std::string& name) { return name == "optimize" ? 2 : 1; }
}  // namespace

class Schema2Test : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  /// A copy to open: a reader may recover or convert what it may write to.
  std::string copy(const std::string& name, const std::string& where = "") {
    const std::string to = folder_.filePath(QString::fromStdString(where)).toStdString() + "/" + name + ".storm";
    fs::create_directories(fs::path(to).parent_path());
    fs::remove(to);
    fs::copy_file(fixture(name + ".storm"), to);
    fs::permissions(to, fs::perms::owner_write | fs::perms::owner_read);
    return to;
  }
  static void rows() {
    QTest::addColumn<QString>("name");
    for (const char* name : kNames) QTest::newRow(name) << name;
  }

 private slots:
  void the_files_are_still_of_schema_2_data() { rows(); }
  void the_files_are_still_of_schema_2() {
    QFETCH(QString, name);
    const std::string path = "file:" + fixture(name.toStdString() + ".storm") + "?immutable=1";
    sqlite3* db = nullptr;
    QCOMPARE(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr), SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    QCOMPARE(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, nullptr), SQLITE_OK);
    QCOMPARE(sqlite3_step(statement), SQLITE_ROW);
    const int version = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    QCOMPARE(version, 2);
  }

  void runs_are_found() {
    const SessionReader optimized(copy("optimize"));
    QCOMPARE(optimized.summary().id, std::string("941f9144a6af25bba56028361799ff11"));
    QCOMPARE(optimized.summary().program, std::string("0.1.0"));
    QCOMPARE(optimized.summary().model.name, std::string("demo:switch-names"));
    QCOMPARE(optimized.summary().model.fingerprint,
             std::string("ea4f5b940ce8eb185e1ee95ae00dc8ceba39c8d8cd6df66875d75a9b34d40239"));
    const auto runs = optimized.runs();
    QCOMPARE(runs.size(), size_t{2});
    QCOMPARE(runs[0].kind, std::string("profile"));
    QCOMPARE(runs[1].kind, std::string("optimize"));
    for (const RunSummary& run : runs) QVERIFY(run.status == RunStatus::finished && run.batches == 3);
    QCOMPARE(runs[1].started, std::string("2026-11-22T11:23:28.813Z"));
    QVERIFY(runs[1].config.find("\"dead-path\"") != std::string::npos);
    QVERIFY(runs[1].summary.find("\"cells_without_padding\": 368") != std::string::npos);
    QCOMPARE(SessionReader(copy("generate")).find_run("").kind, std::string("generate"));
    QCOMPARE(SessionReader(copy("import")).find_run("").kind, std::string("import"));
  }

  void routers_and_steps_are_those_of_the_run() {
    const SessionReader reader(copy("optimize"));
    const RunLayout layout = reader.layout(2);
    QCOMPARE(layout.routers.size(), size_t{3});
    QCOMPARE(layout.routers[1].name, std::string("encoder.block.3.layer.1.mlp"));
    QCOMPARE(layout.routers[2].name, std::string("decoder.block.1.layer.2.mlp"));
    for (const RouterInfo& r : layout.routers)
      QVERIFY(r.branches == 8 && r.fan_out == 1 && r.parent == -1 && r.protocol == "switch-top1");
    QVERIFY(layout.routers[0].stack == "encoder" && layout.routers[2].stack == "decoder");
    QVERIFY(layout.routers[0].space == layout.routers[1].space && layout.routers[0].space != layout.routers[2].space);
    QCOMPARE(layout.steps.size(), size_t{100});
    QCOMPARE(reader.layout(1).steps.size(), size_t{194});
    const RunLayout imported = SessionReader(copy("import")).layout(1);
    QCOMPARE(imported.routers.size(), size_t{3});
    QVERIFY(imported.routers[2].branches == 4 && imported.routers[2].fan_out == 2 && imported.routers[2].layer == 2);
    QVERIFY(imported.routers[2].branch_bytes == 102 && imported.routers[2].dense_bytes == 7);
  }

  void decisions_loads_transitions_and_labels_are_those_that_were_exported_data() { rows(); }
  void decisions_loads_transitions_and_labels_are_those_that_were_exported() {
    QFETCH(QString, name);
    const std::string path = copy(name.toStdString());
    const SessionReader reader(path);
    const std::string difference = differs(reader, exported_run(name.toStdString()), name.toStdString());
    QVERIFY2(difference.empty(), difference.c_str());
  }

  void one_decision_keeps_its_parts() {
    const SessionReader reader(copy("optimize"));
    const auto d = reader.decision(2, 1, 0);
    QVERIFY(d.has_value());
    QVERIFY(d->branches == 8 && d->cells == 56);
    QCOMPARE(d->choice[14], 2);  // sequence 1, position 0
    QCOMPARE(d->weight[14], 0.9999783F);
    QCOMPARE(d->margin.size(), size_t{56});  // what --record-scores kept
    QCOMPARE(d->offsets.back(), 56);
    const SessionReader trace(copy("import"));
    const auto fetched = trace.decision(1, 0, 0);
    QVERIFY(fetched.has_value());
    QCOMPARE(fetched->choice[1], ~1);  // dropped from branch 1
    QCOMPARE(fetched->residency[0], uint8_t{0});
    QCOMPARE(fetched->residency[1], uint8_t{1});
    const auto last = trace.decision(1, 2, 0);  // the last layer saw the last cell of the prompt alone
    QVERIFY(last.has_value());
    QCOMPARE(last->ancestor, (std::vector<int32_t>{4}));
  }

  void a_cell_s_trail_is_followed() {
    const SessionReader optimized(copy("optimize"));
    const int32_t encoder = optimized.layout(2).routers[0].space;
    const auto path = optimized.cell_path(2, encoder, {1, 1, 2, 0, Phase::forward});
    QCOMPARE(path.size(), size_t{2});
    QVERIFY(path[0].router == 0 && path[0].choice == std::vector<int32_t>{5} &&
            path[0].weight == std::vector<float>{0.99974877F});
    QVERIFY(path[1].router == 1 && path[1].choice == std::vector<int32_t>{2} &&
            path[1].weight == std::vector<float>{0.9998977F});
    const SessionReader generated(copy("generate"));
    const int32_t decoder = generated.layout(1).routers[2].space;
    const auto turn = generated.cell_path(1, decoder, {1, 1, 3, 3, Phase::decode});
    QCOMPARE(turn.size(), size_t{1});
    QVERIFY(turn[0].batch == 4 && turn[0].router == 2 && turn[0].choice == std::vector<int32_t>{3});
    QCOMPARE(turn[0].weight, std::vector<float>{0.9998043F});
    const SessionReader imported(copy("import"));
    const auto trail = imported.cell_path(1, 0, {0, 0, 6, 6, Phase::decode});
    QCOMPARE(trail.size(), size_t{3});
    QCOMPARE(trail[0].choice, (std::vector<int32_t>{2, 3}));
    QCOMPARE(trail[1].choice, (std::vector<int32_t>{0, 1}));
    QCOMPARE(trail[2].choice, (std::vector<int32_t>{2, ~3}));
  }

  void batches_inputs_guards_and_phases_are_kept() {
    const SessionReader reader(copy("optimize"));
    const auto batches = reader.batches(2, {0, 10});
    QCOMPARE(batches.size(), size_t{3});
    QCOMPARE(batches[1].latency_ms, 2.380685);
    QVERIFY(batches[1].first_sequence == 4 && batches[1].sequences == 4 && batches[1].guard_hits == 3 &&
            batches[1].guard_misses == 0);
    const auto guards = reader.guards(2);
    QCOMPARE(guards.size(), size_t{3});
    QVERIFY(guards[1].step == 48 && guards[1].hits == 3 && guards[1].misses == 0);
    QVERIFY(!reader.events(2, 0).empty());
    const auto inputs = reader.inputs(1, {0, 12});
    QCOMPARE(inputs.size(), size_t{12});
    QVERIFY(inputs[1].label == "Greek" && inputs[1].text == "Όλυμπος");
    const auto spaces = reader.spaces(1, 0);
    QCOMPARE(spaces.size(), size_t{2});
    QVERIFY(spaces[0].cells.cells() == 56 && spaces[0].real_cells == 39);
    QVERIFY(spaces[0].tokens.size() == 56 && spaces[0].tokens[0] == 259 && spaces[0].tokens[7] == 1 &&
            spaces[0].tokens[8] == 0);
    QCOMPARE(reader.pieces(std::vector<int32_t>{0, 1, 132}),
             (std::map<int32_t, std::string>{{0, "<pad>"}, {1, "</s>"}, {132, "<0x81>"}}));
    const SessionReader generated(copy("generate"));
    QVERIFY(generated.phases(1) == (std::vector<Phase>{Phase::prefill, Phase::decode}));
    QCOMPARE(generated.run(1).batches, int64_t{10});
  }

  void read_only_media_are_read() {
    const std::string folder = folder_.filePath("media").toStdString();
    for (const char* name : kNames) {
      const std::string path = copy(name, "media");
      QCOMPARE(::chmod(path.c_str(), 0444), 0);
    }
    QCOMPARE(::chmod(folder_.path().toLocal8Bit().constData(), 0755), 0);
    QCOMPARE(::chmod(folder.c_str(), 0555), 0);
    Child child([&](const Child::Send& send) {
      become_nobody();
      std::ofstream probe(folder + "/probe");
      if (probe) send("the folder can be written to");
      for (const char* name : kNames)
        send(std::string(name) + ":" +
             differs(SessionReader(folder + "/" + name + ".storm"), exported_run(name), name));
    });
    for (const char* name : kNames) {
      const std::string line = child.line();
      QVERIFY2(line == std::string(name) + ":", line.c_str());
    }
    child.wait();
    size_t files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++files;
    QCOMPARE(files, kNames.size());
    ::chmod(folder.c_str(), 0755);
  }

  void a_writer_adds_to_one_and_loses_nothing_data() { rows(); }
  void a_writer_adds_to_one_and_loses_nothing() {
    QFETCH(QString, name);
    const std::string path = copy(name.toStdString(), "added");
    const ModelSummary model = SessionReader(path).summary().model;
    const size_t before = SessionReader(path).runs().size();
    {
      SessionWriter writer(path, model);
      auto run = writer.begin_run(some_run());
      record_batches(*run, two_stacks(), 0, 3);
      run->finish(RunStatus::finished);
      run.reset();
      QVERIFY(writer.close());
    }
    const SessionReader reader(path);
    QCOMPARE(reader.runs().size(), before + 1);
    const std::string difference = differs(reader, exported_run(name.toStdString()), name.toStdString());
    QVERIFY2(difference.empty(), difference.c_str());
    QCOMPARE(reader.layout(static_cast<int64_t>(before + 1)), two_stacks());
  }
};

STORMCELL_TEST(Schema2Test)
}  // namespace stormcell
#include "schema2_test.moc"
