// Switches and parameters of the passes, the measured gain of each, and a run of the choice.
#pragma once
#include <QHash>
#include <functional>

#include "views/drawing/imgui/widget.h"
#include "views/frame/view.h"
#include "views/optimisations/optimisations_model.h"

class QCheckBox;
class QComboBox;
class QPushButton;

namespace stormcell::views {

class OptimisationsView : public View {
  Q_OBJECT
 public:
  explicit OptimisationsView(QWidget* parent = nullptr);
  Table table() const override { return make_table(state_); }
  QWidget* picture() override { return canvas_; }
  const Optimisations& state() const { return state_; }
  /// Can be undone.
  void choose(const PassChoice& choice, const QString& what);
  void run();

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection&) override {}
  Parts heeded() const override { return kNoPart; }

 private:
  void take(const PassChoice& choice);
  void switch_pass(const QString& id, bool on);
  void set_option(const QString& pass, const OptionRow& option, const QString& value);
  void add_passes();
  QWidget* add_options();
  void draw_options(const PassRow& row);
  void frame();
  /// Padding above and below the content of a row, in pixels.
  float row_padding() const;
  void draw_head();
  void draw_row(size_t index);

  ImGuiWidget* canvas_;
  QHash<QString, QCheckBox*> boxes_;
  std::vector<std::function<void()>> refresh_options_;  ///< set the controls to the state
  QComboBox* preset_;
  QPushButton *run_, *save_;
  Context context_;
  PassChoice choice_;
  Optimisations state_;
};

}  // namespace stormcell::views
