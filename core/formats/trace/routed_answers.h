// Answers of servers keep the experts of their tokens in several places. SGLang: /generate in meta_info, its OpenAI endpoints in sglext;
// vLLM: in each of its choices, those of the prompt beside them where they are apart; Dynamo: in nvext. Logs of clients wrap them in
// response or body.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/text_lines.h"
#include "core/formats/trace/json_values.h"
#include "core/formats/trace/routed_ids.h"

namespace stormcell {

/// One sequence of an answer.
struct RoutedSequence {
  RoutedIds routed;         ///< of the answer's tokens, or of those and the prompt's
  int64_t completion = -1;  ///< tokens of the answer, the last of which was not computed on; -1: it does not say
  int64_t start = -1;       ///< position of the first row, as the answer says it; -1: it does not
  int64_t index = 0;        ///< among the choices
};
struct RoutedAnswer {
  std::string id;
  RoutedIds prompt;                       ///< where it is apart
  int64_t prompt_tokens = -1;             ///< -1: it does not say
  std::vector<RoutedSequence> sequences;  ///< with a value each, or with none where the prompt alone has one
  bool has_any() const;
};

/// Finds them in one JSON value, that may be wrapped.
RoutedAnswer find_routed(const nlohmann::json& answer, const JsonRow& row);

/// Whether a text is a stream of server-sent events: lines "data: {...}".
bool is_event_stream(std::string_view text);
/// Joins the chunks of a stream into answers. A chunk that repeats all rows so far replaces them; the rows of any other are appended.
/// `visit` gets each answer with experts, and the row of its last chunk.
void for_each_streamed(TextLines& lines, const std::function<void(RoutedAnswer, const JsonRow&)>& visit);

}  // namespace stormcell
