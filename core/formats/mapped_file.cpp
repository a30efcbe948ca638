#include "core/formats/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "core/base/error.h"
#include "core/base/system_error.h"
#include "core/formats/open_file.h"

namespace stormcell {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const OpenFile file = OpenFile::open_regular(path);
  std::span<const std::byte> bytes;
  if (file.size() > 0) {
    void* address = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (address == MAP_FAILED)
      failed(path, std::string("cannot be mapped into memory: ") + std::strerror(errno), "check the limit on address space: ulimit -v");
    bytes = {static_cast<const std::byte*>(address), file.size()};
  }
  const int descriptor = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) {
    const int error = errno;
    if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
    failed(path, std::string("cannot be kept open: ") + std::strerror(error), advice_on_errno(error));
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, bytes, descriptor));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  ::close(descriptor_);
}

void MappedFile::read(size_t offset, std::span<std::byte> bytes) const {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t came = ::pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (came < 0 && errno == EINTR) continue;
    if (came < 0) failed(path_, std::string("cannot be read: ") + std::strerror(errno), advice_on_errno(errno));
    if (came == 0)
      failed(path_,
             "has become shorter while it was used: it ends at byte " + std::to_string(offset + done) + ", " +
                 std::to_string(bytes_.size()) + " were there",
             "leave the files of a model as they are until the run ends");
    done += static_cast<size_t>(came);
  }
}

void MappedFile::advise(size_t offset, size_t size, int advice) const {
  if (offset >= bytes_.size() || size == 0) return;
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t begin = offset / page * page, end = offset + std::min(size, bytes_.size() - offset);
  // Advice only: a refusal changes no answer.
  (void)::madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, advice);
}

// The mapping is private and never written: a dropped page is read again from the file.
void MappedFile::drop_pages(size_t offset, size_t size) const { advise(offset, size, MADV_DONTNEED); }
void MappedFile::advise_sequential(size_t offset, size_t size) const {
  advise(offset, size, MADV_SEQUENTIAL);
  advise(offset, size, MADV_WILLNEED);
}

}  // namespace stormcell
