#include "views/registry.h"

#include <QCoreApplication>

#include "views/cells/cells_view.h"
#include "views/compare/compare_view.h"
#include "views/data/data_view.h"
#include "views/diff/diff_view.h"
#include "views/exits/exits_view.h"
#include "views/graph/graph_view.h"
#include "views/heatmap/heatmap_view.h"
#include "views/optimisations/optimisations_view.h"
#include "views/overview/overview_view.h"
#include "views/patterns/patterns_view.h"
#include "views/placement/placement_view.h"
#include "views/simulation/simulation_view.h"
#include "views/timeline/timeline_view.h"
#include "views/transitions/transitions_view.h"

namespace stormcell::views {
namespace {

template <class V>
View* make(QWidget* parent) {
  return new V(parent);
}

constexpr ViewEntry kViews[] = {
    {"overview", QT_TRANSLATE_NOOP("Views", "Overview"),
     QT_TRANSLATE_NOOP("Views", "What a run came to, whether to believe it, what to do next"), make<OverviewView>},
    {"heatmap", QT_TRANSLATE_NOOP("Views", "Heatmap"),
     QT_TRANSLATE_NOOP("Views", "Where the cells of every router went"), make<HeatmapView>},
    {"cells", QT_TRANSLATE_NOOP("Views", "Cells"),
     QT_TRANSLATE_NOOP("Views", "The input itself, coloured by where its cells went"), make<CellsView>},
    {"optimisations", QT_TRANSLATE_NOOP("Views", "Optimisations"),
     QT_TRANSLATE_NOOP("Views", "Switch passes on and off and see what each brings"), make<OptimisationsView>},
    {"timeline", QT_TRANSLATE_NOOP("Views", "Timeline"),
     QT_TRANSLATE_NOOP("Views", "Which step ran when, and for how long"), make<TimelineView>},
    {"compare", QT_TRANSLATE_NOOP("Views", "Compare"),
     QT_TRANSLATE_NOOP("Views", "Which figures of two runs differ by more than chance"), make<CompareView>},
    {"transitions", QT_TRANSLATE_NOOP("Views", "Transitions"),
     QT_TRANSLATE_NOOP("Views", "Which branch follows which, from router to router"), make<TransitionsView>},
    {"graph", QT_TRANSLATE_NOOP("Views", "Graph"),
     QT_TRANSLATE_NOOP("Views", "Which router feeds which, and what share of the cells comes to each"),
     make<GraphView>},
    {"exits", QT_TRANSLATE_NOOP("Views", "Exits"),
     QT_TRANSLATE_NOOP("Views", "Who answers early, and what every threshold would give"), make<ExitsView>},
    {"data", QT_TRANSLATE_NOOP("Views", "Data"),
     QT_TRANSLATE_NOOP("Views", "What the session holds, and what it lacks"), make<DataView>},
    {"placement", QT_TRANSLATE_NOOP("Views", "Placement"),
     QT_TRANSLATE_NOOP("Views", "Which expert is on which GPU, and what moving one changes"), make<PlacementView>},
    {"simulation", QT_TRANSLATE_NOOP("Views", "Simulation"),
     QT_TRANSLATE_NOOP("Views", "What the recorded steps would take on GPUs that you do not have"),
     make<SimulationView>},
    {"diff", QT_TRANSLATE_NOOP("Views", "Diff"),
     QT_TRANSLATE_NOOP("Views", "Where two recordings of the same tokens choose otherwise, and why"), make<DiffView>},
    {"patterns", QT_TRANSLATE_NOOP("Views", "Patterns"),
     QT_TRANSLATE_NOOP("Views", "The routing figures that papers publish, beside chance"), make<PatternsView>},
};

}  // namespace
std::span<const ViewEntry> all_views() { return kViews; }
}  // namespace stormcell::views
