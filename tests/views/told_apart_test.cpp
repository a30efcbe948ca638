// No two things that a view tells apart by colour have one colour, however many there are; all views are asked.
#include <QApplication>
#include <QComboBox>
#include <QSet>
#include <QTemporaryDir>
#include <algorithm>
#include <memory>

#include "tests/core/session/session_fixture.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/controls.h"
#include "tests/views/mixture_fixture.h"
#include "views/frame/tells_apart.h"
#include "views/registry.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

constexpr int kExits = 11;

/// A chain of exits: cell i of a batch leaves at exit i, if there is one.
std::string make_long_chain(const std::string& path) {
  RunLayout layout;
  layout.spaces = {"picture"};
  for (int32_t e = 0; e < kExits; ++e) {
    layout.routers.push_back({"exits." + std::to_string(e) + ".router", 2, 1, "exit-threshold", 0, "picture"});
    if (e > 0) layout.routers.back().parent = e - 1, layout.routers.back().parent_branch = 1;
    if (e > 0) layout.edges.push_back({e - 1, e, {1}});
  }
  constexpr int32_t kItems = kExits + 3;
  SessionWriter writer(path, some_model());
  auto run = writer.begin_run(some_run("chain", layout));
  Recorder recorder({run.get()});
  BatchRecord& batch = recorder.begin_batch();
  batch.add_space(0, {0, kItems, 1, 0, Phase::forward, 0});
  for (int32_t e = 0; e < kExits; ++e) {
    std::vector<int32_t> choice, rows;
    for (int32_t item = e; item < kItems; ++item) choice.push_back(item == e ? 0 : 1), rows.push_back(item);
    const std::vector<float> ones(choice.size(), 1);
    DecisionRecord decision{.router = e, .choice = choice, .weight = ones};
    if (e > 0) decision.ancestor = rows;
    batch.add_decision(decision);
  }
  for (int32_t item = 0; item < kItems; ++item) batch.add_sequence(std::to_string(item));
  recorder.submit();
  recorder.finish();
  run->finish(RunStatus::finished, "{}");
  run.reset();
  writer.close();
  return path;
}

/// Empty, or which two rows have a name or a colour in common.
QString shared_colour(const std::vector<ColorMeaning>& meanings) {
  for (size_t a = 0; a < meanings.size(); ++a)
    for (size_t b = a + 1; b < meanings.size(); ++b)
      if (meanings[a].color.rgb() == meanings[b].color.rgb() || meanings[a].name == meanings[b].name)
        return QString("%1 and %2: %3").arg(meanings[a].name, meanings[b].name, meanings[a].color.name());
  return {};
}

}  // namespace

class ToldApartTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  /// Sessions with routers of more branches than there are hues, and one with more exits.
  std::vector<std::string> sessions_;

 private slots:
  void initTestCase() {
    const auto at = [&](const char* name) { return folder_.filePath(name).toStdString(); };
    sessions_ = {make_session(at("wide.storm"), 6, some_run("wide", two_stacks(16))),
                 make_session(at("wider.storm"), 3, some_run("wider", two_stacks(128))),
                 make_session(at("few.storm"), 3, some_run("few", two_stacks(8))), make_mixture_session(at("m.storm")),
                 make_long_chain(at("chain.storm"))};
  }

  void no_colour_stands_for_two_things_in_any_view() {
    QSet<QString> telling;
    size_t most = 0;
    for (const ViewEntry& entry : all_views())
      for (const std::string& session : sessions_)
        for (const bool dark : {false, true}) {
          const std::unique_ptr<View> view(entry.make(nullptr));
          view->resize(1000, 700);
          view->setPalette((dark ? Theme::dim() : Theme::light()).palette());
          Selection selection;
          selection.router = "encoder.0.mlp", selection.branch = 3;
          run_load(*view, context_of(session), selection);
          if (!view->has_content()) continue;
          if (auto* rows = control_of<QComboBox>(*view, "Rows on show")) rows->setCurrentIndex(rows->count() - 1);
          auto* branches = control_of<QComboBox>(*view, "Branches");
          if (!branches) branches = control_of<QComboBox>(*view, "Colour");
          for (int scheme = 0; scheme < (branches ? branches->count() : 1); ++scheme) {
            if (branches) branches->setCurrentIndex(scheme);
            const auto* tells = dynamic_cast<const TellsApart*>(view.get());
            const std::vector<ColorMeaning> meanings = tells ? tells->told_apart() : std::vector<ColorMeaning>();
            const QString shared = shared_colour(meanings);
            QVERIFY2(shared.isEmpty(), qPrintable(QString("%1, scheme %2, %3: %4")
                                                      .arg(entry.id)
                                                      .arg(scheme)
                                                      .arg(QString::fromStdString(session), shared)));
            if (!meanings.empty()) telling << entry.id;
            most = std::max(most, meanings.size());
          }
        }
    // Else nothing was asked.
    for (const char* view : {"cells", "transitions", "timeline", "graph", "exits"})
      QVERIFY2(telling.contains(view), view);
    QCOMPARE(most, size_t{128});
  }

  void a_view_of_many_branches_offers_all_schemes() {
    for (const char* id : {"cells", "transitions", "timeline"}) {
      const auto entry = std::ranges::find_if(all_views(), [&](const ViewEntry& e) { return QString(e.id) == id; });
      const std::unique_ptr<View> view(entry->make(nullptr));
      view->resize(1000, 700);
      Selection selection;
      selection.router = "encoder.0.mlp", selection.branch = 3;
      run_load(*view, context_of(sessions_.front()), selection);
      QVERIFY2(view->has_content(), id);
      if (auto* rows = control_of<QComboBox>(*view, "Rows on show")) rows->setCurrentIndex(rows->count() - 1);
      auto* branches = control_of<QComboBox>(*view, "Branches");
      QVERIFY2(branches && branches->count() == 3, id);
      const auto* tells = dynamic_cast<const TellsApart*>(view.get());
      QVERIFY2(tells, id);
      QCOMPARE(tells->told_apart().size(), size_t{16});
      branches->setCurrentIndex(static_cast<int>(BranchScheme::one));
      const std::vector<ColorMeaning> one = tells->told_apart();
      QCOMPARE(one.size(), size_t{2});
      QVERIFY(std::ranges::any_of(one, [](const ColorMeaning& m) { return m.name == "branch 3"; }));
      branches->setCurrentIndex(static_cast<int>(BranchScheme::cluster));
      QVERIFY2(tells->told_apart().size() <= Theme::kCategories + 1, id);
    }
  }
};
STORMCELL_TEST(ToldApartTest)

}  // namespace stormcell::views
#include "told_apart_test.moc"
