#include "core/formats/json_file.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/text_encoding.h"

namespace stormcell {
namespace {
using Json = nlohmann::json;

// Walks the text and counts the lexer's progress, which its callbacks do not report.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    *furthest_ = at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

bool is_delimiter(char c) { return std::string_view(" \t\r\n,:[]{}").find(c) != std::string_view::npos; }

// Python writes NaN and Infinity, which JSON does not have. The lexer does not know them, so each becomes an empty text
// of the same length, and the builder recognises it by its place.
class NotFinite {
 public:
  explicit NotFinite(std::string_view text) {
    if (text.find("NaN") == std::string_view::npos && text.find("Infinity") == std::string_view::npos) return;
    bool quoted = false;
    for (size_t at = 0; at < text.size(); ++at) {
      if (quoted && text[at] == '\\') {
        ++at;
      } else if (text[at] == '"') {
        quoted = !quoted;
      } else if (!quoted && (at == 0 || is_delimiter(text[at - 1]))) {
        replace(text, at);
      }
    }
  }
  std::string_view text_or(std::string_view given) const { return places_.empty() ? given : std::string_view(text_); }
  /// The word that ends at this byte of the text; empty: there is none.
  std::string_view before(size_t end) const {
    const auto at =
        std::lower_bound(places_.begin(), places_.end(), end, [](const Place& p, size_t e) { return p.end < e; });
    return at != places_.end() && at->end == end ? at->word : std::string_view();
  }

 private:
  struct Place {
    size_t end;
    std::string_view word;
  };
  void replace(std::string_view text, size_t at) {
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      const size_t end = at + word.size();
      if (text.substr(at, word.size()) != word || (end < text.size() && !is_delimiter(text[end]))) continue;
      if (places_.empty()) text_ = text;
      std::fill_n(text_.begin() + at, word.size(), ' ');
      text_[at] = text_[at + 1] = '"';
      places_.push_back({at + 2, word});
    }
  }
  std::string text_;
  std::vector<Place> places_;
};

// Builds the value from the parser's events; keeps the first mistake.
class Builder {
 public:
  Builder(const JsonLimits& limits, std::string& mistake, std::string place, const NotFinite& not_finite,
          const char* begin, const char* const& furthest, JsonTaker* taker)
      : limits_(limits),
        mistake_(mistake),
        place_(std::move(place)),
        not_finite_(not_finite),
        begin_(begin),
        furthest_(furthest),
        taker_(taker) {}
  Json take() { return std::move(root_); }

  bool null() { return place(Json()); }
  bool boolean(bool v) { return place(Json(v)); }
  bool number_integer(Json::number_integer_t v) {
    if (taken_ == 0) return place(Json(v));
    taker_->whole(taken_, key_, v);
    return true;
  }
  bool number_unsigned(Json::number_unsigned_t v) {
    if (taken_ == 0 || v > static_cast<uint64_t>(INT64_MAX)) return place(Json(v));
    taker_->whole(taken_, key_, static_cast<int64_t>(v));
    return true;
  }
  bool number_float(Json::number_float_t v, const Json::string_t&) {
    return std::isfinite(v) ? place(Json(v)) : refuse("a number is too large");
  }
  bool string(Json::string_t& v) {
    const std::string_view word = v.empty() ? word_at_hand() : std::string_view();
    if (word.empty() && taken_ > 0) {
      taker_->text(taken_, key_, v);
      return true;
    }
    if (word.empty()) return place(Json(std::move(v)));
    const std::string marked = std::string(word) + "\n" + place_;
    return place(Json::binary(std::vector<uint8_t>(marked.begin(), marked.end())));
  }
  bool binary(Json::binary_t&) { return refuse("binary value"); }
  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(Json::string_t& name) {
    if (name.empty() && !word_at_hand().empty()) return refuse("a key is missing");
    if (taken_ == 0 && stack_.back()->contains(name)) return refuse("the key " + in_quotes(name) + " occurs twice");
    key_ = std::move(name);
    if (taken_ == 0 && stack_.size() == 1) outer_key_ = key_;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ...": the last part is what
    // matters.
    const std::string text = error.what();
    const size_t syntax = text.find("syntax error"), bracket = text.find("] ");
    return refuse(text.substr(syntax != std::string::npos ? syntax : bracket != std::string::npos ? bracket + 2 : 0));
  }

 private:
  std::string_view word_at_hand() const { return not_finite_.before(static_cast<size_t>(furthest_ - begin_)); }
  Json* store(Json&& value) {
    if (stack_.empty()) return &(root_ = std::move(value));
    Json& parent = *stack_.back();
    if (parent.is_object()) return &(parent[key_] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }
  bool place(Json&& value) {
    if (taken_ > 0) {
      taker_->other(taken_, key_);
      return true;
    }
    store(std::move(value));
    return true;
  }
  bool open(Json&& value) {
    if (static_cast<int>(stack_.size()) + taken_ >= limits_.depth)
      return refuse("nested deeper than " + std::to_string(limits_.depth) + " levels");
    if (taken_ > 0) {
      taker_->open(++taken_);
      return true;
    }
    if (taker_ && stack_.size() == 2 && stack_[0]->is_object() && stack_[1]->is_object() &&
        taker_->takes(outer_key_, key_, value.is_array())) {
      store(std::move(value));
      taken_ = 1;
      return true;
    }
    stack_.push_back(store(std::move(value)));
    return true;
  }
  bool close() {
    if (taken_ > 0) {
      if (taken_ > 1) taker_->close(taken_);
      --taken_;
      return true;
    }
    stack_.pop_back();
    return true;
  }
  bool refuse(std::string why) {
    mistake_ = std::move(why);
    return false;
  }

  const JsonLimits& limits_;
  std::string& mistake_;
  const std::string place_;
  const NotFinite& not_finite_;
  const char* const begin_;
  const char* const& furthest_;
  Json root_;
  std::vector<Json*> stack_;     // the open containers; a container moves only while nothing in it is open
  std::string key_, outer_key_;  // the last key, and that of the root's member
  JsonTaker* const taker_;       // null: the result has all values
  int taken_ = 0;                // how deep in what the taker takes; 0: outside
};

std::string shortened(std::string text) {
  constexpr size_t kLimit = 240;
  if (text.size() > kLimit) {
    size_t end = kLimit;
    while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end) + "...";
  }
  return text;
}

// Line and column, both from 1, of the last character read.
std::pair<size_t, size_t> place_of(std::string_view read) {
  const size_t line_begin = read.rfind('\n');
  return {static_cast<size_t>(std::count(read.begin(), read.end(), '\n')) + 1,
          read.size() - (line_begin == std::string_view::npos ? 0 : line_begin + 1)};
}

Json parse_bounded(std::string_view text, std::string_view where, const JsonLimits& limits, int64_t first_line,
                   JsonTaker* taker) {
  if (text.size() > limits.bytes)
    bad_input(where, "the JSON is larger than " + to_text(Bytes(static_cast<int64_t>(limits.bytes))),
              "check that it is the right file");
  const NotFinite not_finite(text = utf8_text(text, where));
  text = not_finite.text_or(text);
  const char* furthest = text.data();
  std::string mistake;
  const std::string place = std::string(where) + (first_line > 1 ? ": line " + std::to_string(first_line) : "");
  Builder builder(limits, mistake, place, not_finite, text.data(), furthest, taker);
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {  // the lexer would take it for the end
    furthest += zero + 1;
    mistake = "a zero byte";
  } else {
    const CountingIterator begin(text.data(), &furthest), end(text.data() + text.size(), &furthest);
    Json::sax_parse(begin, end, &builder);
  }
  if (!mistake.empty()) {
    const auto [line, column] = place_of(text.substr(0, furthest - text.data()));
    bad_input(where,
              "not valid JSON at line " + std::to_string(line + static_cast<size_t>(first_line) - 1) + ", column " +
                  std::to_string(column) + ": " + shortened(std::move(mistake)),
              "mend the file or get it again");
  }
  return builder.take();
}
}  // namespace

Json parse_json_text(std::string_view text, std::string_view where, const JsonLimits& limits, int64_t first_line) {
  return parse_bounded(text, where, limits, first_line, nullptr);
}

Json parse_json_with(std::string_view text, std::string_view where, JsonTaker& taker) {
  return parse_bounded(text, where, {}, 1, &taker);
}

bool is_not_finite(const Json& value) { return value.is_binary(); }

namespace {

/// The value as a text: the word, a line end, and its place.
std::string mark_of(const Json& value) { return {value.get_binary().begin(), value.get_binary().end()}; }
std::string word_of(const Json& value) {
  const std::string mark = mark_of(value);
  return mark.substr(0, mark.find('\n'));
}
/// Writes these words as plain texts, so that the result does not depend on the file's path.
Json without_marks(Json value) {
  if (is_not_finite(value)) return word_of(value);
  if (value.is_structured())
    for (Json& inner : value) inner = without_marks(std::move(inner));
  return value;
}

}  // namespace

void refuse_not_finite(const Json& value, std::string_view key) {
  const std::string marked = mark_of(value);
  bad_input(marked.substr(marked.find('\n') + 1), std::string(key) + " is " + word_of(value) + ", not a finite number",
            "mend the file");
}

std::string shown_json(const Json& value) {
  return is_not_finite(value) ? word_of(value)
                              : without_marks(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string canonical_json(const Json& value) { return without_marks(value).dump(); }

Json json_or_null(std::string_view text) {
  try {
    return parse_json_text(text, "");
  } catch (const Error&) {
    return nullptr;
  }
}

Json read_json_file(const std::string& path, const JsonLimits& limits) {
  std::string text;
  try {
    text = read_file_text(path, limits.bytes);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::bad_input) refuse_other_kind(path, FileUse::json);
    throw;
  }
  const std::string_view plain = utf8_text(text, path);
  if (const size_t first = plain.find_first_not_of(" \t\r\n");
      first == std::string::npos || (plain[first] != '{' && plain[first] != '['))
    refuse_other_kind(path, text, FileUse::json);
  return parse_json_text(text, path, limits);
}

}  // namespace stormcell
