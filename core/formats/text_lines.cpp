#include "core/formats/text_lines.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/formats/file_text.h"
#include "core/formats/gzip_file.h"
#include "core/formats/open_file.h"
#include "core/formats/text_encoding.h"

namespace stormcell {
namespace {

constexpr size_t kMostStandardInput = size_t{1} << 30;

}  // namespace

TextLines::TextLines(std::string_view text, std::string where) : where_(std::move(where)) { begin(text); }

TextLines::TextLines(const std::string& path, size_t most, const Progress& progress)
    : where_(path == "-" ? "standard input" : path), most_(most) {
  if (path == "-") {
    held_ = read_file_text(path, kMostStandardInput);
    if (is_gzip(held_))
      bad_input(where_, "is packed with gzip", "unpack it on the way: gunzip -c FILE | stormcell ...");
  } else {
    const auto file = std::make_shared<const OpenFile>(open_unpacked(path, progress));
    file_ = FileRange(file, 0, file->size());
    read_more();
  }
  begin(held_);
}

void TextLines::begin(std::string_view text) {
  text_ = text;
  next_ = text.size() - utf8_text(text, where_).size();
  // Spreadsheets on old Macs end lines with CR alone.
  const std::string_view first = text.substr(0, size_t{1} << 16);
  if (first.find('\n') == std::string_view::npos && first.find('\r') != std::string_view::npos) end_ = '\r';
}

bool TextLines::take_far_line(size_t from) {
  const size_t at_hand = from - begin_;
  for (size_t seen = text_.size() - begin_; seen <= most_ && read_more(); seen = text_.size())
    if (const size_t end = text_.find(end_, seen); end != std::string_view::npos) {
      end_line(end);
      return true;
    }
  if (text_.size() - begin_ > most_) {
    ++number_;
    refuse_long();
  }
  if (begin_ + at_hand >= text_.size()) return false;
  ended_ = false;
  end_line(text_.size());
  next_ = text_.size();
  return true;
}

void TextLines::refuse_long() const {
  bad_input(place(), "has more than " + to_text(Bytes(static_cast<int64_t>(most_))), "write one item a line");
}

/// Keeps the current line and the bytes after it, and reads as many bytes again, at least 1 MiB. False at the end of
/// the file.
bool TextLines::read_more() {
  constexpr size_t kPiece = size_t{1} << 20;
  const size_t had = text_.size() - begin_, more = std::min(std::max(kPiece, had), file_.size() - read_);
  if (more == 0) return false;
  held_.erase(0, held_.size() - had);
  held_.resize(had + more);
  file_.read(read_, std::as_writable_bytes(std::span(held_).subspan(had)));
  read_ += more;
  dropped_ += begin_;
  next_ -= begin_;
  begin_ = 0;
  text_ = held_;
  return true;
}

std::string EmptyLines::warning(const std::string& where) const {
  if (count == 0) return {};
  return where + ": " + counted(count, "empty line is", "empty lines are") + " left out; the first is line " +
         std::to_string(first);
}

}  // namespace stormcell
