// Times over rows, from a table or from a recorded run: what experts of a step cost by them, and other numbers of rows
// predicted.
#include <cmath>
#include <utility>

#include "core/formats/file_text.h"
#include "tests/contract/imports.h"

namespace stormcell::testing {

class ContractCalibrateRowsTest : public QObject, private Imports {
  Q_OBJECT

  /// As somebody would measure them: two products of a plain expert, 12 us for the weights and beyond 24 rows half a
  /// microsecond a row.
  static std::string rows_of(double factor = 1, const char* gpu = "H100") {
    std::string text = "id,op,gpu,dtype,inputs,outputs,experts,rows,us,source\n";
    int id = 0;
    for (const char* shape : {"64,32", "32,64"})
      for (const int rows : {1, 8, 24, 64, 256})
        text += "p" + std::to_string(id++) + ",product," + gpu + ",bf16," + shape + ",," + std::to_string(rows) + "," +
                QString::number(factor * std::max(12., 0.5 * rows), 'g', 17).toStdString() + ",my desk\n";
    return text;
  }

 private slots:
  void times_over_rows_cost_the_experts_of_a_step() {
    const std::string session = scratch_.path("rows.storm"), cal = scratch_.path("rows.json"),
                      slow = scratch_.path("slow.json");
    imported(scratch_.write("rows-trace.csv", route_trace()), session);
    const Json j = json_of({"calibrate", scratch_.write("rows.csv", rows_of()), "-o", cal, "--json", "-"});
    QVERIFY2(j["calls"] == 10 && j["fits"].empty() && j["curves"].size() == 2 && j["warnings"].empty(),
             j.dump().c_str());
    const Json& curve = j["curves"][0];
    QVERIFY2(curve["what"] == "product bf16" && curve["gpu"] == "H100" && curve["inputs"] == 64 &&
                 curve["outputs"] == 32 && curve["experts"] == 1 && curve["points"].size() == 5 &&
                 curve["points"][4] == Json({{"rows", 256.}, {"us", 128.}}),
             curve.dump().c_str());
    json_of({"calibrate", scratch_.write("slow.csv", rows_of(1.3)), "-o", slow, "--json", "-"});
    const auto simulated = [&](const std::string& with, const char* tokens) {
      Arguments all = {"simulate", session,   "--cluster", four_gpus(),         "--hidden", "64",     "--ffn",
                       "32",       "--dtype", "bf16",      "--tokens-per-step", tokens,     "--json", "-"};
      if (!with.empty()) all.insert(all.end(), {"--calibration", with});
      return json_of(all);
    };
    const auto compute_ms = [](const Json& s) {
      double all = 0;
      for (const Json& layer : s["layers"]) all += layer["compute_ms"].get<double>();
      return all;
    };
    // Few rows, and more than 64 an expert: both the curve's, to the ends of what was measured.
    for (const char* tokens : {"16", "400"}) {
      const Json sheets = simulated("", tokens), fast = simulated(cal, tokens), slower = simulated(slow, tokens);
      const Json& p = fast["calibration"]["phases"][1];
      QVERIFY2(p["kind"] == "interpolated" || p["kind"] == "extrapolated", p.dump().c_str());
      QVERIFY2(p["like"] == "product bf16 of H100" && p["rate"].is_null() && p["rows"]["measured"] == Json({1., 256.}),
               p.dump().c_str());
      QVERIFY(p["held_out_error"].is_number() && !p["from"].empty() && p["why_not"].is_null());
      QVERIFY2(compute_ms(fast) > 2 * compute_ms(sheets), fast["layers"].dump().c_str());
      QVERIFY(std::abs(compute_ms(slower) / (1.3 * compute_ms(fast)) - 1) < 1e-9);
      QVERIFY(fast["calibrated"]["share"].get<double>() > 0.5 && fast["calibrated"]["kind"] == p["kind"]);
      bool told = false;
      for (const Json& s : fast["sensitivity"]) {
        told = told || s["figure"] == "time of an expert";
        QVERIFY(s["figure"] != "memory bandwidth" && s["figure"] != "operations a second");
      }
      QVERIFY(told);
    }
    const Json far = simulated(cal, "4000")["calibration"]["phases"][1];
    QVERIFY2(far["kind"].is_null() &&
                 far["why_not"].get<std::string>().find("and the measured calls cover 1 to 512") != std::string::npos,
             far.dump().c_str());
    // Two weights of rows of their own that took twice what the curve makes of them: the phase costs the same, and is
    // so much less sure.
    const std::string off = scratch_.path("off.json");
    const std::string twice =
        "id,op,gpu,dtype,inputs,outputs,rows_each,us,source\ng,grouped,H100,bf16,64,32,8 64,88,my desk\n";
    json_of({"calibrate", cal, scratch_.write("off.csv", twice), "-o", off, "--json", "-"});
    const Json sure = simulated(cal, "16"), unsure = simulated(off, "16");
    QCOMPARE(compute_ms(unsure), compute_ms(sure));
    const double held_out = unsure["calibration"]["phases"][1]["held_out_error"].get<double>();
    QVERIFY2(std::abs(held_out + 0.5) < 1e-9, unsure["calibration"]["phases"][1].dump().c_str());
    // A search goes by it, too.
    const Json placed = json_of({"place",         session, "--cluster", four_gpus(), "--hidden",          "64",
                                 "--ffn",         "32",    "--dtype",   "bf16",      "--tokens-per-step", "16",
                                 "--calibration", cal,     "--solver",  "joint",     "--time-limit",      "1",
                                 "--json",        "-"});
    QVERIFY(placed["calibration"]["phases"][1]["rows"].is_object());
  }

  void a_table_over_rows_is_checked_row_by_row() {
    std::string kept, asked;
    for (const QString& line : QString::fromStdString(rows_of()).split('\n', Qt::SkipEmptyParts)) {
      const std::string text = line.toStdString() + "\n";
      const bool names = kept.empty(), out = line.startsWith("p2,");
      if (names || !out) kept += text;
      if (names || out) asked += text;
    }
    asked += "far,product,H100,bf16,64,32,,600,300,my desk\nother,product,H100,bf16,64,48,,8,12,my desk\n";
    const Json c = json_of({"calibrate", scratch_.write("kept-rows.csv", kept), "--check",
                            scratch_.write("asked-rows.csv", asked), "--json", "-"})["check"];
    // 24 rows between 8 (12 us) and 64 (32 us).
    const double at = 12 + 20. * (24 - 8) / (64 - 8);
    QVERIFY2(c[0]["kind"] == "interpolated" && std::abs(c[0]["predicted"].get<double>() - at) < 1e-9,
             c[0].dump().c_str());
    QVERIFY(c[0]["from"] == Json({"p1", "p3"}) && std::abs(c[0]["error"].get<double>() - (at / 12 - 1)) < 1e-9);
    QVERIFY(c[1]["kind"].is_null() && c[1]["why_not"] == "too far from the rows that were measured");
    QVERIFY(c[2]["kind"].is_null() && c[2]["why_not"] == "no such call of this GPU was measured");
  }

  void grouped_products_are_checked_and_refused() {
    const std::string names = "id,op,gpu,dtype,inputs,outputs,experts,rows,rows_each,us\n",
                      cal = scratch_.path("grouped.json");
    const std::string rows = scratch_.write("like-rows.csv", rows_of());
    const auto grouped = [&](const std::string& line) { return scratch_.write("grouped.csv", names + line + "\n"); };
    const auto checked = [&](const std::string& file, const std::string& line) {
      return Json(json_of({"calibrate", file, "--check", grouped(line), "--json", "-"})["check"][0]);
    };
    const Json c = checked(rows, "g,grouped,H100,bf16,64,32,4,323,256 2x1 65,80");
    // 256 rows 128 us, 1 row 12 us, 65 half a microsecond more than 64.
    const double sum = 128 + 2 * 12 + 32.5;
    QVERIFY2(c["op"] == "grouped" && c["kind"] == "interpolated" && std::abs(c["predicted"].get<double>() - sum) < 1e-9,
             c.dump().c_str());
    QVERIFY(std::abs(c["error"].get<double>() - (sum / 80 - 1)) < 1e-9);
    json_of({"calibrate", grouped("g,grouped,H100,bf16,64,32,,,1 65 256 1,80"), "-o", cal, "--json", "-"});
    const Json written = Json::parse(read_file_text(cal, 1 << 20))["calls"][0];
    QVERIFY2(written["rows_each"] == "256 65 2x1" && written["experts"] == 4 && written["rows"] == 323,
             written.dump().c_str());
    const Json again = checked(cal, "g,grouped,H100,bf16,64,32,,,65 256 2x1,80");
    QVERIFY2(again["kind"] == "measured" && again["error"] == 0., again.dump().c_str());
    for (const auto& [line, words] :
         {std::pair{"g,grouped,H100,bf16,64,32,4,,,80", "line 2: rows_each is \"\", no rows of each weight"},
          {"g,grouped,H100,bf16,64,32,,,3x0,80", "no rows of each weight"},
          {"g,grouped,H100,bf16,64,32,,,3;4,80", "rows_each is \"3;4\", no rows of each weight"},
          {"g,grouped,H100,bf16,64,32,3,,3 4,80", "experts is 3, and rows_each has 2"},
          {"g,grouped,H100,bf16,64,32,,8,3 4,80", "rows is 8, and rows_each has 7"},
          {"g,grouped,H100,,64,32,,,3 4,80", "dtype is missing for op \"grouped\""},
          {"g,grouped,H100,bf16,64,,,,3 4,80", "outputs is missing or too small"},
          {"g,product,H100,bf16,64,32,,3,3 4,80", "rows_each belongs to op \"grouped\""}}) {
      const std::string file = grouped(line);
      VERIFY_REFUSED((Arguments{"calibrate", file, "-o", cal}), file, words);
    }
  }

  void rows_of_a_table_that_are_wrong_are_refused_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("words");
    const char* const row = "bf16,64,32,,8,12,";
    QTest::newRow("no rows") << row << "bf16,64,32,,,12,"
                             << "line 3: rows is missing or too small for op \"product\"";
    QTest::newRow("half a row") << row << "bf16,64,32,,8.5,12,"
                                << "line 3, column 8: rows is \"8.5\", not a whole number";
    QTest::newRow("negative") << row << "bf16,64,32,,8,-12,"
                              << "line 3, column 9: us is not a number from 0";
    QTest::newRow("no time") << row << "bf16,64,32,,8,0,"
                             << "line 3: us is not a time above 0";
    QTest::newRow("no weight") << row << "bf16,0,32,,8,12,"
                               << "line 3: inputs is missing or too small";
    QTest::newRow("no experts") << row << "bf16,64,32,0,8,12,"
                                << "line 3: experts is missing or too small";
    QTest::newRow("no format") << row << ",64,32,,8,12,"
                               << "line 3: dtype is missing for op \"product\"";
    QTest::newRow("a word") << row << "bf16,64,wide,,8,12,"
                            << "line 3, column 6: outputs is \"wide\", not a whole number";
  }
  void rows_of_a_table_that_are_wrong_are_refused() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, words);
    const QString good = QString::fromStdString(rows_of()), text = QString(good).replace(from, to);
    QVERIFY(text != good);
    const std::string file = scratch_.write("wrong-rows.csv", text.toStdString());
    VERIFY_REFUSED((Arguments{"calibrate", file, "-o", scratch_.path("wrong-rows.json")}), file, words.toStdString());
  }

  // A recording made here becomes a curve; its times are whatever they are.
  void a_recorded_run_says_the_times_of_its_products() {
    const std::string session = scratch_.path("ran.storm"), cal = scratch_.path("ran.json");
    json_of(short_run("profile", "demo:switch-names", "demo:switch-names-sample",
                      {"--verify-seconds", "0", "-o", session, "--json", "-", "--quiet"}));
    // The session says how wide its experts are; half as wide, the plan's operations would fit too.
    VERIFY_REFUSED((Arguments{"calibrate", session, "--hidden", "128", "--ffn", "128", "-o", cal}), session,
                   "was recorded with 256 for --ffn");
    const Json j = json_of({"calibrate", session, "-o", cal, "--json", "-"});
    QVERIFY2(j["curves"].size() == 2 && j["curves"][0]["inputs"] == 128 && j["curves"][0]["outputs"] == 256 &&
                 j["curves"][1]["inputs"] == 256 && j["curves"][1]["outputs"] == 128,
             j.dump().c_str());
    const std::string what = j["curves"][0]["what"];
    QVERIFY2(what.starts_with("product ") && what.find("thread") != std::string::npos && what.ends_with(" bf16"),
             what.c_str());
    const std::string written = read_file_text(cal, 1 << 20), device = j["curves"][0]["gpu"];
    QVERIFY(written.find("median of ") != std::string::npos && !device.empty());
    const Json same = json_of({"calibrate", cal, "--check", session, "--json", "-"});
    QVERIFY2(same["errors"].size() == 1 && same["errors"][0]["kind"] == "measured" && same["errors"][0]["worst"] == 0.,
             same["errors"].dump().c_str());
    const std::string cluster = scratch_.write(
        "here.json",
        Json({{"schema", "stormcell.cluster/1"},
              {"nodes", 1},
              {"gpus_per_node", 4},
              {"gpu", {{"name", device}, {"memory_bytes", 8e10}, {"memory_bytes_per_s", 3e10}, {"flops_per_s", 4e11}}},
              {"fabric", {{"bytes_per_s", 1e10}}}})
            .dump());
    const Json p = json_of(
        {"simulate", session, "--cluster", cluster, "--calibration", cal, "--json", "-"})["calibration"]["phases"][1];
    QVERIFY2(p["kind"].is_string()
                 ? p["rows"].is_object()
                 : p["why_not"].get<std::string>().find("the measured calls cover") != std::string::npos,
             p.dump().c_str());
  }

  void a_session_that_has_no_times_says_how_to_record_them() {
    const std::string session = scratch_.path("imported.storm");
    imported(scratch_.write("no-times.csv", route_trace()), session);
    VERIFY_REFUSED(
        (Arguments{"calibrate", session, "--hidden", "64", "--ffn", "32", "-o", scratch_.path("none.json")}), session,
        "keeps no times of single experts' products (record one: stormcell profile MODEL --data D -o S.storm)");
    VERIFY_REFUSED((Arguments{"calibrate", scratch_.path("missing.storm"), "-o", scratch_.path("none.json")}),
                   scratch_.path("missing.storm"), "");
  }

  // The curve between every other number of rows that an H200 measured, at the others.
  void products_of_a_card_are_predicted() {
    const std::string all = read_file_text(source_folder() + "/docs/benchmarks/h200-rows.csv", 1 << 20);
    std::string kept, asked;
    for (const QString& line : QString::fromStdString(all).split('\n', Qt::SkipEmptyParts)) {
      const std::string text = line.toStdString() + "\n";
      const int rows = line.section(',', 6, 6).toInt();  // 0: no call
      const bool out = rows == 8 || rows == 32 || rows == 128 || rows == 512;
      if (rows == 0 || !out) kept += text;
      if (rows == 0 || out) asked += text;
    }
    const Json j = json_of({"calibrate", scratch_.write("kept-rows.csv", kept), "--check",
                            scratch_.write("asked-rows.csv", asked), "--json", "-"});
    QCOMPARE(j["check"].size(), size_t{16});
    double sum = 0, most = 0;
    for (const Json& c : j["check"]) {
      QVERIFY2(c["kind"] == "interpolated", c.dump().c_str());
      sum += std::abs(c["error"].get<double>()), most = std::max(most, std::abs(c["error"].get<double>()));
    }
    QVERIFY2(sum / 16 <= 0.03 && most <= 0.13, j["check"].dump().c_str());
  }
};

STORMCELL_TEST(ContractCalibrateRowsTest)

}  // namespace stormcell::testing

#include "calibrate_rows_test.moc"
