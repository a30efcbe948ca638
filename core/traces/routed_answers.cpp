#include "core/traces/routed_answers.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/formats/event_stream.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;

constexpr std::array kHolders = {"meta_info", "sglext", "sgl_ext", "nvext", "engine_data", "message", "delta"};
constexpr std::array kWraps = {"response", "body", "result", "output"};
constexpr std::array kRowKeys = {"routed_experts", "completion_routed_experts"};
constexpr std::array kStarts = {"routed_experts_start_len", "routed_experts_prompt_start"};
constexpr const char* kOfPrompt = "prompt_routed_experts";

/// A field of an object or of the objects that servers nest in it; null: the field is missing or null.
const Json* field_in(const Json& object, const char* key, int depth = 0) {
  constexpr int kDeepest = 3;
  if (const Json& value = value_at(object, key); !value.is_null()) return &value;
  if (depth < kDeepest)
    for (const char* holder : kHolders)
      if (const Json& inner = value_at(object, holder); inner.is_object())
        if (const Json* found = field_in(inner, key, depth + 1)) return found;
  return nullptr;
}
template <class Keys>
const Json* first_in(const Json& object, const Keys& keys) {
  for (const char* key : keys)
    if (const Json* found = field_in(object, key)) return found;
  return nullptr;
}

/// A count, also one written as 4.0; -1: it is missing or not a count.
int64_t count_in(const Json* value) {
  const std::optional<int64_t> count = value ? whole_value(*value) : std::nullopt;
  return count && *count >= 0 && *count <= INT32_MAX ? *count : -1;
}
int64_t length_in(const Json* list) { return list && list->is_array() ? std::ssize(*list) : -1; }
int64_t first_known(std::initializer_list<int64_t> counts) {
  for (const int64_t count : counts)
    if (count >= 0) return count;
  return -1;
}

const Json& choices_of(const Json& answer) {
  const Json& choices = list_at(answer, "choices");
  return choices.empty() ? list_at(answer, "outputs") : choices;
}

/// True if an answer is marked as a part of a stream: by its kind, or because it does not state yet why it ends.
bool is_chunk(const Json& answer) {
  const auto goes_on = [](const Json& object) {
    return object.is_object() && object.contains("finish_reason") && value_at(object, "finish_reason").is_null();
  };
  const auto is_part = [&](const Json& choice) { return goes_on(choice) || value_at(choice, "delta").is_object(); };
  const Json& choices = choices_of(answer);
  return text_at(answer, "object").ends_with(".chunk") || goes_on(value_at(answer, "meta_info")) ||
         std::any_of(choices.begin(), choices.end(), is_part);
}
/// True if an answer, or one of its choices, states why it ends.
bool is_finished(const Json& answer) {
  const Json& choices = choices_of(answer);
  return !value_at(value_at(answer, "meta_info"), "finish_reason").is_null() ||
         std::any_of(choices.begin(), choices.end(),
                     [](const Json& c) { return !value_at(c, "finish_reason").is_null(); });
}

RoutedSequence sequence_of(const Json& holder, const std::string& before, const JsonRow& row) {
  RoutedSequence sequence;
  for (const char* name : kRowKeys)
    if (const Json* value = field_in(holder, name); value && !sequence.routed.there)
      sequence.routed = read_routed_ids(*value, before + name, row);
  // A chunk of a stream may list its own tokens and count all tokens so far.
  sequence.listed = std::max(length_in(field_in(holder, "token_ids")), length_in(field_in(holder, "output_ids")));
  sequence.completion = count_in(field_in(holder, "completion_tokens"));
  sequence.start = first_known({sequence.routed.start, count_in(first_in(holder, kStarts))});
  sequence.prompt_tokens =
      first_known({length_in(field_in(holder, "prompt_token_ids")), count_in(field_in(holder, "prompt_tokens"))});
  sequence.index = std::max<int64_t>(count_in(&value_at(holder, "index")), 0);
  return sequence;
}

/// Choices of one prompt share it: the answer gets it if there is only one. Choices of several prompts keep their own.
void share_prompt(RoutedAnswer& answer) {
  RoutedIds* first = nullptr;
  for (RoutedSequence& s : answer.sequences) {
    if (!s.prompt.there) continue;
    if (first && s.prompt.ids != first->ids && !answer.prompt.there) return;
    if (!first) first = &s.prompt;
  }
  if (!first) return;
  answer.one_prompt = true;
  if (!answer.prompt.there) answer.prompt = std::move(*first);
  for (RoutedSequence& s : answer.sequences) s.prompt = {};
}

RoutedAnswer routed_in(const Json& answer, const JsonRow& row) {
  RoutedAnswer out;
  const Json& usage = value_at(answer, "usage");
  const Json& choices = choices_of(answer);
  out.chunk = is_chunk(answer), out.finished = is_finished(answer);
  out.completion_tokens = count_in(&value_at(usage, "completion_tokens"));
  if (const Json* prompt = field_in(answer, kOfPrompt)) out.prompt = read_routed_ids(*prompt, kOfPrompt, row);
  out.one_prompt = out.prompt.there || length_in(field_in(answer, "prompt_token_ids")) >= 0;
  out.has_totals = choices.empty() && answer.contains("choices") && usage.is_object();
  out.prompt_tokens =
      first_known({length_in(field_in(answer, "prompt_token_ids")), count_in(&value_at(usage, "prompt_tokens")),
                   count_in(field_in(answer, "prompt_tokens"))});
  for (const Json& choice : choices) {
    out.sequences.push_back(sequence_of(choice, "choices[" + std::to_string(out.sequences.size()) + "].", row));
    if (const Json* prompt = field_in(choice, kOfPrompt))
      out.sequences.back().prompt = read_routed_ids(*prompt, kOfPrompt, row);
    if (out.prompt_tokens < 0 && choices.size() == 1) out.prompt_tokens = out.sequences.back().prompt_tokens;
  }
  if (!out.chunk) share_prompt(out);  // later chunks may have other prompts
  const auto in_choices = std::any_of(out.sequences.begin(), out.sequences.end(),
                                      [](const RoutedSequence& s) { return s.routed.there || s.prompt.there; });
  if (!in_choices) {
    RoutedSequence whole = sequence_of(answer, "", row);
    if (whole.tokens() < 0 && choices.size() == 1)
      whole.completion = out.sequences[0].completion, whole.listed = out.sequences[0].listed;
    if (choices.size() == 1) whole.index = out.sequences[0].index;
    // A chunk without rows may still list the tokens of its choices.
    if (!out.chunk || choices.empty() || whole.routed.there) out.sequences.assign(1, std::move(whole));
  }
  // The total over several choices does not give the count of one. The last chunk of a stream has only the total, with
  // an empty list of choices.
  if (out.sequences.size() == 1 && (choices.size() == 1 || !answer.contains("choices")) &&
      out.sequences[0].completion < 0)
    out.sequences[0].completion = out.completion_tokens;
  if (const int64_t start = count_in(first_in(answer, kStarts)); start >= 0)
    for (RoutedSequence& s : out.sequences)
      if (s.start < 0) s.start = start;
  out.id = text_at(answer, "id");
  if (out.id.empty()) out.id = text_at(value_at(answer, "meta_info"), "id");
  return out;
}

/// The message of an error that a server sends in place of a chunk; empty: the value is no error.
std::string error_in(const Json& chunk) {
  const Json& error = value_at(chunk, "error");
  const bool is_error = text_at(chunk, "object") == "error";
  if ((error.is_null() && !is_error) || !choices_of(chunk).empty()) return {};
  const std::string message = error.is_string()   ? error.get<std::string>()
                              : error.is_object() ? text_at(error, "message")
                                                  : text_at(chunk, "message");
  return message.empty() ? "an error" : message;
}

/// Appends rows to the rows before them.
void append(const RoutedIds& chunk, RoutedIds& to, const JsonRow& row) {
  if (!to.there || to.empty()) {
    to = chunk;
    return;
  }
  if (chunk.empty()) return;
  if (chunk.has_shape() != to.has_shape() || chunk.layers != to.layers || chunk.width != to.width)
    row.wrong("routed_experts of a chunk has another shape than those before");
  to.ids.insert(to.ids.end(), chunk.ids.begin(), chunk.ids.end());
  if (to.has_shape()) to.rows += chunk.rows;
}

}  // namespace

bool RoutedAnswer::has_any() const {
  return prompt.there || std::any_of(sequences.begin(), sequences.end(),
                                     [](const RoutedSequence& s) { return s.routed.there || s.prompt.there; });
}

RoutedAnswer find_routed(const Json& answer, const JsonRow& row) {
  RoutedAnswer found = routed_in(answer, row);
  const Json* inner = &answer;
  Json held;  // of a wrap that is a text
  for (const char* wrap : kWraps) {
    if (found.has_any()) break;
    const Json& value = value_at(*inner, wrap);
    if (value.is_string() && value.get_ref<const std::string&>().starts_with('{')) {
      Json parsed = json_or_null(value.get_ref<const std::string&>());
      if (!parsed.is_object()) continue;
      held = std::move(parsed);
      inner = &held;
    } else if (value.is_object()) {
      inner = &value;
    } else {
      continue;
    }
    found = routed_in(*inner, row);
  }
  return found;
}

bool RoutedChunks::takes(const RoutedAnswer& answer) const {
  const auto at = open_.find(answer.id);
  return answer.chunk || (at != open_.end() && !(answer.id.empty() && at->second.answer.finished));
}

void RoutedChunks::add(RoutedAnswer chunk, const JsonRow& row) {
  if (!chunk.id.empty()) current_ = chunk.id;
  if (const auto at = open_.find(current_);
      current_.empty() && at != open_.end() && at->second.answer.finished && chunk.has_any())
    hand_on(current_);
  Open& open = open_[current_];
  if (open.line == 0) open.number = answers_++;
  open.line = row.line();
  RoutedAnswer& answer = open.answer;
  answer.id = current_;
  answer.chunk |= chunk.chunk;
  answer.finished |= chunk.finished;
  answer.one_prompt |= chunk.one_prompt;
  open.ended |= chunk.finished || chunk.has_totals;
  if (chunk.prompt.there) answer.prompt = std::move(chunk.prompt);
  answer.prompt_tokens = std::max(answer.prompt_tokens, chunk.prompt_tokens);
  answer.completion_tokens = std::max(answer.completion_tokens, chunk.completion_tokens);
  for (RoutedSequence& s : chunk.sequences) {
    Joined& to = open.of_index[s.index];
    RoutedSequence& sequence = to.sequence;
    sequence.index = s.index;
    sequence.start = first_known({sequence.start, s.start});
    if (s.prompt.there) sequence.prompt = std::move(s.prompt);
    sequence.prompt_tokens = std::max(sequence.prompt_tokens, s.prompt_tokens);
    if (s.listed >= 0) {
      to.listed_grows &= s.listed > to.listed_last;
      to.listed_together += s.listed, to.listed_last = s.listed;
    }
    if (s.routed.there) join(std::move(s.routed), s.completion, to, row);
    sequence.completion = std::max(sequence.completion, s.completion);
  }
}

void RoutedChunks::join(RoutedIds chunk, int64_t completion, Joined& to, const JsonRow& row) {
  // chunks began with all rows so far, so they repeat them; appending them would need quadratic space
  constexpr int64_t kSure = 3;
  RoutedIds& held = to.sequence.routed;
  const int64_t before = to.sequence.completion;
  const bool counts = completion >= 0 && before >= 0;
  const bool alike = !held.empty() && chunk.ids.size() >= held.ids.size() &&
                     std::equal(held.ids.begin(), held.ids.end(), chunk.ids.begin());
  const bool again = alike && chunk.ids.size() == held.ids.size();
  if (again && counts && completion == before) return;  // no new token: it is the same chunk again
  if (alike && !again) ++to.grown;
  if (again && !counts && chunk.has_shape() && chunk.rows > 1) to.repeated = true;
  if (to.grown < kSure)
    append(chunk, to.appended, row);
  else
    to.appended = {};
  if (alike && !(again && counts))
    held = std::move(chunk);
  else
    append(chunk, held, row);
}

void RoutedChunks::hand_on(const std::string& id) {
  auto node = open_.extract(id);
  Open& open = node.mapped();
  RoutedAnswer& answer = open.answer;
  for (auto& [index, joined] : open.of_index) {
    RoutedSequence& sequence = answer.sequences.emplace_back(std::move(joined.sequence));
    if (sequence.completion < 0 && open.of_index.size() == 1) sequence.completion = answer.completion_tokens;
    // The lists hold all tokens so far or only the new ones; a count decides.
    if (sequence.completion < 0 && joined.listed_last >= 0)
      sequence.listed = joined.listed_grows ? joined.listed_last : joined.listed_together;
    if (!joined.appended.there || joined.appended.ids.size() == sequence.routed.ids.size()) continue;
    sequence.other = std::move(joined.appended);
    if (joined.grown == 0 && !joined.repeated) std::swap(sequence.routed, sequence.other);
  }
  if ((answer.chunk && !open.ended) || open.failed) ++cut_;
  share_prompt(answer);
  const Json none;
  visit_(answer, JsonRow(none, where_, open.line));
}

void RoutedChunks::add_error(const std::string& message, const JsonRow& row) {
  if (errors_++ == 0) first_error_ = "line " + std::to_string(row.line()) + ": " + in_quotes(message);
  if (const auto at = open_.find(current_); at != open_.end()) at->second.failed = true;
}

void RoutedChunks::hand_on_finished() {
  std::vector<std::pair<int64_t, std::string>> ended;
  for (const auto& [id, open] : open_)
    if (id.empty() || open.answer.finished) ended.emplace_back(open.number, id);
  std::sort(ended.begin(), ended.end());
  for (const auto& [number, id] : ended) hand_on(id);
  current_.clear();
}

void RoutedChunks::end_stream() {
  if (const auto at = open_.find(current_); at != open_.end()) at->second.ended = true;
  hand_on_finished();
}

void RoutedChunks::end() {
  for (auto& [id, open] : open_) open.answer.finished = true;
  hand_on_finished();
}

void read_streamed(TextLines& lines, RoutedChunks& chunks) {
  const Json none;
  bool in_head = false;
  // Empty lines are between events.
  while (lines.next()) {
    std::string_view line = lines.line();
    const JsonRow here(none, lines.where(), lines.number());
    in_head = begins_http_head(line) || (in_head && !TextLines::is_blank(line));
    if (in_head || TextLines::is_blank(line) || (is_event_line(line) && !line.starts_with("data:"))) continue;
    if (!is_event_line(line)) here.wrong("is not a line of a stream of events: " + in_quotes(line.substr(0, 12)));
    line.remove_prefix(std::string_view("data:").size());
    if (line.find("[DONE]") != std::string_view::npos && line.size() < 16) {
      chunks.end_stream();
      continue;
    }
    const Json chunk = parse_json_text(line, lines.where(), {}, lines.number());
    const JsonRow row(chunk, lines.where(), lines.number());
    RoutedAnswer answer = find_routed(chunk, row);
    if (const std::string error = answer.has_any() ? std::string() : error_in(chunk); !error.empty())
      chunks.add_error(error, row);
    else
      chunks.add(std::move(answer), row);
  }
  chunks.end();
}

}  // namespace stormcell
