// Bytes of a file that stays open, read when they are asked for: nothing of it is mapped, so a file that becomes
// shorter under a run is an error of that run.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stormcell {

class OpenFile;

class FileRange {
 public:
  FileRange() = default;  ///< no bytes
  FileRange(std::shared_ptr<const OpenFile> file, size_t begin, size_t bytes);
  /// Error(bad_input): missing, a folder or device, not readable.
  static FileRange whole(const std::string& path);

  size_t size() const { return bytes_; }
  const std::string& path() const;
  /// Copies bytes [first, first + to.size()) as they were when the file was opened. Throws Error(failed) that names the
  /// file if it cannot be read or was written to since: the checks at its opening are then void. std::out_of_range:
  /// beyond the end. Any thread may call.
  void read(size_t first, std::span<std::byte> to) const;
  FileRange part(size_t first, size_t bytes) const;

  /// Reads everything, piece by piece: visit(std::span<const std::byte>) with at most kPiece bytes, a multiple of 8
  /// except for the last.
  template <class Visit>
  void visit_pieces(Visit visit) const {
    constexpr size_t kPiece = size_t{1} << 20;
    std::vector<std::byte> piece(std::min(kPiece, bytes_));
    for (size_t at = 0; at < bytes_; at += piece.size()) {
      const std::span<std::byte> to = std::span(piece).first(std::min(piece.size(), bytes_ - at));
      read(at, to);
      visit(std::span<const std::byte>(to));
    }
  }

 private:
  std::shared_ptr<const OpenFile> file_;
  size_t begin_ = 0, bytes_ = 0;
};

}  // namespace stormcell
