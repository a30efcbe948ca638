#include "core/formats/trace/routed_answers.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;

constexpr std::array kHolders = {"meta_info", "sglext", "sgl_ext", "nvext", "engine_data", "message"};
constexpr std::array kWraps = {"response", "body", "result", "output"};
constexpr std::array kRowKeys = {"routed_experts", "completion_routed_experts"};
constexpr std::array kStarts = {"routed_experts_start_len", "routed_experts_prompt_start"};
constexpr const char* kOfPrompt = "prompt_routed_experts";

/// A field of an object or of what servers nest in it; null: there is none, or it has no value.
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

/// -1: it is not there, or no count.
int64_t count_in(const Json* value) {
  if (!value || !value->is_number_integer() || (value->is_number_unsigned() && value->get<uint64_t>() > INT32_MAX)) return -1;
  return std::clamp<int64_t>(value->get<int64_t>(), -1, INT32_MAX);
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

RoutedSequence sequence_of(const Json& holder, const std::string& before, const JsonRow& row) {
  RoutedSequence sequence;
  for (const char* name : kRowKeys)
    if (const Json* value = field_in(holder, name); value && !sequence.routed.there)
      sequence.routed = read_routed_ids(*value, before + name, row);
  // A chunk of a stream may list its own tokens, and count all so far.
  sequence.completion = std::max({length_in(field_in(holder, "token_ids")), length_in(field_in(holder, "output_ids")),
                                  count_in(field_in(holder, "completion_tokens"))});
  sequence.start = first_known({sequence.routed.start, count_in(first_in(holder, kStarts))});
  sequence.index = std::max<int64_t>(count_in(&value_at(holder, "index")), 0);
  return sequence;
}

RoutedAnswer routed_in(const Json& answer, const JsonRow& row) {
  RoutedAnswer out;
  const Json& usage = value_at(answer, "usage");
  const Json& choices = choices_of(answer);
  if (const Json* prompt = field_in(answer, kOfPrompt)) out.prompt = read_routed_ids(*prompt, kOfPrompt, row);
  out.prompt_tokens = first_known({length_in(field_in(answer, "prompt_token_ids")), count_in(&value_at(usage, "prompt_tokens")),
                                   count_in(field_in(answer, "prompt_tokens"))});
  for (const Json& choice : choices) {
    out.sequences.push_back(sequence_of(choice, "choices[" + std::to_string(out.sequences.size()) + "].", row));
    if (const Json* prompt = field_in(choice, kOfPrompt); prompt && !out.prompt.there)
      out.prompt = read_routed_ids(*prompt, kOfPrompt, row);
    if (out.prompt_tokens < 0) out.prompt_tokens = count_in(field_in(choice, "prompt_tokens"));
  }
  const auto in_choices = std::any_of(out.sequences.begin(), out.sequences.end(), [](const RoutedSequence& s) { return s.routed.there; });
  if (!in_choices) {
    RoutedSequence whole = sequence_of(answer, "", row);
    if (whole.completion < 0 && choices.size() == 1) whole.completion = out.sequences[0].completion;
    out.sequences.assign(1, std::move(whole));
  }
  // The sum of all choices says nothing of one of several.
  if (out.sequences.size() == 1 && choices.size() <= 1 && out.sequences[0].completion < 0)
    out.sequences[0].completion = count_in(&value_at(usage, "completion_tokens"));
  if (const int64_t start = count_in(first_in(answer, kStarts)); start >= 0)
    for (RoutedSequence& s : out.sequences)
      if (s.start < 0) s.start = start;
  out.id = text_at(answer, "id");
  if (out.id.empty()) out.id = text_at(value_at(answer, "meta_info"), "id");
  return out;
}

/// Chunks of one answer, as they come.
class RoutedStream {
 public:
  explicit RoutedStream(const std::function<void(RoutedAnswer, const JsonRow&)>& visit) : visit_(visit) {}

  void add(RoutedAnswer chunk, const JsonRow& row) {
    if (begun_ && !chunk.id.empty() && chunk.id != answer_.id) end(row);
    begun_ = true;
    if (!chunk.id.empty()) answer_.id = chunk.id;
    if (chunk.prompt.there) answer_.prompt = std::move(chunk.prompt);
    answer_.prompt_tokens = std::max(answer_.prompt_tokens, chunk.prompt_tokens);
    for (RoutedSequence& s : chunk.sequences) {
      RoutedSequence& to = of_index_[s.index];
      to.index = s.index;
      const bool goes_on = s.completion > to.completion;
      to.completion = std::max(to.completion, s.completion);
      to.start = first_known({to.start, s.start});
      if (s.routed.there) append(std::move(s.routed), to.routed, goes_on, row);
    }
  }
  void end(const JsonRow& row) {
    for (auto& [index, sequence] : of_index_) answer_.sequences.push_back(std::move(sequence));
    if (answer_.has_any()) visit_(std::move(answer_), row);
    answer_ = {}, of_index_.clear(), begun_ = false;
  }

 private:
  /// Some servers repeat all earlier rows in each chunk, others send only the new rows. A new row may equal the one before it.
  static void append(RoutedIds chunk, RoutedIds& to, bool goes_on, const JsonRow& row) {
    const bool longer = chunk.ids.size() > to.ids.size(), again = chunk.ids.size() == to.ids.size() && !goes_on;
    const bool all_so_far = (longer || again) && std::equal(to.ids.begin(), to.ids.end(), chunk.ids.begin());
    if (!to.there || to.empty() || all_so_far) {
      to = std::move(chunk);
      return;
    }
    if (chunk.has_shape() != to.has_shape() || (!chunk.empty() && (chunk.layers != to.layers || chunk.width != to.width)))
      row.wrong("routed_experts of a chunk has another shape than those before");
    to.ids.insert(to.ids.end(), chunk.ids.begin(), chunk.ids.end());
    if (to.has_shape()) to.rows += chunk.rows;
  }

  const std::function<void(RoutedAnswer, const JsonRow&)>& visit_;
  RoutedAnswer answer_;
  std::map<int64_t, RoutedSequence> of_index_;
  bool begun_ = false;
};

}  // namespace

bool RoutedAnswer::has_any() const {
  return prompt.there || std::any_of(sequences.begin(), sequences.end(), [](const RoutedSequence& s) { return s.routed.there; });
}

RoutedAnswer find_routed(const Json& answer, const JsonRow& row) {
  RoutedAnswer found = routed_in(answer, row);
  const Json* inner = &answer;
  for (const char* wrap : kWraps) {
    if (found.has_any() || !value_at(*inner, wrap).is_object()) continue;
    inner = &value_at(*inner, wrap);
    found = routed_in(*inner, row);
  }
  return found;
}

bool is_event_stream(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  text.remove_prefix(first);
  return text.starts_with("data:") || text.starts_with("event:") || text.starts_with("id:") || text.starts_with(": ");
}

void for_each_streamed(TextLines& lines, const std::function<void(RoutedAnswer, const JsonRow&)>& visit) {
  RoutedStream stream(visit);
  const Json none;
  // Empty lines are between events.
  while (lines.next()) {
    std::string_view line = lines.line();
    const JsonRow here(none, lines.where(), lines.number());
    if (TextLines::is_blank(line) || line.starts_with(':') || line.starts_with("event:") || line.starts_with("id:") ||
        line.starts_with("retry:"))
      continue;
    if (!line.starts_with("data:")) here.wrong("is no line of a stream of events: " + in_quotes(line.substr(0, 12)));
    line.remove_prefix(std::string_view("data:").size());
    if (line.find("[DONE]") != std::string_view::npos && line.size() < 16) {
      stream.end(here);
      continue;
    }
    const Json chunk = parse_json_text(line, lines.where(), {}, lines.number());
    const JsonRow row(chunk, lines.where(), lines.number());
    stream.add(find_routed(chunk, row), row);
  }
  stream.end(JsonRow(none, lines.where(), lines.number()));
}

}  // namespace stormcell
