// Times of collectives as nccl-tests prints them (all_reduce_perf, alltoall_perf).
#pragma once
#include <string>
#include <vector>

#include "core/cost/measured_call.h"

namespace stormcell {

struct NcclTests {
  std::vector<MeasuredCall> calls;
  std::vector<std::string> warnings;  ///< runs that are left out, because they printed no row
};

/// Whether a text is such an output, by its lines of columns.
bool is_nccl_tests(const std::string& text);
/// Makes a call of each row, by its time out of place: op "alltoall" or "all_reduce", a rank's data as one copy. Passes
/// over rows of no bytes. GPUs and hosts are those that the text lists; `nic_gbit` is that of each network card, if
/// there are several hosts. Error(bad_input) with the line: a malformed row, wrong values, no time, another collective,
/// unlike GPUs or hosts, a rank that occurs twice, a last run without rows or verdict.
NcclTests parse_nccl_tests(const std::string& text, const std::string& path, double nic_gbit);

}  // namespace stormcell
