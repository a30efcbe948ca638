#include "core/planning/calls_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(calls) {
  static const fuzz::MemoryFile file, rewritten;
  for (const CallTimes times : {CallTimes::needed, CallTimes::optional})
    fuzz::refused_or_done([&] {
      const std::vector<MeasuredCall> calls = read_calls(file.holding(data, size), times, 400).calls;
      fuzz::require(!calls.empty(), "a file has calls");
      nlohmann::ordered_json json = {{"schema", "stormcell.calibration/1"}, {"calls", nlohmann::ordered_json::array()}};
      std::set<std::string> ids;
      for (const MeasuredCall& call : calls) {
        fuzz::require(!call.op.empty() && !call.gpu.empty() && ids.insert(call.id).second,
                      "a call has a kind, a GPU and an id of its own");
        fuzz::require(std::isfinite(call.us) && (call.us > 0 || (times == CallTimes::optional && call.us == 0)),
                      "a call has its time");
        json["calls"].push_back(json_of_call(call));
      }
      const std::string text = json.dump();
      const std::vector<MeasuredCall> again =
          read_calls(rewritten.holding(reinterpret_cast<const uint8_t*>(text.data()), text.size()), times).calls;
      fuzz::require(again.size() == calls.size(), "what was read can be written and read again");
      for (size_t c = 0; c < calls.size(); ++c)
        fuzz::require(again[c].id == calls[c].id && again[c].us == calls[c].us && same_shape(again[c], calls[c]),
                      "calls stay as they were");
    });
  return 0;
}
