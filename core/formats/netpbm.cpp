#include "core/formats/netpbm.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/formats/open_file.h"
#include "core/formats/picture_file.h"

namespace stormcell {
namespace {
constexpr std::string_view kAgain = "give a PPM (P6) or PGM (P5) of 8 bits a channel";
/// A header is a few numbers; comments may make it longer.
constexpr size_t kMostHeader = 64 << 10;

/// The numbers of a header: white space and comments between them, one white space behind the last.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  /// The next number; empty if there is none or it has more than nine digits.
  std::optional<int64_t> number() {
    skip_space();
    constexpr size_t kMostDigits = 9;
    size_t end = at_;
    while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
    int64_t value = 0;
    if (end == at_ || end - at_ > kMostDigits) return {};
    std::from_chars(text_.data() + at_, text_.data() + end, value);
    at_ = end;
    return value;
  }
  /// Offset of the pixels; empty if no white space precedes them.
  std::optional<size_t> end() const {
    return at_ < text_.size() && is_space(text_[at_]) ? std::optional(at_ + 1) : std::nullopt;
  }
  void skip(size_t characters) { at_ += characters; }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  void skip_space() {
    while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == '#'))
      at_ = text_[at_] == '#' ? std::min(text_.find('\n', at_), text_.size()) : at_ + 1;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

NetpbmPicture open_netpbm(const std::string& path) {
  const auto file = std::shared_ptr<const OpenFile>(new OpenFile(OpenFile::open_regular(path)));
  std::string head(std::min(kMostHeader, file->size()), '\0');
  file->read(0, std::as_writable_bytes(std::span(head)));
  if (head.empty()) bad_input(path, "is empty", kAgain);
  const bool colours = head.starts_with("P6");
  if (!colours && !head.starts_with("P5")) bad_input(path, "is not a picture of the formats P5 and P6", kAgain);
  HeaderReader header(head);
  header.skip(2);
  const auto width = header.number(), height = header.number(), largest = header.number();
  if (!width || !height || !largest || !header.end()) bad_input(path, "its header is not that of a PPM or PGM", kAgain);
  if (*largest != 255) bad_input(path, "its largest value is " + std::to_string(*largest) + ", expected 255", kAgain);
  NetpbmPicture picture{*height, *width, colours ? 3 : 1, {}};
  const size_t begin = *header.end(),
               wanted = static_cast<size_t>(*width) * static_cast<size_t>(*height) * (colours ? 3 : 1),
               came = file->size() - begin;
  if (came < wanted)
    bad_input(path,
              "is truncated: " + std::to_string(came) + " bytes of pixels, " + size_text(*height, *width) + " are " +
                  std::to_string(wanted),
              kAgain);
  if (came > wanted)
    bad_input(path,
              "holds " + std::to_string(came - wanted) + " bytes behind its " + size_text(*height, *width) + " pixels",
              "give one picture a file");
  picture.bytes = FileRange(file, begin, wanted);
  return picture;
}

}  // namespace stormcell
