// Figures that papers publish: curves over layers, label x expert, transitions over gaps, co-activation, vocabulary,
// margins, and saturation over the runs of a session.
#pragma once
#include "views/frame/view.h"
#include "views/patterns/patterns_picture.h"

class QComboBox;

namespace stormcell::views {

class PatternsView : public View {
  Q_OBJECT
 public:
  explicit PatternsView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override { return picture_; }

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Parts heeded() const override { return kNoPart; }
  bool keeps_controls() const override { return refused_; }

 private:
  PatternChoice choice() const;
  /// Another figure is wanted: reads what it needs, or draws it.
  void change_form();
  void list_routers();
  void show_page();
  void pick(PatternSpot spot);
  /// Controls that the figure on show has.
  void show_controls();

  PatternsPicture* picture_;
  QComboBox *form_, *figure_, *margin_, *router_, *gap_;
  PatternValues values_;
  int read_gap_ = 0;      ///< of the figures on show
  bool refused_ = false;  ///< this figure cannot be made of the run: another one may be
  Selection selection_;
};

}  // namespace stormcell::views
