// Switches for the passes, what each is predicted and was measured to bring, and a run of the choice.
#pragma once
#include <QHash>

#include "views/kit/imgui/widget.h"
#include "views/kit/view.h"
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
  void choose(const QSet<QString>& enabled, const QString& what);
  void run();

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection&) override {}
  Parts heeded() const override { return kNoPart; }

 private:
  void take(const QSet<QString>& enabled);
  void frame();
  void draw_head();
  void draw_row(size_t index);

  ImGuiWidget* canvas_;
  QHash<QString, QCheckBox*> boxes_;
  QComboBox* preset_;
  QPushButton *run_, *save_;
  Context context_;
  QSet<QString> enabled_;
  Optimisations state_;
};

}  // namespace stormcell::views
