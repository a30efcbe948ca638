// Branches that are off, each with a button that switches it on again. The list always takes the same room, and each
// button keeps its place while other branches come and go, so that no control moves when a run ends.
#pragma once
#include <QScrollArea>
#include <optional>
#include <vector>

#include "core/configuration/plan_config.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace stormcell::studio {

/// "encoder.block.1.mlp/3"
QString branch_name(const BranchOff& branch);
/// Its end alone if it is long: names of routers differ there, and a button must not make the panel wider than its dock.
QString short_branch_name(const BranchOff& branch);

class BranchesOffList : public QScrollArea {
  Q_OBJECT
 public:
  explicit BranchesOffList(QWidget* parent = nullptr);
  /// `open`: they can be switched on.
  void set_branches(const std::vector<BranchOff>& off, bool open);

 signals:
  void on_wanted(const QString& router, int branch);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  struct Place {
    QPushButton* button;
    std::optional<BranchOff> branch;  ///< nothing: the place is free, and its button hidden
  };
  void add_place();
  void reserve_room();

  QVBoxLayout* rows_ = nullptr;
  QLabel* none_ = nullptr;
  std::vector<Place> places_;
};

}  // namespace stormcell::studio
