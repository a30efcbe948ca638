// The page of an open model: its sheet, the empty heatmap of its routers, a box for data and Run. A model that this
// version cannot run has its lacks and the recorder for it instead.
#pragma once
#include <QWidget>

#include "app/studio/opened_model.h"
#include "app/studio/run_controller.h"

class QGridLayout;
class QLabel;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace stormcell::studio {

class DataBox;
class SettingsPanel;

class ModelPage : public QWidget {
  Q_OBJECT
 public:
  explicit ModelPage(OpenedModel model, QWidget* parent = nullptr);
  const OpenedModel& model() const { return model_; }
  bool runs() const { return model_.runs; }
  /// Text of the data box.
  QString data() const;
  void set_data(const QString& data);
  QString session() const;
  void set_session(const QString& session);
  /// The request of the settings, without the data. Throws Error(bad_input) that names an option.
  RunRequest request() const;

  enum class State : uint8_t {
    ready,  ///< Run can be pressed
    runs,   ///< the button says Stop
    busy,   ///< another run is going on
  };
  void set_state(State state);
  /// Shows a line below the data; empty: none.
  void show_fault(const QString& message);
  /// A line above the sheet, with a button that reads the files again; empty: none.
  void show_changed(const QString& message);
  QString changed() const;

 signals:
  void again_wanted();
  void run_wanted();
  void stop_wanted();
  void copied(const QString& what);

 private:
  QWidget* make_changed();
  QWidget* make_sheet();
  QWidget* make_run();
  QWidget* make_lacks();
  void press_run();

  OpenedModel model_;
  DataBox* data_ = nullptr;
  QPushButton* run_ = nullptr;
  QToolButton* settings_button_ = nullptr;
  SettingsPanel* settings_ = nullptr;
  QLabel* fault_ = nullptr;
  QWidget* changed_bar_;
  QLabel* changed_;
  State state_ = State::ready;
};

}  // namespace stormcell::studio
