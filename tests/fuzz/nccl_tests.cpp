#include "core/planning/nccl_tests.h"

#include <cmath>

#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(nccl_tests) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  is_nccl_tests(text);
  // Older outputs are told apart by their files' names.
  for (const char* path : {"alltoall.txt", "output.txt"})
    for (const double nic_gbit : {0., 400.})
      fuzz::refused_or_done([&] {
        for (const MeasuredCall& call : parse_nccl_tests(text, path, nic_gbit).calls) {
          fuzz::require(
              call.us > 0 && std::isfinite(call.us) && call.bytes_per_copy > 0 && std::isfinite(call.bytes_per_copy),
              "a call has a time and a size");
          fuzz::require(call.ranks >= 2 && call.nodes >= 1 && call.nodes * call.gpus_per_node == call.ranks,
                        "ranks are on hosts");
          fuzz::require(call.op == "alltoall" || call.op == "all_reduce", "a call is one that is known");
          fuzz::require((call.nodes > 1) == (call.nic_gbit > 0), "several hosts have cards");
        }
      });
  return 0;
}
