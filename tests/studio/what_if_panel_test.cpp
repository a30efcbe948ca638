// The panel "What if": no control moves when a run ends, so that a click at that moment meets the control that was there.
#include "app/studio/what_if_panel.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QToolButton>
#include <map>

#include "app/studio/branches_off_list.h"
#include "tests/testing/testing.h"

namespace stormcell::studio {
namespace {

constexpr const char* kMixture = "encoder.block.1.layer.1.mlp";

std::shared_ptr<SessionOverview> session_of(const std::vector<TrySettings>& tries) {
  auto session = std::make_shared<SessionOverview>();
  session->file = "s.storm";
  for (const TrySettings& settings : tries) {
    RunLine& run = session->runs.emplace_back();
    run.id = std::ssize(session->runs), run.kind = "run", run.phase = "forward", run.status = RunStatus::finished;
    run.settings = settings_json(settings.experiment);
    PlanConfig config;
    config.intervention = settings.intervention;
    run.config = to_json(config);
    auto summary = std::make_shared<Summary>();
    summary->figures.verb = "run";
    run.result = summary;
  }
  return session;
}

TrySettings with_off(const std::vector<int32_t>& branches) {
  TrySettings settings;
  settings.experiment.model = settings.experiment.data = "demo:switch-names";
  for (const int32_t b : branches) settings.intervention.off.push_back({kMixture, b});
  return settings;
}

/// Anything that the user works with, by where its middle is in the panel; those that are scrolled out of sight are left
/// out.
std::map<QWidget*, QRect> controls_of(const WhatIfPanel& panel) {
  std::map<QWidget*, QRect> controls;
  for (QWidget* widget : panel.findChildren<QWidget*>()) {
    const bool works = qobject_cast<QAbstractButton*>(widget) || qobject_cast<QComboBox*>(widget) ||
                       qobject_cast<QAbstractSpinBox*>(widget) || qobject_cast<QLineEdit*>(widget) ||
                       qobject_cast<QListWidget*>(widget);
    if (!works || !widget->isVisible() || widget->visibleRegion().isEmpty()) continue;
    controls[widget] = QRect(widget->mapTo(&panel, QPoint()), widget->size());
  }
  return controls;
}

/// The control at a point of the panel; null: none of these.
QWidget* control_at(const WhatIfPanel& panel, const QPoint& point, const std::map<QWidget*, QRect>& controls) {
  QWidget* at = panel.childAt(point);
  while (at && !controls.contains(at)) at = at->parentWidget();
  return at;
}

void show_run(WhatIfPanel& panel, const std::shared_ptr<SessionOverview>& session, int64_t run) {
  panel.set_session(session, run);
  QCoreApplication::sendPostedEvents();
  QCoreApplication::processEvents();
}

}  // namespace

class WhatIfPanelTest : public QObject {
  Q_OBJECT
 private slots:
  void no_control_moves_when_a_run_ends() {
    WhatIfPanel panel;
    panel.resize(320, 1000);
    panel.show();
    QVERIFY(QTest::qWaitForWindowExposed(&panel));
    show_run(panel, session_of({with_off({})}), 1);
    const std::map<QWidget*, QRect> before = controls_of(panel);
    QVERIFY(before.size() > 10);
    const auto check = [&](const char* when) {
      const std::map<QWidget*, QRect> after = controls_of(panel);
      for (const auto& [control, rect] : before) {
        const QByteArray what =
            QByteArray(when) + ": " + control->metaObject()->className() + " " + control->accessibleName().toUtf8();
        const auto same = after.find(control);
        QVERIFY2(same != after.end() && same->second == rect, what.constData());
        // Nothing new lies above it. Only what is seen whole has its middle in sight.
        if (control->visibleRegion().contains(control->rect().center()))
          QVERIFY2(control_at(panel, rect.center(), after) == control_at(panel, rect.center(), before),
                   what.constData());
      }
    };
    panel.set_running(true);
    panel.show_fault("A fault that takes more than one line: the model has no router of that name, use one of those");
    QCoreApplication::processEvents();
    check("while it runs");
    panel.set_running(false);
    panel.show_fault({});
    show_run(panel, session_of({with_off({}), with_off({3})}), 2);
    check("with a branch off");
    show_run(panel, session_of({with_off({}), with_off({3}), with_off({3, 1, 5})}), 3);
    check("with three branches off");
    show_run(panel, session_of({with_off({}), with_off({3}), with_off({3, 1, 5}), with_off({})}), 4);
    check("with all on again");
  }

  void a_button_that_switches_on_keeps_its_place() {
    BranchesOffList list;
    list.resize(280, list.height());
    list.show();
    QVERIFY(QTest::qWaitForWindowExposed(&list));
    const int height = list.height();
    const auto button_of = [&](int32_t branch) -> QPushButton* {
      for (QPushButton* button : list.findChildren<QPushButton*>())
        if (button->isVisible() && button->text().endsWith("/" + QString::number(branch))) return button;
      return nullptr;
    };
    const auto place_of = [&](int32_t branch) { return button_of(branch)->geometry(); };
    list.set_branches({{kMixture, 3}, {kMixture, 1}}, true);
    QCoreApplication::processEvents();
    const QRect second = place_of(1);
    QVERIFY(second.top() > place_of(3).top());
    list.set_branches({{kMixture, 1}}, true);
    QCoreApplication::processEvents();
    QCOMPARE(place_of(1), second);
    QVERIFY(!button_of(3));
    list.set_branches({{kMixture, 1}, {kMixture, 7}}, true);
    QCoreApplication::processEvents();
    QCOMPARE(place_of(1), second);
    QVERIFY(place_of(7).top() < second.top());
    QCOMPARE(list.height(), height);
    QSignalSpy wanted(&list, &BranchesOffList::on_wanted);
    QTest::mouseClick(button_of(7), Qt::LeftButton);
    QCOMPARE(wanted.size(), 1);
    QCOMPARE(wanted[0][0].toString(), QString(kMixture));
    QCOMPARE(wanted[0][1].toInt(), 7);
  }

  void a_file_of_choices_is_asked_for_and_taken_as_if_typed() {
    TrySettings asked;
    WhatIfPanel panel;
    panel.resize(320, 900);
    panel.show();
    show_run(panel, session_of({with_off({})}), 1);
    QToolButton* choose = nullptr;
    for (QToolButton* one : panel.findChildren<QToolButton*>())
      if (one->accessibleName() == "Choose: Forced choices") choose = one;
    QVERIFY(choose);
    connect(&panel, &WhatIfPanel::try_wanted, &panel, [&](const TrySettings& wanted) { asked = wanted; });
    choose->click();
    auto* dialog = panel.findChild<QFileDialog*>("file-field-dialog");
    QVERIFY(dialog);
    emit dialog->fileSelected("/data/choices.safetensors");
    dialog->close();
    QCOMPARE(asked.intervention.force, std::string("/data/choices.safetensors"));
    // While a run goes on nothing is asked for.
    panel.set_running(true);
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    choose->click();
    QVERIFY(!panel.findChild<QFileDialog*>("file-field-dialog"));
  }

  void the_line_of_capacity_asks_for_one() {
    WhatIfPanel panel;
    panel.resize(320, 900);
    panel.show();
    show_run(panel, session_of({with_off({})}), 1);
    QLineEdit* line = nullptr;
    for (QLineEdit* one : panel.findChildren<QLineEdit*>())
      if (one->accessibleName() == "Capacity") line = one;
    QVERIFY(line && line->isEnabled() && line->text().isEmpty());
    TrySettings asked;
    connect(&panel, &WhatIfPanel::try_wanted, &panel, [&](const TrySettings& wanted) { asked = wanted; });
    line->setText(QString("2 %1=all").arg(kMixture));
    emit line->editingFinished();
    const std::vector<CapacityChange> expected = {{{}, {Capacity::Unit::cells, 2}}, {kMixture, {}}};
    QVERIFY(asked.intervention.capacities == expected);
    asked = {};
    line->setText("some");
    emit line->editingFinished();
    QVERIFY(asked.intervention.empty());
    const auto* fault = [&]() -> QLabel* {
      for (QLabel* label : panel.findChildren<QLabel*>())
        if (label->accessibleName() == "Why it cannot be tried") return label;
      return nullptr;
    }();
    QVERIFY(fault && fault->text().contains("some"));
  }
};
STORMCELL_TEST(WhatIfPanelTest)

}  // namespace stormcell::studio
#include "what_if_panel_test.moc"
