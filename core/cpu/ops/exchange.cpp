#include <cstring>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/cpu/cpu_kernel.h"
#include "core/runtime/communicator.h"

namespace stormcell::cpu {
namespace {

using Bytes = std::span<std::byte>;

// Slots of each owner: branches in order, each branch's slots in order.
template <class Visit>
void for_each_slot_of(const DecisionView& d, const std::vector<int64_t>& owners, int64_t owner, Visit visit) {
  for (int32_t b = 0; b < d.branches; ++b)
    if (owners[static_cast<size_t>(b)] == owner)
      for (int32_t s = d.offsets[b]; s < d.offsets[b + 1]; ++s) visit(s, b);
}

class Exchange : public Kernel {
 public:
  explicit Exchange(const Node& decision) : owners_(decision.attributes.list("owners")), ranks_(decision.attributes.integer("ranks")) {
    send_.resize(static_cast<size_t>(ranks_));
    receive_.resize(static_cast<size_t>(ranks_));
    counts_.resize(static_cast<size_t>(2 * ranks_));
    ones_.assign(static_cast<size_t>(ranks_), 1);
  }

 protected:
  Communicator& communicator(const Call& c) const {
    if (!c.communicator || c.communicator->ranks() != ranks_)
      failed("exchange", "a plan of " + std::to_string(ranks_) + " ranks runs without them");
    return *c.communicator;
  }
  int64_t sent_to(const DecisionView& d, int64_t rank) const {
    int64_t n = 0;
    for (int32_t b = 0; b < d.branches; ++b)
      if (owners_[static_cast<size_t>(b)] == rank) n += d.load(b);
    return n;
  }
  // Cuts `out` and `in` into the parts of the ranks and exchanges them.
  void exchange(const Call& c, std::byte* out, const int64_t* out_rows, std::byte* in, const int64_t* in_rows, int64_t row_bytes) const {
    for (int64_t r = 0; r < ranks_; ++r) {
      send_[static_cast<size_t>(r)] = {out, static_cast<size_t>(out_rows[r] * row_bytes)};
      out += out_rows[r] * row_bytes;
      receive_[static_cast<size_t>(r)] = {in, static_cast<size_t>(in_rows[r] * row_bytes)};
      in += in_rows[r] * row_bytes;
    }
    communicator(c).all_to_all(send_, receive_, c.cancel);
  }
  std::vector<int64_t> owners_;
  int64_t ranks_;
  std::vector<int64_t> ones_;
  mutable std::vector<std::span<const std::byte>> send_;
  mutable std::vector<Bytes> receive_;
  mutable std::vector<int64_t> counts_;  // rows sent to, then rows that came from each rank
};

class ExchangeDecision : public Exchange {
 public:
  explicit ExchangeDecision(const Making& m) : Exchange(m.node()) {
    const Operand& o = m.program.operands[m.step.inputs[0]];
    slots_ = m.program.dims[o.decision_cells].evaluate(m.bounds) * o.fan_out;
  }
  int64_t scratch_bytes() const override { return slots_ * 4; }
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[0].decision;
    DecisionView to = *c.out[0].decision;
    // How many rows come from whom, then which branch each is for.
    for (int64_t r = 0; r < ranks_; ++r) counts_[static_cast<size_t>(r)] = sent_to(d, r);
    exchange(c, reinterpret_cast<std::byte*>(counts_.data()), ones_.data(), reinterpret_cast<std::byte*>(counts_.data() + ranks_),
             ones_.data(), 8);
    auto* branches = reinterpret_cast<int32_t*>(c.scratch);
    int32_t* next = branches;
    for (int64_t r = 0; r < ranks_; ++r) for_each_slot_of(d, owners_, r, [&](int32_t, int32_t b) { *next++ = b; });
    exchange(c, c.scratch, counts_.data(), reinterpret_cast<std::byte*>(to.choice), counts_.data() + ranks_, 4);
    int64_t cells = 0;
    for (int64_t r = 0; r < ranks_; ++r) cells += counts_[static_cast<size_t>(ranks_ + r)];
    for (int64_t i = 0; i < cells; ++i) to.choice_weight[i] = 1, to.margin[i] = 0;
    index_decision(to, cells);
    // Rows from each rank, for the rows that follow and their way back.
    for (int64_t r = 0; r < ranks_; ++r) to.scratch[r] = static_cast<int32_t>(counts_[static_cast<size_t>(ranks_ + r)]);
  }

 private:
  int64_t slots_ = 0;
};

// Rows and back: the same exchange with the ends swapped.
class ExchangeRows : public Exchange {
 public:
  ExchangeRows(const Making& m, bool back)
      : Exchange(m.graph().node(m.graph().value(m.node().inputs[back ? 1 : 2]).producer)), back_(back) {
    row_bytes_ = m.graph().row_bytes(m.node().inputs[0]);
    const auto slots = [&](size_t i) {
      const Operand& o = m.program.operands[m.step.inputs[i]];
      return m.program.dims[o.decision_cells].evaluate(m.bounds) * o.fan_out;
    };
    home_bytes_ = align_up(slots(back ? 2 : 1) * row_bytes_);
    away_bytes_ = slots(back ? 1 : 2) * row_bytes_;
  }
  int64_t scratch_bytes() const override { return home_bytes_ + away_bytes_; }
  void run(const Call& c) const override {
    const DecisionView& home = *c.in[back_ ? 2 : 1].decision;
    const DecisionView& away = *c.in[back_ ? 1 : 2].decision;
    std::byte *at_home = c.scratch, *arrived = c.scratch + home_bytes_;
    int64_t *home_rows = counts_.data(), *away_rows = counts_.data() + ranks_;
    for (int64_t r = 0; r < ranks_; ++r) {
      home_rows[r] = sent_to(home, r);
      away_rows[r] = away.scratch[r];
    }
    const auto size = static_cast<size_t>(row_bytes_);
    std::byte* next = at_home;
    if (!back_) {
      for (int64_t r = 0; r < ranks_; ++r)
        for_each_slot_of(home, owners_, r,
                         [&](int32_t s, int32_t) { std::memcpy(next, c.in[0].data + s * row_bytes_, size), next += row_bytes_; });
      exchange(c, at_home, home_rows, arrived, away_rows, row_bytes_);
      for (int64_t i = 0; i < *away.cells; ++i) std::memcpy(c.out[0].data + away.slot[i] * row_bytes_, arrived + i * row_bytes_, size);
    } else {
      for (int64_t i = 0; i < *away.cells; ++i) std::memcpy(arrived + i * row_bytes_, c.in[0].data + away.slot[i] * row_bytes_, size);
      exchange(c, arrived, away_rows, at_home, home_rows, row_bytes_);
      for (int64_t r = 0; r < ranks_; ++r)
        for_each_slot_of(home, owners_, r,
                         [&](int32_t s, int32_t) { std::memcpy(c.out[0].data + s * row_bytes_, next, size), next += row_bytes_; });
    }
  }

 private:
  bool back_;
  int64_t row_bytes_ = 0, home_bytes_ = 0, away_bytes_ = 0;
};

}  // namespace
std::unique_ptr<Kernel> make_exchange_decision(const Making& m) { return std::make_unique<ExchangeDecision>(m); }
std::unique_ptr<Kernel> make_exchange_rows(const Making& m) { return std::make_unique<ExchangeRows>(m, false); }
std::unique_ptr<Kernel> make_exchange_back(const Making& m) { return std::make_unique<ExchangeRows>(m, true); }
}  // namespace stormcell::cpu
