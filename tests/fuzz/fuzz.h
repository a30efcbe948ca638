// Parts that the fuzz targets share. A target takes any bytes; only an Error of the right form may come out of it.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace stormcell::fuzz {

/// A target: takes `size` bytes from `data` on and returns 0, as libFuzzer asks.
using Target = int (*)(const uint8_t* data, size_t size);
/// Adds a target to those that the replay program can run (replay.cpp).
int add_target(const char* name, Target target);

/// Checks what must hold after `reader` took the bytes; a failure stops the fuzzer.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// A refusal is bad input, on one line of bounded length.
template <class Action>
void refused_or_done(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    require(error.kind() == ErrorKind::bad_input, "a refusal is bad input");
    require(message.find('\n') == std::string_view::npos && message.size() < 2000, "a refusal is one line");
  }
}

/// A file in memory that holds the given bytes, for readers that take a path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("fuzz", 0)), path_("/proc/self/fd/" + std::to_string(descriptor_)) {}
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& holding(const uint8_t* data, size_t size) const {
    require(::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size),
            "the input was written");
    return path_;
  }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace stormcell::fuzz

/// Begins the definition of a target, a function of `data` and `size`. libFuzzer's programs have one each, the replay
/// program has all.
#ifdef STORMCELL_FUZZ_ALONE
#define STORMCELL_FUZZ_TARGET(name) extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
#else
#define STORMCELL_FUZZ_TARGET(name)                                                                    \
  static int fuzz_##name(const uint8_t* data, size_t size);                                            \
  [[maybe_unused]] static const int kAdded_##name = ::stormcell::fuzz::add_target(#name, fuzz_##name); \
  static int fuzz_##name(const uint8_t* data, size_t size)
#endif
