// The families of checks: each runs in a process of its own with a limit, so that one that fails, faults or hangs stops
// no other.
#pragma once
#include <climits>
#include <string>
#include <vector>

#include "gpu/grouped/tile_map.h"
#include "tests/gpu/device_check/report.h"

namespace stormcell::device_check {

/// Holds what a family is told.
struct Task {
  bool small = false;         ///< little cases only: under compute-sanitizer
  double seconds = 0;         ///< after which the family is killed
  double read_bandwidth = 0;  ///< bytes a second, as the limits family measured; 0: not known
  double copy_bandwidth = 0;  ///< bytes read and written a second
  double bf16_rate = 0;       ///< FLOP a second
  int blocks = 0;       ///< most blocks of a persistent kernel, so that its ring goes on from tile to tile; 0: all
  int first_point = 1;  ///< of bench_points(), counted from 1; to last_point
  int last_point = INT_MAX;
  std::string folder;  ///< where device_check and its scripts lie
};

struct Family {
  const char* name;
  void (*run)(const Task& task, Report& report);
  int seconds;     ///< it is killed after these
  bool sanitized;  ///< its small cases also run under compute-sanitizer
};

void check_limits(const Task& task, Report& report);
void check_routing(const Task& task, Report& report);
void check_dispatch(const Task& task, Report& report);
void check_plain(const Task& task, Report& report);
void check_gemv(const Task& task, Report& report);
void check_swapped(const Task& task, Report& report);
void check_large(const Task& task, Report& report);
void check_mixed(const Task& task, Report& report);
void check_repeats(const Task& task, Report& report);
void check_layer_calls(const Task& task, Report& report);
void check_faults(const Task& task, Report& report);
void bench_routing(const Task& task, Report& report);
void bench_few_rows(const Task& task, Report& report);
void bench_rows(const Task& task, Report& report);
void bench_switch(const Task& task, Report& report);
void bench_gated(const Task& task, Report& report);

/// The lower bounds of the layers' points as a table; needs no card.
void print_bounds();

/// In the order in which they run; the first tells the others the card's limits.
const std::vector<Family>& families();

}  // namespace stormcell::device_check
