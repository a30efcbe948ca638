#include "core/patterns/cell_stream.h"

#include <algorithm>
#include <utility>

#include "core/base/start_thread.h"
#include "core/cell/decision.h"
#include "core/patterns/pattern_counter.h"

namespace stormcell {
namespace {

constexpr int64_t kCellsOfBlock = 4096;
constexpr size_t kBlocksAhead = 2;

}  // namespace

/// Cuts batches into blocks, without padding.
class CellStream::Sink : public TraceSink {
 public:
  explicit Sink(CellStream& stream) : stream_(stream) {}

  void begin(const TraceHeader& header) override {
    header_ = header;
    const std::lock_guard lock(stream_.mutex_);
    stream_.header_ = header;
    stream_.changed_.notify_all();
  }
  void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) override {
    ranked_.resize(decisions.size());
    for (size_t i = 0; i < decisions.size(); ++i) {
      const int32_t k = header_.routers[decisions[i].router].fan_out;
      ranked_[i].take(decisions[i], k, k);
    }
    for (const TraceCells& table : cells) {
      find_cells(table, decisions);
      for (int64_t first = 0; first < table.cells.cells(); first += kCellsOfBlock)
        hand_on(table, decisions, first, std::min(first + kCellsOfBlock, table.cells.cells()));
    }
  }
  void loads(int64_t, int32_t, std::span<const int64_t>) override {}

 private:
  /// Finds the place of each row of the table in each decision.
  void find_cells(const TraceCells& table, std::span<const DecisionRecord> decisions) {
    cell_of_.resize(decisions.size());
    for (size_t i = 0; i < decisions.size(); ++i) {
      const DecisionRecord& d = decisions[i];
      cell_of_[i].clear();
      const TraceRouter& router = header_.routers[d.router];
      if (router.stack != table.stack || d.ancestor.empty()) continue;
      cell_of_[i].assign(table.cells.cells(), -1);
      for (int64_t c = 0; c < std::ssize(d.ancestor); ++c) cell_of_[i][d.ancestor[c]] = c;
    }
  }

  void hand_on(const TraceCells& table, std::span<const DecisionRecord> decisions, int64_t first, int64_t end) {
    CellBlock block;
    block.stack = table.stack;
    rows_.clear();
    for (int64_t row = first; row < end; ++row) {
      if (!table.mask.empty() && table.mask[row] == 0) continue;
      rows_.push_back(row);
      block.request.push_back(table.cells.sequence(row / table.cells.per_sequence));
      block.position.push_back(table.cells.position(row));
      block.token.push_back(table.tokens.empty() ? -1 : table.tokens[row]);
      block.decode.push_back(table.cells.phase == Phase::decode);
    }
    if (rows_.empty()) return;
    block.choice.resize(header_.routers.size());
    for (size_t i = 0; i < decisions.size(); ++i) {
      const DecisionRecord& d = decisions[i];
      const TraceRouter& router = header_.routers[d.router];
      if (router.stack != table.stack || d.choice.empty()) continue;
      const int64_t k = router.fan_out;
      std::vector<int32_t>& choice = block.choice[d.router];
      choice.reserve(rows_.size() * static_cast<size_t>(k));
      for (const int64_t row : rows_) {
        const int64_t cell = cell_of_[i].empty() ? row : cell_of_[i][row];
        const std::vector<int32_t>& of_all = ranked_[i].choice;
        if (cell < 0 || (cell + 1) * k > std::ssize(of_all))
          choice.insert(choice.end(), k, kNoBranch);
        else
          choice.insert(choice.end(), of_all.begin() + cell * k, of_all.begin() + (cell + 1) * k);
      }
    }
    stream_.put(std::move(block));
  }

  CellStream& stream_;
  TraceHeader header_;
  std::vector<std::vector<int64_t>> cell_of_;  // by decision; empty: cell i is row i
  std::vector<int64_t> rows_;
  std::vector<RankedChoices> ranked_;  // by decision
};

CellStream::CellStream(std::unique_ptr<RecordingSource> source, const CancellationToken& cancel)
    : source_(std::move(source)), cancel_(cancel) {
  thread_ = start_thread([this] { read(); });
}

CellStream::~CellStream() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void CellStream::read() {
  std::exception_ptr error;
  try {
    Sink sink(*this);
    source_->read(ReadParts::choices, sink, Progress{cancel_, nullptr});
  } catch (const Stopped&) {
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  error_ = error, ended_ = true;
  changed_.notify_all();
}

void CellStream::put(CellBlock block) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stop_ || blocks_.size() < kBlocksAhead; });
  if (stop_) throw Stopped{};
  blocks_.push_back(std::move(block));
  changed_.notify_all();
}

void CellStream::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

const TraceHeader& CellStream::header() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return header_ || ended_; });
  if (!header_) {
    rethrow();
    bad_input(source_->name(), "holds no choice", "record while requests run");
  }
  return *header_;
}

bool CellStream::next(CellBlock& block) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || !blocks_.empty(); });
  if (blocks_.empty()) {
    rethrow();
    return false;
  }
  block = std::move(blocks_.front());
  blocks_.pop_front();
  changed_.notify_all();
  return true;
}

}  // namespace stormcell
