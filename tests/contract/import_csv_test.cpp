// route_trace CSV: imported and analysed; what is wrong with a row is said with its line.
#include <algorithm>

#include "core/readings/selected_view.h"
#include "core/readings/session_view.h"
#include "tests/contract/imports.h"

namespace stormcell::testing {

class ContractImportCsvTest : public QObject, private Imports {
  Q_OBJECT
 private slots:
  void a_csv_trace_is_imported_and_analysed() {
    const TraceSize size;
    const std::string session = scratch_.path("csv.storm");
    const Json import = imported(scratch_.write("trace.csv", route_trace(size)), session);
    QCOMPARE(import["schema"].get<std::string>(), std::string("stormcell.import/1"));
    QCOMPARE(import["format"].get<std::string>(), std::string("route-trace"));
    QCOMPARE(import["rows_read"].get<int64_t>(), size.rows());
    QCOMPARE(import["rows_skipped"].get<int64_t>(), int64_t{0});
    QCOMPARE(import["rows_masked"].get<int64_t>(), int64_t{0});
    QCOMPARE(import["model"]["layers"].get<int64_t>(), size.layers);
    QCOMPARE(import["model"]["branches"].get<int64_t>(), size.experts);
    QCOMPARE(import["model"]["k"].get<int64_t>(), size.k);
    QVERIFY((import["lacks"] == Json::array({"homes", "timings"})));

    const Json analysis = analyzed(session);
    QCOMPARE(analysis["schema"].get<std::string>(), std::string("stormcell.analyze/1"));
    QVERIFY((analysis["phases"] == Json::array({"prefill", "decode"})));
    QVERIFY(analysis["lacks"] == import["lacks"]);
    QVERIFY(import["lacks_how"]["homes"].get<std::string>().find("cell.rank") != std::string::npos);
    QVERIFY(analysis["cache"].is_null());
    for (const char* figure :
         {"temporal_lag1", "static_in_sample", "static_from_prompt", "static_held_out", "transition_held_out"})
      QVERIFY2(analysis["predictability"][figure].get<double>() >= 0 &&
                   analysis["predictability"][figure].get<double>() <= 1,
               figure);
    QCOMPARE(analysis["routers"].size(), static_cast<size_t>(size.layers));
    for (int64_t layer = 0; layer < size.layers; ++layer) {
      std::vector<int64_t> load(static_cast<size_t>(size.experts));
      for (int64_t turn = 0; turn < size.turns; ++turn)
        for (int64_t step = layer + 1 == size.layers ? size.prompt - 1 : 0; step < size.prompt + size.steps; ++step)
          for (int64_t slot = 0; slot < size.k; ++slot)
            ++load[static_cast<size_t>(traced_expert(size, turn, step, layer, slot))];
      const Json& router = analysis["routers"][static_cast<size_t>(layer)];
      QCOMPARE(router["load"].get<std::vector<int64_t>>(), load);
      QCOMPARE(router["layer"].get<int64_t>(), layer);
      QVERIFY(router["imbalance"]["max_over_mean_minus_1"].get<double>() >= 0);
      QVERIFY(router["imbalance"]["sglang_balancedness"].get<double>() <= 1);
      for (const char* figure : {"entropy_bits", "gini", "touched"}) QVERIFY2(router[figure].is_number(), figure);
    }
  }

  void a_column_with_nearly_the_name_of_a_missing_one_is_named() {
    std::string text = route_trace();
    const size_t at = text.find(",weight,");
    QVERIFY(at != std::string::npos);
    text.replace(at, 8, ",Weights,");
    const Json import = imported(scratch_.write("weights.csv", text), scratch_.path("weights.storm"));
    QVERIFY2(import["warnings"].dump().find("the column \\\"Weights\\\" is not read: did you mean weight?") !=
                 std::string::npos,
             import["warnings"].dump().c_str());
    const Json& lacks = import["lacks"];
    QVERIFY(std::find(lacks.begin(), lacks.end(), "weights") != lacks.end());
    QCOMPARE(imported(scratch_.write("plain.csv", route_trace()), scratch_.path("plain.storm"))["warnings"].size(),
             size_t{0});
  }

  void what_a_trace_knows_is_kept() {
    const std::string session = scratch_.path("kept.storm");
    imported(scratch_.write("kept.csv", route_trace()), session);
    const SessionReader reader(session);
    const RunSummary run = reader.find_run("kept");
    QCOMPARE(run.kind, std::string("import"));
    QCOMPARE(reader.summary().model.name, std::string("made-up.gguf"));
    QVERIFY(run.dataset.find("/models/made-up.gguf") != std::string::npos);
    const RunLayout layout = reader.layout(run.id);
    QCOMPARE(layout.routers[2].branch_bytes, int64_t{1002});
    QCOMPARE(layout.routers[2].dense_bytes, int64_t{9002});
    QCOMPARE(layout.routers[2].layer, 2);
    const auto prompt = reader.decision(run.id, 1, 0);
    QVERIFY(prompt && prompt->cells == 5);
    QCOMPARE(prompt->weight[0], .625f);
    for (size_t i = 0; i < prompt->residency.size(); ++i) {
      const size_t step = i / 2;
      QCOMPARE(static_cast<size_t>(prompt->residency[i]), (step + 1 + i % 2) % 3);
      QCOMPARE(prompt->bytes_read[i], prompt->residency[i] == 0 && step % 2 == 0 ? int64_t{1001} : int64_t{0});
    }
    const auto last = reader.decision(run.id, 2, 0);
    QVERIFY(last && last->cells == 1 && last->ancestor == std::vector<int32_t>{4});
    const auto path = reader.cell_path(run.id, 0, {0, 1, 12, 12, Phase::decode});
    QCOMPARE(path.size(), size_t{3});
    for (int32_t layer = 0; layer < 3; ++layer)
      QCOMPARE(int64_t{path[static_cast<size_t>(layer)].choice[0]}, traced_expert({}, 1, 12, layer, 0));
  }

  void a_trace_without_what_may_be_missing_says_so() {
    std::string text =
        "# route_trace v1\r\n# n_layer=2 n_expert=4 n_expert_used=1\r\nexpert,slot,layer,step,phase,turn,extra\r\n";
    for (int step = 0; step < 3; ++step)
      for (int layer = 0; layer < 2; ++layer)
        text += std::to_string((step + layer) % 4) + ",0," + std::to_string(layer) + "," + std::to_string(step) +
                ",1,0,x\r\n";
    const Json import = imported(scratch_.write("bare.csv", text), scratch_.path("bare.storm"));
    QVERIFY((import["lacks"] == Json::array({"model", "homes", "weights", "residency", "branch_bytes", "timings"})));
    QCOMPARE(import["rows_read"].get<int>(), 6);
  }

  void a_phase_of_a_trace_is_read_although_it_lacks_values() {
    const std::string session = scratch_.path("phases.storm");
    imported(scratch_.write("phases.csv", route_trace()), session);
    const auto all = read_load_windows(session, 0, {0, -1}, 64);
    const auto prefill = read_phase_windows(session, 0, "prefill", {0, -1}, 64),
               decode = read_phase_windows(session, 0, "decode", {0, -1}, 64);
    QVERIFY(all->routers[0].dropped.empty());  // nothing was dropped, and a trace does not say so
    for (size_t r = 0; r < all->routers.size(); ++r)
      for (size_t i = 0; i < all->routers[r].load.size(); ++i)
        QCOMPARE(prefill->routers[r].load[i] + decode->routers[r].load[i], all->routers[r].load[i]);
  }

  void a_csv_that_is_no_trace() {
    verify_refused(scratch_.write("sales.csv", "day,sum\n1,2\n"),
                   "is a table with the columns \"day\", \"sum\", not a routing trace");
    verify_refused(scratch_.write("sales.csv", "day,sum\n1,2\n"), "line 1", {"--format", "route-trace"});
    verify_refused(scratch_.write("v2.csv", "# route_trace v2\n"), "line 1");
    verify_refused(scratch_.write("noise.bin", std::string("\0\1\2\3\4\5\6\7\x08", 9)),
                   "is not a routing trace of a known format");
  }

  void rows_that_are_wrong_data() {
    QTest::addColumn<QString>("row");
    QTest::addColumn<QString>("words");
    QTest::newRow("a field too few") << "0,0,2,1,0,5,0.625,0"
                                     << ": has 8 fields, the line of names has 9";
    QTest::newRow("a field too many") << "0,0,2,1,0,5,0.625,0,1001,1"
                                      << ": has 10 fields, the line of names has 9";
    QTest::newRow("no number") << "0,0,2,1,0,five,0.625,0,1001"
                               << ", column 6: expert is \"five\", not a whole number";
    QTest::newRow("expert too large") << "0,0,2,1,0,8,0.625,0,1001"
                                      << ": expert 8 is out of range, 0 to 7";
    QTest::newRow("expert negative") << "0,0,2,1,0,-1,0.625,0,1001"
                                     << ": expert -1 is out of range";
    QTest::newRow("layer too large") << "0,0,2,3,0,5,0.625,0,1001"
                                     << ": layer 3 is out of range";
    QTest::newRow("slot too large") << "0,0,2,1,2,5,0.625,0,1001"
                                    << ": slot 2 is out of range";
    QTest::newRow("phase") << "0,2,2,1,0,5,0.625,0,1001"
                           << ": phase 2 is out of range";
    QTest::newRow("residency") << "0,0,2,1,0,5,0.625,3,1001"
                               << ": residency 3 is out of range";
    QTest::newRow("NaN") << "0,0,2,1,0,5,nan,0,1001"
                         << ", column 7: weight is \"nan\", not a finite number";
    QTest::newRow("infinite") << "0,0,2,1,0,5,-inf,0,1001"
                              << ", column 7: weight is \"-inf\", not a finite number";
    QTest::newRow("weight that is not a number") << "0,0,2,1,0,5,much,0,1001"
                                                 << ", column 7: weight is \"much\", not a number";
    QTest::newRow("an expert twice") << "0,0,2,1,0,7,0.625,0,1001"
                                     << ": expert 7 comes twice for step 2 in layer 1";
    QTest::newRow("a second preamble") << "# route_trace v1"
                                       << ": a second preamble";
  }
  void rows_that_are_wrong() {
    QFETCH(QString, row);
    QFETCH(QString, words);
    std::string text = route_trace();
    const size_t at = text.find("\n0,0,2,1,0,") + 1;
    text.replace(at, text.find('\n', at) - at, row.toStdString());
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') +
                      (words.startsWith(": expert 7") ? 2 : 1);
    const std::string place = "line " + std::to_string(line), file = scratch_.write("wrong.csv", text);
    verify_refused(file, place + words.toStdString());
    // A single value may be corrected by hand; to cut the file there would lose all that follows.
    if (words.contains("not a") || words.contains("phase 2"))
      verify_refused(file, words.toStdString() + (words.contains("phase 2") ? ", 0 to 1 are allowed" : "") +
                               " (correct " + place + ")");
  }

  void a_row_twice() {
    std::string text = route_trace();
    const size_t at = text.find("\n1,1,9,2,1,") + 1, end = text.find('\n', at) + 1;
    text.insert(end, text.substr(at, end - at));
    verify_refused(scratch_.write("twice.csv", text), "comes twice");
    // A whole step, long after it.
    std::string late = route_trace();
    late += late.substr(late.find("\n0,1,7,0,0,") + 1, late.find("\n0,1,8,0,0,") - late.find("\n0,1,7,0,0,"));
    verify_refused(scratch_.write("late.csv", late), "step 7 of turn 0 comes again");
  }

  void a_missing_row() {
    std::string text = route_trace();
    const size_t at = text.find("\n1,1,9,1,1,") + 1;
    text.erase(at, text.find('\n', at) + 1 - at);
    verify_refused(scratch_.write("missing.csv", text), "layer 1 of turn 1, step 9 has 1 of 2 choices");
  }
};

STORMCELL_TEST(ContractImportCsvTest)

}  // namespace stormcell::testing

#include "import_csv_test.moc"
