// SGLang's `logical_count` as JSON: how often each expert was chosen, [layers][experts] of all steps together or
// [steps][layers][experts]. Nobody's single choices are there. All layers of the model are, those without experts as
// rows of zeros.
#include <algorithm>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/trace_marks.h"
#include "core/traces/json_cursor.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

constexpr int64_t kMostCount = int64_t{1} << 40;  // sums of all that a file can hold stay below 2^63
constexpr const char* kDump = "dump logical_count[...].tolist() again";

class LogicalCount {
 public:
  LogicalCount(const TraceSource& source, TraceSink& sink, const Progress& progress)
      : source_(source), sink_(sink), progress_(progress), cursor_(source.text(), source.path()) {}

  TraceCounts read() {
    find_counts();
    cursor_.start(begin_, line_);
    read_steps([](int64_t, int64_t, std::span<const int64_t>) {});  // looks at all of it first
    if (std::find(used_.begin(), used_.end(), 1) == used_.end()) {
      counts_.nothing = kNothingChosen;
      return counts_;
    }
    router_of_ = routers_of_layers(source_, used_);
    begin();
    cursor_.start(begin_, line_);
    read_steps([&](int64_t step, int64_t layer, std::span<const int64_t> counts) { hand_on(step, layer, counts); });
    return counts_;
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = kDump) const {
    bad_input(source_.path(), what, advice);
  }

  // Other keys are another program's: they are passed over.
  void find_counts() {
    cursor_.expect('{', "an object with logical_count");
    bool found = false;
    if (!cursor_.take('}')) {
      do {
        if (cursor_.peek() != '"') cursor_.wrong("a key of the object is missing", kDump);
        const bool is_counts = cursor_.string() == kLogicalCount;
        cursor_.expect(':', "after a key");
        cursor_.peek();
        if (is_counts && found) cursor_.wrong("logical_count occurs twice", kDump);
        if (is_counts) begin_ = cursor_.at(), line_ = cursor_.line(), found = true;
        cursor_.skip_value();
      } while (cursor_.take(','));
      cursor_.expect('}', "the end of the object");
    }
    if (!found) wrong("has no logical_count");
    if (!cursor_.at_end()) cursor_.wrong("has more text after the object", kDump);
  }

  // [layers][experts] is one step.
  template <class Row>
  void read_steps(Row&& row) {
    const JsonCursor start = cursor_;
    cursor_.expect('[', "logical_count");
    cursor_.expect('[', "logical_count");
    const bool stepped = cursor_.peek() == '[';
    cursor_.start(start.at(), start.line());
    steps_ = 0;
    if (!stepped) {
      read_layers(0, row);
      steps_ = 1;
      return;
    }
    cursor_.expect('[', "logical_count");
    do {
      progress_.report("reading steps", steps_, 0);
      read_layers(steps_++, row);
    } while (cursor_.take(','));
    cursor_.expect(']', "the end of the steps");
  }

  static std::string place(int64_t step, int64_t layer) {
    return "step " + std::to_string(step) + ", layer " + std::to_string(layer);
  }

  template <class Row>
  void read_layers(int64_t step, Row& row) {
    cursor_.expect('[', "step " + std::to_string(step));
    int64_t layer = 0;
    do {
      if (layer >= (layers_ > 0 ? layers_ : kMostTracedLayers))
        cursor_.wrong(place(step, layer) + ": more than the " +
                          counted(layers_ > 0 ? layers_ : kMostTracedLayers, "layer") +
                          (layers_ > 0 ? " of step 0" : " that a model may have"),
                      kDump);
      read_row(step, layer);
      if (layers_ == 0) used_.push_back(0);
      const bool any = std::any_of(row_.begin(), row_.end(), [](int64_t n) { return n > 0; });
      used_[layer] |= any;
      row(step, layer++, row_);
    } while (cursor_.take(','));
    cursor_.expect(']', "the end of step " + std::to_string(step));
    if (layers_ > 0 && layer != layers_)
      cursor_.wrong("step " + std::to_string(step) + " has " + counted(layer, "layer") + ", step 0 has " +
                        std::to_string(layers_),
                    kDump);
    layers_ = layer;
  }

  void read_row(int64_t step, int64_t layer) {
    row_.clear();
    cursor_.expect('[', place(step, layer));
    const int64_t most = branches_ > 0 ? branches_ : kMostTracedBranches;
    do {
      cursor_.plain_numbers(kMostCount, static_cast<size_t>(most), row_);
      if (std::ssize(row_) >= most)
        cursor_.wrong(place(step, layer) + " has more experts than " +
                          (branches_ > 0 ? "the first row, " + std::to_string(branches_) : "a layer may have"),
                      kDump);
      row_.push_back(cursor_.whole_number("a count", kMostCount));
    } while (cursor_.take(','));
    cursor_.expect(']', "the end of " + place(step, layer));
    if (branches_ > 0 && std::ssize(row_) != branches_)
      cursor_.wrong(place(step, layer) + " has " + counted(std::ssize(row_), "expert") + ", the first row has " +
                        std::to_string(branches_),
                    kDump);
    branches_ = std::ssize(row_);
  }

  void begin() {
    TraceHeader header;
    const TracedModel& model = source_.model;
    header.model = model.name;
    header.family = model.family;
    header.origin["format"] = "SGLang logical_count";
    header.counts = true;
    header.model_layers = static_cast<int32_t>(layers_);
    header.routers = routers_by_layer(router_of_, branches_, std::clamp<int64_t>(model.k, 1, branches_));
    header.lacks = lacks_without(
        {{"model", !model.name.empty()}, "branches", {"k", model.k > 0}, {"steps", steps_ != 1}, "order"});
    sink_.begin(header);
  }

  void hand_on(int64_t step, int64_t layer, std::span<const int64_t> counts) {
    const int32_t router = router_of_[layer];
    if (router < 0) {
      counts_.rows_skipped += std::ssize(counts);
      return;
    }
    counts_.rows_read += std::ssize(counts);
    sink_.loads(step, router, counts);
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  JsonCursor cursor_;
  size_t begin_ = 0;
  int64_t line_ = 1;
  int64_t steps_ = 0, layers_ = 0, branches_ = 0;
  std::vector<int64_t> row_;
  std::vector<uint8_t> used_;       // by layer: it has a count above 0
  std::vector<int32_t> router_of_;  // by layer, -1: without experts
  TraceCounts counts_;
};

}  // namespace

TraceCounts read_logical_count_json(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return LogicalCount(source, sink, progress).read();
}

}  // namespace stormcell
