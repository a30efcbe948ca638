#include "core/formats/file_range.h"

#include <stdexcept>
#include <utility>

#include "core/formats/open_file.h"

namespace stormcell {

FileRange::FileRange(std::shared_ptr<const OpenFile> file, size_t begin, size_t bytes)
    : file_(std::move(file)), begin_(begin), bytes_(bytes) {}

FileRange FileRange::whole(const std::string& path) {
  const std::shared_ptr<const OpenFile> file(new OpenFile(OpenFile::open_regular(path)));
  return {file, 0, file->size()};
}

const std::string& FileRange::path() const { return file_->path(); }

void FileRange::read(size_t first, std::span<std::byte> to) const {
  if (first > bytes_ || to.size() > bytes_ - first)
    throw std::out_of_range("bytes beyond the end of a range of a file");
  if (to.empty()) return;
  file_->read(begin_ + first, to);
  // Checked after reading, so that an earlier write shows.
  file_->expect_unchanged();
}

FileRange FileRange::part(size_t first, size_t bytes) const {
  if (first > bytes_ || bytes > bytes_ - first) throw std::out_of_range("a part beyond the end of a range of a file");
  return {file_, begin_ + first, bytes};
}

}  // namespace stormcell
