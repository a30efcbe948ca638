// View of the routers of a run as a graph: which one feeds which, coloured by share of cells, with the way of the
// chosen cell.
#pragma once
#include "views/frame/tells_apart.h"
#include "views/frame/view.h"
#include "views/graph/graph_picture.h"

class QComboBox;
class QScrollArea;

namespace stormcell::views {

class GraphView : public View, public TellsApart {
  Q_OBJECT
 public:
  explicit GraphView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override { return picture_; }
  std::vector<ColorMeaning> told_apart() const override;

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Parts heeded() const override { return Part::range | Part::phase; }
  QStringList remarks() const override;
  bool eventFilter(QObject* object, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  /// The way of the selection's cell; null: none is chosen, or none is known.
  struct Way {
    std::optional<CellPlace> of;
    std::shared_ptr<const CellTrail> trail;
    QString fault;  ///< why there is no way
  };
  void show_data();
  void show_way();
  void fit_picture();
  GraphPage made_page() const;
  /// By the choice of colours.
  BranchScheme scheme() const;

  QScrollArea* scroll_;
  GraphPicture* picture_;
  QComboBox *value_, *listed_;
  std::shared_ptr<const RouterGraph> data_;
  std::shared_ptr<const GuardsOfRun> guards_;
  BranchKeys keys_;      ///< of the whole run
  LoadChances chances_;  ///< of the whole run
  Way way_;
  Selection selection_;
};

}  // namespace stormcell::views
