// Reads a recording of SGLang's expert distribution recorder, a file of torch.save(). Modes stat and stat_approx:
// `logical_count` i32 [steps, layers, experts] of all ranks together, rows of a ring buffer. Modes per_pass and
// per_token: one file a rank, `records` with a dictionary for each forward pass, in which experts are physical slots,
// and `last_physical_to_logical_map` [layers, slots]. A rank without requests runs idle passes beside the others
// (attention data-parallel): a pass without tokens counts nothing and is not a step.
#include <algorithm>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/safetensors.h"
#include "core/formats/sha256.h"
#include "core/formats/torch_file.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

constexpr const char* kDump = "dump it again: /dump_expert_distribution_record";
constexpr int64_t kExtend = 1, kDecode = 2;  // of SGLang's ForwardMode

/// The whole number stored under `key`, or `otherwise`.
int64_t whole_of(const PickleValue& dict, std::string_view key, int64_t otherwise) {
  const PickleValue* value = dict.find(key);
  return value && value->is(PickleValue::Kind::whole) ? value->whole : otherwise;
}

/// One forward pass of one rank.
struct Record {
  int64_t pass = 0;
  const PickleValue* dict = nullptr;
};

class SglangDump {
 public:
  SglangDump(const TraceSource& source, TraceSink& sink, const Progress& progress)
      : source_(source), sink_(sink), progress_(progress), file_(source.file) {}

  TraceCounts read() {
    const PickleValue& root = file_.root();
    if (const PickleValue* counts = root.find("logical_count"))
      read_stat(file_.tensor(counts, "logical_count"));
    else if (root.find("records"))
      read_records();
    else
      wrong("has neither logical_count nor records");
    return counts_;
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = kDump) const {
    bad_input(source_.path(), what, advice);
  }

  /// The header as far as all modes share it.
  TraceHeader new_header(const char* mode) const {
    TraceHeader header;
    header.model = source_.model.name;
    header.family = source_.model.family;
    header.origin["format"] = std::string("SGLang expert distribution recorder, ") + mode;
    header.model_layers = static_cast<int32_t>(layers_);
    return header;
  }
  void check_size(const TorchTensor& tensor, size_t dims, const std::string& name, const char* expected) const {
    if (tensor.shape.size() != dims || tensor.elements() == 0)
      wrong(name + " has the shape " + shape_text(tensor.shape) + ", expected " + expected);
  }
  void check_layers(int64_t layers, int64_t branches) const {
    if (layers > kMostTracedLayers || branches > kMostTracedBranches)
      wrong("has " + counted(layers, "layer") + " of " + counted(branches, "expert") + "; at most " +
            std::to_string(kMostTracedLayers) + " and " + std::to_string(kMostTracedBranches));
    if (const int32_t known = source_.model.branches;
        known > 0 && branches != known && branches != known + source_.model.shared)
      wrong("has " + counted(branches, "expert") + ", " + source_.model.source + " says " +
                std::to_string(source_.model.branches),
            "check that both are of one model");
  }

  // --- stat, stat_approx
  void read_stat(TorchTensor counts) {
    if (counts.shape.size() == 2)
      counts.shape.insert(counts.shape.begin(), 1), counts.strides.insert(counts.strides.begin(), 0);
    check_size(counts, 3, "logical_count", "[steps, layers, experts]");
    const int64_t steps = counts.shape[0];
    layers_ = counts.shape[1], branches_ = counts.shape[2];
    check_layers(layers_, branches_);
    std::vector<uint8_t> used(layers_), filled(steps);
    const int64_t row = layers_ * branches_;
    for (int64_t s = 0; s < steps; ++s) {
      progress_.report("looking at steps", s, steps);
      for (int64_t i = 0; i < row; ++i) {
        const int64_t v = counts.whole(s * row + i);
        if (v < 0)
          wrong("step " + std::to_string(s) + ", layer " + std::to_string(i / branches_) + ": a count is " +
                std::to_string(v));
        if (v > 0) used[i / branches_] = filled[s] = 1;
      }
    }
    if (std::find(used.begin(), used.end(), 1) == used.end()) {
      counts_.nothing = kNothingChosen;
      return;
    }
    router_of_ = routers_of_layers(source_, used);
    begin_counts("stat", std::count(filled.begin(), filled.end(), 1), in_order(filled));
    std::vector<int64_t> loads(branches_);
    for (int64_t s = 0, step = 0; s < steps; ++s) {
      progress_.report("reading steps", s, steps);
      if (!filled[s]) {
        counts_.rows_masked += row;
        continue;
      }
      for (int64_t l = 0; l < layers_; ++l) {
        for (int64_t b = 0; b < branches_; ++b) loads[b] = counts.whole(s * row + l * branches_ + b);
        hand_on(step, l, loads);
      }
      ++step;
    }
  }

  /// The buffer is a ring: its rows are in the order of time only until it is full. Unfilled rows are zero.
  static bool in_order(const std::vector<uint8_t>& filled) {
    return filled.size() == 1 || (!filled.back() && std::is_sorted(filled.rbegin(), filled.rend()));
  }

  void begin_counts(const char* mode, int64_t steps, bool ordered) {
    TraceHeader header = new_header(mode);
    header.counts = true;
    header.rank = rank_;
    header.routers = routers_by_layer(router_of_, branches_, std::clamp<int64_t>(source_.model.k, 1, branches_));
    header.lacks = lacks_without({{"model", !header.model.empty()},
                                  "branches",
                                  {"k", source_.model.k > 0},
                                  {"steps", steps != 1},
                                  {"order", ordered}});
    if (!map_name_.empty()) header.origin["physical_to_logical_map"] = map_name_;
    header.recorded_slots = slots_of_routers();
    sink_.begin(header);
  }
  void hand_on(int64_t step, int64_t layer, std::span<const int64_t> loads) {
    const int32_t router = router_of_[layer];
    (router < 0 ? counts_.rows_skipped : counts_.rows_read) += std::ssize(loads);
    if (router >= 0) sink_.loads(step, router, loads);
  }

  // --- per_pass, per_token
  void read_records() {
    find_records();
    if (records_.empty()) {
      counts_.nothing = "holds no record of a pass";
      return;
    }
    read_map();
    const bool tokens = records_[0].dict->find("topk_ids_of_layer") != nullptr;
    const auto all = std::ssize(records_);
    std::erase_if(records_, [&](const Record& r) { return tokens ? is_idle(r) : counts_nothing(r); });
    if (const int64_t idle = all - std::ssize(records_); records_.empty())
      counts_.nothing =
          "rank " + std::to_string(rank_) + " was idle: none of its " + counted(all, "pass") + " has a token",
      counts_.rank_of_nothing = rank_;
    else if (idle > 0)
      counts_.warnings.push_back(source_.path() + ": " + with_commas(idle) + " of " + counted(all, "pass") +
                                 (idle == 1 ? " has no token, and counts" : " have no token, and count") +
                                 " nothing: rank " + std::to_string(rank_) + " was idle");
    if (!records_.empty()) tokens ? read_tokens() : read_passes();
  }

  /// The tensor has no element, whatever the rest of its shape is.
  bool is_idle(const Record& record) const {
    return file_
               .tensor(record.dict->find("topk_ids_of_layer"),
                       "topk_ids_of_layer of pass " + std::to_string(record.pass))
               .elements() == 0;
  }
  bool counts_nothing(const Record& record) {
    const TorchTensor counts = file_.tensor(record.dict->find("global_physical_count"),
                                            "global_physical_count of pass " + std::to_string(record.pass));
    spend(counts.elements());
    for (int64_t i = 0; i < counts.elements(); ++i)
      if (counts.whole(i) != 0) return false;
    return true;
  }

  void find_records() {
    const auto list = file_.root().find("records")->items();
    for (const PickleValue& dict : list) {
      const Record record{whole_of(dict, "forward_pass_id", -1), &dict};
      const std::string where = "record " + std::to_string(records_.size());
      if (record.pass < 0) wrong(where + " has no forward_pass_id");
      const int64_t rank = whole_of(dict, "rank", -1);
      if (rank < 0 || rank > INT32_MAX) wrong(where + " has no rank");
      if (rank_ >= 0 && rank != rank_)
        wrong(where + " is of rank " + std::to_string(rank) + ", the first one of rank " + std::to_string(rank_));
      rank_ = static_cast<int32_t>(rank);
      records_.push_back(record);
    }
    std::stable_sort(records_.begin(), records_.end(),
                     [](const Record& a, const Record& b) { return a.pass < b.pass; });
  }

  void read_map() {
    const TorchTensor map =
        file_.tensor(file_.root().find("last_physical_to_logical_map"), "last_physical_to_logical_map");
    check_size(map, 2, "last_physical_to_logical_map", "[layers, slots]");
    layers_ = map.shape[0], slots_ = map.shape[1];
    int64_t largest = -1;
    Sha256 hash;
    for (int64_t i = 0; i < layers_ * slots_; ++i) {
      const int64_t v = map.whole(i);
      if (v < 0 || v >= kMostTracedBranches) wrong("last_physical_to_logical_map names expert " + std::to_string(v));
      logical_.push_back(static_cast<int32_t>(v));
      largest = std::max(largest, v);
      hash.update(std::to_string(v) + ",");
    }
    branches_ = source_.model.branches > 0 ? source_.model.branches : largest + 1;
    if (largest >= branches_)
      wrong("last_physical_to_logical_map names expert " + std::to_string(largest) + ", " + source_.model.source +
                " has " + std::to_string(branches_),
            "check that both are of one model");
    check_layers(layers_, branches_);
    map_name_ = hash.hex().substr(0, 16);
    // Their ids are not slots of the map: with spare slots, the two could not be distinguished.
    shared_ = slots_ == branches_ ? source_.model.shared : 0;
    slot_load_.resize(logical_.size());
  }
  /// Loads of the slots, counted while the records were read.
  RecordedSlots slots_of_routers() const {
    RecordedSlots slots;
    for (int64_t l = 0; l < layers_ && !slot_load_.empty(); ++l) {
      if (router_of_[l] < 0) continue;
      const auto begin = l * slots_, end = begin + slots_;
      slots.layers.push_back(
          {{logical_.begin() + begin, logical_.begin() + end}, {slot_load_.begin() + begin, slot_load_.begin() + end}});
    }
    return slots;
  }
  /// Ids behind the slots are fused shared experts.
  int32_t logical(int64_t layer, int64_t slot) const {
    return slot < slots_ ? logical_[layer * slots_ + slot] : static_cast<int32_t>(branches_ + slot - slots_);
  }

  /// A tensor of a record. A file whose records name the same numbers again and again is refused.
  TorchTensor tensor_of(const Record& record, const char* key, size_t dims, const char* expected) {
    const std::string name = std::string(key) + " of pass " + std::to_string(record.pass);
    const TorchTensor tensor = file_.tensor(record.dict->find(key), name);
    check_size(tensor, dims, name, expected);
    if (tensor.shape[0] != layers_)
      wrong(name + " has " + counted(tensor.shape[0], "layer") + ", the map " + std::to_string(layers_));
    return tensor;
  }
  void spend(int64_t elements) {
    spent_ += elements;
    if (spent_ > 3 * std::ssize(*source_.file)) wrong("its records name more numbers than the file holds");
  }

  /// The slots of a pass, [layers][slots], and as experts are counted, [layers][experts].
  void count_pass(const Record& record, std::vector<int64_t>& loads, std::vector<int64_t>& slot_load) {
    const TorchTensor counts = tensor_of(record, "global_physical_count", 2, "[layers, slots]");
    if (counts.shape[1] != slots_)
      wrong("pass " + std::to_string(record.pass) + " counts " + counted(counts.shape[1], "slot") + ", the map has " +
                std::to_string(slots_) + ": experts were moved while it was recorded",
            "record without --enable-eplb, or between two re-balances");
    spend(counts.elements());
    for (int64_t i = 0; i < layers_ * slots_; ++i) {
      const int64_t v = counts.whole(i);
      if (v < 0) wrong("pass " + std::to_string(record.pass) + ": a count is " + std::to_string(v));
      loads[i / slots_ * branches_ + logical(i / slots_, i % slots_)] += v;
      slot_load[i] += v;
    }
  }

  void read_passes() {
    const size_t row = layers_ * branches_;
    std::vector<int64_t> loads(row);
    const auto all = std::ssize(records_);
    for (size_t r = 0; r < records_.size(); ++r) {
      progress_.report("looking at passes", static_cast<int64_t>(r), all);
      count_pass(records_[r], loads, slot_load_);
    }
    std::vector<uint8_t> used(layers_);
    for (size_t i = 0; i < row; ++i) used[i / branches_] |= loads[i] > 0;
    router_of_ = routers_of_layers(source_, used);
    int64_t passes = 0, last = -1;
    for (const Record& r : records_) passes += r.pass != last, last = r.pass;
    begin_counts("per_pass", passes, true);
    spent_ = 0;
    std::vector<int64_t> slot_load(slot_load_.size());
    int64_t step = 0;
    for (size_t r = 0; r < records_.size(); ++step) {
      progress_.report("reading passes", static_cast<int64_t>(r), all);
      const int64_t pass = records_[r].pass;
      std::fill(loads.begin(), loads.end(), 0);
      for (; r < records_.size() && records_[r].pass == pass; ++r)
        count_pass(records_[r], loads, slot_load);  // halves of an overlapped batch
      sink_.server_step(pass);
      for (int64_t l = 0; l < layers_; ++l) hand_on(step, l, std::span(loads).subspan(l * branches_, branches_));
    }
  }

  void read_tokens() {
    std::vector<uint8_t> used(layers_);
    bool positions = true, phases = true;
    const auto all = std::ssize(records_);
    for (size_t r = 0; r < records_.size(); ++r) {
      progress_.report("looking at passes", static_cast<int64_t>(r), all);
      look_at_tokens(records_[r], used);
      positions &= records_[r].dict->find("positions") != nullptr;
      const int64_t mode = whole_of(*records_[r].dict, "forward_mode", 0);
      phases &= mode == kExtend || mode == kDecode;
    }
    if (std::find(used.begin(), used.end(), 1) == used.end()) {
      counts_.nothing = "rank " + std::to_string(rank_) + " was idle: no token of its passes chose an expert";
      counts_.rank_of_nothing = rank_;
      return;
    }
    router_of_ = routers_of_layers(source_, used);
    TraceHeader header = new_header("per_token");
    header.rank = rank_;
    header.routers = routers_by_layer(router_of_, branches_ + (fused_ ? shared_ : 0), k_);
    header.origin["physical_to_logical_map"] = map_name_;
    header.recorded_slots = slots_of_routers();
    header.lacks = lacks_without({{"model", !header.model.empty()},
                                  "branches",
                                  "k",
                                  "decisions",
                                  "homes",
                                  "steps",
                                  "order",
                                  {"positions", positions},
                                  {"phases", phases}});
    sink_.begin(header);
    for (size_t r = 0; r < records_.size(); ++r) {
      progress_.report("reading passes", static_cast<int64_t>(r), all);
      hand_on_tokens(records_[r]);
    }
  }

  TorchTensor ids_of(const Record& record) {
    const TorchTensor ids = tensor_of(record, "topk_ids_of_layer", 3, "[layers, tokens, k]");
    if (ids.shape[1] > INT32_MAX || ids.shape[2] > kMostTracedChoices)
      wrong("pass " + std::to_string(record.pass) + " has too many tokens");
    return ids;
  }

  void look_at_tokens(const Record& record, std::vector<uint8_t>& used) {
    const TorchTensor ids = ids_of(record);
    spend(ids.elements());
    const int64_t tokens = ids.shape[1], width = ids.shape[2];
    for (int64_t l = 0; l < layers_; ++l)
      for (int64_t t = 0; t < tokens; ++t) {
        int64_t k = 0;
        for (int64_t j = 0; j < width; ++j) {
          const int64_t v = ids.whole((l * tokens + t) * width + j);
          if (v < -1 || v >= slots_ + shared_)
            wrong(
                "pass " + std::to_string(record.pass) + ", layer " + std::to_string(l) + ", token " +
                    std::to_string(t) + " went to slot " + std::to_string(v) + ", the map has " +
                    std::to_string(slots_),
                v < slots_
                    ? kDump
                    : "--shared-experts N where the server fused them, or record with --disable-shared-experts-fusion");
          if (v < 0) continue;
          ++k;
          if (v < slots_)
            ++slot_load_[l * slots_ + v];
          else
            fused_ = true;
        }
        if (k > 0) used[l] = 1;
        k_ = std::max(k_, k);
      }
    if (source_.model.k > 0 && k_ > source_.model.k + (fused_ ? shared_ : 0))
      wrong("pass " + std::to_string(record.pass) + ": a token went to " + counted(k_, "expert") + ", " +
                source_.model.source + " says " + std::to_string(source_.model.k),
            "check that both are of one model");
  }

  /// [tokens] from a list of the record; empty: it is not there.
  std::vector<int32_t> positions_of(const Record& record, int64_t tokens) const {
    const PickleValue* list = record.dict->find("positions");
    std::vector<int32_t> positions;
    if (!list) return positions;
    if (!list->is(PickleValue::Kind::list)) wrong("positions of pass " + std::to_string(record.pass) + " are not list");
    for (const PickleValue& v : list->items()) {
      if (!v.is(PickleValue::Kind::whole) || v.whole < 0 || v.whole >= INT32_MAX / 2)
        wrong("a position of pass " + std::to_string(record.pass) + " is out of range");
      positions.push_back(static_cast<int32_t>(v.whole));
    }
    if (std::ssize(positions) < tokens)
      wrong("pass " + std::to_string(record.pass) + " has " + counted(tokens, "token") + " and " +
            std::to_string(positions.size()) + " positions");
    positions.resize(tokens);
    return positions;
  }

  // The recording has no requests, so each token is a sequence of its own.
  void hand_on_tokens(const Record& record) {
    const TorchTensor ids = ids_of(record);
    const int64_t tokens = ids.shape[1], width = ids.shape[2];
    const std::vector<int32_t> positions = positions_of(record, tokens);
    const int64_t mode = whole_of(*record.dict, "forward_mode", 0);
    TraceCells cells;
    cells.cells.first_sequence = cells_;
    cells.cells.sequences = static_cast<int32_t>(tokens), cells.cells.per_sequence = 1;
    cells.cells.phase = mode == kExtend ? Phase::prefill : mode == kDecode ? Phase::decode : Phase::forward;
    cells.cells.starts = positions;
    if (!positions.empty()) cells.cells.step = *std::min_element(positions.begin(), positions.end());
    std::vector<int32_t> real(tokens);
    std::vector<std::vector<int32_t>> choice(layers_);
    std::vector<DecisionRecord> decisions;
    for (int64_t l = 0; l < layers_; ++l) {
      const int32_t router = router_of_[l];
      if (router < 0) {
        counts_.rows_skipped += tokens * k_;
        continue;
      }
      std::vector<int32_t>& chosen = choice[l];
      chosen.assign(tokens * k_, kNoBranch);
      for (int64_t t = 0; t < tokens; ++t) {
        const int64_t taken = take_choices(record, ids, l, t, width, std::span(chosen).subspan(t * k_, k_));
        counts_.rows_read += taken, counts_.rows_masked += k_ - taken;
        real[t] |= taken > 0;
      }
      decisions.push_back({.router = router, .choice = chosen});
    }
    if (std::find(real.begin(), real.end(), 0) != real.end()) cells.mask = real;
    cells_ += tokens;
    sink_.server_step(record.pass);
    sink_.batch({&cells, 1}, decisions);
  }

  /// Experts of a token, from its slots. Twice the same one means that the slots held others when they were chosen.
  int64_t take_choices(const Record& record, const TorchTensor& ids, int64_t layer, int64_t token, int64_t width,
                       std::span<int32_t> to) const {
    int64_t taken = 0;
    for (int64_t j = 0; j < width; ++j) {
      const int64_t slot = ids.whole((layer * ids.shape[1] + token) * width + j);
      if (slot < 0) continue;
      const int32_t expert = logical(layer, slot);
      const auto until = to.begin() + taken;
      if (std::find(to.begin(), until, expert) != until)
        wrong("pass " + std::to_string(record.pass) + ", layer " + std::to_string(layer) + ": a token went to expert " +
                  std::to_string(expert) + " twice, so experts were moved while it was recorded",
              "record without --enable-eplb, or between two re-balances");
      to[taken++] = expert;
    }
    return taken;
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  const TorchFile file_;
  int64_t layers_ = 0, branches_ = 0, slots_ = 0, k_ = 1;
  int64_t cells_ = 0, spent_ = 0;
  int32_t rank_ = -1, shared_ = 0;  // experts behind the slots, which a token may have gone to
  bool fused_ = false;              // one did
  std::vector<Record> records_;
  std::vector<int32_t> logical_;    // [layers, slots]
  std::vector<int64_t> slot_load_;  // [layers, slots] over all records; empty of modes that count experts
  std::string map_name_;            // a short hash of it, by which maps of ranks are compared
  std::vector<int32_t> router_of_;
  TraceCounts counts_;
};

}  // namespace

TraceCounts read_sglang_dump(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return SglangDump(source, sink, progress).read();
}

}  // namespace stormcell
