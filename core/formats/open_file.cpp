#include "core/formats/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/system_error.h"

namespace stormcell {

OpenFile OpenFile::open_regular(const std::string& path) {
  if (path.find('\0') != std::string::npos) bad_input(path, "is not a file name", "it contains a zero byte");
  // O_NONBLOCK: opening a pipe by mistake must not wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) bad_input(path, std::string("cannot be opened: ") + std::strerror(errno), advice_on_errno(errno));
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
  return OpenFile(descriptor, static_cast<size_t>(status.st_size), true);
}

OpenFile::~OpenFile() {
  if (owned_) ::close(descriptor_);
}

}  // namespace stormcell
