// Result of a call of gpu/: it throws no exception. A failure is one line that names the call, the sizes and the
// device.
#pragma once
#include <cstdarg>
#include <cstdint>
#include <cstdio>

namespace stormcell::gpu {

enum class StatusCode : uint8_t {
  ok,
  bad_input,      ///< sizes beyond a kernel's range, null or misaligned pointers, a workspace too small
  unsupported,    ///< this card or driver cannot do it
  out_of_memory,  ///< the card's memory
  device_fault,   ///< a kernel or the driver failed; the device may have to be given up
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  /// A failure with its line, as printf writes it.
  [[gnu::format(printf, 2, 3)]] static Status failure(StatusCode code, const char* format, ...) {
    Status status;
    status.code_ = code;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(status.text_, sizeof status.text_, format, arguments);
    va_end(arguments);
    return status;
  }
  bool ok() const { return code_ == StatusCode::ok; }
  StatusCode code() const { return code_; }
  const char* text() const { return text_; }

 private:
  StatusCode code_ = StatusCode::ok;
  char text_[248] = {};
};

}  // namespace stormcell::gpu

/// Leaves the function with the status of a call that failed.
#define STORMCELL_TRY(call)                                                       \
  do {                                                                            \
    if (::stormcell::gpu::Status status_ = (call); !status_.ok()) return status_; \
  } while (false)
