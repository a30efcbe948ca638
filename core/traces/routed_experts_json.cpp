// Reads answers of servers with routed experts: [tokens, layers, k] of the prompt and the answer of one request. The
// file has one answer, a list, one answer a line, or a stream. No answer states the number of layers and choices.
// Servers keep only the routed choices; early builds also had columns of fused shared experts at the end, with any
// numbers in them. The last token of an answer is not computed on. A request may leave out the first rows
// (routed_experts_start_len).
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/event_stream.h"
#include "core/formats/file_text.h"
#include "core/formats/json_lines.h"
#include "core/formats/sha256.h"
#include "core/traces/routed_answers.h"
#include "core/traces/routed_layout.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

/// The rows of one sequence, and their positions in it.
struct PlacedRows {
  std::vector<const RoutedIds*> parts;
  RoutedLayout layout;
  int64_t start = 0;    ///< position of the first row
  int64_t skipped = 0;  ///< rows of the prompt that another choice has already delivered
  int64_t prompt = -1;  ///< number of tokens of the prompt; -1: not known where decoding begins

  int32_t id(int64_t row, int64_t column) const {
    int64_t at = row * layout.layers * layout.width + column;
    for (const RoutedIds* part : parts) {
      if (at < std::ssize(part->ids)) return part->ids[at];
      at -= std::ssize(part->ids);
    }
    return kNoBranch;
  }
};

/// The counts of an answer.
std::string digest_of(const RoutedAnswer& answer) {
  Sha256 hash;
  const auto add = [&](const RoutedIds& ids, int64_t about) {
    const int64_t numbers[] = {about, ids.start, std::ssize(ids.ids)};
    hash.update(std::as_bytes(std::span(numbers)));
    hash.update(std::as_bytes(std::span(ids.ids)));
  };
  add(answer.prompt, answer.prompt_tokens);
  for (const RoutedSequence& sequence : answer.sequences) {
    add(sequence.prompt, sequence.prompt_tokens);
    add(sequence.routed, sequence.tokens());
  }
  return hash.hex();
}

/// Warnings about answers that have the id of an earlier one.
struct RepeatedIds {
  int64_t count = 0;
  std::string first;
  void add(const std::string& id) {
    if (count++ == 0) first = id;
  }
};

/// Looks for a number of layers that is not that of the config.json, and that gives each token of each answer a row.
class OtherLayers {
 public:
  /// An answer of `numbers` ids for `tokens` tokens; the last one may lack a row.
  void add(int64_t numbers, int64_t tokens, int64_t width) {
    std::set<int64_t> fits;
    for (const int64_t rows : {tokens, tokens - 1})
      if (rows > 0 && numbers > 0 && numbers % (rows * width) == 0) fits.insert(numbers / (rows * width));
    if (!lengths_.empty()) std::erase_if(fits, [&](int64_t layers) { return !layers_.contains(layers); });
    layers_ = std::move(fits);
    lengths_.insert(tokens);
  }
  void exclude() { excluded_ = true; }
  /// 0: there is none. Answers of one length may lack rows by chance in this ratio, answers of two lengths do not.
  int64_t found() const { return excluded_ || lengths_.size() < 2 || layers_.empty() ? 0 : *layers_.begin(); }

 private:
  std::set<int64_t> layers_, lengths_;
  bool excluded_ = false;  // an answer fits the config.json, or states where its rows begin
};

class RoutedExperts {
 public:
  RoutedExperts(const TraceSource& source, TraceSink& sink, const Progress& progress)
      : source_(source), sink_(sink), progress_(progress) {}

  TraceCounts read() {
    const TracedModel& model = source_.model;
    if (!model.doubt.empty() && model.moe_layers.empty())
      bad_input(source_.path(), "does not say which layers have experts, and " + model.doubt,
                "add the family's rule, or import counts");
    if (model.layers == 0 || model.k == 0 || model.moe_layers.empty())
      bad_input(source_.path(), "does not say how many layers and choices of a token there are",
                "--model-config config.json of the model that answered");
    k_ = std::min(model.k, model.branches);
    is_event_stream(source_.text()) ? read_stream() : read_answers();
    if (requests_ == 0)
      bad_input(source_.path(), "has no answer with routed_experts",
                "SGLang: send return_routed_experts in each request; vLLM: serve with --enable-return-routed-experts");
    refuse_other_layers();
    if (!begun_) counts_.nothing = "its answers have no row of routed_experts";
    warn();
    return std::move(counts_);
  }

 private:
  /// Reads answers one after another, or chunks of streamed answers saved in this way.
  void read_answers() {
    JsonLines answers(source_.text(), source_.path());
    RoutedChunks chunks = new_chunks();
    for (nlohmann::json value; answers.next(value);) {
      progress_.report("reading answers", requests_, 0);
      const JsonRow row(value, source_.path(), answers.line());
      RoutedAnswer answer = find_routed(value, row);
      if (chunks.takes(answer))
        chunks.add(std::move(answer), row);
      else
        hand_on(answer, row);
    }
    chunks.end();
    take_faults(chunks);
    counts_.empty_lines = answers.lines().empty_lines();
  }
  void read_stream() {
    TextLines lines(source_.text(), source_.path());
    RoutedChunks chunks = new_chunks();
    read_streamed(lines, chunks);
    take_faults(chunks);
  }
  void take_faults(const RoutedChunks& chunks) {
    cut_ = chunks.cut(), errors_ = chunks.errors();
    first_error_ = chunks.first_error();
  }
  RoutedChunks new_chunks() {
    return {source_.path(), [this](const RoutedAnswer& answer, const JsonRow& row) {
              progress_.report("reading answers", requests_, 0);
              hand_on(answer, row);
            }};
  }

  void begin() {
    const TracedModel& model = source_.model;
    TraceHeader header;
    header.model = model.name, header.family = model.family;
    header.origin["format"] = "routed_experts of answers";
    header.model_layers = model.layers;
    std::vector<int32_t> router_of(model.layers, -1);
    for (size_t i = 0; i < model.moe_layers.size(); ++i) router_of[model.moe_layers[i]] = static_cast<int32_t>(i);
    header.routers = routers_by_layer(router_of, model.branches, k_);
    header.lacks = lacks_without({{"model", !model.name.empty()},
                                  "branches",
                                  "k",
                                  "decisions",
                                  "steps",
                                  "order",
                                  "requests",
                                  "positions",
                                  "phases"});
    sink_.begin(header);
    begun_ = true;
  }

  void refuse_other_layers() const {
    const int64_t layers = other_layers_.found();
    if (layers == 0) return;
    const TracedModel& model = source_.model;
    bad_input(source_.path(),
              "has ids of " + counted(layers, "layer") + " for each token, " + model.source + " has " +
                  counted(model.layers, "layer") + ", " + std::to_string(model.moe_layers.size()) +
                  " of them with experts, so it belongs to another model",
              "--model-config config.json of the model that answered");
  }

  void warn() {
    const auto answers = [](int64_t some, int64_t all) { return with_commas(some) + " of " + counted(all, "answer"); };
    const std::string of_file = source_.path() + ": ";
    if (without_ > 0)
      counts_.warnings.push_back(of_file + answers(without_, answers_) + (without_ == 1 ? " has" : " have") +
                                 " no routed_experts, and " + (without_ == 1 ? "counts" : "count") + " nothing");
    if (cut_ > 0)
      counts_.warnings.push_back(of_file + answers(cut_, answers_) +
                                 (cut_ == 1 ? " states no end: the stream was cut, and its last rows are missing"
                                            : " state no end: the stream was cut, and their last rows are missing"));
    if (errors_ > 0)
      counts_.warnings.push_back(of_file + counted(errors_, "error") +
                                 " of the server in place of a chunk; the first is in " + first_error_);
    if (partial_ > 0)
      counts_.warnings.push_back(of_file + answers(partial_, requests_) +
                                 (partial_ == 1 ? " lacks rows of " : " lack rows of ") + counted(missing_, "token") +
                                 ", as with routed_experts_start_len" +
                                 (unstated_ > 0 ? ", or " + source_.model.source + " is of another model" : "") +
                                 ": loads are those of the rest");
    if (again_.count > 0)
      counts_.warnings.push_back(of_file + counted(again_.count, "answer repeats", "answers repeat") +
                                 " an earlier one, with the same id and the same rows, and " +
                                 (again_.count == 1 ? "counts" : "count") + " nothing; the first has the id " +
                                 in_quotes(again_.first));
    if (unlike_.count > 0)
      counts_.warnings.push_back(of_file + counted(unlike_.count, "answer has", "answers have") +
                                 " the id of an earlier one, and other rows: both are counted; the first has the id " +
                                 in_quotes(unlike_.first));
  }

  /// False if the same answer came before.
  bool is_new(const RoutedAnswer& answer) {
    if (answer.id.empty()) return true;
    std::set<std::string>& digests = digests_of_[answer.id];
    if (!digests.insert(digest_of(answer)).second) {
      again_.add(answer.id);
      return false;
    }
    if (digests.size() > 1) unlike_.add(answer.id);
    return true;
  }

  void hand_on(const RoutedAnswer& answer, const JsonRow& row) {
    ++answers_;
    if (!answer.has_any()) {
      ++without_;
      return;
    }
    if (!is_new(answer)) return;
    bool prompt_handed_on = false;
    for (const RoutedSequence& sequence : answer.sequences) {
      if (!sequence.routed.there && !sequence.prompt.there && (prompt_handed_on || !answer.prompt.there)) continue;
      PlacedRows rows = placed(answer, sequence, row);
      // Choices of one answer share its prompt, which is computed once.
      const bool has_prompt = !rows.parts.empty() && rows.parts[0] == &answer.prompt;
      if (has_prompt && prompt_handed_on)
        rows.skipped = std::ssize(answer.prompt.ids) / (rows.layout.layers * rows.layout.width);
      prompt_handed_on |= has_prompt;
      hand_on_rows(rows, row);
      ++requests_;
    }
  }

  /// Chooses, for chunks with equal beginnings, the way to join them that gives one row for each token.
  const RoutedIds& rows_of(const RoutedAnswer& answer, const RoutedSequence& sequence, int64_t tokens) const {
    if (!sequence.other.there || tokens < 0) return sequence.routed;
    const int64_t completion = sequence.tokens();
    const RoutedIds& prompt = prompt_rows_of(answer, sequence);
    return !covers_all(prompt, sequence.routed, tokens, completion) &&
                   covers_all(prompt, sequence.other, tokens, completion)
               ? sequence.other
               : sequence.routed;
  }
  /// True if some layout has rows for all tokens, or for all tokens of the answer. The last token may lack a row.
  bool covers_all(const RoutedIds& prompt, const RoutedIds& routed, int64_t tokens, int64_t completion) const {
    const int64_t apart = std::ssize(prompt.ids), numbers = std::ssize(routed.ids);
    for (const int64_t each : possible_row_sizes())
      for (const int64_t all : {numbers, numbers + apart})
        for (const int64_t expected : {tokens, tokens - 1, completion, completion - 1})
          if (all == expected * each) return true;
    return false;
  }
  /// Numbers that the row of one token may have: all layers or those with experts, with or without columns of shared
  /// experts.
  std::vector<int64_t> possible_row_sizes() const {
    const TracedModel& model = source_.model;
    const int64_t moe = std::ssize(model.moe_layers);
    std::vector<int64_t> sizes;
    for (const int64_t layers :
         {int64_t{model.layers}, int64_t{model.layers} + model.further_layers, moe, moe + model.further_layers})
      for (const int64_t width : {int64_t{model.k}, int64_t{model.k} + model.shared})
        if (layers * width > 0) sizes.push_back(layers * width);
    return sizes;
  }

  static const RoutedIds& prompt_rows_of(const RoutedAnswer& answer, const RoutedSequence& sequence) {
    return sequence.prompt.there ? sequence.prompt : answer.prompt;
  }
  /// The number of tokens of a sequence's prompt; -1: not known. With several choices, the count of an answer is that
  /// of one prompt or the sum over several prompts. It is used if the rows of all choices fit only one prompt.
  int64_t prompt_tokens_of(const RoutedAnswer& answer, const RoutedSequence& sequence) const {
    if (sequence.prompt_tokens >= 0) return sequence.prompt_tokens;
    if (sequence.prompt.there) return -1;  // its rows say how many there are
    const int64_t prompt = answer.prompt_tokens, choices = std::ssize(answer.sequences);
    if (prompt < 0 || choices < 2 || answer.one_prompt) return prompt;
    int64_t listed = 0, numbers = 0, rows = 0;
    for (const RoutedSequence& s : answer.sequences) {
      listed = listed < 0 || s.tokens() < 0 ? -1 : listed + s.tokens();
      numbers += std::ssize(s.routed.ids);
      rows = rows < 0 || !s.routed.has_shape() ? -1 : rows + s.routed.rows;
    }
    const int64_t completion = listed >= 0 ? listed : answer.completion_tokens;
    if (completion < 0 || answer.prompt.there) return -1;
    // The last token of each choice may lack a row.
    const auto fits = [&](int64_t all, int64_t prompts) {
      return all >= prompts * prompt + completion - choices && all <= prompts * prompt + completion;
    };
    bool one = false, several = false;
    const auto look_at = [&](int64_t all) { one |= fits(all, choices), several |= fits(all, 1); };
    if (rows >= 0) {
      look_at(rows);
    } else {
      for (const int64_t each : possible_row_sizes())
        if (numbers % each == 0) look_at(numbers / each);
    }
    return one && !several ? prompt : -1;
  }

  PlacedRows placed(const RoutedAnswer& answer, const RoutedSequence& sequence, const JsonRow& row) {
    const RoutedIds& own = prompt_rows_of(answer, sequence);
    const int64_t prompt = prompt_tokens_of(answer, sequence), completion = sequence.tokens(),
                  tokens = prompt >= 0 && completion >= 0 ? prompt + completion : -1;
    const RoutedIds& routed = rows_of(answer, sequence, tokens);
    PlacedRows out;
    out.prompt = prompt > 0 ? prompt : -1;
    const auto is_whole = [&](int64_t rows) { return tokens < 0 || rows == tokens || rows == tokens - 1; };
    // Some servers put the prompt's rows in their own field and all rows again in the choice.
    const bool all_again = own.there && routed.has_shape() && tokens >= 0 && is_whole(routed.rows) && prompt > 0;
    if (own.there && !all_again) out.parts.push_back(&own);
    if (routed.there) out.parts.push_back(&routed);
    out.layout = find_layout(out.parts, source_.model, tokens, row);
    const int64_t rows = out.layout.rows, told_start = std::max(sequence.start, own.start);
    const bool apart = out.parts[0] == &own;
    if (apart && out.prompt < 0) out.prompt = own.has_shape() ? own.rows : -1;
    if (told_start > 0) {
      if (!is_whole(told_start + rows))
        row.wrong("routed_experts begins at token " + std::to_string(told_start) + " and has " + counted(rows, "row") +
                  ", of " + counted(tokens, "token"));
      out.start = told_start;
    } else if (!is_whole(rows)) {
      out.start = start_of(prompt, completion, routed, rows, apart, row);
    }
    if (out.start + rows > INT32_MAX)
      row.wrong("routed_experts begins at token " + std::to_string(out.start) + ", which is too far");
    // The answer's rows are missing if only the prompt has rows.
    if (const int64_t missing = tokens < 0 ? out.start : tokens - 1 - rows; missing > 0)
      ++partial_, missing_ += missing, unstated_ += told_start <= 0;
    if (tokens < 0 || told_start > 0 || apart || rows >= tokens - 1)
      other_layers_.exclude();
    else
      other_layers_.add(std::ssize(routed.ids), tokens, source_.model.k);
    return out;
  }

  /// The position of the first row if there are fewer rows than tokens: the rows end with the sequence.
  static int64_t start_of(int64_t prompt, int64_t completion, const RoutedIds& routed, int64_t rows, bool apart,
                          const JsonRow& row) {
    if (apart && routed.empty()) return std::max<int64_t>(prompt - rows, 0);
    if (!apart && routed.has_shape() && rows == completion) return prompt;
    const int64_t of_answer = routed.has_shape() ? routed.rows : -1;
    if (apart && of_answer >= 0 && of_answer != completion && of_answer != completion - 1)
      row.wrong("prompt_routed_experts and routed_experts have " + counted(rows, "row") +
                ", the prompt and the answer have " + std::to_string(prompt) + " and " + counted(completion, "token"));
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
    if (!begun_) begin();
    const TracedModel& model = source_.model;
    const int64_t tokens = end - first;
    std::vector<std::vector<int32_t>> choice;
    std::vector<DecisionRecord> decisions;
    choice.reserve(model.moe_layers.size());
    for (size_t r = 0; r < model.moe_layers.size(); ++r) {
      const int64_t layer = rows.layout.all_layers ? model.moe_layers[r] : static_cast<int64_t>(r);
      std::vector<int32_t>& chosen = choice.emplace_back(tokens * k_, kNoBranch);
      for (int64_t t = 0; t < tokens; ++t) take(rows, first + t, layer, std::span(chosen).subspan(t * k_, k_), row);
    }
    for (size_t r = 0; r < choice.size(); ++r)
      decisions.push_back({.router = static_cast<int32_t>(r), .choice = choice[r]});
    counts_.rows_skipped += tokens * model.k * (rows.layout.layers - std::ssize(choice));
    counts_.rows_shared += tokens * (rows.layout.width - model.k) * std::ssize(choice);
    const TraceCells cells{
        0, {requests_, 1, static_cast<int32_t>(tokens), static_cast<int32_t>(rows.start + first), phase}, {}};
    sink_.batch({&cells, 1}, decisions);
  }

  /// The choices of a token. -1 is no choice; neither are several choices that are all zero.
  void take(const PlacedRows& rows, int64_t token, int64_t layer, std::span<int32_t> to, const JsonRow& row) {
    const TracedModel& model = source_.model;
    const auto place = [&] {
      return "token " + std::to_string(rows.start + token) + ", layer " + std::to_string(layer);
    };
    bool chosen = model.k == 1;
    for (int64_t j = 0; j < model.k; ++j) {
      const int32_t v = rows.id(token, layer * rows.layout.width + j);
      if (v < -1 || v >= model.branches + model.zero_experts)
        row.wrong(place() + " names expert " + std::to_string(v) + ", " + model.source + " has " +
                  std::to_string(model.branches));
      chosen |= v > 0;
      if (j < k_) to[j] = v < 0 || v >= model.branches ? kNoBranch : v;
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
  int64_t answers_ = 0, requests_ = 0;  // answers read so far; sequences with routed experts
  int64_t cut_ = 0, errors_ = 0;        // answers that state no end; errors in place of chunks
  std::string first_error_;
  int64_t without_ = 0, partial_ = 0, missing_ = 0;  // answers without routed experts; requests with missing rows; rows
  int64_t unstated_ = 0;  // requests with missing rows that do not state where their rows begin
  OtherLayers other_layers_;
  int32_t k_ = 1;
  bool begun_ = false;
  std::map<std::string, std::set<std::string>> digests_of_;  // digests of the answers of each id
  RepeatedIds again_, unlike_;                               // answers left out; answers counted
  TraceCounts counts_;
};

}  // namespace

TraceCounts read_routed_experts_json(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return RoutedExperts(source, sink, progress).read();
}

}  // namespace stormcell
