// Real mouse and keys: X events by xdotool, so that nothing of Qt's own test events stands in for them.
#pragma once
#include <QApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>
#include <QWidget>
#include <algorithm>

namespace stormcell::testing {

/// Nothing: real mouse and keys can be sent.
inline const char* missing_for_real_input() {
  if (QApplication::platformName() != "xcb") return "needs an X display: run it through ctest";
  if (QStandardPaths::findExecutable("xdotool").isEmpty()) return "needs xdotool";
  return nullptr;
}

// The events come back through the display: the loop must run while xdotool sends them.
inline void tool(const QStringList& arguments) {
  QProcess process;
  process.start("xdotool", arguments);
  QTRY_VERIFY_WITH_TIMEOUT(process.state() == QProcess::NotRunning, 20000);
  QCOMPARE(process.exitCode(), 0);
  QTest::qWait(150);
}
inline void key(const QString& keys) { tool({"key", "--clearmodifiers", keys}); }
inline QStringList moved_to(QPoint global) {
  return {"mousemove", QString::number(global.x()), QString::number(global.y())};
}
inline void click_at(QPoint global) { tool(moved_to(global) + QStringList{"click", "1"}); }
inline void click(const QWidget* widget) {
  click_at(widget->mapToGlobal(QPoint(std::min(12, widget->width() / 2), widget->height() / 2)));
}
/// One process, because a drag keeps the loop that would start the next one.
inline void drag(QPoint from, QPoint to) {
  const QStringList wait = {"sleep", "0.2"};
  tool(moved_to(from) + QStringList{"mousedown", "1"} + wait + moved_to(from + QPoint(-20, 4)) + wait +
       moved_to((from + to) / 2) + wait + moved_to(to + QPoint(2, 2)) + wait + moved_to(to) + wait +
       QStringList{"mouseup", "1"});
}

/// The visible one with this text; null: there is none.
template <class W>
W* named(QWidget* in, const QString& text) {
  for (W* w : in->findChildren<W*>())
    if (w->text() == text && w->isVisible()) return w;
  return nullptr;
}

}  // namespace stormcell::testing
