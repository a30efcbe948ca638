// The thinnest Studio: a session's runs, the routing heatmap of one, and "run again".
#pragma once
#include <QMainWindow>

#include "app/studio/run_controller.h"
#include "core/experiment/session_view.h"

class QLabel;
class QListWidget;
class QProgressBar;
class QAction;

namespace stormcell::views {
class HeatmapWidget;
}

namespace stormcell::studio {

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  MainWindow();
  /// Shows a session; what is wrong with it is said in the status bar, the window stays as it was.
  bool openSession(const QString& file);

 private:
  void chooseSession();
  void showRun(int row);
  void runAgain();
  void say(const QString& message);

  SessionOverview session_;
  QListWidget* runs_;
  views::HeatmapWidget* heatmap_;
  QLabel *title_, *facts_;
  QProgressBar* progress_;
  QAction *again_, *stop_;
  RunController controller_;
};

}  // namespace stormcell::studio
