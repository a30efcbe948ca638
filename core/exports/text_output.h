// Destination of texts: a file that appears only when it is complete, or standard output.
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace stormcell {

/// The reader of our standard output has gone (`| head`): that is no failure of ours.
class ReaderGone : public Error {
 public:
  ReaderGone() : Error(ErrorKind::failed, "standard output", "its reader has gone") {}
};

/// Create it before the work, so that a wrong path is reported at once. bad_input: a missing folder, no permission, a
/// session in the way; failed: the disk gives out. An existing file is replaced by finish(), and stays unchanged
/// without it.
class TextOutput {
 public:
  /// "-" is standard output, "" takes everything and keeps nothing. Pipes and devices are written as they are.
  explicit TextOutput(std::string path);
  ~TextOutput();
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  void write(std::string_view text);
  void finish();
  bool is_standard_output() const { return path_ == "-"; }

 private:
  void drain();
  [[noreturn]] void give_up(int error, std::string_view doing);
  void discard();

  std::string path_, target_, partial_, buffer_;
  int descriptor_ = -1;
};

/// Throws as TextOutput does where a file could not be written there; leaves nothing behind.
void check_output_path(const std::string& path);

/// All of a small file, "-" of standard input.
std::string read_text(const std::string& path);

}  // namespace stormcell
