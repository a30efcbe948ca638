// Refusals of patterns and saturation, in one line with file, fault and remedy; and parts left out, which are named.
#include <QTemporaryDir>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/patterns/label_file.h"
#include "core/patterns/pattern_tables.h"
#include "core/patterns/patterns.h"
#include "core/patterns/saturation.h"
#include "tests/core/difference/made_recordings.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Three requests of six tokens that choose by their position at each of three layers.
MadeRecording eighteen_cells() {
  MadeRecording made;
  made.branches = 8;
  for (int32_t r = 0; r < 3; ++r)
    for (int32_t p = 0; p < 6; ++p)
      made.cells.push_back({r, p, 0, p, 1, std::vector<MadeChoice>(3, {{p, (p + 1) % 8}, {.5f, .25f}, {}, .125f})});
  return made;
}

}  // namespace

class PatternRefusalsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }
  std::string made(const char* name, const MadeRecording& recording, const MadeParts& parts = {.tokens = true}) const {
    recording.write(path(name), parts);
    return path(name);
  }
  std::string text_file(const char* name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  static PatternFigures patterns_of(const std::string& recording, const std::string& labels = {}) {
    PatternOptions options;
    options.recordings = {recording}, options.labels = labels, options.fewest_cells = 1;
    return count_patterns(options);
  }

 private slots:
  void what_is_not_recorded_is_said_with_a_remedy() {
    const PatternFigures f =
        patterns_of(made("bare.safetensors", eighteen_cells(), {.weights = false, .margins = false, .tokens = false}));
    QCOMPARE(f.lacks.size(), size_t{3});
    for (const std::string& lack : f.lacks) QVERIFY2(lack.find('(') != std::string::npos, lack.c_str());
    QVERIFY(f.routers[0].margins.empty() && !f.routers[0].vocabulary && f.routers[0].labels.empty());
    QCOMPARE(f.routers[0].cells, int64_t{18});
    const nlohmann::json json = nlohmann::json::parse(to_json(f));
    QVERIFY(json["schema"] == "stormcell.patterns/1" && json["routers"][0]["margins"]["cut"].is_null() &&
            json["routers"][0]["vocabulary"].is_null());
  }

  void a_layer_that_is_not_there_is_refused_data() {
    QTest::addColumn<QString>("pairs");
    QTest::addColumn<QString>("fault");
    QTest::newRow("no layer") << "0-9"
                              << "has no layer 9";
    QTest::newRow("no pair") << "7"
                             << "is no pair of layers";
    QTest::newRow("backwards") << "2-1"
                               << "does not lead to a later layer";
    QTest::newRow("half a pair") << "0-1,2-"
                                 << "is no pair of layers";
    QTest::newRow("negative") << "-1-2"
                              << "is no pair of layers";
  }
  void a_layer_that_is_not_there_is_refused() {
    QFETCH(QString, pairs);
    QFETCH(QString, fault);
    const std::string recording = made("layers.safetensors", eighteen_cells());
    const std::string said = complaint([&] {
      PatternOptions options;
      options.recordings = {recording};
      options.layer_pairs = parse_layer_pairs(pairs.toStdString());
      count_patterns(options);
    });
    QVERIFY2(said.starts_with("--layers: ") && said.find(fault.toStdString()) != std::string::npos, said.c_str());
  }

  void margins_are_numbers_above_0_that_ascend() {
    QCOMPARE(parse_margins("0.01,0.5"), (std::vector<double>{.01, .5}));
    for (const char* text : {"", "0", "-1", "0.1,0.1", "nan", "1e999", "0.1;0.2", "1,2,3,4,5,6,7,8,9"})
      QVERIFY2(complaint([&] { parse_margins(text); }).starts_with("--below: "), text);
  }

  void labels_of_a_file_are_those_of_requests() {
    const std::string recording = made("labelled.safetensors", eighteen_cells());
    const PatternFigures f = patterns_of(recording, text_file("l.csv", "request;label\n0;\"a, b\"\n2;c\n7;c\n"));
    QCOMPARE(f.label_names, (std::vector<std::string>{"a, b", "c"}));
    QCOMPARE(f.cells_without_label, int64_t{6});
    QCOMPARE(f.routers[0].labels[0].cells, int64_t{6});
    // Both labels choose alike: the label tells nothing.
    QVERIFY(std::abs(*f.routers[0].label_bits) < 1e-12);
  }

  void a_wrong_file_of_labels_is_refused_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("fault");
    QTest::newRow("empty") << ""
                           << "holds no row";
    QTest::newRow("no rows") << "request,label\n"
                             << "holds no label";
    QTest::newRow("other columns") << "item,class\n1,a\n"
                                   << "request";
    QTest::newRow("no number") << "request,label\nfirst,a\n"
                               << "line 2";
    QTest::newRow("negative") << "request,label\n-1,a\n"
                              << "line 2";
    QTest::newRow("no label") << "request,label\n1,\n"
                              << "line 2";
    QTest::newRow("two labels") << "request,label\n1,a\n1,b\n"
                                << "has the label \"a\" already";
    QTest::newRow("other requests") << "request,label\n100,a\n"
                                    << "names no request of";
  }
  void a_wrong_file_of_labels_is_refused() {
    QFETCH(QString, text);
    QFETCH(QString, fault);
    const std::string recording = made("for labels.safetensors", eighteen_cells());
    const std::string file = text_file("wrong.csv", text.toStdString());
    const std::string said = complaint([&] { patterns_of(recording, file); });
    QVERIFY2(said.starts_with(file) && said.find(fault.toStdString()) != std::string::npos, said.c_str());
    QVERIFY2(said.find('\n') == std::string::npos, said.c_str());
  }

  void several_recordings_are_labels_of_one_model() {
    MadeRecording other = eighteen_cells();
    for (auto& cell : other.cells)
      for (MadeChoice& c : cell.layers) c.ids = {7, 6};
    const std::string a = made("one.safetensors", eighteen_cells()), b = made("two.safetensors", other);
    PatternOptions options;
    options.recordings = {a, "sevens=" + b};
    const PatternFigures f = count_patterns(options);
    QCOMPARE(f.label_names, (std::vector<std::string>{"one", "sevens"}));
    QCOMPARE(f.routers[0].labels[1].load, (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 18, 18}));
    QVERIFY(f.routers[0].labels[1].beyond);
    options.recordings = {a, "one=" + b};
    QVERIFY(complaint([&] { count_patterns(options); }).find("two recordings have the name") != std::string::npos);
    MadeRecording wider = eighteen_cells();
    wider.branches = 16;
    options.recordings = {a, made("wider.safetensors", wider)};
    QVERIFY(complaint([&] { count_patterns(options); }).find("of another model") != std::string::npos);
  }

  void tables_have_a_line_of_origin_and_a_line_of_names() {
    const PatternFigures f = patterns_of(made("tables.safetensors", eighteen_cells()));
    const std::string folder = path("tables");
    make_table_folder(folder);
    const std::vector<std::string> written = write_pattern_tables(f, folder);
    QCOMPARE(written, (std::vector<std::string>{"layers.csv", "margins.csv", "coactivation.csv", "transitions.csv",
                                                "vocabulary.csv"}));
    for (const std::string& name : written) {
      std::ifstream file(folder + "/" + name);
      std::string origin, columns, row;
      QVERIFY(std::getline(file, origin) && std::getline(file, columns) && std::getline(file, row));
      QVERIFY2(origin.starts_with("# stormcell ") && origin.find("tables.safetensors") != std::string::npos,
               origin.c_str());
      QCOMPARE(std::count(row.begin(), row.end(), ','), std::count(columns.begin(), columns.end(), ','));
    }
    QVERIFY(complaint([&] { make_table_folder(text_file("a file", "x")); }).find("is a file") != std::string::npos);
  }

  void checkpoints_that_do_not_hold_the_same_cells_are_refused_data() {
    QTest::addColumn<int>("change");
    QTest::addColumn<QString>("fault");
    QTest::newRow("another token") << 0 << "has token 77";
    QTest::newRow("another order") << 1 << "cells are compared in their order";
    QTest::newRow("cut") << 2 << "ends before";
    QTest::newRow("more cells") << 3 << "ends before";
    QTest::newRow("another model") << 4 << "of another model";
  }
  void checkpoints_that_do_not_hold_the_same_cells_are_refused() {
    QFETCH(int, change);
    QFETCH(QString, fault);
    MadeRecording other = eighteen_cells();
    if (change == 0) other.cells[4].token = 77;
    if (change == 1) std::swap(other.cells[4], other.cells[12]);
    if (change == 2) other.cells.pop_back();
    if (change == 3) other.cells.push_back(other.cells[0]), other.cells.back().request = 9;
    if (change == 4) other.branches = 32;
    const std::string a = made("earlier.safetensors", other), b = made("last.safetensors", eighteen_cells());
    const std::string said = complaint([&] { saturation_of({{a, b}}); });
    QVERIFY2(said.find(fault.toStdString()) != std::string::npos && said.find('\n') == std::string::npos, said.c_str());
  }

  void one_checkpoint_is_none() {
    const std::string a = made("alone.safetensors", eighteen_cells());
    QVERIFY(complaint([&] { saturation_of({{a}}); }).find("fewer than two") != std::string::npos);
    QVERIFY(complaint([&] { saturation_of({{a, a}}); }).find("two recordings have the name") != std::string::npos);
    const SaturationFigures same = saturation_of({{"x=" + a, "y=" + a}});
    QCOMPARE(*same.all[0].share, 1.0);
    QCOMPARE(*same.routers[2].points[0].first_share, 1.0);
    const std::string table = saturation_table_text(same);
    QCOMPARE(std::count(table.begin(), table.end(), '\n'), std::ptrdiff_t{2 + 3});
    QVERIFY(nlohmann::json::parse(to_json(same))["schema"] == "stormcell.saturation/1");
  }

  void a_recording_that_is_no_recording_is_refused() {
    const std::string none = path("none.safetensors"), text = text_file("text.csv", "hello\n");
    QVERIFY(complaint([&] { patterns_of(none); }).starts_with(none));
    QVERIFY(complaint([&] { patterns_of(text); }).starts_with(text));
    QVERIFY(complaint([&] { saturation_of({{text, none}}); }).starts_with(text));
  }
};

STORMCELL_TEST(PatternRefusalsTest)

}  // namespace stormcell::testing

#include "pattern_refusals_test.moc"
