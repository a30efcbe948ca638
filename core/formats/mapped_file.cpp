#include "core/formats/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/formats/open_file.h"

namespace stormcell {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  return map(OpenFile::open_regular(path));
}

std::shared_ptr<const MappedFile> MappedFile::map(const OpenFile& file) {
  std::span<const std::byte> bytes;
  if (file.size() > 0) {
    void* address = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (address == MAP_FAILED)
      failed(file.path(), std::string("cannot be mapped into memory: ") + std::strerror(errno),
             "check the limit on address space: ulimit -v");
    bytes = {static_cast<const std::byte*>(address), file.size()};
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(file.path(), bytes));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

// The mapping is private and never written: a dropped page is read again from the file.
void MappedFile::drop_pages(size_t offset, size_t size) const {
  if (offset >= bytes_.size() || size == 0) return;
  const size_t page = ::sysconf(_SC_PAGESIZE);
  const size_t begin = offset / page * page, end = offset + std::min(size, bytes_.size() - offset);
  // Advice only: a refusal changes no answer.
  (void)::madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace stormcell
