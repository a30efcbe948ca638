#include "core/formats/header_bytes.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/formats/open_file.h"

namespace stormcell {
namespace {

// A header that is read in order is read in pieces that grow; one that is skipped through costs the least piece a skip.
constexpr uint64_t kLeastPiece = 4096, kMostPiece = uint64_t{1} << 20;

}  // namespace

HeaderBytes::HeaderBytes(std::span<const std::byte> bytes, std::string where)
    : where_(std::move(where)), size_(bytes.size()), piece_(bytes) {}

HeaderBytes::HeaderBytes(const OpenFile& file) : file_(&file), where_(file.path()), size_(file.size()) {}

void HeaderBytes::refuse_end() const {
  bad_input(where_, "ends in the middle of its header", "it may be truncated or still being downloaded; copy it again");
}

void HeaderBytes::fill(uint64_t bytes) {
  if (rest() < bytes) refuse_end();
  const bool in_order = !piece_.empty() && at_ >= begin_ && at_ <= begin_ + piece_.size();
  const uint64_t wanted = std::max(bytes, in_order ? std::min<uint64_t>(2 * piece_.size(), kMostPiece) : kLeastPiece);
  buffer_.resize(std::min(wanted, rest()));
  file_->read(at_, buffer_);
  piece_ = buffer_, begin_ = at_;
}

std::string HeaderBytes::take_text(uint64_t bytes, uint64_t most) {
  if (bytes > rest()) refuse_end();
  if (bytes > most)
    bad_input(where_,
              "has a text of " + std::to_string(bytes) + " bytes in its header, at most " + std::to_string(most) +
                  " are read",
              "get the file again");
  std::string text;
  while (text.size() < bytes) {
    const uint64_t part = std::min(bytes - text.size(), kMostPiece);
    text.append(reinterpret_cast<const char*>(next(part)), part);
  }
  return text;
}

void HeaderBytes::skip(uint64_t bytes) {
  if (bytes > rest()) refuse_end();
  at_ += bytes;
}

void HeaderBytes::go_to(uint64_t offset) {
  if (offset > size_) refuse_end();
  at_ = offset;
}

}  // namespace stormcell
