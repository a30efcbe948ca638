// A session of a mixture, and its simulation as the view shows it.
#pragma once
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <string>

#include "simulator/simulate.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/mixture_fixture.h"
#include "views/simulation/simulation_view.h"

namespace stormcell::views {

inline QString of_file(const std::string& name) { return QString::fromStdString(name); }
inline bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

inline SimulationPicture* picture_of(View& view) { return dynamic_cast<SimulationPicture*>(view.picture()); }

/// Until nothing more is wanted: a list of clusters comes with the first reading.
inline void settle(View& view, const Context& context, const Selection& selection = {}) {
  int left = 5;
  do testing::run_load(view, context, selection);
  while (!view.settled() && --left > 0);
  QVERIFY(view.settled());
}

inline SimulateFigures simulated(const std::string& session, const std::string& cluster,
                                 const std::string& overlap = "none") {
  SimulateOptions options;
  options.session = session, options.cluster = "preset:" + cluster, options.overlap = overlap;
  return simulate(options);
}

struct SimulationFixture {
  QTemporaryDir folder_;
  std::string session_;
  std::string fresh(const char* name) { return testing::make_mixture_session(folder_.filePath(name).toStdString()); }
};

}  // namespace stormcell::views
