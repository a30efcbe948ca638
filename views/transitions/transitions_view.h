// View of transitions: the pairs of a router and one that its cells meet next, and the flow through all routers that
// edges join with it.
#pragma once
#include "views/frame/view.h"
#include "views/transitions/transitions_picture.h"

class QComboBox;

namespace stormcell::views {

class TransitionsView : public View {
  Q_OBJECT
 public:
  explicit TransitionsView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override { return picture_; }

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Parts heeded() const override { return Part::range | Part::phase; }
  QStringList remarks() const override;

 private:
  struct Data {
    QString asked, next;  ///< the routers that were asked for
    std::shared_ptr<const RoutingFlow> flow;
  };
  void show_data();
  /// True if the data answer for this router.
  bool answers(const QString& router) const;

  TransitionsPicture* picture_;
  QComboBox *router_, *next_, *value_;
  QString wanted_next_;  ///< router of the columns; empty: the first one that is next
  Data data_;
  Selection selection_;
};

}  // namespace stormcell::views
