// The selection that all views share, above all of them: each part is a button that removes it, and there are choices
// of phase and label.
#pragma once
#include <QWidget>

#include "core/readings/selected_view.h"
#include "views/frame/selection.h"

class QComboBox;
class QLabel;

namespace stormcell::views {
class FlowLayout;
}

namespace stormcell::studio {

class SelectionBar : public QWidget {
  Q_OBJECT
 public:
  explicit SelectionBar(QWidget* parent = nullptr);
  void set_selection(const views::Selection& selection);
  /// Sets the phases and labels of the shown run.
  void set_choices(const SelectionChoices& choices);

 signals:
  void selection_wanted(const stormcell::views::Selection& selection);

 private:
  QComboBox* add_choice(const QString& name);
  void fill(QComboBox* box, const std::vector<std::string>& there, const QString& chosen, size_t least,
            const QString& tip, const QString& why_not);
  void refresh();

  QLabel* nothing_;
  views::FlowLayout* chips_;
  QComboBox *phase_, *label_;
  SelectionChoices choices_;
  views::Selection selection_;
};

}  // namespace stormcell::studio
