// Sessions as plain values for views: opening one reads kilobytes, whatever its size.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stormcell {

struct RunLine {
  int64_t id = 0;
  std::string kind, name, started, status;
  int64_t batches = 0;
  std::string settings;  ///< JSON of what it was run with, empty where the run did not finish
  std::string summary;   ///< JSON of the verb, empty where there is none
};
struct SessionOverview {
  std::string file, id, created, model, family;
  std::vector<RunLine> runs;  ///< oldest first
};
SessionOverview open_session(const std::string& file);

/// Loads of all routers of one run, each row one router.
struct RoutingLoads {
  int64_t run = 0;
  int64_t batches = 0;
  struct Row {
    std::string router;
    int32_t branches = 0;
    std::vector<int64_t> load, dropped;
    double imbalance = 0, entropy = 0;
  };
  std::vector<Row> rows;
};
/// `run` 0: the newest. Over all its batches.
std::shared_ptr<const RoutingLoads> read_loads(const std::string& file, int64_t run);

}  // namespace stormcell
