// Early exits: the items that answer at each, the results of every threshold, and the classes and items that go on.
#pragma once
#include "core/configuration/plan_config.h"
#include "views/exits/exits_picture.h"
#include "views/frame/tells_apart.h"
#include "views/frame/view.h"

class QComboBox;
class QPushButton;

namespace stormcell::views {

class ExitsView : public View, public TellsApart {
  Q_OBJECT
 public:
  explicit ExitsView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override { return picture_; }
  std::vector<ColorMeaning> told_apart() const override;

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Parts heeded() const override { return kNoPart; }

 private:
  void show_data();
  /// A point by its name, or by a number the nearest one.
  void choose(const QString& text);
  /// The thresholds of the point on show, one for each exit; empty: they ran, or the run does not tell.
  RouterThresholds shown_thresholds() const;
  void update_run();

  ExitsPicture* picture_;
  QComboBox *threshold_, *listed_;
  QPushButton* run_;
  std::shared_ptr<const ExitsOfRun> data_;
  Selection selection_;
};

}  // namespace stormcell::views
