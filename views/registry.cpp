#include "views/registry.h"

#include <QCoreApplication>

#include "views/cells/cells_view.h"
#include "views/data/data_view.h"
#include "views/heatmap/heatmap_view.h"
#include "views/transitions/transitions_view.h"

namespace stormcell::views {
namespace {

template <class V>
View* make(QWidget* parent) {
  return new V(parent);
}

constexpr ViewEntry kViews[] = {
    {"heatmap", QT_TRANSLATE_NOOP("views", "Heatmap"), QT_TRANSLATE_NOOP("views", "Where the cells of every router went"),
     make<HeatmapView>},
    {"cells", QT_TRANSLATE_NOOP("views", "Cells"), QT_TRANSLATE_NOOP("views", "The input itself, coloured by where its cells went"),
     make<CellsView>},
    {"transitions", QT_TRANSLATE_NOOP("views", "Transitions"),
     QT_TRANSLATE_NOOP("views", "Which branch follows which, from router to router"), make<TransitionsView>},
    {"data", QT_TRANSLATE_NOOP("views", "Data"), QT_TRANSLATE_NOOP("views", "What the session holds, and what it lacks"), make<DataView>},
};

}  // namespace
std::span<const ViewEntry> all_views() { return kViews; }
}  // namespace stormcell::views
