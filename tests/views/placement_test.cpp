// The placement view: figures of a session's placement, geometry, experts moved by mouse and keys, search, store,
// export, pictures.
#include <QAction>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QToolButton>
#include <QUndoCommand>
#include <QUndoStack>
#include <cmath>

#include "core/planning/place.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "tests/views/controls.h"
#include "tests/views/mixture_fixture.h"
#include "views/drawing/theme.h"
#include "views/placement/cluster_dialog.h"
#include "views/placement/placement_view.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

/// Does what the window does for a view: undo, work.
class Shell : public QObject {
 public:
  explicit Shell(View& view) {
    connect(&view, &View::edit_wanted, this,
            [this](const QString& what, const std::function<void()>& redo, const std::function<void()>& undo) {
              struct Edit : QUndoCommand {
                std::function<void()> redo_, undo_;
                void redo() override { redo_(); }
                void undo() override { undo_(); }
              };
              auto* edit = new Edit;
              edit->setText(what), edit->redo_ = redo, edit->undo_ = undo;
              stack.push(edit);
            });
    connect(&view, &View::work_wanted, this, [](const View::Load& work) { work({})(); });
    connect(&view, &View::said, this, [this](const QString& text) { said << text; });
    connect(&view, &View::save_wanted, this,
            [this](const QString& name, const QString&, const QByteArray& bytes) { saved_name = name, saved = bytes; });
  }
  QUndoStack stack;
  QStringList said;
  QString saved_name;
  QByteArray saved;
};

QPushButton* button_of(const View& view, const QString& text) {
  for (QPushButton* button : view.findChildren<QPushButton*>())
    if (button->text() == text) return button;
  return nullptr;
}

PlacementPicture* placement_picture(View& view) { return dynamic_cast<PlacementPicture*>(view.picture()); }

void move_to(PlacementPicture* picture, QPointF place, Qt::KeyboardModifiers keys = {}) {
  QMouseEvent move(QEvent::MouseMove, place, picture->mapToGlobal(place), Qt::NoButton, Qt::LeftButton, keys);
  QCoreApplication::sendEvent(picture, &move);
}

void drag(PlacementPicture* picture, size_t from, size_t to, Qt::KeyboardModifiers keys = {}) {
  const PlacementLayout& layout = picture->layout_of_page();
  const QPointF a = layout.cell(from).center(), b = layout.cell(to).center();
  QTest::mousePress(picture, Qt::LeftButton, keys, a.toPoint());
  move_to(picture, (a + b) / 2, keys), move_to(picture, b, keys);
  QTest::mouseRelease(picture, Qt::LeftButton, keys, b.toPoint());
}

PlacementPage page_of_shape(int nodes, int gpus_per_node, int held) {
  PlacementPage page;
  page.nodes = nodes, page.ranks = nodes * gpus_per_node, page.slots_of_rank = held;
  for (int s = 0; s < page.ranks * held; ++s) page.held.push_back({s, 1.0 + s % 7, 1, false});
  page.most = 7;
  page.gpus.assign(static_cast<size_t>(page.ranks), 1), page.gpus_before = page.gpus;
  page.layers = {0.1, 0.3, 0.2};
  page.figures.resize(7), page.other_figures.resize(7), page.other_part = "fitted";
  page.front = {{"a", 0.1, 0.8}, {"b", 0.2, 0.6}};
  page.here = FrontPoint{"now", 0.3, 0.9}, page.start = FrontPoint{"start", 0.35, 0.95};
  return page;
}

}  // namespace

class PlacementViewTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string session_;

  std::string fresh(const char* name) { return make_mixture_session(folder_.filePath(name).toStdString()); }

 private slots:
  void initTestCase() { session_ = fresh("mixture.storm"); }

  void figures_are_those_that_place_gives() {
    const std::string copy = fresh("place.storm");
    PlaceOptions options;
    options.session = copy, options.cluster = "preset:8x-h100", options.solver = "keep";
    const auto edited = EditedPlacement::open(options, 0);
    const PlaceFigures placed = place(options);
    const LayoutLine& contiguous = placed.layouts[0];
    const auto fitted = edited->figures(DataPart::fitted), held_out = edited->figures(DataPart::held_out);
    QVERIFY(fitted && held_out && contiguous.held_out);
    QCOMPARE(fitted->imbalance, contiguous.fit.imbalance);
    QCOMPARE(held_out->imbalance, contiguous.held_out->imbalance);
    QCOMPARE(*held_out->cross_pairs, *contiguous.held_out->cross_pairs);
    QCOMPARE(*fitted->ranks_per_token, *contiguous.fit.ranks_per_token);
    QCOMPARE(*fitted->step_ms, contiguous.fit.step->objective_ms);
    QCOMPARE(*held_out->p95_ms, contiguous.held_out->step->p95_ms);
    QCOMPARE(*edited->start_figures(DataPart::fitted), *fitted);
    QCOMPARE(edited->moved_slots(), int64_t{0});
  }

  void spare_slots_fill_up_what_does_not_divide() {
    PlaceOptions options;
    options.session = session_, options.cluster = "preset:gb200-nvl72";
    QCOMPARE(EditedPlacement::open(options, 0)->about().slot_count, 72);
    QCOMPARE(EditedPlacement::open(options, 1)->about().slot_count, 144);
  }

  void what_is_drawn_at_a_place_is_found_there() {
    for (const auto& [nodes, gpus_per_node, held] :
         {std::array{1, 8, 16}, std::array{8, 8, 5}, std::array{1, 72, 4}, std::array{2, 8, 1}})
      for (const QSizeF size : {QSizeF(1000, 600), QSizeF(640, 400), QSizeF(1900, 1100)}) {
        const PlacementPage page = page_of_shape(nodes, gpus_per_node, held);
        const PlacementLayout layout(page, size, 16, 8);
        for (size_t s = 0; s < page.held.size(); ++s) {
          QCOMPARE(layout.slot_at(layout.cell(s).center()), std::optional(s));
          QVERIFY(layout.gpu(page.rank_of(s)).adjusted(-1, -1, 1, 1).contains(layout.cell(s)));
          QVERIFY(layout.cell(s).width() > 3 ? layout.cell(s).adjusted(-1, -1, 1, 1).contains(layout.tile(s)) : true);
        }
        for (size_t l = 0; l < page.layers.size(); ++l)
          QCOMPARE(layout.layer_at(layout.layer(l).center()), std::optional(l));
        for (size_t p = 0; p < page.front.size(); ++p)
          QCOMPARE(layout.front_at(layout.at(page.front[p])), std::optional(p));
        QVERIFY(!layout.slot_at({1, 1}) && !layout.gpu_at(layout.figures.center()));
        for (const QRectF& part : {layout.cluster, layout.layers, layout.figures, layout.front})
          QVERIFY(QRectF(QPointF(), size).contains(part));
        QVERIFY(layout.neighbour(0, 1, 0) != 0);
        QCOMPARE(layout.neighbour(0, -1, 0), size_t{0});
      }
  }

  void figures_end_above_what_stands_below_them() {
    PlacementPage page = page_of_shape(1, 8, 2);
    page.figures.resize(7), page.other_figures.resize(7), page.other_part = "fitted";
    for (const QSizeF size : {QSizeF(990, 540), QSizeF(1350, 820)}) {
      const PlacementLayout layout(page, size, 15, 8);
      // A row of headings above each part.
      QVERIFY(layout.figures.height() >= 16 * layout.row() + PlacementLayout::kPartGap - 1e-6);
      QVERIFY(layout.row() >= layout.line() && layout.figures.bottom() < layout.front.top() - layout.line() - 4);
    }
  }

  void an_expert_is_dragged_and_the_figures_follow_and_go_back() {
    PlacementView view;
    Shell shell(view);
    view.resize(1200, 700);
    run_load(view, context_of(session_));
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    PlacementPicture* picture = placement_picture(view);
    picture->resize(1200, 640);
    const EditedPlacement& edited = *view.edited();
    const EditFigures before = *edited.figures(DataPart::held_out);
    const PlacementLayout& layout = picture->layout_of_page();
    // Held over another slot the figures are those of letting it go there; held over none they are as before.
    const QPointF from = layout.cell(0).center(), to = layout.cell(15).center();
    QTest::mousePress(picture, Qt::LeftButton, {}, from.toPoint());
    move_to(picture, to);
    QCOMPARE(picture->marks().target, std::optional<size_t>(15));
    QVERIFY(*edited.figures(DataPart::held_out) != before);
    QVERIFY(shell.stack.isClean());
    move_to(picture, QPointF(2, 2));
    QCOMPARE(edited.placement(), edited.start());
    move_to(picture, to);
    QTest::mouseRelease(picture, Qt::LeftButton, {}, to.toPoint());
    QCOMPARE(shell.stack.undoText(), QString("expert 0 to GPU 7"));
    QCOMPARE(edited.placement().layers[0][15], 0);
    QCOMPARE(edited.placement().layers[0][0], 15);
    QCOMPARE(edited.moved_slots(), int64_t{2});
    QVERIFY(picture->page().held[0].moved && picture->page().state.contains("2 slots"));
    shell.stack.undo();
    QCOMPARE(edited.placement(), edited.start());
    QCOMPARE(*edited.figures(DataPart::held_out), before);
    shell.stack.redo();
    QCOMPARE(edited.placement().layers[0][15], 0);
    button_of(view, "Back to start")->click();
    QCOMPARE(edited.placement(), edited.start());
  }

  void a_replica_is_left_behind_where_there_is_room_and_dropped_again() {
    PlacementView view;
    Shell shell(view);
    run_load(view, context_of(session_));
    control_of<QComboBox>(view, "Spare slots")->setCurrentText("1");
    run_load(view, context_of(session_));
    PlacementPicture* picture = placement_picture(view);
    picture->resize(1200, 640);
    const EditedPlacement& edited = *view.edited();
    QCOMPARE(edited.about().slot_count, 24);
    // Three slots a GPU: experts 9 to 11 on GPU 3, again 2 to 4 on GPU 6. A replica of 9 takes the place of one of
    // these.
    drag(picture, 9, 18, Qt::ControlModifier);
    QCOMPARE(shell.stack.undoText(), QString("replica of expert 9 on GPU 6"));
    QCOMPARE(picture->page().held[9].replicas, 2);
    drag(picture, 9, 12, Qt::ControlModifier);  // each of GPU 4 stands there alone, or not: what cannot be is not done
    const Placement after = edited.placement();
    for (const LayerSlots& layer : after.layers)
      for (int32_t b = 0; b < kExperts; ++b) QVERIFY(std::find(layer.begin(), layer.end(), b) != layer.end());
    const auto last = static_cast<size_t>(std::find(after.layers[0].begin() + 10, after.layers[0].end(), 9) -
                                          after.layers[0].begin());
    QTest::mouseClick(picture, Qt::LeftButton, {}, picture->layout_of_page().cell(last).center().toPoint());
    QTest::keyClick(picture, Qt::Key_Delete);
    QVERIFY(shell.stack.undoText().contains("dropped"));
    QCOMPARE(edited.empty_slots(), size_t{1});
    QVERIFY(picture->page().state.contains("no server takes that"));
    QVERIFY_THROWS_EXCEPTION(Error, static_cast<void>(edited.store(edited.placement(), "x", {})));
  }

  void keys_do_what_the_mouse_does() {
    PlacementView view;
    Shell shell(view);
    run_load(view, context_of(session_));
    PlacementPicture* picture = placement_picture(view);
    picture->resize(1200, 640);
    QTest::keyClick(picture, Qt::Key_Right);
    QCOMPARE(picture->marks().focus, std::optional<size_t>(0));
    QTest::keyClick(picture, Qt::Key_Return);
    QCOMPARE(picture->marks().taken, std::optional<size_t>(0));
    while (picture->page().rank_of(*picture->marks().focus) == 0) QTest::keyClick(picture, Qt::Key_Right);
    const size_t to = *picture->marks().focus;
    QTest::keyClick(picture, Qt::Key_Return);
    QCOMPARE(view.edited()->placement().layers[0][to], 0);
    QVERIFY(picture->accessibleDescription().contains("Expert 0"));
    QTest::keyClick(picture, Qt::Key_Return);
    QTest::keyClick(picture, Qt::Key_Left);
    QTest::keyClick(picture, Qt::Key_Escape);
    QVERIFY(!picture->marks().taken && shell.stack.count() == 1);
    QTest::keyClick(picture, Qt::Key_PageDown);
    QCOMPARE(control_of<QComboBox>(view, "Layer")->currentIndex(), 1);
    QCOMPARE(picture->page().layer, size_t{1});
  }

  void the_table_has_what_the_picture_has() {
    PlacementView view;
    run_load(view, context_of(session_));
    const Table table = view.table();
    QCOMPARE(table.rows.size(), size_t{7 + 7 + 8 + 16 + 3});
    for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
    for (const Table::Column& column : table.columns) QVERIFY(!column.tip.isEmpty());
  }

  void a_search_is_one_edit_and_brings_its_front() {
    PlacementView view;
    Shell shell(view);
    run_load(view, context_of(session_));
    control_of<QComboBox>(view, "Solver")->setCurrentText("eplb");
    button_of(view, "Solve")->click();
    QCOMPARE(shell.stack.undoText(), QString("solved by eplb"));
    const EditFigures now = *view.edited()->figures(DataPart::fitted),
                      start = *view.edited()->start_figures(DataPart::fitted);
    QVERIFY(now.imbalance < start.imbalance);
    QVERIFY(!shell.said.isEmpty() && shell.said.back().startsWith("Advice"));
    shell.stack.undo();
    QCOMPARE(view.edited()->placement(), view.edited()->start());
  }

  void what_is_stored_can_be_exported_and_started_from() {
    const std::string copy = fresh("store.storm");
    PlacementView view;
    Shell shell(view);
    run_load(view, context_of(copy));
    PlacementPicture* picture = placement_picture(view);
    picture->resize(1200, 640);
    drag(picture, 0, 15);
    button_of(view, "Store")->click();
    QVERIFY2(shell.said.back().startsWith("Stored: "), qPrintable(shell.said.back()));
    const std::vector<StoredLayout> stored = stored_layouts(copy, 1);
    QCOMPARE(stored.size(), size_t{1});
    QCOMPARE(stored[0].placement, view.edited()->placement());
    QCOMPARE(stored[0].solver, std::string("hand"));
    for (QAction* action : view.findChild<QToolButton*>("export")->menu()->actions())
      if (action->text().contains("SGLang")) action->trigger();
    QCOMPARE(shell.saved_name, QString("expert-location.json"));
    QVERIFY(shell.saved.contains("physical_to_logical_map"));
    PlacementView other;
    run_load(other, context_of(copy));
    QComboBox* start = control_of<QComboBox>(other, "Start");
    QCOMPARE(start->count(), 2);  // the export found it stored
    QCOMPARE(start->currentIndex(), 1);
    QCOMPARE(start->itemText(0), QString("contiguous (no placement)"));
    QCOMPARE(start->itemText(1), QString("#%1 hand, 8 GPUs, 16 slots").arg(stored[0].id));
    QCOMPARE(other.edited()->start(), view.edited()->placement());
    start->setCurrentIndex(0);
    run_load(other, context_of(copy));
    QVERIFY(other.edited()->start() == view.edited()->start());
    start->setCurrentIndex(1);
    run_load(other, context_of(copy));
    QCOMPARE(other.edited()->start(), view.edited()->placement());
    // For other slots it is said where the expert is.
    control_of<QComboBox>(other, "Spare slots")->setCurrentText("1");
    run_load(other, context_of(copy));
    QCOMPARE(start->count(), 1);
    const QString elsewhere = start->property(kElsewhere).toString();
    QVERIFY2(elsewhere.contains("Spare slots") && elsewhere.contains("hand, 8 GPUs, 16 slots"), qPrintable(elsewhere));
  }

  void replicas_and_residence_are_those_of_the_verb() {
    const std::string copy = fresh("ways.storm");
    PlacementView view;
    Shell shell(view);
    run_load(view, context_of(copy));
    control_of<QComboBox>(view, "Spare slots")->setCurrentText("1");
    run_load(view, context_of(copy));
    const EditFigures even = *view.edited()->figures(DataPart::held_out);
    QComboBox *replicas = control_of<QComboBox>(view, "Replicas"),
              *residence = control_of<QComboBox>(view, "Residence");
    PlaceOptions options;
    options.session = copy, options.cluster = "preset:8x-h100", options.solver = "keep", options.redundant = 8;
    const auto as_placed = [&](const char* rule, const char* lives) {
      options.step.replicas = rule, options.step.residence = lives;
      const LayoutLine line = place(options).layouts[0];
      const EditFigures f = *view.edited()->figures(DataPart::held_out);
      return std::abs(f.imbalance - line.held_out->imbalance) < 1e-12 &&
             std::abs(*f.cross_pairs - *line.held_out->cross_pairs) < 1e-12 &&
             std::abs(*f.ranks_per_token - *line.held_out->ranks_per_token) < 1e-12 &&
             std::abs(*f.step_ms / line.held_out->step->objective_ms - 1) < 1e-10;
    };
    QVERIFY(as_placed("", ""));
    replicas->setCurrentText("nearest");
    run_load(view, context_of(copy));
    QVERIFY(as_placed("nearest", "") && placement_picture(view)->page().headline.contains("nearest replicas"));
    QVERIFY(*view.edited()->figures(DataPart::held_out) != even);
    const PlacementPage& page = placement_picture(view)->page();
    QVERIFY(describe_slot(page, 0).contains("of which the nearest take a token"));
    // A GPU computes the cells that its slots get.
    double sum = 0;
    for (size_t s = 0; s < 3; ++s) sum += page.held[s].load;
    QVERIFY(std::abs(sum / view.edited()->rank_loads(DataPart::held_out, 0)[0] - 1) < 1e-12);
    // Both together nobody can tell: it says so and stays.
    residence->setCurrentText("follow");
    run_load(view, context_of(copy));
    QVERIFY(shell.said.back().contains("which replica is nearest depends on where the token is"));
    QVERIFY(replicas->currentText() == "nearest" && residence->currentText() == "home" &&
            view.edited()->about().residence == Residence::home);
    replicas->setCurrentText("even"), residence->setCurrentText("follow");
    run_load(view, context_of(copy));
    QVERIFY(as_placed("", "follow") && page.headline.contains("an experiment"));
    residence->setCurrentText("home");
    run_load(view, context_of(copy));
    QCOMPARE(*view.edited()->figures(DataPart::held_out), even);
  }

  void the_front_is_that_of_a_search_made_likewise() {
    const std::string copy = fresh("front.storm");
    PlaceOptions options;
    options.session = copy, options.cluster = "preset:8x-h100", options.solver = "joint", options.redundant = 8;
    options.time_limit = 1;
    options.step.replicas = "nearest";
    const int64_t first = place(options).placement;
    options.name = "again";
    const int64_t second = place(options).placement;
    PlacementView view;
    Shell shell(view);
    run_load(view, context_of(copy));
    // It opens on the newest one, as that was made.
    QCOMPARE(control_of<QComboBox>(view, "Start")->currentData().toLongLong(), static_cast<qlonglong>(second));
    QCOMPARE(control_of<QComboBox>(view, "Spare slots")->currentText(), QString("1"));
    const PlacementPage& page = placement_picture(view)->page();
    QCOMPARE(page.front_of, QString("#%1 again").arg(second));
    QVERIFY2(view.note().contains("Nothing runs on 8 GPUs here"), qPrintable(view.note()));
    control_of<QComboBox>(view, "Replicas")->setCurrentText("even");
    run_load(view, context_of(copy));
    QVERIFY(page.front.empty());
    control_of<QComboBox>(view, "Replicas")->setCurrentText("nearest");
    run_load(view, context_of(copy));
    QVERIFY(!page.front.empty());
    QCOMPARE(page.front_of, QString("#%1 again").arg(second));
    QComboBox* start = control_of<QComboBox>(view, "Start");
    start->setCurrentIndex(start->findData(static_cast<qlonglong>(first)));
    run_load(view, context_of(copy));
    QCOMPARE(page.front_of, QString("#%1 joint").arg(first));
  }

  void a_single_point_is_no_chart() {
    PlacementPage page = page_of_shape(1, 8, 16);
    QVERIFY(PlacementLayout(page, {1000, 600}, 16, 8).has_chart());
    page.start = page.here;
    page.front = {{"a", page.here->imbalance, page.here->cross_pairs}};
    const PlacementLayout layout(page, {1000, 600}, 16, 8);
    QVERIFY(!layout.has_chart() && !layout.front_at(layout.front.center()));
    page.front[0].imbalance = 0.1;
    QVERIFY(PlacementLayout(page, {1000, 600}, 16, 8).has_chart());
    QVERIFY(PlacementLayout::is_beyond_bar(2.04) && !PlacementLayout::is_beyond_bar(2));
  }

  void another_cluster_is_opened_anew() {
    PlacementView view;
    Shell shell(view);
    run_load(view, context_of(session_));
    control_of<QComboBox>(view, "Cluster")->setCurrentText("2x8-h100");
    run_load(view, context_of(session_));
    QCOMPARE(view.edited()->about().ranks, 16);
    QCOMPARE(placement_picture(view)->page().nodes, 2);
  }

  void a_cluster_is_put_together_from_figures() {
    PlacementView view;
    Shell shell(view);
    run_load(view, context_of(session_));
    const double ms = *view.edited()->figures(DataPart::fitted)->step_ms;
    for (QToolButton* button : view.findChildren<QToolButton*>())
      if (button->accessibleName() == "Change the cluster") button->click();
    auto* dialog = view.findChild<ClusterDialog*>();
    QVERIFY(dialog);
    const Cluster published = read_cluster("preset:8x-h100");
    QCOMPARE(dialog->cluster().fabric_bytes_per_s, published.fabric_bytes_per_s);
    for (QSpinBox* box : dialog->findChildren<QSpinBox*>())
      if (box->accessibleName() == "Nodes") box->setValue(2);
    for (QDoubleSpinBox* box : dialog->findChildren<QDoubleSpinBox*>())
      if (box->accessibleName() == "Network, GB/s") box->setValue(1);
    const Cluster read = read_cluster(to_json(dialog->cluster()));
    QVERIFY(read.nodes == 2 && read.gpus_per_node == 8 && read.network_bytes_per_s == 1e9);
    QCOMPARE(read.flops_per_s, published.flops_per_s);
    dialog->accept();
    run_load(view, context_of(session_));
    QCOMPARE(view.edited()->about().ranks, 16);
    QVERIFY(*view.edited()->figures(DataPart::fitted)->step_ms > ms);
    control_of<QComboBox>(view, "Cluster")->setCurrentText("8x-h100");
    run_load(view, context_of(session_));
    QCOMPARE(*view.edited()->figures(DataPart::fitted)->step_ms, ms);
  }

  void without_a_run_or_with_unequal_layers_it_says_so() {
    PlacementView none;
    run_load(none, {});
    QVERIFY(!none.has_content() && !none.message().isEmpty());
    PlacementView unequal;
    run_load(unequal, context_of(make_cells_session(folder_.filePath("cells.storm").toStdString())));
    QVERIFY(!unequal.has_content());
    QVERIFY2(unequal.message().contains("only layers with equal numbers of experts can be placed"),
             qPrintable(unequal.message()));
  }

  void pictures_look_as_they_did() {
    for (const Theme* theme : {&Theme::light(), &Theme::dim()}) {
      PlacementView view;
      Shell shell(view);
      view.setPalette(theme->palette());
      run_load(view, context_of(session_));
      control_of<QComboBox>(view, "Spare slots")->setCurrentText("1");
      control_of<QComboBox>(view, "Cluster")->setCurrentText(theme->dark ? "2x8-h100" : "8x-h100");
      run_load(view, context_of(session_));
      placement_picture(view)->resize(1100, 640);
      drag(placement_picture(view), 0, placement_picture(view)->page().held.size() - 1);
      const QString difference =
          compare_with_golden(draw(*view.picture(), {1100, 640}), theme->dark ? "placement-dark" : "placement-light");
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
  }
};
STORMCELL_TEST(PlacementViewTest)

}  // namespace stormcell::views
#include "placement_test.moc"
