#include "views/registry.h"

#include <QCoreApplication>

#include "views/heatmap/heatmap_view.h"
#include "views/optimisations/optimisations_view.h"
#include "views/timeline/timeline_view.h"

namespace stormcell::views {
namespace {

template <class V>
View* make(QWidget* parent) {
  return new V(parent);
}

constexpr ViewEntry kViews[] = {
    {"heatmap", QT_TRANSLATE_NOOP("views", "Heatmap"), QT_TRANSLATE_NOOP("views", "Where the cells of every router went"),
     make<HeatmapView>},
    {"optimisations", QT_TRANSLATE_NOOP("views", "Optimisations"),
     QT_TRANSLATE_NOOP("views", "Switch passes on and off and see what each brings"), make<OptimisationsView>},
    {"timeline", QT_TRANSLATE_NOOP("views", "Timeline"), QT_TRANSLATE_NOOP("views", "Which step ran when, and for how long"),
     make<TimelineView>},
};

}  // namespace
std::span<const ViewEntry> all_views() { return kViews; }
}  // namespace stormcell::views
