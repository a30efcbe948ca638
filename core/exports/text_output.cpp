#include "core/exports/text_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/formats/file_text.h"

namespace stormcell {
namespace {

constexpr size_t kBuffer = size_t{1} << 16, kMostInput = size_t{64} << 20;

bool is_database(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  char magic[16] = {};
  const bool is = ::read(descriptor, magic, sizeof magic) == sizeof magic &&
                  std::memcmp(magic, "SQLite format 3", sizeof magic) == 0;
  ::close(descriptor);
  return is;
}

// A link stays a link: its target is replaced.
std::string followed(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  std::string target = real ? real : path;
  std::free(real);
  return target;
}

}  // namespace

TextOutput::TextOutput(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  if (path_ == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  target_ = path_;
  struct stat status {};
  int flags = O_WRONLY | O_CLOEXEC;
  if (::stat(path_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) bad_input(path_, "is a folder", "name a file");
    if (S_ISREG(status.st_mode)) {
      if (is_database(path_)) bad_input(path_, "is a session, which is never overwritten", "choose another name");
      if (::access(path_.c_str(), W_OK) != 0) give_up(errno, "cannot be written");
      target_ = followed(path_);
      partial_ = target_ + ".partial-" + std::to_string(::getpid());
    }
  } else {
    partial_ = target_ + ".partial-" + std::to_string(::getpid());
  }
  if (!partial_.empty()) flags |= O_CREAT | O_TRUNC;
  descriptor_ = ::open(partial_.empty() ? path_.c_str() : partial_.c_str(), flags, 0666);
  if (descriptor_ < 0) give_up(errno, "cannot be written");
}

TextOutput::~TextOutput() { discard(); }

void TextOutput::discard() {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  descriptor_ = -1;
  if (!partial_.empty()) ::unlink(partial_.c_str());
  partial_.clear();
}

void TextOutput::give_up(int error, std::string_view doing) {
  discard();
  if (error == EPIPE && is_standard_output()) throw ReaderGone();
  const bool disk =
      error == ENOSPC || error == EIO || error == EDQUOT || error == EFBIG || error == EPIPE || error == EROFS;
  const std::string where = is_standard_output() ? "standard output" : path_;
  throw Error(disk ? ErrorKind::failed : ErrorKind::bad_input, where, std::string(doing) + ": " + std::strerror(error),
              disk ? "make room or choose another place" : "choose a folder that exists and can be written");
}

void TextOutput::drain() {
  for (size_t at = 0; at < buffer_.size();) {
    const ssize_t n = ::write(descriptor_, buffer_.data() + at, buffer_.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) give_up(errno, "cannot be written");
    at += static_cast<size_t>(n);
  }
  buffer_.clear();
}

void TextOutput::write(std::string_view text) {
  if (path_.empty()) return;
  buffer_ += text;
  if (buffer_.size() >= kBuffer) drain();
}

void TextOutput::finish() {
  if (path_.empty()) return;
  drain();
  if (is_standard_output()) return;
  if (!partial_.empty() && ::fsync(descriptor_) != 0) give_up(errno, "cannot be written");
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) give_up(errno, "cannot be written");
  if (partial_.empty()) return;
  if (::rename(partial_.c_str(), target_.c_str()) != 0) give_up(errno, "cannot be written");
  partial_.clear();
}

void check_output_path(const std::string& path) { const TextOutput trial(path); }

std::string read_text(const std::string& path) { return read_file_text(path, kMostInput); }

}  // namespace stormcell
