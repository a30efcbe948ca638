#include "gpu/device/module.h"

#include <dlfcn.h>

#include <filesystem>

#include "gpu/device/card_kernels.h"

namespace stormcell::card {
namespace {
namespace fs = std::filesystem;

FoundModule open_module(const std::string& path) {
  FoundModule found;
  found.path = path;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    found.reason = "module " + path + " cannot be opened: " + (why ? why : "no reason is given");
    return found;
  }
  const auto entry = reinterpret_cast<const ModuleFacts* (*)()>(dlsym(handle, kModuleEntry));
  if (!entry) {
    found.reason = "module " + path + " has no " + kModuleEntry + "(): it is not Stormcell's";
    dlclose(handle);
    return found;
  }
  const ModuleFacts* facts = entry();
  found.reason = refusal_of(*facts);
  if (found.reason.empty()) {
    found.calls = facts->calls;
  } else {
    found.reason = "module " + path + " " + found.reason;
    dlclose(handle);
  }
  return found;
}

/// "13.0" of 13000.
std::string version_text(int32_t version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string error_text(const CardCalls& calls, const char* call, int error) {
  return std::string(call) + ": " + calls.error_text(error) + " (" + calls.error_name(error) + ")";
}

}  // namespace

std::vector<std::string> module_folders() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = program.parent_path();
  return {folder.string(), (folder.parent_path() / "lib" / "stormcell").string()};
}

FoundModule find_module(const std::vector<std::string>& folders) {
  std::string searched;
  for (const std::string& folder : folders) {
    const std::string path = (fs::path(folder) / kModuleFile).string();
    std::error_code error;
    if (fs::exists(path, error)) return open_module(path);
    searched += (searched.empty() ? "" : " or ") + folder;
  }
  FoundModule none;
  none.reason = std::string("no module: ") + kModuleFile + " is not in " + searched;
  return none;
}

std::string refusal_of(const ModuleFacts& facts) {
  const std::string advice = ": install the module of this program";
  if (facts.interface != kCardInterface)
    return "has interface " + std::to_string(facts.interface) + ", this program " + std::to_string(kCardInterface) +
           advice;
  if (std::string(facts.version) != STORMCELL_VERSION)
    return std::string("is of version ") + facts.version + ", this program of " + STORMCELL_VERSION + advice;
  if (facts.build != build_id()) return "is of another build than this program" + advice;
  return {};
}

std::string why_no_card(const CardCalls& calls, int card) {
  int32_t version = 0, needed = 0, count = 0;
  if (const int error = calls.driver_version(&version, &needed); error != 0)
    return error_text(calls, "cudaDriverGetVersion", error);
  if (version == 0) return "no driver: NVIDIA's driver (libcuda.so.1) is not installed";
  if (version < needed)
    return "driver too old: it has CUDA " + version_text(version) + ", " + version_text(needed) + " is needed";
  const int counted = calls.count_cards(&count);
  if (counted == kOldDriver) return "driver too old: CUDA " + version_text(needed) + " is needed";
  if (counted == kNoCard || (counted == 0 && count == 0)) return "no card: the driver finds no GPU";
  if (counted != 0) return error_text(calls, "cudaGetDeviceCount", counted);
  if (card >= count) return "no card " + std::to_string(card) + ": the driver finds " + std::to_string(count);
  CardFacts facts = {};
  if (const int error = calls.describe(card, &facts); error != 0)
    return error_text(calls, "cudaGetDeviceProperties", error);
  // The first call that uses the card: it needs memory.
  int64_t free = 0, all = 0;
  if (const int error = calls.count_memory(card, &free, &all); error == kOutOfMemory || (error == 0 && free == 0))
    return std::string("no memory: other programs use all memory of ") + facts.name;
  else if (error != 0)
    return error_text(calls, "cudaMemGetInfo", error);
  if (const int error = calls.prepare(card); error == kNoImage) {
    const std::string has = std::to_string(facts.major) + "." + std::to_string(facts.minor);
    return std::string(facts.major < 9 ? "card too old: " : "card not known: ") + facts.name +
           " has compute capability " + has + ", the module's kernels are for " + calls.architectures;
  } else if (error == kOutOfMemory) {
    return std::string("no memory: other programs use all memory of ") + facts.name;
  } else if (error != 0) {
    return error_text(calls, "cudaFuncSetAttribute", error);
  }
  return {};
}

}  // namespace stormcell::card
