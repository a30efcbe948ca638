#include "app/cli/json_keys.h"

#include "core/figures/describe.h"
#include "core/figures/json_page.h"
#include "core/planning/place_fields.h"
#include "core/summary/fields.h"
#include "simulator/simulate_fields.h"

namespace stormcell::cli {

std::string json_keys_text() {
  // profile is the verb with the most keys.
  return json_keys_page({{"optimize, run and profile", describe(RunSummaryFigures{.verb = "profile"})},
                         {"generate", describe<GenerateFigures>()},
                         {"inspect", describe<ModelStructure>()},
                         {"place", describe<PlaceFigures>()},
                         {"simulate", describe<SimulateFigures>()}});
}

}  // namespace stormcell::cli
