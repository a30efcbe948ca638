// View of a placement: experts on GPUs, the effect of moving one, and the results of searches.
#pragma once
#include <memory>

#include "core/planning/edited_placement.h"
#include "views/frame/view.h"
#include "views/placement/placement_picture.h"

class QComboBox;
class QPushButton;
class QToolButton;

namespace stormcell::views {

class ClusterChoice;
class StepChoices;

class PlacementView : public View {
  Q_OBJECT
 public:
  explicit PlacementView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override { return picture_; }
  const EditedPlacement* edited() const { return edited_.get(); }

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Parts heeded() const override { return kNoPart; }
  QStringList remarks() const override;

 private:
  /// The placement that was opened, or is to be.
  struct Wanted {
    std::string file, cluster;
    int64_t run = 0, start = 0;  ///< start: a placement of the session, 0: the contiguous layout
    int spare = 0;
    std::string replicas, residence;  ///< empty: the usual ones
    bool operator==(const Wanted&) const = default;
  };
  struct Opened {
    std::shared_ptr<EditedPlacement> edited;  ///< null: only the list was read
    std::vector<StoredLayout> stored;
    std::vector<std::string> presets;  ///< of clusters
    QString refused;
    std::optional<LoadChances> chances;  ///< null: those that are there stay
  };
  using Edited = std::shared_ptr<EditedPlacement>;

  void add_controls();
  void add_step_choices();
  void add_export_menu();
  Wanted wanted(const Context& context) const;
  /// The newest stored placement that can be shown, with what it was made for; `want` if there is none.
  static Wanted newest_of(const Opened& opened, const Wanted& want);
  static std::shared_ptr<EditedPlacement> open_wanted(const Wanted& want, const Progress& progress);
  static void open_newest(const Wanted& newest, const Progress& progress, Opened& opened, Wanted& now);
  /// The same in the controls.
  void show_wanted(const Wanted& want);
  void take(const Wanted& wanted, Opened opened);
  void fill_starts();
  void fill_layers();
  bool fits(const StoredLayout& stored) const;
  void follow_router();
  void show_front_of_session();
  size_t layer() const;
  DataPart part() const;

  void refresh_page();
  void show_change(int from, int to, bool copies);
  void end_preview();
  /// The change if the expert goes there; if it cannot, empty and the reason in `fault`.
  PlacementChange change_of(int from, int to, bool copies, QString& fault) const;
  void edit(const QString& what, const PlacementChange& change);
  void drop(int slot);
  void show_menu(int slot, const QPoint& global);
  void solve();
  void take_found(const Edited& edited, const FoundLayout& found);
  void take_front(int point);
  void store();
  void export_as(const std::string& format);

  PlacementPicture* picture_;
  ClusterChoice* cluster_;
  QComboBox *spare_, *start_, *layer_, *part_, *solver_;
  StepChoices* choices_;
  QPushButton *solve_, *back_, *store_;
  QToolButton* export_;
  Edited edited_;
  Wanted shown_;
  LoadChances chances_;  ///< of the whole run
  std::vector<StoredLayout> stored_;
  std::vector<FrontPoint> front_;
  std::vector<Placement> front_placements_;  ///< of those points; empty: only their figures were stored
  QString front_of_;
  PlacementChange preview_;  ///< is applied now, and undone before anything else
  Selection selection_;
};

}  // namespace stormcell::views
