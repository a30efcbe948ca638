#include "core/formats/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/system_error.h"

namespace stormcell {

namespace {

constexpr const char* kLeaveAlone = "leave the files of a model and of its data as they are until the run ends";

int64_t written_ns(const struct stat& status) {
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

/// Caches of Hugging Face hold links to files in another folder. A copy without that folder has only the links.
void refuse_lone_link(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return;
  bad_input(path, "is a link to " + std::filesystem::read_symlink(path, error).string() + ", which does not exist",
            "download the file again, or copy what links lead to: cp -L");
}

}  // namespace

bool has_entry(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

OpenFile OpenFile::open_regular(const std::string& path) {
  if (path.find('\0') != std::string::npos) bad_input(path, "is not a file name", "it contains a zero byte");
  // O_NONBLOCK: opening a pipe by mistake must not wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int error = errno;
    if (error == ENOENT) refuse_lone_link(path);
    bad_input(path, std::string("cannot be opened: ") + std::strerror(error), advice_on_errno(error));
  }
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const int error = errno;
    ::close(descriptor);
    bad_input(path, std::string("cannot be examined: ") + std::strerror(error), advice_on_errno(error));
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor);
    bad_input(path, S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file", "name a file");
  }
  return OpenFile(path, descriptor, static_cast<size_t>(status.st_size), written_ns(status), true);
}

OpenFile OpenFile::take(const std::string& path, int descriptor) {
  OpenFile file(path, descriptor, 0, 0, true);
  file.look_again();
  return file;
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(other.descriptor_),
      size_(other.size_),
      written_ns_(other.written_ns_),
      owned_(std::exchange(other.owned_, false)) {}

OpenFile::~OpenFile() {
  if (owned_) ::close(descriptor_);
}

void OpenFile::read(size_t offset, std::span<std::byte> to) const {
  for (size_t done = 0; done < to.size();) {
    const ssize_t came = ::pread(descriptor_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (came < 0 && errno == EINTR) continue;
    if (came < 0) failed(path_, std::string("cannot be read: ") + std::strerror(errno), advice_on_errno(errno));
    if (came == 0) refuse_shorter();
    done += static_cast<size_t>(came);
  }
}

std::string OpenFile::what_changed() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return std::string("cannot be examined any more: ") + std::strerror(errno);
  const size_t size = status.st_size;
  if (size != size_)
    return "was written to while it was used: it had " + counted(static_cast<int64_t>(size_), "byte") + " and has " +
           with_commas(status.st_size) + " now";
  return written_ns(status) == written_ns_ ? std::string() : "was written to while it was used";
}

std::string OpenFile::change() const {
  const std::string what = what_changed();
  return what.empty() ? what : path_ + " " + what;
}

void OpenFile::look_again() {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0)
    failed(path_, std::string("cannot be examined: ") + std::strerror(errno), advice_on_errno(errno));
  size_ = static_cast<size_t>(status.st_size);
  written_ns_ = written_ns(status);
}

void OpenFile::expect_unchanged() const {
  if (const std::string what = what_changed(); !what.empty()) failed(path_, what, kLeaveAlone);
}

void OpenFile::refuse_shorter() const {
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  failed(path_,
         "has become shorter while it was used: it had " + counted(static_cast<int64_t>(size_), "byte") +
             (known ? " and has " + with_commas(status.st_size) + " now" : std::string()),
         kLeaveAlone);
}

}  // namespace stormcell
