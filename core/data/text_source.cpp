// Text, one sequence a line: plain (.txt) or a JSON object (.jsonl) with text, target and label. Lines of white space
// alone are left out.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/data/prompt_text.h"
#include "core/data/sequence_source.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_lines.h"
#include "core/formats/text_lines.h"
#include "core/formats/tokenizer.h"

namespace stormcell {
namespace {
constexpr size_t kMaxLine = size_t{16} << 20, kMostBegin = size_t{1} << 20;

class TextSource : public SequenceSource {
 public:
  /// `noun`: what a sequence's number counts in its place.
  TextSource(std::string where, Contents contents, std::string noun = "line ")
      : where_(std::move(where)), noun_(std::move(noun)), contents_(std::move(contents)) {}
  void warn(std::string sentence) { warnings_.push_back(std::move(sentence)); }
  void add(Sequence&& sequence, int64_t line) {
    sequences_.push_back(std::move(sequence));
    lines_.push_back(line);
  }
  void finish(const TextLines& lines) {
    if (sequences_.empty()) bad_input(where_, "holds no sequence", "write one sequence a line");
    if (std::string left_out = lines.empty_lines().warning(where_); !left_out.empty())
      warnings_.push_back(std::move(left_out));
  }
  int64_t size() const override { return std::ssize(sequences_); }
  Contents contents() const override { return contents_; }
  const std::string& where() const override { return where_; }
  Sequence sequence(int64_t index) const override { return sequences_[index]; }
  std::vector<std::string> warnings() const override { return warnings_; }
  std::string place(int64_t index) const override { return noun_ + std::to_string(lines_[index]); }

 private:
  std::string where_, noun_;
  Contents contents_;
  std::vector<Sequence> sequences_;
  std::vector<int64_t> lines_;
  std::vector<std::string> warnings_;
};

/// Refuses a known kind of file that is not data, by the first bytes of its unpacked content. Any text can be read as
/// lines, an error page too, so this is asked before the first line counts.
void refuse_other_data(const std::string& where, std::string_view begin, bool is_file) {
  if (is_file) return refuse_other_kind(where, begin, FileUse::data);
  // The advice for files names a path, which a stream does not have.
  const std::optional<KnownFile> known = known_kind({begin, where}, where);
  if (known && !known->remedy.empty() && !known->kind->uses.has(FileUse::data))
    bad_input(where, "is " + known->name + ", not " + std::string(to_text(FileUse::data)),
              "send text, one sequence a line");
}

void check_utf8(const TextLines& lines) {
  const size_t at = find_invalid_utf8(lines.line());
  if (at == std::string_view::npos) return;
  bad_input(lines.place(), "byte " + std::to_string(at + 1) + " is not valid UTF-8",
            "convert the file, for example with iconv -t UTF-8");
}

// The value of a field as text; numbers and truth values are written as JSON does, as labels often are.
std::string field_text(const nlohmann::json& object, const std::string& field, const std::string& place,
                       const char* option) {
  const auto it = object.find(field);
  if (it == object.end())
    bad_input(place, "has no field " + in_quotes(field), std::string("choose another with ") + option);
  if (it->is_string()) return it->get<std::string>();
  const bool is_label = std::string_view(option) == "--label-field";
  if (is_label && (it->is_number() || it->is_boolean())) return it->dump();
  bad_input(place, "the field " + in_quotes(field) + " is not a text", std::string("choose another with ") + option);
}

/// The text of a line, or the chat that its field, or else "messages", holds.
Sequence text_of(const nlohmann::json& object, const PromptText& text, const DataOptions& options,
                 const std::string& place) {
  if (text.is_chat()) {
    if (!value_at(object, "tools").is_null())
      bad_input(place, "names tools, and tools are not in this version", "leave them out");
    for (const std::string& field : {options.field, std::string("messages")})
      if (const nlohmann::json& found = value_at(object, field.c_str()); found.is_array())
        return text.of_messages(found, place);
  }
  return text.of_file(field_text(object, options.field, place, "--field"));
}

Sequence sequence_of(const nlohmann::json& object, const Tokenizer& tokenizer, const DataOptions& options,
                     const std::string& place) {
  if (!object.is_object()) bad_input(place, "is not a JSON object", "write {\"text\": \"...\"}, one a line");
  Sequence sequence = text_of(object, PromptText(tokenizer, options), options, place);
  if (!options.target_field.empty()) {
    sequence.target = field_text(object, options.target_field, place, "--target-field");
    sequence.target_ids = tokenizer.encode(sequence.target, true);
  }
  if (!options.label_field.empty()) sequence.label = field_text(object, options.label_field, place, "--label-field");
  return sequence;
}
/// True if no token of a text is one that the person's own words made.
bool is_special_alone(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::set<int32_t> special;
  for (const AddedToken& token : tokenizer.added_tokens())
    if (token.special) special.insert(token.id);
  return std::all_of(ids.begin(), ids.end(),
                     [&](int32_t id) { return special.contains(id) || tokenizer.frame().holds(id); });
}
}  // namespace

std::unique_ptr<const SequenceSource> open_text_lines(const std::string& path, const Tokenizer& tokenizer,
                                                      const DataOptions& options, int64_t limit) {
  TextLines lines(path, kMaxLine, {options.cancel, nullptr});
  refuse_other_data(lines.where(), lines.at_hand(), path != "-");
  const PromptText text(tokenizer, options);
  auto source = std::make_unique<TextSource>(lines.where(), text.contents());
  while (source->size() < limit && lines.next_filled()) {
    check_utf8(lines);
    source->add(text.of_file(lines.line()), lines.number());
  }
  source->finish(lines);
  return source;
}

std::unique_ptr<const SequenceSource> make_prompts(const Tokenizer& tokenizer, const DataOptions& options,
                                                   int64_t limit) {
  const PromptText text(tokenizer, options);
  auto source = std::make_unique<TextSource>("--prompt", text.contents(), "prompt ");
  for (const std::string& prompt : options.prompts) {
    if (source->size() == limit) break;
    const std::string place = "prompt " + std::to_string(source->size() + 1);
    Sequence sequence = text.typed(prompt);
    if (sequence.ids.empty())
      bad_input("--prompt", place + " gives no token", "write a text that the tokenizer does not leave out");
    if (is_special_alone(tokenizer, sequence.ids))
      source->warn(place + " holds special tokens alone, so the model is not told what to write about");
    source->add(std::move(sequence), source->size() + 1);
  }
  return source;
}

std::unique_ptr<const SequenceSource> open_json_lines(const std::string& path, const Tokenizer& tokenizer,
                                                      const DataOptions& options, int64_t limit) {
  JsonLines lines(path, kMaxLine, {options.cancel, nullptr});
  SequenceSource::Contents contents = PromptText(tokenizer, options).contents();
  contents.target = !options.target_field.empty(), contents.label = !options.label_field.empty();
  auto source = std::make_unique<TextSource>(lines.lines().where(), contents);
  // Objects with the wanted fields are data, whatever other keys they have. The kind of the file matters only if the
  // first object fails.
  const std::string begin(lines.lines().at_hand().substr(0, kMostBegin));
  try {
    for (nlohmann::json object; source->size() < limit && lines.next(object);)
      source->add(sequence_of(object, tokenizer, options, lines.place()), lines.line());
    source->finish(lines.lines());
  } catch (const Error& error) {
    if (source->size() == 0 && error.kind() == ErrorKind::bad_input)
      refuse_other_data(lines.lines().where(), begin, path != "-");
    throw;
  }
  return source;
}

}  // namespace stormcell
