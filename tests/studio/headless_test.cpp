// Pictures without a window: what is refused, and that nothing is drawn before everything is there.
#include <sys/resource.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QTemporaryDir>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "app/studio/headless.h"
#include "app/studio/picture_export.h"
#include "core/base/blocking.h"
#include "core/base/error.h"
#include "core/planning/place.h"
#include "tests/core/difference/made_recordings.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "tests/views/diff_fixture.h"
#include "tests/views/mixture_fixture.h"
#include "views/registry.h"

namespace stormcell::studio {
using namespace stormcell::testing;
namespace {

/// A view whose figures come in several readings, each of which shows what the next one has to be.
class StepwiseView : public views::View {
 public:
  explicit StepwiseView(int steps) : steps_(steps) { set_picture(new QWidget(this)); }
  views::Table table() const override { return {}; }
  QWidget* picture() override { return this; }
  int read_ = 0;

 protected:
  Load load(const views::Context&, const views::Selection&) override {
    if (read_ == steps_) return nullptr;
    return [this](const Progress&) -> Deliver {
      return [this] {
        ++read_;
        show_content();
        if (steps_ < 0 || read_ < steps_) emit load_wanted();
      };
    };
  }
  void select(const views::Selection&) override {}

 private:
  int steps_;
};

template <class F>
QString what_is_said(F f) {
  try {
    f();
  } catch (const Error& e) {
    return QString("%1 %2").arg(e.exit_code()).arg(e.what());
  }
  return {};
}

}  // namespace

class HeadlessTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  QString session_;

 private slots:
  void initTestCase() {
    session_ = QString::fromStdString(make_cells_session(folder_.filePath("a.storm").toStdString()));
  }

  void what_would_set_two_models_against_each_other_is_not_drawn() {
    // Routers with 8 and with 4 branches: the fingerprints show two models.
    const QString other = folder_.filePath("another-model.storm"), file = folder_.filePath("refused.png");
    {
      SessionWriter writer(other.toStdString(), some_model("fedcba9876543210"));
      auto run = writer.begin_run(some_run("first", two_stacks(4)));
      record_batches(*run, two_stacks(4), 0, 4);
      run->finish(RunStatus::finished, "{\"schema\":\"stormcell.run/1\"}");
    }
    ExportRequest request;
    request.session = session_, request.other = other, request.file = file;
    request.view = "heatmap";
    QCOMPARE(export_view(request), 2);
    QVERIFY(!QFileInfo::exists(file));
    request.other = session_ + "#1";
    QCOMPARE(export_view(request), 0);
  }

  void a_view_is_drawn_when_it_has_all_that_it_waits_for() {
    using namespace std::chrono_literals;
    for (const int steps : {0, 1, 3, 12}) {
      Background background;
      StepwiseView view(steps);
      QVERIFY(view.settled());
      settle(view, background, {}, {}, {}, 1min);
      QCOMPARE(view.read_, steps);
      QVERIFY(view.settled() && background.idle());
    }
  }

  void a_picture_that_cannot_be_written_there_is_bad_input() {
    const QString closed = folder_.filePath("closed"), file = folder_.filePath("file.txt");
    QVERIFY(QDir().mkpath(closed));
    QFile text(file);
    QVERIFY(text.open(QIODevice::WriteOnly));
    const auto said = [](const QString& to) {
      return what_is_said([&] {
        const AllowBlocking now;
        write_file(to, "bytes");
      });
    };
    QCOMPARE(said(folder_.filePath("none/a.png")).left(2), QString("2 "));
    QVERIFY(said(folder_.filePath("none/a.png")).contains("its folder does not exist"));
    QVERIFY(said(closed).startsWith("2 ") && said(closed).contains("is a folder"));
    QVERIFY(said(file + "/a.png").startsWith("2 ") && said(file + "/a.png").contains("its folder is a file"));
    QFile::setPermissions(closed, QFileDevice::ReadOwner | QFileDevice::ExeOwner);
    const bool superuser = QFileInfo(closed).isWritable();
    const QString refused = superuser ? QString() : said(closed + "/a.png");
    QFile::setPermissions(closed, QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
    if (!superuser)
      QVERIFY2(refused.startsWith("2 ") && refused.contains("no permission to write"), qPrintable(refused));
    QCOMPARE(said(closed + "/a.png"), QString());
    QVERIFY(QFile::exists(closed + "/a.png"));
  }

  void a_disk_without_room_is_called_so_with_the_file() {
    const QString to = folder_.filePath("large.png");
    QString said;
    {
      // As a disk that is full: the system writes no more of a file than so many bytes.
      const auto before = std::signal(SIGXFSZ, SIG_IGN);
      rlimit limit{}, small{};
      QCOMPARE(::getrlimit(RLIMIT_FSIZE, &limit), 0);
      small = {4096, limit.rlim_max};
      QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
      said = what_is_said([&] {
        const AllowBlocking now;
        write_file(to, QByteArray(10'000, 'x'));
      });
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::signal(SIGXFSZ, before);
    }
    QVERIFY2(said.contains("large.png") && said.contains(std::strerror(EFBIG)), qPrintable(said));
    QVERIFY2(!said.contains("Unknown error") && said.contains("free some space"), qPrintable(said));
    QVERIFY(!QFile::exists(to) && QDir(folder_.path()).entryList({"large.png*"}).isEmpty());
  }

  void what_is_never_complete_fails_plainly() {
    using namespace std::chrono_literals;
    Background background;
    StepwiseView endless(-1);
    endless.setAccessibleName("Endless");
    const QString said = what_is_said([&] { settle(endless, background, {}, {}, {}, 300ms); });
    QVERIFY2(said.startsWith("1 Endless: not all"), qPrintable(said));
    QVERIFY(endless.read_ > 3);
    const AllowBlocking now;
    ExportRequest request{"heatmap", folder_.filePath("late.png"), session_, {}, {}, {}, {400, 300}, 1};
    request.patience = 0ms;
    QCOMPARE(export_view(request), 1);
    QVERIFY(!QFile::exists(request.file));
  }

  void a_reading_that_was_overtaken_does_not_settle_a_view() {
    StepwiseView view(1);
    const auto first = view.look_at({}, {})({}), second = view.look_at({}, {})({});
    QVERIFY(!view.settled());
    first();
    QVERIFY(!view.settled());
    second();
    QVERIFY(view.settled());
  }

  void what_the_run_has_not_is_refused_with_what_it_has_data() {
    QTest::addColumn<QString>("said");
    QTest::addColumn<views::Selection>("selection");
    const auto row = [](const char* said, auto change) {
      views::Selection s;
      change(s);
      QTest::newRow(said) << QString(said) << s;
    };
    row("", [](auto&) {});
    row("", [](auto& s) { s.first_batch = 9, s.end_batch = 10, s.label = "long", s.phase = "forward"; });
    row("", [](auto& s) { s.router = "decoder.block.1.layer.2.mlp", s.branch = 5; });
    row("--batches: not all of them are there (0:10 are all)", [](auto& s) { s.first_batch = 10; });
    row("--batches: not all of them are there (0:10 are all)", [](auto& s) { s.end_batch = 11; });
    row("--phase: no cell is of phase 'decode' (one of: forward)", [](auto& s) { s.phase = "decode"; });
    row("--label: no sequence has the label 'fr' (one of: long, short)", [](auto& s) { s.label = "fr"; });
    row("--router: no router is called 'mlp' (one of: encoder.block.1.layer.1.mlp, encoder.block.3.layer.1.mlp, "
        "decoder.block.1.layer.2.mlp)",
        [](auto& s) { s.router = "mlp"; });
    row("--branch: no branch 4 at encoder.block.1.layer.1.mlp (0 to 3)",
        [](auto& s) { s.router = "encoder.block.1.layer.1.mlp", s.branch = 4; });
    row("--branch: no branch 6 (0 to 5)", [](auto& s) { s.branch = 6; });
  }
  void what_the_run_has_not_is_refused_with_what_it_has() {
    QFETCH(QString, said);
    QFETCH(views::Selection, selection);
    const AllowBlocking now;
    const SelectionChoices choices = read_selection_choices(session_.toStdString(), 0);
    const QString expected = said.isEmpty() ? QString() : "2 " + session_ + "#1: " + said;
    QCOMPARE(what_is_said([&] { check_selection(session_.toStdString(), choices, selection); }), expected);
    for (const char* view : {"heatmap", "overview", "cells"}) {
      const ExportRequest request{view, folder_.filePath("chosen.png"), session_, {}, {}, selection, {400, 300}, 1};
      QCOMPARE(export_view(request), said.isEmpty() ? 0 : 2);
      QCOMPARE(QFile::remove(request.file), said.isEmpty());
    }
  }

  void a_cell_that_is_not_there_is_refused_with_those_that_are() {
    const AllowBlocking now;
    const auto said = [&](const CellPlace& place) {
      return what_is_said([&] { read_cell_trail(session_.toStdString(), 1, place); });
    };
    QCOMPARE(said({29, 13}), QString());
    QCOMPARE(said({30, 0}), "2 " + session_ + "#1: no cell at sequence 30, position 0 (sequences 0 to 29)");
    QCOMPARE(said({3, 14}),
             "2 " + session_ +
                 "#1: no cell at sequence 3, position 14 (this sequence has positions 0 to 13; sequences 0 to 29)");
    ExportRequest request{"heatmap", folder_.filePath("cell.png"), session_, {}, {}, {}, {400, 300}, 1};
    request.selection.cell = CellPlace{30, 0};
    QCOMPARE(export_view(request), 2);
    QVERIFY(!QFile::exists(request.file));
    request.selection.cell = CellPlace{29, 13};
    QCOMPARE(export_view(request), 0);
  }

  void a_control_that_chooses_does_as_by_hand() {
    const AllowBlocking now;
    const QString router = "decoder.block.1.layer.2.mlp";
    const auto drawn = [&](const QList<ControlState>& controls, const QString& chosen) {
      ExportRequest request{"transitions", folder_.filePath("set.png"), session_, {}, controls, {}, {500, 300}, 1};
      request.selection.router = chosen;
      [&] { QCOMPARE(export_view(request), 0); }();
      return QImage(request.file);
    };
    const QImage chosen = drawn({}, router);
    QVERIFY(chosen != drawn({}, {}));
    QVERIFY(drawn({{"From router", router}}, {}) == chosen);
  }

  void the_whole_window_is_drawn_with_the_panel_beside_the_view() {
    const AllowBlocking now;
    for (const QSize& size : {QSize(1280, 720), QSize(1600, 1000)}) {
      ExportRequest request{"heatmap", folder_.filePath("window.png"), session_, {}, {}, {}, size, 1};
      request.window = true;
      QCOMPARE(export_view(request), 0);
      const QImage picture(request.file);
      QCOMPARE(picture.size(), size);
      QCOMPARE(picture.text("Source"), session_);
      request.window = false;
      QCOMPARE(export_view(request), 0);
      QVERIFY(QImage(request.file) != picture);
    }
    ExportRequest request{"heatmap", folder_.filePath("window.svg"), session_, {}, {}, {}, {1280, 720}, 1};
    request.window = true;
    QCOMPARE(export_view(request), 2);
    request.file = folder_.filePath("another.png"), request.view = "model";
    QCOMPARE(export_view(request), 2);
    QVERIFY(!QFile::exists(request.file));
  }

  void a_list_that_goes_on_below_says_so() {
    const AllowBlocking now;
    for (const auto& [height, cut] : {std::pair{200, true}, {4000, false}}) {
      ExportRequest request{"data", folder_.filePath("list.png"), session_, {}, {}, {}, {900, height}, 1};
      QCOMPARE(export_view(request), 0);
      QCOMPARE(QImage(request.file).text("Description").contains("Cut"), cut);
    }
  }

  void what_a_view_reads_in_two_goes_is_exported_whole() {
    const AllowBlocking now;
    const QString mixture =
        QString::fromStdString(make_mixture_session(folder_.filePath("mixture.storm").toStdString()));
    ExportRequest request{"simulation", folder_.filePath("clusters.csv"), mixture, {}, {}, {}, {900, 500}, 1};
    request.controls = {{"Show", "clusters"}};
    QCOMPARE(export_view(request), 0);
    QFile file(request.file);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    for (const char* cluster : {"1x-rtx4090-pcie", "4x8-h100", "gb200-nvl72"})
      QVERIFY2(text.contains(cluster), text.constData());
    request.controls = {{"Show", "exchange"}, {"Cluster", "2x8-h100"}, {"Layer", "layer 2"}, {"Oversubscription", "2"}};
    request.file = folder_.filePath("exchange.png");
    QCOMPARE(export_view(request), 0);
    QVERIFY(QFile::exists(request.file));
    request = {"placement", folder_.filePath("nearest.csv"), mixture, {}, {}, {}, {900, 500}, 1};
    request.controls = {{"Spare slots", "1"}, {"Replicas", "nearest"}};
    QCOMPARE(export_view(request), 0);
    QFile nearest(request.file);
    QVERIFY(nearest.open(QIODevice::ReadOnly) && nearest.readAll().contains("slot 23"));
    request.controls = {{"Replicas", "farthest"}};
    QCOMPARE(export_view(request), 2);
    request = {"simulation", folder_.filePath("none.csv"), mixture, {}, {}, {}, {900, 500}, 1};
    request.controls = {{"Cluster", "a-dream"}};
    QCOMPARE(export_view(request), 2);
  }

  void a_placement_is_set_by_its_number() {
    const AllowBlocking now;
    const std::string session = make_mixture_session(folder_.filePath("placed.storm").toStdString());
    PlaceOptions options;
    options.session = session, options.cluster = "preset:8x-h100", options.solver = "eplb", options.redundant = 8;
    const QString number = QString("#%1").arg(place(options).placement);
    ExportRequest request{
        "placement", folder_.filePath("started.csv"), QString::fromStdString(session), {}, {}, {}, {900, 500}, 1};
    for (const QString& start : {number, number + " eplb"}) {
      request.controls = {{"Spare slots", "1"}, {"Start", start}};
      QCOMPARE(export_view(request), 0);
    }
    request.controls = {{"Spare slots", "1"}, {"Start", number + "0"}};
    QCOMPARE(export_view(request), 2);
    request.controls = {{"Start", number}};  // where it opens by itself
    QCOMPARE(export_view(request), 0);
    request.controls = {{"Spare slots", "0"}, {"Start", number}};  // of other slots
    QCOMPARE(export_view(request), 2);
  }

  void a_file_is_set_by_its_name() {
    const AllowBlocking now;
    const QString mixture = QString::fromStdString(make_mixture_session(folder_.filePath("named.storm").toStdString()));
    const QString calls = folder_.filePath("rows.csv");
    QFile rows(calls);
    QVERIFY(rows.open(QIODevice::WriteOnly));
    rows.write("op,gpu,dtype,inputs,outputs,rows,us,source\n");
    for (const char* shape : {"1024,2048", "2048,1024"})
      for (const char* times : {"1,50", "64,50"})
        rows.write(QByteArray("product,H100,bf16,") + shape + "," + times + ",a desk\n");
    rows.close();
    ExportRequest request{"simulation", folder_.filePath("calibrated.csv"), mixture, {}, {}, {}, {900, 500}, 1};
    request.controls = {{"Calibration", calls}};
    QCOMPARE(export_view(request), 0);
    QFile file(request.file);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY2(text.contains("Experts by") && text.contains("by product bf16 of H100") &&
                 text.contains("Not calibrated: no dispatch"),
             text.constData());
  }

  void a_session_without_a_run_is_no_closed_one() {
    views::Context context;
    auto session = std::make_shared<SessionOverview>();
    session->file = "/somewhere/new.storm";
    context.session = session;
    for (const views::ViewEntry& entry : views::all_views()) {
      const std::unique_ptr<views::View> shown(entry.make(nullptr));
      QVERIFY(!shown->look_at(context, {}));
      QVERIFY2(shown->message().startsWith("new.storm holds no run"),
               qPrintable(entry.id + QString(": ") + shown->message()));
      QVERIFY(!shown->look_at({}, {}));
      QVERIFY2(shown->message().contains("No session is open"), entry.id);
    }
  }

  void the_same_tokens_in_two_recordings_are_exported() {
    const AllowBlocking now;
    const QString session = QString::fromStdString(
        make_planted_session(folder_.filePath("planted.storm").toStdString(), {{}, {.planted = {{1, 0, 3, {0, 7}}}}}));
    const auto exported = [&](const QString& other, const char* suffix) {
      ExportRequest request;
      request.view = "diff", request.session = session + "#1", request.other = other;
      request.file = folder_.filePath(QString("diff.") + suffix);
      const int code = export_view(request);
      QFile file(request.file);
      return code == 0 && file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("exit code ") + char('0' + code);
    };
    // One of four requests differs at position 3 of router 1.
    const QByteArray figures = exported(session + "#2", "csv");
    QVERIFY2(figures.contains("model.layers.1.mlp,model.layers.1.mlp,3,3,4,1,0.25,"), figures.constData());
    QVERIFY(QImage::fromData(exported(session + "#2", "png")).width() > 0);

    // A trace in which two others differ at position 5 of router 0.
    MadeRecording trace;
    trace.branches = 8, trace.layer_numbers = {0, 1, 2};
    for (int32_t q = 0; q < kPlantedSequences; ++q)
      for (int32_t p = 0; p < kPlantedPositions; ++p) {
        MadeRecording::Cell cell{q, p, 0, planted_token(q, p), 1, {}};
        for (int32_t r = 0; r < kPlantedRouters; ++r) {
          const auto [first, second] = unplanted_choice(r, p);
          cell.layers.push_back({{first, r == 0 && p == 5 && q < 2 ? 6 : second}, {.5F, .5F}, {}, 1});
        }
        trace.cells.push_back(std::move(cell));
      }
    const QString other = folder_.filePath("other.safetensors");
    trace.write(other.toStdString());
    const QByteArray against = exported(other, "csv");
    QVERIFY2(against.contains("model.layers.0.mlp,layer.0,5,5,4,2,0.5,"), against.constData());
    QVERIFY2(against.contains("against other.safetensors"), against.constData());
    QCOMPARE(exported(folder_.filePath("missing.csv"), "csv"), QByteArray("exit code 2"));
  }

  void a_run_that_is_not_there_is_refused() {
    const AllowBlocking now;
    ExportRequest request{"heatmap", folder_.filePath("run.png"), session_ + "#7", {}, {}, {}, {400, 300}, 1};
    QCOMPARE(export_view(request), 2);
    request.session = session_, request.other = session_ + "#7";
    QCOMPARE(export_view(request), 2);
    request.other = session_ + "#1";
    QCOMPARE(export_view(request), 0);
  }
};
STORMCELL_TEST(HeadlessTest)

}  // namespace stormcell::studio
#include "headless_test.moc"
