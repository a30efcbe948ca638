// patterns and saturation as their users have them: sessions and traces, text, JSON, tables, refusals; compare of several
// runs.
#include <algorithm>
#include <filesystem>

#include "core/exports/text_output.h"
#include "tests/contract/imports.h"

namespace stormcell::testing {

class ContractPatternsTest : public QObject, private Imports {
  Q_OBJECT
  std::string csv_, session_;

 private slots:
  void initTestCase() {
    csv_ = scratch_.write("trace.csv", route_trace()), session_ = scratch_.path("S.storm");
    imported(csv_, session_);
  }

  void a_session_and_its_trace_have_the_same_figures() {
    const Json of_trace = json_of({"patterns", csv_, "--json", "-"}),
               of_session = json_of({"patterns", session_ + "#1", "--json", "-"});
    QVERIFY(of_trace["schema"] == "stormcell.patterns/1" && of_trace["routers"].size() == 3);
    for (size_t r = 0; r < 3; ++r)
      for (const char* key : {"cells", "load", "gini", "entropy_bits", "imbalance", "chance", "coactivation"})
        QVERIFY2(of_trace["routers"][r][key] == of_session["routers"][r][key], key);
    QVERIFY(of_trace["transitions"] == of_session["transitions"]);
    // Loads are those of analyze.
    const Json analysis = analyzed(session_);
    for (size_t r = 0; r < 3; ++r) QVERIFY(analysis["routers"][r]["load_real"] == of_trace["routers"][r]["load"]);
  }

  void transitions_may_skip_layers() {
    const Json json = json_of({"patterns", session_, "--layers", "0-2", "--json", "-"});
    QCOMPARE(json["transitions"].size(), size_t{1});
    QVERIFY(json["transitions"][0]["router"] == json["routers"][0]["router"] &&
            json["transitions"][0]["next"] == json["routers"][2]["router"]);
    const int64_t pairs = json["transitions"][0]["pairs"], equal = json["transitions"][0]["pairs_of_equal_rank"];
    QCOMPARE(pairs, 2 * equal);  // of two choices
  }

  void labels_may_come_from_a_file() {
    const std::string labels = scratch_.write("labels.csv", "request,label\n0,code\n1,news\n");
    const Json json = json_of({"patterns", session_, "--labels", labels, "--json", "-"});
    QVERIFY(json["labels"] == Json({"code", "news"}) && json["cells_without_label"] == 0);
    const Json& rows = json["routers"][0]["labels"];
    QCOMPARE(rows.size(), size_t{2});
    QVERIFY(rows[0]["cells"].get<int64_t>() + rows[1]["cells"].get<int64_t>() == json["routers"][0]["cells"]);
    QVERIFY(json["routers"][0]["uniform"] == .25 && !json["routers"][0]["label_bits_chance"].is_null());
  }

  void tables_are_written_into_a_folder() {
    const std::string folder = scratch_.path("figures");
    const Ended ended = run_program({"patterns", session_, "--tables", folder});
    QVERIFY2(ended.exit == 0 && ended.out.find("The tables are in " + folder) != std::string::npos, ended.out.c_str());
    for (const char* name : {"layers.csv", "margins.csv", "coactivation.csv", "transitions.csv"}) {
      const std::string text = read_text(folder + "/" + name);
      QVERIFY2(text.starts_with("# stormcell ") && text.find("; session ") != std::string::npos, text.c_str());
    }
  }

  void a_recording_is_saturated_with_itself() {
    const std::string table = scratch_.path("saturation.csv");
    const Arguments arguments = {"saturation", "early=" + csv_, "late=" + session_, "--table", table, "--json", "-"};
    const Json json = json_of(arguments);
    QVERIFY(json["schema"] == "stormcell.saturation/1" && json["all"][0]["share"] == 1);
    QVERIFY(json["checkpoints"][0]["name"] == "early" && json["checkpoints"].size() == 2);
    QVERIFY(json["routers"][1]["points"][0]["chance"]["middle"] == .25);
    const std::string rows = read_text(table);
    QCOMPARE(std::count(rows.begin(), rows.end(), '\n'), std::ptrdiff_t{2 + 3});
    const Ended page = run_program({"saturation", "early=" + csv_, "late=" + session_});
    QVERIFY2(page.out.starts_with("Of the choices of late, early makes 100 %"), page.out.c_str());
  }

  void pages_of_both_verbs_name_the_command_that_made_them() {
    const std::string page = scratch_.path("patterns.html"), shares = scratch_.path("saturation.html");
    const Ended made = run_program({"patterns", session_, "--layers", "0-2", "--report", page});
    QVERIFY2(made.exit == 0 && made.out.find("report  " + page) != std::string::npos, made.out.c_str());
    const std::string html = read_text(page);
    QVERIFY(html.starts_with("<!DOCTYPE html>") && html.find("--layers 0-2</code>") != std::string::npos);
    for (const char* id : {"\"layers\"", "\"transitions\"", "\"coactivation\""})
      QVERIFY2(html.find("<section id=" + std::string(id)) != std::string::npos, id);
    const Ended compared = run_program({"saturation", "early=" + csv_, "late=" + session_, "--report", shares});
    QVERIFY2(compared.exit == 0, compared.err.c_str());
    QVERIFY(read_text(shares).find("Saturation towards late") != std::string::npos);
    const Ended printed = run_program({"patterns", session_, "--report", "-"});
    QVERIFY2(printed.exit == 0 && printed.out.starts_with("<!DOCTYPE html>"), printed.out.c_str());
  }

  void what_cannot_be_done_is_refused_in_one_line_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("where");
    QTest::addColumn<QString>("fault");
    QTest::newRow("no file") << QStringList{"patterns", "nothing.csv"} << "nothing.csv"
                             << "";
    QTest::newRow("no layer") << QStringList{"patterns", "S", "--layers", "0-7"} << "--layers"
                              << "has no layer 7";
    QTest::newRow("gap and layers") << QStringList{"patterns", "S", "--layers", "0-1", "--gap", "2"} << "--gap"
                                    << "without --layers";
    QTest::newRow("no gap") << QStringList{"patterns", "S", "--gap", "0"} << "--gap"
                            << "";
    QTest::newRow("no margin") << QStringList{"patterns", "S", "--below", "x"} << "--below"
                               << "no number";
    QTest::newRow("a file for tables") << QStringList{"patterns", "S", "--tables", "S"} << "S"
                                       << "is a file";
    QTest::newRow("two on standard output")
        << QStringList{"patterns", "S", "--report", "-", "--json", "-"} << "--report"
        << "taken already";
    QTest::newRow("table and page") << QStringList{"saturation", "S", "S", "--report", "-", "--table", "-"} << "--table"
                                    << "taken by --report";
    QTest::newRow("one checkpoint") << QStringList{"saturation", "S"} << "RECORDING"
                                    << "fewer than two";
    QTest::newRow("twice") << QStringList{"saturation", "S", "S"} << "S"
                           << "two recordings have the name";
  }
  void what_cannot_be_done_is_refused_in_one_line() {
    QFETCH(QStringList, words);
    QFETCH(QString, where);
    QFETCH(QString, fault);
    Arguments arguments;
    for (const QString& word : words) arguments.push_back(word == "S" ? session_ : word.toStdString());
    VERIFY_REFUSED(arguments, where == "S" ? session_ : where.toStdString(), fault.toStdString());
  }

  void a_recording_that_is_cut_is_refused_beside_a_whole_one() {
    const std::string text = route_trace();
    const std::string cut = scratch_.write("cut.csv", text.substr(0, text.rfind('\n', text.size() / 2) + 1));
    VERIFY_REFUSED((Arguments{"saturation", cut, csv_}), cut, "");
  }

  void a_condition_may_hold_for_any_run_behind_the_first() {
    const std::string other = scratch_.path("other.storm"), third = scratch_.path("third.storm");
    imported(csv_, other), imported(csv_, third);
    const std::string figure = "rows_read";
    const Arguments fine = {"compare", session_, other, third, "--fail-if", figure + ">2*a"};
    VERIFY_DONE(run_program(fine), fine);
    const Ended failed = run_program({"compare", session_, other, third, "--fail-if", figure + ">0.5*a"});
    QCOMPARE(failed.exit, 1);
    QVERIFY2(failed.err.find(other) != std::string::npos && failed.err.find(third) != std::string::npos,
             failed.err.c_str());
    const Json json = json_of({"compare", session_, other, third, "--json", "-"});
    QVERIFY(json["runs"].size() == 2 && json["b"] == other && json["runs"][1]["run"] == third);
  }
};

STORMCELL_TEST(ContractPatternsTest)

}  // namespace stormcell::testing

#include "patterns_test.moc"
