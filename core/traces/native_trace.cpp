// The native trace: safetensors with layer.{i}.indices i32 [cells, k] and cell.request, cell.position, cell.phase i32
// [cells]. May be there: layer.{i}.weights f32, layer.{i}.dropped i32 (the branch that dropped the choice, else -1),
// layer.{i}.residency u8, layer.{i}.bytes_read i64, all [cells, k]; cell.stack, cell.real, cell.batch, cell.columns,
// cell.rank i32, cell.step i64 [cells], the last two of a batch alike: which rank's cells it holds, and which step of
// its server it is. An index of -1 is no branch or dropped, -2 says that the cell did not meet the router.
// Recorders (resources/recorders) also write layer.{i}.margins f32 [cells], cell.token i32 [cells] (-1: not known), the
// texts of these tokens (token.id i32 [n] ascending, token.end i64 [n], token.text u8 [bytes], text i ends at end i),
// and metadata `recorder` and `cut`: what they left out, empty if the recording is complete. Of a network with exits
// they also write exit.* (exit_tensors.h). layer.{i}.scores f32 [cells, n] are what a router compared.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/formats/safetensors.h"
#include "core/traces/exit_tensors.h"
#include "core/traces/token_pieces.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

constexpr int32_t kNone = -1, kNotMet = -2;
constexpr int64_t kMostBranches = int64_t{1} << 24, kMostStacks = 64, kMostPrompt = int64_t{1} << 16,
                  kMostTokenIds = int64_t{1} << 24, kMostScores = int64_t{1} << 16;
constexpr const char* kWriteAgain = "write it again, as the guide's page recordings shows";

template <class T>
T element(const StoredTensor* t, int64_t i) {
  T v;
  std::memcpy(&v, t->bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return v;
}

struct Layer {
  std::string name;
  const StoredTensor *indices = nullptr, *weights = nullptr, *dropped = nullptr, *residency = nullptr, *bytes = nullptr,
                     *margins = nullptr, *scores = nullptr;
  int64_t k = 1;
  // A cell's scores: `columns` of the `stride` numbers of its row, from number `first` on.
  int64_t columns = 0, stride = 0, first = 0;
  // Buffers for the current batch.
  std::vector<int32_t> choice, row;
  std::vector<float> weight, margin, score;
  std::vector<uint8_t> resident;
  std::vector<int64_t> read;
};

/// Consecutive cells of one stack that make a table.
struct Segment {
  int64_t begin = 0, cells = 0;
  TraceCells table;
  std::vector<int32_t> starts;  // [sequences] position of the first cell
};

class NativeTrace {
 public:
  NativeTrace(const TraceSource& source, TraceSink& sink, const Progress& progress)
      : source_(source), sink_(sink), progress_(progress), path_(source.path()) {}

  TraceCounts read() {
    file_ = SafetensorsFile::in(source_.file);
    open_cells();
    open_layers();
    batched_ = batches_are_tables();
    sink_.begin(header_);
    for (int64_t at = 0; at < cells_;) {
      progress_.report("reading cells", at, cells_);
      at = find_batch(at);
      hand_on();
    }
    return counts_;
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = kWriteAgain) const {
    bad_input(path_, what, advice);
  }
  [[noreturn]] void wrong_element(const std::string& tensor, int64_t cell, int64_t choice,
                                  const std::string& what) const {
    wrong("element [" + std::to_string(cell) + ", " + std::to_string(choice) + "] of " + tensor + " " + what);
  }

  std::string about(const std::string& key) const {
    const auto found = file_->metadata().find(key);
    return found == file_->metadata().end() ? std::string() : found->second;
  }
  int64_t number_about(const std::string& key, int64_t otherwise, int64_t most) const {
    const std::string text = about(key);
    if (text.empty()) return otherwise;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most)
      wrong("its metadata says " + key + "=" + text.substr(0, 40) + ", 0 to " + std::to_string(most) + " are allowed");
    return value;
  }

  const StoredTensor* tensor(const std::string& name, DType type, const std::vector<int64_t>& shape,
                             bool needed) const {
    const StoredTensor* t = file_->find(name);
    if (!t && needed) wrong("has no " + name);
    if (t && (t->dtype != type || t->shape != shape))
      wrong(name + " is " + std::string(to_text(t->dtype)) + " " + shape_text(t->shape) + ", expected " +
            std::string(to_text(type)) + " " + shape_text(shape));
    return t;
  }

  void open_cells() {
    const StoredTensor* t = file_->find("cell.request");
    if (!t || t->shape.size() != 1) wrong("has no cell.request of one dimension");
    cells_ = t->shape[0];
    if (cells_ == 0) wrong("holds no cells");
    request_ = tensor("cell.request", DType::i32, {cells_}, true);
    position_ = tensor("cell.position", DType::i32, {cells_}, true);
    phase_ = tensor("cell.phase", DType::i32, {cells_}, true);
    stack_ = tensor("cell.stack", DType::i32, {cells_}, false);
    real_ = tensor("cell.real", DType::i32, {cells_}, false);
    batch_ = tensor("cell.batch", DType::i32, {cells_}, false);
    columns_ = tensor("cell.columns", DType::i32, {cells_}, false);
    rank_ = tensor("cell.rank", DType::i32, {cells_}, false);
    step_ = tensor("cell.step", DType::i64, {cells_}, false);
    token_ = tensor("cell.token", DType::i32, {cells_}, false);
    int32_t stacks = 1;
    for (int64_t c = 0; c < cells_; ++c) {
      if (c % 65536 == 0) progress_.report("looking at cells", c, cells_);
      // 50 million cells would stay in memory: 24 MiB of them do at most.
      if (c % (int64_t{1} << 21) == 0) source_.file->drop_pages(0, source_.file->size());
      const auto check = [&](const char* name, int32_t value, int64_t most) {
        if (value < 0 || value > most)
          wrong("element [" + std::to_string(c) + "] of " + name + " is " + std::to_string(value) + ", 0 to " +
                std::to_string(most) + " are allowed");
      };
      check("cell.request", element<int32_t>(request_, c), INT32_MAX);
      check("cell.position", element<int32_t>(position_, c), INT32_MAX - 1);
      check("cell.phase", element<int32_t>(phase_, c), 1);
      check("cell.stack", stack_of(c), kMostStacks - 1);
      check("cell.columns", columns_of(c), INT32_MAX);
      if (token_of(c) < -1 || token_of(c) >= kMostTokenIds)
        wrong("element [" + std::to_string(c) + "] of cell.token is " + std::to_string(token_of(c)) + ", -1 to " +
              std::to_string(kMostTokenIds - 1) + " are allowed");
      if (rank_of(c) < -1)
        wrong("element [" + std::to_string(c) + "] of cell.rank is " + std::to_string(rank_of(c)) +
              ", -1 is the least");
      if (step_of(c) < -1)
        wrong("element [" + std::to_string(c) + "] of cell.step is " + std::to_string(step_of(c)) +
              ", -1 is the least");
      stacks = std::max(stacks, stack_of(c) + 1);
    }
    header_.stacks.clear();
    while (stacks < kMostStacks && !about("stack." + std::to_string(stacks)).empty()) ++stacks;
    for (int32_t s = 0; s < stacks; ++s) {
      const std::string name = about("stack." + std::to_string(s));
      header_.stacks.push_back(!name.empty() ? name : stacks == 1 ? "tokens" : "stack." + std::to_string(s));
    }
    forward_ = about("phase.0") == "forward";
  }
  int32_t stack_of(int64_t c) const { return stack_ ? element<int32_t>(stack_, c) : 0; }
  /// Columns of the grid that holds the cell; 0: it is in a sequence.
  int32_t columns_of(int64_t c) const { return columns_ ? element<int32_t>(columns_, c) : 0; }

  int32_t rank_of(int64_t c) const { return rank_ ? element<int32_t>(rank_, c) : -1; }
  int64_t step_of(int64_t c) const { return step_ ? element<int64_t>(step_, c) : -1; }
  int32_t token_of(int64_t c) const { return token_ ? element<int32_t>(token_, c) : -1; }

  void open_layers() {
    if (token_) header_.pieces = read_token_pieces(*file_, path_, progress_);
    header_.tokens = token_ != nullptr;
    header_.recorder = about("recorder");
    header_.cut = about("cut");
    header_.model = about("model");
    header_.fingerprint = about("fingerprint");
    header_.family = about("family");
    for (const auto& [key, value] : file_->metadata())
      if (!key.starts_with("layer.")) header_.origin[key] = value;
    exits_ = read_exit_tensors(*file_, cells_, path_);
    header_.exits = exits_.figures;
    bool weighted = false, resident = false, sized = false, counted = true;
    for (size_t i = 0; file_->find("layer." + std::to_string(i) + ".indices"); ++i) {
      Layer l;
      l.name = "layer." + std::to_string(i);
      const StoredTensor* t = file_->find(l.name + ".indices");
      if (t->shape.size() != 2 || t->shape[1] < 1 || t->shape[1] > 1024)
        wrong(l.name + ".indices has the shape " + shape_text(t->shape) + ", expected [cells, k]");
      l.k = t->shape[1];
      const std::vector<int64_t> shape = {cells_, l.k};
      l.indices = tensor(l.name + ".indices", DType::i32, shape, true);
      l.weights = tensor(l.name + ".weights", DType::f32, shape, false);
      l.dropped = tensor(l.name + ".dropped", DType::i32, shape, false);
      l.residency = tensor(l.name + ".residency", DType::u8, shape, false);
      l.bytes = tensor(l.name + ".bytes_read", DType::i64, shape, false);
      l.margins = tensor(l.name + ".margins", DType::f32, {cells_}, false);
      open_scores(l);
      counted &= !about(l.name + ".branches").empty() || !about("branches").empty() || source_.model.branches > 0;
      header_.routers.push_back(router_of(l));
      weighted |= l.weights != nullptr;
      resident |= l.residency != nullptr;
      sized |= header_.routers.back().branch_bytes > 0;
      layers_.push_back(std::move(l));
    }
    if (layers_.empty()) wrong("has no layer.0.indices");
    refuse_hole();
    if (number_about("layers", std::ssize(layers_), INT32_MAX) != std::ssize(layers_))
      wrong("its metadata says layers=" + about("layers") + ", tensors are there for " +
            std::to_string(layers_.size()));
    // The tensors of kNativeLacks may hold nothing; the file's metadata says which.
    const std::string told = ' ' + about("lacks") + ' ';
    const auto has = [&](const char* fact) { return told.find(' ' + std::string(fact) + ' ') == std::string::npos; };
    header_.lacks = lacks_without({{"model", !header_.model.empty()},
                                   {"branches", counted},
                                   "k",
                                   "decisions",
                                   {"homes", rank_ && has("homes")},
                                   {"steps", has("steps")},
                                   {"order", has("order")},
                                   {"requests", has("requests")},
                                   {"positions", has("positions")},
                                   {"phases", has("phases")},
                                   {"weights", weighted},
                                   {"residency", resident},
                                   {"branch_bytes", sized}});
  }

  /// Layers are numbered without a gap: behind one, all further layers would be left out.
  void refuse_hole() const {
    for (const StoredTensor& t : file_->tensors())
      if (t.name.starts_with("layer.") && t.name.ends_with(".indices") &&
          std::none_of(layers_.begin(), layers_.end(), [&](const Layer& l) { return l.indices == &t; }))
        wrong("has " + t.name + ", but no layer." + std::to_string(layers_.size()) + ".indices");
  }

  /// Finds the scores that the router compared; at an exit the recorded confidence, if there are no scores.
  void open_scores(Layer& l) {
    l.scores = file_->find(l.name + ".scores");
    if (l.scores) {
      l.columns = l.stride = l.scores->shape.size() == 2 ? l.scores->shape[1] : 0;
      if (l.columns < 1 || l.columns > kMostScores) wrong(l.name + ".scores is not a table of the scores of each cell");
      tensor(l.name + ".scores", DType::f32, {cells_, l.columns}, true);
    } else if (about(l.name + ".protocol") == "exit-threshold" && exit_tests_ < std::ssize(exits_.figures.exits)) {
      l.scores = exits_.confidence;
      l.columns = 1, l.stride = std::ssize(exits_.figures.exits), l.first = exit_tests_++;
    }
  }

  TraceRouter router_of(const Layer& l) const {
    TraceRouter router;
    const std::string name = about(l.name + ".router"), stack = about(l.name + ".stack");
    router.name = name.empty() ? l.name : name;
    router.protocol = about(l.name + ".protocol");
    router.layer = static_cast<int32_t>(number_about(l.name + ".layer", -1, INT32_MAX));
    router.parent = static_cast<int32_t>(number_about(l.name + ".parent", -1, INT32_MAX));
    router.parent_branch = static_cast<int32_t>(number_about(l.name + ".parent_branch", -1, INT32_MAX));
    router.fan_out = static_cast<int32_t>(l.k);
    router.branch_bytes = number_about(l.name + ".branch_bytes", 0, int64_t{1} << 50);
    router.dense_bytes = number_about(l.name + ".dense_bytes", 0, int64_t{1} << 50);
    const auto found = std::find(header_.stacks.begin(), header_.stacks.end(), stack);
    if (!stack.empty() && found == header_.stacks.end())
      wrong("its metadata says " + l.name + ".stack=" + stack.substr(0, 80) + ", which is not a stack of the file");
    router.stack = stack.empty() ? 0 : static_cast<int32_t>(found - header_.stacks.begin());
    int64_t branches = number_about(l.name + ".branches", number_about("branches", 0, kMostBranches), kMostBranches);
    if (branches == 0) {
      int32_t largest = 0;
      for (int64_t i = 0; i < cells_ * l.k; ++i) largest = std::max(largest, element<int32_t>(l.indices, i));
      branches = std::max<int64_t>(int64_t{largest} + 1, source_.model.branches);
      if (branches > kMostBranches) wrong(l.name + ".indices names branch " + std::to_string(largest));
    }
    router.branches = static_cast<int32_t>(branches);
    return router;
  }

  // Batches --------------------------------------------------------------------------------------------------------

  /// The number of cells from `begin` on, at most up to `end`, that make a table: sequences of equal length in
  /// succession. In batches that the file names they may begin at different positions, as sequences that decode
  /// together do.
  Segment table_from(int64_t begin, int64_t end, int64_t most) const {
    const auto request = element<int32_t>(request_, begin), position = element<int32_t>(position_, begin),
               phase = element<int32_t>(phase_, begin);
    const int32_t stack = stack_of(begin), columns = columns_of(begin);
    const auto is = [&](int64_t c, int64_t r, int64_t p) {
      return element<int32_t>(request_, c) == r && element<int32_t>(position_, c) == p &&
             element<int32_t>(phase_, c) == phase && stack_of(c) == stack && columns_of(c) == columns &&
             rank_of(c) == rank_of(begin) && step_of(c) == step_of(begin);
    };
    int64_t per = 1;
    while (begin + per < end && per < most && is(begin + per, request, position + per)) ++per;
    const bool cut = begin + per < end && is(begin + per, request, position + per);
    int64_t sequences = 1;
    std::vector<int32_t> starts = {position};
    while (!cut && begin + (sequences + 1) * per <= end && (sequences + 1) * per <= most) {
      const int64_t row = begin + sequences * per;
      const int32_t start = batch_ ? element<int32_t>(position_, row) : position;
      int64_t fits = 0;
      while (fits < per && is(row + fits, request + sequences, start + fits)) ++fits;
      // A longer sequence belongs to the next table.
      if (fits < per || (row + per < end && is(row + per, request + sequences, start + per))) break;
      starts.push_back(start);
      ++sequences;
    }
    const Phase kind = phase == 1 ? Phase::decode : forward_ ? Phase::forward : Phase::prefill;
    return {begin,
            per * sequences,
            {stack, {request, static_cast<int32_t>(sequences), static_cast<int32_t>(per), position, kind, columns}, {}},
            std::move(starts)};
  }

  int64_t end_of_batch(int64_t begin) const {
    int64_t end = begin + 1;
    while (end < cells_ && element<int32_t>(batch_, end) == element<int32_t>(batch_, begin)) ++end;
    return end;
  }
  int64_t end_of_stack(int64_t begin, int64_t end) const {
    int64_t at = begin + 1;
    while (at < end && stack_of(at) == stack_of(begin)) ++at;
    return at;
  }

  /// True if the batches that the file names are tables of cells, each stack once; otherwise batches are made from the
  /// cells alone.
  bool batches_are_tables() const {
    if (!batch_) return false;
    for (int64_t at = 0; at < cells_;) {
      const int64_t end = end_of_batch(at);
      progress_.report("looking at batches", at, cells_);
      uint64_t seen = 0;
      while (at < end) {
        const int64_t stop = end_of_stack(at, end);
        const uint64_t bit = uint64_t{1} << stack_of(at);
        if ((seen & bit) || table_from(at, stop, INT32_MAX).cells != stop - at) return false;
        seen |= bit;
        at = stop;
      }
    }
    return true;
  }

  /// Fills segments_ with the batch that begins there; returns its end.
  int64_t find_batch(int64_t at) {
    segments_.clear();
    if (!batched_) {
      const bool decode = element<int32_t>(phase_, at) == 1;
      segments_.push_back(
          table_from(at, cells_, decode ? cells_a_batch(std::ssize(layers_) * layers_[0].k) : kMostPrompt));
      return at + segments_[0].cells;
    }
    const int64_t end = end_of_batch(at);
    while (at < end) {
      const int64_t stop = end_of_stack(at, end);
      segments_.push_back(table_from(at, stop, INT32_MAX));
      at = stop;
    }
    return end;
  }

  void hand_on() {
    tables_.clear();
    decisions_.clear();
    mask_.clear();
    tokens_.clear();
    if (token_)
      for (int64_t c = segments_.front().begin; c < segments_.back().begin + segments_.back().cells; ++c)
        tokens_.push_back(token_of(c));
    if (real_)
      for (int64_t c = segments_.front().begin; c < segments_.back().begin + segments_.back().cells; ++c)
        mask_.push_back(element<int32_t>(real_, c) != 0);
    for (const Segment& s : segments_) {
      tables_.push_back(s.table);
      tables_.back().cells.starts = s.starts;
      const auto mask = std::span(mask_).subspan(real_ ? static_cast<size_t>(s.begin - segments_.front().begin) : 0,
                                                 real_ ? static_cast<size_t>(s.cells) : 0);
      if (std::find(mask.begin(), mask.end(), 0) != mask.end()) tables_.back().mask = mask;
      const auto tokens =
          std::span(tokens_).subspan(token_ ? static_cast<size_t>(s.begin - segments_.front().begin) : 0,
                                     token_ ? static_cast<size_t>(s.cells) : 0);
      if (std::find(tokens.begin(), tokens.end(), -1) == tokens.end()) tables_.back().tokens = tokens;
    }
    for (size_t r = 0; r < layers_.size(); ++r) {
      Layer& l = layers_[r];
      l.choice.clear(), l.row.clear(), l.weight.clear(), l.margin.clear(), l.score.clear(), l.resident.clear(),
          l.read.clear();
      int64_t cells = 0;
      for (const Segment& s : segments_) {
        if (s.table.stack == header_.routers[r].stack) cells = s.cells;
        for (int64_t c = s.begin; c < s.begin + s.cells; ++c)
          take_cell(l, header_.routers[r], c, c - s.begin, s.table.stack);
      }
      if (l.row.empty()) continue;
      const bool whole = std::ssize(l.row) == cells;
      decisions_.push_back({.router = static_cast<int32_t>(r),
                            .choice = l.choice,
                            .weight = l.weight,
                            .ancestor = whole ? std::span<const int32_t>() : l.row,
                            .scores = l.score,
                            .margin = l.margin,
                            .residency = l.resident,
                            .bytes_read = l.read,
                            .score_columns = static_cast<int32_t>(l.columns)});
    }
    if (exits_.label) hand_on_labels();
    if (step_) sink_.server_step(step_of(segments_.front().begin));
    if (rank_) sink_.rank(rank_of(segments_.front().begin));
    sink_.batch(tables_, decisions_);
  }

  /// A sequence has the label of its first cell.
  void hand_on_labels() {
    labels_.clear();
    const Segment& s = segments_.front();
    for (int64_t c = s.begin; c < s.begin + s.cells; c += s.table.cells.per_sequence)
      labels_.push_back(element<int32_t>(exits_.label, c));
    sink_.labels(labels_);
  }

  void take_cell(Layer& l, const TraceRouter& router, int64_t cell, int64_t row, int32_t stack) {
    const int64_t begin = cell * l.k;
    if (element<int32_t>(l.indices, begin) == kNotMet) {
      for (int64_t j = 1; j < l.k; ++j)
        if (element<int32_t>(l.indices, begin + j) != kNotMet)
          wrong_element(l.name + ".indices", cell, j, "is a choice of a cell that did not meet the router");
      return;
    }
    if (stack != router.stack)
      wrong_element(l.name + ".indices", cell, 0, "is a choice of a cell that belongs to another stack");
    const size_t first = l.choice.size();
    for (int64_t j = 0; j < l.k; ++j) {
      const int32_t branch = element<int32_t>(l.indices, begin + j);
      if (branch < kNone || branch >= router.branches)
        wrong_element(
            l.name + ".indices", cell, j,
            "is " + std::to_string(branch) + ", -1 to " + std::to_string(router.branches - 1) + " are allowed");
      if (branch >= 0 && std::find(l.choice.begin() + first, l.choice.end(), branch) != l.choice.end())
        wrong_element(l.name + ".indices", cell, j,
                      "is " + std::to_string(branch) + ", which the same cell chose already");
      int32_t choice = branch < 0 ? kNoBranch : branch;
      if (branch < 0 && l.dropped) {
        const int32_t from = element<int32_t>(l.dropped, begin + j);
        if (from < kNone || from >= router.branches)
          wrong_element(l.name + ".dropped", cell, j, "is " + std::to_string(from) + ", which is not a branch");
        if (from >= 0) choice = dropped_from(from);
      }
      l.choice.push_back(choice);
      (choice == kNoBranch ? counts_.rows_masked : counts_.rows_read) += 1;
      if (l.weights) {
        const auto weight = element<float>(l.weights, begin + j);
        if (branch >= 0 && !std::isfinite(weight))
          wrong_element(l.name + ".weights", cell, j, "is not a finite number");
        l.weight.push_back(weight);
      }
      if (l.residency) {
        l.resident.push_back(element<uint8_t>(l.residency, begin + j));
        if (l.resident.back() > 2)
          wrong_element(l.name + ".residency", cell, j,
                        "is " + std::to_string(l.resident.back()) + ", 0 to 2 are allowed");
      }
      if (l.bytes) {
        l.read.push_back(element<int64_t>(l.bytes, begin + j));
        if (l.read.back() < 0) wrong_element(l.name + ".bytes_read", cell, j, "is negative");
      }
    }
    if (l.margins) {
      l.margin.push_back(element<float>(l.margins, cell));
      if (std::isnan(l.margin.back())) wrong_element(l.name + ".margins", cell, 0, "is not a number");
    }
    for (int64_t i = 0; i < l.columns; ++i) l.score.push_back(element<float>(l.scores, cell * l.stride + l.first + i));
    l.row.push_back(static_cast<int32_t>(row));
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  const std::string path_;
  std::shared_ptr<const SafetensorsFile> file_;
  const StoredTensor *request_ = nullptr, *position_ = nullptr, *phase_ = nullptr, *stack_ = nullptr, *real_ = nullptr,
                     *columns_ = nullptr, *batch_ = nullptr, *rank_ = nullptr, *step_ = nullptr, *token_ = nullptr;
  int64_t cells_ = 0;
  bool forward_ = false, batched_ = false;
  TraceHeader header_;
  std::vector<Layer> layers_;
  std::vector<Segment> segments_;
  ExitTensors exits_;
  int64_t exit_tests_ = 0;  // routers so far whose scores are the confidences of exits
  std::vector<int32_t> mask_, tokens_, labels_;
  std::vector<TraceCells> tables_;
  std::vector<DecisionRecord> decisions_;
  TraceCounts counts_;
};

}  // namespace

TraceCounts read_native_trace(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return NativeTrace(source, sink, progress).read();
}

}  // namespace stormcell
