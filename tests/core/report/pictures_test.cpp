// Pages with pictures of the inputs and with the graph of routers: what they show, that they say it in words, and that
// they stay small.
#include <QRegularExpression>

#include "core/formats/base64.h"
#include "core/profile/recorder.h"
#include "core/readings/patch_regions.h"
#include "core/readings/router_graph.h"
#include "core/report/picture_uri.h"
#include "core/report/report.h"
#include "core/report/routed_pictures.h"
#include "core/session/session_writer.h"
#include "core/summary/summary_json.h"
#include "tests/core/report/report_pages.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

using namespace testing;

Thumbnail some_picture(int64_t height, int64_t width, int64_t channels, int64_t seed = 0) {
  Thumbnail t{{height, width}, channels, {}};
  for (int64_t i = 0; i < height * width * channels; ++i)
    t.pixels.push_back(static_cast<uint8_t>((i * 7 + seed * 31) % 256));
  return t;
}

uint32_t number_at(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

/// Returns what a PNG of stored blocks says, without the checksums' help.
Thumbnail decoded(const std::string& uri) {
  const std::string begin = "data:image/png;base64,";
  const std::string png = *decode_base64(std::string_view(uri).substr(begin.size()));
  Thumbnail t{{number_at(png, 20), number_at(png, 16)}, png[25] == 0 ? 1 : 3, {}};
  std::string rows;
  for (size_t at = 41 + 2;
       ;) {  // behind the header's chunk, the name of the data's and the two bytes with which zlib begins
    const auto size = static_cast<size_t>(static_cast<uint8_t>(png[at + 1]) | static_cast<uint8_t>(png[at + 2]) << 8);
    rows += png.substr(at + 5, size);
    if (png[at] == 1) break;
    at += 5 + size;
  }
  const auto width = static_cast<size_t>(t.size.width * t.channels);
  for (size_t y = 0; y < static_cast<size_t>(t.size.height); ++y)
    for (size_t x = 0; x < width; ++x) t.pixels.push_back(static_cast<uint8_t>(rows[y * (width + 1) + 1 + x]));
  return t;
}

struct Fixture {
  std::string protocol = "top-k";
  int32_t routers = 1, columns = 0, per_item = 1;
  bool decisions = true;
  int64_t items = 40;
  Thumbnail picture = some_picture(24, 32, 3);
  int32_t every = 2;  ///< of so many items one's picture is kept
  std::optional<QualityFigures> quality = {};
};

/// The first router of a chain sends item i's patch p to branch (i + p) % 2; the next stands in branch 1, and so on.
std::string make(const std::string& path, const Fixture& f) {
  RunLayout layout;
  layout.spaces = {"picture"};
  for (int32_t r = 0; r < f.routers; ++r) {
    layout.routers.push_back(
        {"exits." + std::to_string(r) + ".router", 2, 1, f.protocol, 0, "picture", r - 1, r > 0 ? 1 : -1});
    if (r > 0) layout.edges.push_back({r - 1, r, {1}});
  }
  SessionWriter writer(path, some_model());
  RunStart start = some_run("pictures", layout);
  start.inputs = true, start.decisions = f.decisions;
  auto run = writer.begin_run(start);
  Recorder recorder({run.get()});
  for (int64_t item = 0; item < f.items; ++item) {
    BatchRecord& batch = recorder.begin_batch();
    batch.number = item;
    batch.add_space(0, {item, 1, f.per_item, 0, Phase::forward, f.columns});
    std::vector<int32_t> choice, rows;
    for (int32_t p = 0; p < f.per_item; ++p) choice.push_back(static_cast<int32_t>((item + p) % 2)), rows.push_back(p);
    const std::vector<float> ones(static_cast<size_t>(f.per_item), 1);
    for (int32_t r = 0; r < f.routers; ++r) {
      const std::span weight = std::span(ones).first(choice.size());
      batch.add_decision({.router = r, .choice = choice, .weight = weight, .ancestor = rows});
      std::vector<int32_t> next;
      for (size_t i = 0; i < rows.size(); ++i)
        if (choice[i] == 1) next.push_back(rows[i]);
      rows = next, choice.assign(rows.size(), (item / 2) % 2 == 1);
    }
    batch.add_sequence(std::to_string(item % 3));
    if (item % f.every == 0) batch.add_thumbnail(0, f.picture);
    recorder.submit();
  }
  recorder.finish();
  RunSummaryFigures figures;
  figures.verb = "profile", figures.model.name = "some", figures.quality = f.quality;
  run->finish(RunStatus::finished, f.quality ? to_json(figures) : std::string());
  run.reset();
  writer.close();
  return path;
}

}  // namespace

class ReportPicturesTest : public QObject, private testing::ReportPages {
  Q_OBJECT
  int made_ = 0;

  std::string session(const Fixture& f) {
    return make(folder_.filePath(QString::number(++made_) + ".storm").toStdString(), f);
  }
  std::string page(const std::string& session) {
    return page_of([&](const std::string& file) { write_report(session, file); });
  }

 private slots:
  void a_picture_comes_out_of_its_address_as_it_went_in() {
    for (const auto& [height, width] :
         {std::pair<int64_t, int64_t>{1, 1}, {1, 2}, {28, 28}, {96, 54}, {96, 96}, {300, 300}})
      for (const int64_t channels : {1, 3}) {
        const Thumbnail picture = some_picture(height, width, channels);
        QVERIFY(decoded(report::picture_uri(picture)) == picture);
      }
    QVERIFY(report::picture_uri({}).empty());
    // Its checksums are those of another program: 1 x 1, grey 0.
    QCOMPARE(report::picture_uri({{1, 1}, 1, {0}}),
             std::string("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAADUlEQVR4AQECAP3/"
                         "AAAAAgABfgUN0gAAAABJRU5ErkJggg=="));
  }

  void pictures_of_exits_stand_by_exit() {
    const std::string path = session({.protocol = "exit-threshold", .routers = 2});
    const auto all = report::read_routed_pictures(path, 1);
    QVERIFY(all.kind == report::PictureKind::exit && all.exits == 3 && all.kept == 20 && all.items == 40);
    QVERIFY(!all.pictures.empty());
    int32_t before = 0;
    for (const report::RoutedPicture& p : all.pictures) {
      // Even items left at the first exit; of the others none is kept.
      QVERIFY(p.item % 2 == 0 && p.exit >= before);
      before = p.exit;
    }
    const std::string html = page(path);
    QCOMPARE(flaw(html), QString());
    QVERIFY(has(html, "<section id=\"pictures\"") && has(html, "The inputs, by where they went") &&
            has(html, "item 0, label 0: exit 1"));
    QVERIFY(has(html, "<section id=\"graph\"") && has(html, "exit 1 → exit 2"));
  }

  void patches_are_tinted_by_their_branch() {
    const std::string path = session({.columns = 3, .per_item = 6, .every = 1});
    const auto all = report::read_routed_pictures(path, 1);
    QVERIFY(all.kind == report::PictureKind::patches && all.pictures.size() == 12 && all.router == "exits.0.router");
    for (const report::RoutedPicture& p : all.pictures) {
      QVERIFY(p.columns == 3 && p.rows == 2 && p.branch_of_patch.size() == 6);
      for (size_t i = 0; i < 6; ++i)
        QCOMPARE(p.branch_of_patch[i], static_cast<int32_t>((p.item + static_cast<int64_t>(i)) % 2));
    }
    QVERIFY(all.pictures.back().item >= 36);  // evenly over all
    const std::string html = page(path);
    QCOMPARE(flaw(html), QString());
    QCOMPARE(QString::fromStdString(html).count("class=\"tint c"), qsizetype{12 * 6});
    QVERIFY(has(html, "item 0, label 0: 3 patches to branch 0, 3 patches to branch 1") &&
            has(html, "12 of 40 pictures; the session keeps 40."));
    QVERIFY(!has(html, "<section id=\"graph\""));  // of one router the loads say all
  }

  void of_many_routers_it_says_at_how_many_places_they_computed() {
    const std::string path = session({.protocol = "threshold", .routers = 3, .every = 1});
    const auto all = report::read_routed_pictures(path, 1);
    QVERIFY(all.kind == report::PictureKind::places && all.places == 3);
    for (const report::RoutedPicture& p : all.pictures) {
      const int32_t met = p.item % 2 == 0 ? 1 : (p.item / 2) % 2 == 0 ? 2 : 3;
      QCOMPARE(p.places_computed, met);
    }
    QVERIFY(has(page(path), "item 0, label 0: computed at 1 of 3 places"));
    QVERIFY(report::read_routed_pictures(session({.every = 1}), 1).kind == report::PictureKind::branch);
  }

  /// As `run --record-inputs` leaves them.
  void pictures_without_decisions_are_shown_all_the_same() {
    const std::string path = session({.decisions = false, .every = 1});
    const auto all = report::read_routed_pictures(path, 1);
    QVERIFY(all.kind == report::PictureKind::unknown && all.pictures.size() == 12 && all.kept == 40);
    const std::string html = page(path);
    QCOMPARE(flaw(html), QString());
    QVERIFY(has(html, "<section id=\"pictures\"") && has(html, "nothing is known of where each went") &&
            has(html, "item 0, label 0<") && has(html, "12 of 40 pictures; the session keeps 40.") &&
            !has(html, "by where they went"));
  }

  void patches_of_a_branch_are_framed_together() {
    // 0 0 1
    // 0 1 1
    // 2        the last row is short
    const std::vector<int32_t> region = {0, 0, 1, 0, 1, 1, 2};
    const std::vector<uint8_t> sides = region_sides(region, 3);
    QCOMPARE(sides[0], uint8_t{kLeftSide | kTopSide});
    QCOMPARE(sides[1], uint8_t{kTopSide | kRightSide | kBottomSide});
    QCOMPARE(sides[2], uint8_t{kLeftSide | kTopSide | kRightSide});
    QCOMPARE(sides[4], uint8_t{kLeftSide | kTopSide | kBottomSide});
    QCOMPARE(sides[5], uint8_t{kRightSide | kBottomSide});
    QCOMPARE(sides[6], uint8_t{15});
  }

  void wrong_answers_are_marked_where_the_figures_know_them() {
    QualityFigures quality;
    quality.items = 40;
    quality.baseline = PlanQuality{0.975, {}, 40, 39};
    quality.wrong = {{0, "<9>"}};
    const std::string path = session({.protocol = "exit-threshold", .routers = 2, .quality = quality});
    const auto all = report::read_routed_pictures(path, 1, &quality);
    for (const report::RoutedPicture& p : all.pictures) {
      QCOMPARE(p.known.wrong, p.item == 0);
      QCOMPARE(p.known.answer, p.item == 0 ? std::string("<9>") : p.label);
    }
    const std::string html = page(path);
    QCOMPARE(flaw(html), QString());
    QVERIFY(has(html, "item 0, label 0: exit 1; answered &lt;9&gt;, which is wrong") &&
            has(html, "→ <strong class=\"bad\">&lt;9&gt;</strong>"));
    QCOMPARE(QString::fromStdString(html).count("class=\"cross\""), qsizetype{1});
    QVERIFY(has(html, ": exit 1; answered right"));
    // Pictures of every label in turn: the first three are of three labels.
    QVERIFY(all.pictures[0].label == "0" && all.pictures[1].label == "1" && all.pictures[2].label == "2");
    // Figures that do not list what is wrong say nothing of a single item.
    quality.wrong.clear();
    QVERIFY(KnownAnswers(&quality, 40).of(0, "0").answer.empty() &&
            KnownAnswers(nullptr, 40).of(0, "0").answer.empty());
  }

  void what_has_no_place_on_a_picture_or_is_not_kept_leaves_no_section() {
    // Cells of a sequence, though a picture is kept of it.
    QVERIFY(report::read_routed_pictures(session({.per_item = 4, .every = 1}), 1).pictures.empty());
    const std::string path = make_session(folder_.filePath("none.storm").toStdString(), 3);
    QVERIFY(report::read_routed_pictures(path, 1).pictures.empty() && !has(page(path), "<section id=\"pictures\""));
  }

  void a_page_with_the_largest_pictures_stays_below_two_megabytes() {
    for (const std::string protocol : {"top-k", "exit-threshold"}) {
      const std::string html = page(
          session({.protocol = protocol, .routers = 4, .items = 120, .picture = some_picture(96, 96, 3), .every = 1}));
      QVERIFY(has(html, "<section id=\"pictures\""));
      QVERIFY2(html.size() < 1'000'000, std::to_string(html.size()).c_str());
    }
  }

  void the_graph_has_every_place_and_its_figures_in_a_table() {
    const std::string path = make_session(folder_.filePath("graph.storm").toStdString(), 6);
    const std::string html = page(path);
    QCOMPARE(flaw(html), QString());
    const size_t begin = html.find("<section id=\"graph\""), end = html.find("</section>", begin);
    QVERIFY(begin != std::string::npos);
    const std::string section = html.substr(begin, end - begin);
    const auto graph = read_router_graph(path, 1, {});
    for (const GraphRouter& r : graph->routers)
      QVERIFY(has(section, "<code>" + r.line.name + "</code>") && has(section, "<title>" + r.line.name + ": "));
    QCOMPARE(QString::fromStdString(section).count("<path class=\"way\""), static_cast<qsizetype>(graph->edges.size()));
    QVERIFY(has(section, "role=\"img\" aria-label=\"Graph of routers") && !has(section, "nan"));
  }
};
STORMCELL_TEST(ReportPicturesTest)

}  // namespace stormcell
#include "pictures_test.moc"
