// Answers of servers that were asked for routed experts, [tokens, layers, k] of the prompt and the answer of one request: SGLang's and
// vLLM's, one answer, a list of them, one a line, or a stream. How many layers and choices there are stands in no answer. Servers keep the
// routed choices alone; early builds kept columns of fused shared experts behind, with any number in them. The last token of an answer is
// not computed on. A server leaves out the first rows where a request asks for that (routed_experts_start_len).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/json_lines.h"
#include "core/formats/trace/json_cursor.h"
#include "core/formats/trace/routed_answers.h"
#include "core/formats/trace/routed_layout.h"
#include "core/formats/trace/trace.h"

namespace stormcell {
namespace {

/// The rows of one sequence, and where they are in it.
struct PlacedRows {
  std::vector<const RoutedIds*> parts;
  RoutedLayout layout;
  int64_t start = 0;    ///< position of the first row
  int64_t skipped = 0;  ///< rows of the prompt that another sequence handed on
  int64_t prompt = -1;  ///< tokens; -1: nobody knows where decoding begins

  int32_t id(int64_t row, int64_t column) const {
    int64_t at = row * layout.layers * layout.width + column;
    for (const RoutedIds* part : parts) {
      if (at < std::ssize(part->ids)) return part->ids[static_cast<size_t>(at)];
      at -= std::ssize(part->ids);
    }
    return kNoBranch;
  }
};

class RoutedExperts {
 public:
  RoutedExperts(const TraceSource& source, TraceSink& sink, const Progress& progress) : source_(source), sink_(sink), progress_(progress) {}

  TraceCounts read() {
    const TracedModel& model = source_.model;
    if (!model.doubt.empty() && model.moe_layers.empty())
      bad_input(source_.path(), "does not say which layers have experts, and " + model.doubt, "add the family's rule, or import counts");
    if (model.layers == 0 || model.k == 0 || model.moe_layers.empty())
      bad_input(source_.path(), "does not say how many layers and choices of a token there are",
                "--model-config config.json of the model that answered");
    begin();
    is_event_stream(source_.text()) ? read_stream() : read_answers();
    if (requests_ == 0)
      bad_input(source_.path(), "has no answer with routed_experts",
                "SGLang: send return_routed_experts in each request; vLLM: serve with --enable-return-routed-experts");
    warn();
    return std::move(counts_);
  }

 private:
  void read_answers() {
    JsonLines answers(source_.text(), source_.path());
    for (nlohmann::json answer; answers.next(answer);) {
      progress_.report("reading answers", requests_, 0);
      const JsonRow row(answer, source_.path(), answers.line());
      hand_on(find_routed(answer, row), row);
    }
    counts_.empty_lines = answers.lines().empty_lines();
  }
  void read_stream() {
    TextLines lines(source_.text(), source_.path());
    for_each_streamed(lines, [&](const RoutedAnswer& answer, const JsonRow& row) {
      progress_.report("reading answers", requests_, 0);
      hand_on(answer, row);
    });
  }

  void begin() {
    const TracedModel& model = source_.model;
    TraceHeader header;
    header.model = model.name, header.family = model.family;
    header.origin["format"] = "routed_experts of answers";
    header.model_layers = model.layers;
    std::vector<int32_t> router_of(static_cast<size_t>(model.layers), -1);
    for (size_t i = 0; i < model.moe_layers.size(); ++i) router_of[static_cast<size_t>(model.moe_layers[i])] = static_cast<int32_t>(i);
    header.routers = routers_by_layer(router_of, model.branches, std::min(model.k, model.branches));
    k_ = std::min(model.k, model.branches);
    header.lacks =
        lacks_without({{"model", !model.name.empty()}, "branches", "k", "decisions", "steps", "order", "requests", "positions", "phases"});
    sink_.begin(header);
  }

  void warn() {
    const auto answers = [](int64_t some, int64_t all) { return with_commas(some) + " of " + with_commas(all) + " answers"; };
    const std::string of_file = source_.path() + ": ";
    if (without_ > 0) counts_.warnings.push_back(of_file + answers(without_, answers_) + " have no routed_experts, and count nothing");
    if (partial_ > 0)
      counts_.warnings.push_back(of_file + answers(partial_, requests_) + " lack rows of " + counted(missing_, "token") +
                                 ", as with routed_experts_start_len: loads are those of the rest");
  }

  void hand_on(const RoutedAnswer& answer, const JsonRow& row) {
    ++answers_;
    if (!answer.has_any()) {
      ++without_;
      return;
    }
    bool prompt_handed_on = false;
    for (const RoutedSequence& sequence : answer.sequences) {
      if (!sequence.routed.there && (prompt_handed_on || !answer.prompt.there)) continue;
      PlacedRows rows = placed(answer, sequence, row);
      // Choices of one answer share its prompt, which was computed on once.
      const bool has_prompt = !rows.parts.empty() && rows.parts[0] == &answer.prompt;
      if (has_prompt && prompt_handed_on) rows.skipped = std::ssize(answer.prompt.ids) / (rows.layout.layers * rows.layout.width);
      prompt_handed_on |= has_prompt;
      hand_on_rows(rows, row);
      ++requests_;
    }
  }

  PlacedRows placed(const RoutedAnswer& answer, const RoutedSequence& sequence, const JsonRow& row) {
    const RoutedIds& routed = sequence.routed;
    const int64_t prompt = answer.prompt_tokens, tokens = prompt >= 0 && sequence.completion >= 0 ? prompt + sequence.completion : -1;
    PlacedRows out;
    out.prompt = prompt > 0 ? prompt : -1;
    const auto is_whole = [&](int64_t rows) { return tokens < 0 || rows == tokens || rows == tokens - 1; };
    // Some servers say the prompt's apart, and all of them again in the choice.
    const bool all_again = answer.prompt.there && routed.has_shape() && tokens >= 0 && is_whole(routed.rows) && prompt > 0;
    if (answer.prompt.there && !all_again) out.parts.push_back(&answer.prompt);
    if (routed.there) out.parts.push_back(&routed);
    out.layout = find_layout(out.parts, source_.model, tokens, row);
    const int64_t rows = out.layout.rows, told_start = std::max(sequence.start, answer.prompt.start);
    const bool apart = out.parts[0] == &answer.prompt;
    if (apart && out.prompt < 0) out.prompt = answer.prompt.has_shape() ? answer.prompt.rows : -1;
    if (told_start > 0) {
      if (!is_whole(told_start + rows))
        row.wrong("routed_experts begins at token " + std::to_string(told_start) + " and has " + counted(rows, "row") + ", of " +
                  counted(tokens, "token"));
      out.start = told_start;
    } else if (!is_whole(rows)) {
      out.start = start_of(answer, sequence, rows, apart, row);
    }
    if (out.start + rows > INT32_MAX) row.wrong("routed_experts begins at token " + std::to_string(out.start) + ", which is too far");
    // Rows of the answer are missing where the prompt alone has some.
    if (const int64_t missing = tokens < 0 ? out.start : tokens - 1 - rows; missing > 0) ++partial_, missing_ += missing;
    return out;
  }

  /// The position of the first row where rows are fewer than tokens: they end where the sequence ends.
  static int64_t start_of(const RoutedAnswer& answer, const RoutedSequence& sequence, int64_t rows, bool apart, const JsonRow& row) {
    const int64_t prompt = answer.prompt_tokens, completion = sequence.completion;
    if (apart && sequence.routed.empty()) return std::max<int64_t>(prompt - rows, 0);
    if (!apart && sequence.routed.has_shape() && rows == completion) return prompt;
    const int64_t of_answer = sequence.routed.has_shape() ? sequence.routed.rows : -1;
    if (apart && of_answer >= 0 && of_answer != completion && of_answer != completion - 1)
      row.wrong("prompt_routed_experts and routed_experts have " + counted(rows, "row") + ", the prompt and the answer have " +
                std::to_string(prompt) + " and " + counted(completion, "token"));
    if (apart && of_answer >= 0) return prompt + of_answer - rows;
    return prompt + completion - 1 - rows;
  }

  void hand_on_rows(const PlacedRows& rows, const JsonRow& row) {
    const int64_t all = rows.layout.rows, first = rows.skipped;
    const int64_t cut = rows.prompt < 0 ? all : std::clamp(rows.prompt - rows.start, first, std::max(first, all));
    if (cut > first) hand_on_tokens(rows, first, cut, rows.prompt < 0 ? Phase::forward : Phase::prefill, row);
    if (all > cut) hand_on_tokens(rows, cut, all, Phase::decode, row);
  }

  void hand_on_tokens(const PlacedRows& rows, int64_t first, int64_t end, Phase phase, const JsonRow& row) {
    const TracedModel& model = source_.model;
    const int64_t tokens = end - first;
    std::vector<std::vector<int32_t>> choice;
    std::vector<TraceDecision> decisions;
    choice.reserve(model.moe_layers.size());
    for (size_t r = 0; r < model.moe_layers.size(); ++r) {
      const int64_t layer = rows.layout.all_layers ? model.moe_layers[r] : static_cast<int64_t>(r);
      std::vector<int32_t>& chosen = choice.emplace_back(static_cast<size_t>(tokens * k_), kNoBranch);
      for (int64_t t = 0; t < tokens; ++t)
        take(rows, first + t, layer, std::span(chosen).subspan(static_cast<size_t>(t * k_), static_cast<size_t>(k_)), row);
    }
    for (size_t r = 0; r < choice.size(); ++r) decisions.push_back({static_cast<int32_t>(r), choice[r], {}, {}, {}, {}});
    counts_.rows_skipped += tokens * model.k * (rows.layout.layers - std::ssize(choice));
    counts_.rows_shared += tokens * (rows.layout.width - model.k) * std::ssize(choice);
    const TraceCells cells{0, {requests_, 1, static_cast<int32_t>(tokens), static_cast<int32_t>(rows.start + first), phase}, {}};
    sink_.batch({&cells, 1}, decisions);
  }

  /// The choices of a token; -1 and, of several, all zero are none.
  void take(const PlacedRows& rows, int64_t token, int64_t layer, std::span<int32_t> to, const JsonRow& row) {
    const TracedModel& model = source_.model;
    const auto place = [&] { return "token " + std::to_string(rows.start + token) + ", layer " + std::to_string(layer); };
    bool chosen = model.k == 1;
    for (int64_t j = 0; j < model.k; ++j) {
      const int32_t v = rows.id(token, layer * rows.layout.width + j);
      if (v < -1 || v >= model.branches)
        row.wrong(place() + " names expert " + std::to_string(v) + ", " + model.source + " has " + std::to_string(model.branches));
      chosen |= v > 0;
      if (j < k_) to[static_cast<size_t>(j)] = v < 0 ? kNoBranch : v;
    }
    if (!chosen) std::fill(to.begin(), to.end(), kNoBranch);
    int64_t taken = 0;
    for (size_t j = 0; j < to.size(); ++j) {
      if (to[j] == kNoBranch) continue;
      ++taken;
      const auto before = to.first(j);
      if (std::find(before.begin(), before.end(), to[j]) != before.end())
        row.wrong(place() + " names expert " + std::to_string(to[j]) + " twice");
    }
    counts_.rows_read += taken, counts_.rows_masked += model.k - taken;
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  int64_t answers_ = 0, requests_ = 0;               // read so far; those with routed experts, by their choices
  int64_t without_ = 0, partial_ = 0, missing_ = 0;  // answers without; requests whose rows are not all there; rows
  int32_t k_ = 1;
  TraceCounts counts_;
};

}  // namespace

bool is_routed_experts_json(std::string_view content) {
  constexpr size_t kLooked = size_t{16} << 20;  // long texts and other numbers may stand before
  const size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || !(content[first] == '{' || content[first] == '[' || is_event_stream(content))) return false;
  const std::string_view head = content.substr(0, kLooked);
  for (const std::string_view key : {"\"routed_experts\"", "\"prompt_routed_experts\"", "\"completion_routed_experts\""})
    if (head.find(key) != std::string_view::npos || is_json_with(content, "{[", key)) return true;
  return false;
}

TraceCounts read_routed_experts_json(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return RoutedExperts(source, sink, progress).read();
}

}  // namespace stormcell
