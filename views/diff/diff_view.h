// The same tokens in two recordings: where their choices differ, and why.
#pragma once
#include "views/diff/diff_picture.h"
#include "views/frame/tells_apart.h"
#include "views/frame/view.h"

class QComboBox;

namespace stormcell::views {

class DiffView : public View, public TellsApart {
  Q_OBJECT
 public:
  explicit DiffView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override { return picture_; }
  std::vector<ColorMeaning> told_apart() const override;

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Parts heeded() const override { return Part::other; }
  bool keeps_controls() const override { return refused_; }

 private:
  /// Whether the run on show is a, or the one that it is compared with.
  bool main_is_a() const;
  void pick(DiffPlace place);
  void pick_cell(const DiffSample& cell);
  /// The square that the selection means; without one the strongest.
  void show_chosen();

  DiffPicture* picture_;
  QComboBox *reference_, *listed_;
  bool main_was_a_ = true;  ///< of the figures on show
  bool refused_ = false;    ///< the recordings cannot be compared: the other order may say more
  Selection selection_;
};

}  // namespace stormcell::views
