// Text, one sequence a line: plain (.txt) or a JSON object (.jsonl) with text, target and label.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "core/base/error.h"
#include "core/data/sequence_source.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_range.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/formats/tokenizer.h"

namespace stormcell {
namespace {
constexpr size_t kMaxLine = size_t{16} << 20, kMaxStandardInput = size_t{1} << 30;

class TextSource : public SequenceSource {
 public:
  TextSource(std::string where, const Contents& contents) : where_(std::move(where)), contents_(contents) {}
  void add(Sequence&& sequence, int64_t line) {
    sequences_.push_back(std::move(sequence));
    lines_.push_back(line);
  }
  int64_t size() const override { return static_cast<int64_t>(sequences_.size()); }
  Contents contents() const override { return contents_; }
  const std::string& where() const override { return where_; }
  Sequence sequence(int64_t index) const override { return sequences_[static_cast<size_t>(index)]; }
  std::string place(int64_t index) const override { return "line " + std::to_string(lines_[static_cast<size_t>(index)]); }

 private:
  std::string where_;
  Contents contents_;
  std::vector<Sequence> sequences_;
  std::vector<int64_t> lines_;
};

// The lines of a file or of standard input, checked to be text; lines of white space only are skipped.
class Lines {
 public:
  explicit Lines(const std::string& path) : where_(path == "-" ? "standard input" : path) {
    if (path == "-") {
      held_ = read_file_text(path, kMaxStandardInput);
      rest_ = held_;
    } else {
      file_ = FileRange::whole(path);
      read_more();
    }
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  }
  const std::string& where() const { return where_; }
  int64_t number() const { return number_; }
  std::string place() const { return where_ + ": line " + std::to_string(number_); }

  bool next(std::string_view& line) {
    for (;;) {
      size_t end = rest_.find('\n');
      while (end == std::string_view::npos && rest_.size() <= kMaxLine && read_more()) end = rest_.find('\n');
      if (rest_.empty()) return false;
      line = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++number_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.find_first_not_of(" \t\r\v\f") == std::string_view::npos) continue;
      check(line);
      return true;
    }
  }

 private:
  /// Keeps what is left of the file's bytes and reads as many again, 1 MiB at least; false at its end.
  bool read_more() {
    constexpr size_t kPiece = size_t{1} << 20;
    const size_t had = rest_.size(), more = std::min(std::max(kPiece, had), file_.size() - read_);
    if (more == 0) return false;
    held_.erase(0, held_.size() - had);
    held_.resize(had + more);
    file_.read(read_, std::as_writable_bytes(std::span(held_).subspan(had)));
    read_ += more;
    rest_ = held_;
    return true;
  }
  void check(std::string_view line) const {
    if (line.size() > kMaxLine) bad_input(place(), "has more than 16 MiB", "write one sequence a line");
    const size_t at = find_invalid_utf8(line);
    if (at != std::string_view::npos && file_.size() > 0) refuse_other_kind(where_, FileUse::data);
    if (at != std::string_view::npos)
      bad_input(place(), "byte " + std::to_string(at + 1) + " is not valid UTF-8", "convert the file, for example with iconv -t UTF-8");
  }

  std::string where_;
  FileRange file_;    // none: standard input, which was read whole
  size_t read_ = 0;   // bytes of the file
  std::string held_;  // ends with what the last reading brought
  std::string_view rest_;
  int64_t number_ = 0;
};

[[noreturn]] void refuse_empty(const std::string& where) { bad_input(where, "holds no sequence", "write one sequence a line"); }

// The value of a field as text; numbers and truth values are written as JSON does, as labels often are.
std::string field_text(const nlohmann::json& object, const std::string& field, const std::string& place, const char* option) {
  const auto it = object.find(field);
  if (it == object.end()) bad_input(place, "has no field " + in_quotes(field), std::string("choose another with ") + option);
  if (it->is_string()) return it->get<std::string>();
  const bool is_label = std::string_view(option) == "--label-field";
  if (is_label && (it->is_number() || it->is_boolean())) return it->dump();
  bad_input(place, "the field " + in_quotes(field) + " is not a text", std::string("choose another with ") + option);
}
}  // namespace

std::unique_ptr<const SequenceSource> open_text_lines(const std::string& path, const Tokenizer& tokenizer, int64_t limit) {
  Lines lines(path);
  auto source = std::make_unique<TextSource>(lines.where(), SequenceSource::Contents{.text = true, .behind = tokenizer.frame().behind});
  for (std::string_view line; source->size() < limit && lines.next(line);) {
    Sequence sequence;
    sequence.ids = tokenizer.encode(line, true);
    sequence.text = line;
    source->add(std::move(sequence), lines.number());
  }
  if (source->size() == 0) refuse_empty(lines.where());
  return source;
}

std::unique_ptr<const SequenceSource> open_json_lines(const std::string& path, const Tokenizer& tokenizer, const DataOptions& options,
                                                      int64_t limit) {
  Lines lines(path);
  const SequenceSource::Contents contents{.text = true,
                                          .target = !options.target_field.empty(),
                                          .label = !options.label_field.empty(),
                                          .decoder_ids = false,
                                          .behind = tokenizer.frame().behind};
  auto source = std::make_unique<TextSource>(lines.where(), contents);
  for (std::string_view line; source->size() < limit && lines.next(line);) {
    if (source->size() == 0 && !line.starts_with('{') && path != "-") refuse_other_kind(path, FileUse::data);
    const nlohmann::json object = parse_json_text(line, lines.place());
    if (!object.is_object()) bad_input(lines.place(), "is not a JSON object", "write {\"text\": \"...\"}, one a line");
    Sequence sequence;
    sequence.text = field_text(object, options.field, lines.place(), "--field");
    sequence.ids = tokenizer.encode(sequence.text, true);
    if (contents.target) {
      sequence.target = field_text(object, options.target_field, lines.place(), "--target-field");
      sequence.target_ids = tokenizer.encode(sequence.target, true);
    }
    if (contents.label) sequence.label = field_text(object, options.label_field, lines.place(), "--label-field");
    source->add(std::move(sequence), lines.number());
  }
  if (source->size() == 0) refuse_empty(lines.where());
  return source;
}

}  // namespace stormcell
