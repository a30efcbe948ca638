// View of the input itself: tokens coloured by the branches that a router sent them to, all routers as stripes below, a
// branch's dictionary at the side.
#pragma once
#include "views/cells/cells_picture.h"
#include "views/frame/tells_apart.h"
#include "views/frame/view.h"

class QCheckBox;
class QComboBox;
class QPushButton;
class QSpinBox;
class QTimer;

namespace stormcell::views {

class CellsView : public View, public TellsApart {
  Q_OBJECT
 public:
  explicit CellsView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override { return picture_; }
  std::vector<ColorMeaning> told_apart() const override;

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Parts heeded() const override { return data_.other ? kNarrowing | Part::other : kNarrowing; }
  QStringList remarks() const override;

 private:
  struct Data {
    Context context;
    std::shared_ptr<const CellsOverview> overview;
    std::shared_ptr<const CellPage> page, other;
    int64_t read_at = -1;  ///< the sequence that the page was read for
    std::shared_ptr<const CellTrail> trail;
    std::shared_ptr<const std::vector<CellChoice>> choices;  ///< by step of the trail
    std::optional<CellPlace> trail_of;                       ///< also where there was none
    std::shared_ptr<const BranchDictionary> dictionary;
    std::optional<BranchKeys> keys;  ///< of the whole run

    bool has_dictionary_of(const QString& router, int branch) const {
      return dictionary && dictionary->branch == branch && dictionary->router == router.toStdString();
    }
  };
  void build();
  void connect_all();
  /// Upper limits for what a window of this size shows.
  struct OnShow {
    int64_t lines = 0, pictures = 0;
    int64_t sequences(const CellsOverview& overview) const;
  };
  /// Reads the parts that `known` lacks.
  static Data read(Data known, const Selection& selection, int64_t top, OnShow on_show, const Progress& progress,
                   QString& trouble);
  void show_data();
  void show_choices();
  bool page_covers(const Data& data, const Selection& selection, int64_t top) const;
  OnShow on_show() const;
  CellOptions options() const;
  BranchKeys keys() const;
  void play_on();

  CellsPicture* picture_;
  QComboBox *router_, *color_, *branches_, *order_, *listed_, *pictures_;
  QCheckBox* padding_;
  QPushButton* play_;
  QTimer* clock_;
  QSpinBox* sequence_;
  Data data_;
  Selection selection_;
  int64_t top_ = 0;
  bool color_chosen_ = false;  ///< chosen by the user; else it is the most useful one for the run
};

}  // namespace stormcell::views
