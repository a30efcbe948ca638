#include "core/difference/native_rows.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/base/error.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {

constexpr int32_t kIsNone = -1, kHasNotMet = -2;
constexpr int64_t kCells = 512;                    // of a batch
constexpr int64_t kDropAfter = int64_t{16} << 20;  // bytes

class NativeRows {
 public:
  NativeRows(const std::shared_ptr<const MappedFile>& mapped, const TraceHeader& header)
      : mapped_(mapped), file_(SafetensorsFile::in(mapped)), header_(header) {
    request_ = find("cell.request"), position_ = find("cell.position"), phase_ = find("cell.phase");
    stack_ = find("cell.stack"), real_ = find("cell.real"), token_ = find("cell.token");
    if (!request_ || !position_ || !phase_)
      bad_input(mapped->path(), "was written to while it was read", "compare it again when it is complete");
    cells_ = request_->elements();
    for (int32_t r = 0; r < std::ssize(header.routers); ++r) {
      const std::string name = "layer." + std::to_string(r);
      routers_.push_back({find(name + ".indices"), find(name + ".dropped"), find(name + ".weights"),
                          find(name + ".margins"), find(name + ".scores")});
      if (!routers_.back().indices || routers_.back().indices->elements() < cells_ * header.routers[r].fan_out)
        bad_input(mapped->path(), "was written to while it was read", "compare it again when it is complete");
    }
  }

  void read(TraceSink& sink, const Progress& progress) {
    for (int64_t at = 0; at < cells_;) {
      progress.report("reading " + mapped_->path(), at, cells_);
      const int32_t stack = stack_ ? whole(stack_, at) : 0, phase = whole(phase_, at);
      int64_t end = at + 1;
      while (end < cells_ && end - at < kCells && (stack_ ? whole(stack_, end) : 0) == stack &&
             whole(phase_, end) == phase)
        ++end;
      hand_on(at, end, stack, phase == 1 ? Phase::decode : Phase::prefill, sink);
      at = end;
      if (passed_ < kDropAfter) continue;
      mapped_->drop_pages(0, mapped_->size());
      passed_ = 0;
    }
  }

 private:
  struct Tensors {
    const StoredTensor *indices, *dropped, *weights, *margins, *scores;
  };
  /// A router's numbers of the cells at hand.
  struct Numbers {
    std::vector<int32_t> choice, row;
    std::vector<float> weight, margin, score;
  };

  const StoredTensor* find(const std::string& name) const { return file_->find(name); }
  static int32_t whole(const StoredTensor* t, int64_t i) {
    int32_t v;
    std::memcpy(&v, t->bytes.data() + i * static_cast<int64_t>(sizeof v), sizeof v);
    return v;
  }
  /// Appends `count` numbers from `first` on.
  static void append(const StoredTensor* t, int64_t first, int64_t count, std::vector<float>& out) {
    if (!t) return;
    out.resize(out.size() + static_cast<size_t>(count));
    std::memcpy(out.data() + (std::ssize(out) - count), t->bytes.data() + first * static_cast<int64_t>(sizeof(float)),
                static_cast<size_t>(count) * sizeof(float));
  }

  void hand_on(int64_t begin, int64_t end, int32_t stack, Phase phase, TraceSink& sink) {
    items_.clear(), starts_.clear(), mask_.clear(), tokens_.clear();
    for (int64_t c = begin; c < end; ++c) {
      items_.push_back(whole(request_, c)), starts_.push_back(whole(position_, c));
      if (real_) mask_.push_back(whole(real_, c) != 0);
      if (token_) tokens_.push_back(whole(token_, c));
    }
    const auto n = static_cast<int32_t>(end - begin);
    const TraceCells table{stack, {items_[0], n, 1, starts_[0], phase, 0, items_, starts_}, mask_, tokens_};
    numbers_.resize(routers_.size());
    decisions_.clear();
    for (int32_t r = 0; r < std::ssize(routers_); ++r)
      if (header_.routers[r].stack == stack) add_decision(r, begin, end);
    sink.batch({&table, 1}, decisions_);
  }

  void add_decision(int32_t r, int64_t begin, int64_t end) {
    const TraceRouter& router = header_.routers[r];
    const Tensors& t = routers_[r];
    Numbers& out = numbers_[r];
    out.choice.clear(), out.row.clear(), out.weight.clear(), out.margin.clear(), out.score.clear();
    const int64_t k = router.fan_out, columns = t.scores ? t.scores->elements() / cells_ : 0;
    for (int64_t c = begin; c < end; ++c) {
      if (whole(t.indices, c * k) == kHasNotMet) continue;
      for (int64_t i = c * k; i < (c + 1) * k; ++i) out.choice.push_back(choice_of(t, i, router.branches));
      append(t.weights, c * k, k, out.weight), append(t.margins, c, 1, out.margin);
      append(t.scores, c * columns, columns, out.score);
      out.row.push_back(static_cast<int32_t>(c - begin));
    }
    passed_ += (end - begin) * (k + columns) * static_cast<int64_t>(sizeof(int32_t));
    if (out.row.empty()) return;
    decisions_.push_back({.router = r,
                          .choice = out.choice,
                          .weight = out.weight,
                          .ancestor = out.row,
                          .scores = out.score,
                          .margin = out.margin,
                          .score_columns = static_cast<int32_t>(columns)});
  }

  int32_t choice_of(const Tensors& t, int64_t i, int32_t branches) const {
    const int32_t branch = whole(t.indices, i);
    if (branch >= 0) return branch < branches ? branch : kNoBranch;
    const int32_t from = t.dropped ? whole(t.dropped, i) : kIsNone;
    return from >= 0 && from < branches ? dropped_from(from) : kNoBranch;
  }

  const std::shared_ptr<const MappedFile> mapped_;
  const std::shared_ptr<const SafetensorsFile> file_;
  const TraceHeader& header_;
  const StoredTensor *request_, *position_, *phase_, *stack_, *real_, *token_;
  int64_t cells_ = 0, passed_ = 0;
  std::vector<Tensors> routers_;
  std::vector<int64_t> items_;
  std::vector<int32_t> starts_, mask_, tokens_;
  std::vector<Numbers> numbers_;
  std::vector<DecisionRecord> decisions_;
};

}  // namespace

bool has_plain_rows(const std::shared_ptr<const MappedFile>& file) {
  const auto tensors = SafetensorsFile::in(file);
  return std::none_of(tensors->tensors().begin(), tensors->tensors().end(),
                      [](const StoredTensor& t) { return t.name.starts_with("exit."); });
}

void read_native_rows(const std::shared_ptr<const MappedFile>& file, const TraceHeader& header, TraceSink& sink,
                      const Progress& progress) {
  NativeRows rows(file, header);
  sink.begin(header);
  rows.read(sink, progress);
}

}  // namespace stormcell
