#include "views/words/router_names.h"

#include <QStringList>
#include <algorithm>

#include "core/readings/router_places.h"
#include "core/summary/exits_text.h"

namespace stormcell::views {
namespace {

std::vector<QString> parts_that_differ(const std::vector<RouterLine>& routers) {
  std::vector<QStringList> parts;
  for (const RouterLine& r : routers) parts.push_back(QString::fromStdString(r.name).split('.'));
  std::vector<QString> names;
  if (parts.size() < 2) {
    for (const QStringList& p : parts) names.push_back(p.join('.'));
    return names;
  }
  const auto common = [&](auto part) {
    qsizetype n = 0;
    for (;; ++n)
      for (const QStringList& p : parts)
        if (n >= p.size() || n >= parts[0].size() || part(p, n) != part(parts[0], n)) return n;
  };
  const qsizetype front = common([](const QStringList& p, qsizetype i) { return p[i]; });
  const qsizetype back = common([](const QStringList& p, qsizetype i) { return p[p.size() - 1 - i]; });
  for (const QStringList& p : parts) {
    // A number alone says little: the word before it belongs to it.
    const bool number = front < p.size() && !p[front].isEmpty() && p[front][0].isDigit();
    const qsizetype from = number && front > 0 ? front - 1 : front;
    const QString name = p.mid(from, std::max<qsizetype>(1, p.size() - back - from)).join('.');
    names.push_back(name.isEmpty() ? p.join('.') : name);
  }
  return names;
}

}  // namespace

std::vector<QString> short_names(const std::vector<RouterLine>& routers) {
  std::vector<QString> names = parts_that_differ(routers);
  size_t exits = 0;
  for (size_t r = 0; r < routers.size(); ++r)
    if (is_exit(routers[r])) names[r] = QString::fromStdString(exit_name(exits++));
  return names;
}

}  // namespace stormcell::views
