// The machine's hardware and libraries, which of them are used, and why others are not.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stormcell {

struct LibraryVersion {
  std::string name, version, note;  ///< version empty: not used, `note` says why
};

struct DoctorCard {
  std::string name, capability;  ///< "NVIDIA H200", "9.0"
  int64_t bytes = 0, free_bytes = 0;
  std::string reason;  ///< why no program runs on it; empty: it can be used
};

struct DoctorReport {
  std::string version;
  std::string processor;
  std::vector<std::string> features;  ///< those that kernels require
  int cores = 1, logical_processors = 1, sockets = 1;
  int64_t l2_bytes = 0, l3_bytes = 0;
  std::string isa;                          ///< kernels in use
  std::vector<std::string> available_isas;  ///< best first
  std::vector<std::string> not_used;        ///< abilities of the processor, with reasons: "avx512_bf16: ..."
  int64_t memory_bytes = 0, available_bytes = 0;
  int64_t memory_limit_bytes = 0;  ///< of the control group; 0: none
  double cpu_limit = 0;            ///< cores of the control group's quota; 0: none
  std::string cuda_module;         ///< path of the module; empty: none was found
  std::string cuda_architectures;  ///< architectures with machine code in the module: "sm_90a"
  std::vector<DoctorCard> cuda_cards;
  std::string cuda_reason;  ///< why no program runs on a GPU, in one line; empty: it can
  std::string resources;    ///< folder with the demos
  std::vector<LibraryVersion> libraries;
};

DoctorReport examine_machine();
/// stormcell.doctor/1
std::string to_json(const DoctorReport& report);

}  // namespace stormcell
