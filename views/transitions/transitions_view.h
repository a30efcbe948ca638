// View of transitions: the pairs of a router and one that its cells meet next, and the flow through all routers that
// edges join with it.
#pragma once
#include "views/frame/tells_apart.h"
#include "views/frame/view.h"
#include "views/transitions/transitions_picture.h"

class QComboBox;

namespace stormcell::views {

class TransitionsView : public View, public TellsApart {
  Q_OBJECT
 public:
  explicit TransitionsView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override { return picture_; }
  std::vector<ColorMeaning> told_apart() const override;

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Parts heeded() const override { return Part::range | Part::phase; }
  QStringList remarks() const override;

 private:
  struct Data {
    QString asked, next;  ///< the routers that were asked for
    std::shared_ptr<const RoutingFlow> flow;
    BranchKeys keys;  ///< of the whole run
  };
  void show_data();
  BranchScheme scheme() const;
  FlowRibbons ribbons() const;
  /// Whether what is there answers for a router.
  bool answers(const QString& router) const;

  TransitionsPicture* picture_;
  QComboBox *router_, *next_, *value_, *branches_;
  QString wanted_next_;  ///< the router that columns stand for; empty: the first that is next
  Data data_;
  Selection selection_;
};

}  // namespace stormcell::views
