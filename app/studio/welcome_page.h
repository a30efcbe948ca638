// The first page: ways to begin, and recent sessions.
#pragma once
#include <QStringList>
#include <QWidget>

#include "app/studio/actions.h"

class QVBoxLayout;

namespace stormcell::studio {

class WelcomePage : public QWidget {
  Q_OBJECT
 public:
  WelcomePage(Actions& actions, const QStringList& ways, QWidget* parent);
  void set_recent(const QStringList& sessions);

 signals:
  void recent_wanted(const QString& session);

 private:
  QVBoxLayout* recent_;
};

}  // namespace stormcell::studio
