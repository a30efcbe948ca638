// Name and peak figures of this processor: the ceilings that every share of the limit refers to.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/thread_team.h"
#include "core/cpu/kernels/isa.h"

namespace stormcell::cpu {

/// The processor as the operating system describes it.
struct Processor {
  std::string model;  ///< "Intel(R) Xeon(R) Processor"
  /// those the kernels ask for: "avx2", "fma", "avx512f", "avx512_bf16", "amx_bf16" ...
  std::vector<std::string> features;
  int logical_processors = 1;  ///< processors that this process may use
  int cores = 1;               ///< physical cores among them, as far as the system tells
  int sockets = 1;
  int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  ///< bytes of one instance; 0: unknown
};
Processor describe_processor();

/// How the first two threads of the team lie to each other, measured and not believed: virtual machines hide it, and it
/// may change while they run.
enum class Placement { one_thread, two_cores_one_l3, two_cores_different_l3, one_core_two_threads };
struct PlacementProbe {
  Placement placement = Placement::one_thread;
  double fma_gain = 1;     ///< FMA rate of two threads against one: 1.9-2.0 on two cores, 1.0 on one
  double hand_off_ns = 0;  ///< one fork-join: about 150 ns within one L3, 900 ns across two
};
/// Takes about twice `seconds`; ends early, as probe_ceilings() does, when the team is cancelled: what it returns is
/// worth nothing then. Results of runs in different placements must not be compared.
PlacementProbe probe_placement(ThreadTeam& team, double seconds = 0.1);
/// "two cores, one L3" and so on.
std::string to_text(Placement placement);

/// The two ceilings of a roofline, of all threads of the team together.
struct Ceilings {
  double f32_gflops = 0;
  double bf16_gflops = 0;  ///< with bf16 dot products; equal to f32 if the processor has none
  double read_gbs = 0;     ///< from DRAM
  Isa isa = Isa::generic;  ///< the kernels in use
};
/// About `seconds` a figure, and the time of touching the memory that is read: up to 512 MiB, and never more than
/// `most_bytes`.
Ceilings probe_ceilings(ThreadTeam& team, double seconds = 0.1, int64_t most_bytes = int64_t{512} << 20);

}  // namespace stormcell::cpu
