// An exchange has two halves. The first lays together what goes to each rank and tells where it lies; the submission
// ends, the ranks meet between submissions, and the second half takes what arrived. Both share scratch memory, which
// nothing uses in between.
#include <cstring>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class Exchange : public Kernel {
 public:
  /// `decision`: the node that exchanges the decision.
  explicit Exchange(const BuildContext& m, const Node& decision)
      : sends_(m.step.kind == StepKind::send),
        node_(m.step.node),
        owners_(decision.attributes.list("owners")),
        ranks_(decision.attributes.integer("ranks")) {
    if (ranks_ != m.program.ranks)
      failed(node_text(m.node()), "expected an exchange between " + std::to_string(m.program.ranks) + " ranks, got " +
                                      std::to_string(ranks_));
  }
  void run(const Call& c) const override { sends_ ? send(c) : take(c); }

 protected:
  virtual void send(const Call& c) const = 0;
  virtual void take(const Call& c) const = 0;

  // Slots of an owner: branches in order, each branch's slots in order.
  template <class Visit>
  void for_each_slot_of(const DecisionView& d, int64_t owner, Visit visit) const {
    for (int32_t b = 0; b < d.branches; ++b)
      if (owners_[b] == owner)
        for (int32_t s = d.offsets[b]; s < d.offsets[b + 1]; ++s) visit(s, b);
  }
  int32_t sent_to(const DecisionView& d, int64_t rank) const {
    int32_t n = 0;
    for (int32_t b = 0; b < d.branches; ++b)
      if (owners_[b] == rank) n += d.load(b);
    return n;
  }
  static DeviceAddress address(const std::byte* at) { return {reinterpret_cast<uint64_t>(at)}; }
  void tell(const Call& c, const std::byte* send, const std::byte* receive, int64_t row_bytes, int64_t most_rows,
            bool tells_rows) const {
    *c.status->exchange = {address(send), address(receive), row_bytes, most_rows, node_, tells_rows};
  }

  const bool sends_;
  const NodeId node_;
  const std::vector<int64_t> owners_;
  const int64_t ranks_;
};

int64_t slots_of(const BuildContext& m, size_t input) {
  const Operand& o = m.program.operands[m.step.inputs[input]];
  return m.program.dims[o.decision_cells].evaluate(m.bounds) * o.fan_out;
}

// Exchanges, for each row that arrives, the branch that it is for. Ranks tell each other how many come from whom.
class ExchangeDecision : public Exchange {
 public:
  explicit ExchangeDecision(const BuildContext& m)
      : Exchange(m, m.node()),
        most_arrive_(m.graph().space(SpaceId(m.node().attributes.integer("arrived"))).count.evaluate(m.bounds)),
        sent_bytes_(align_up(slots_of(m, 0) * 4)) {}
  int64_t scratch_bytes() const override { return sent_bytes_ + most_arrive_ * 4; }

 private:
  void send(const Call& c) const override {
    const DecisionView& d = *c.in[0].decision;
    auto* next = reinterpret_cast<int32_t*>(c.scratch);
    for (int64_t r = 0; r < ranks_; ++r) {
      c.status->sent_rows[r] = sent_to(d, r);
      for_each_slot_of(d, r, [&](int32_t, int32_t b) { *next++ = b; });
    }
    tell(c, c.scratch, c.scratch + sent_bytes_, 4, most_arrive_, true);
  }
  void take(const Call& c) const override {
    DecisionView to = *c.out[0].decision;
    int64_t cells = 0;
    for (int64_t r = 0; r < ranks_; ++r) cells += c.status->arrived_rows[r];
    std::memcpy(to.choice, c.scratch + sent_bytes_, static_cast<size_t>(cells) * 4);
    for (int64_t i = 0; i < cells; ++i) to.choice_weight[i] = 1, to.margin[i] = 0;
    index_decision(to, cells);
    // Rows from each rank, for the rows that follow and their way back.
    for (int64_t r = 0; r < ranks_; ++r) to.scratch[r] = c.status->arrived_rows[r];
  }

  int64_t most_arrive_, sent_bytes_;
};

// Rows and back: the same exchange with the ends swapped. At home rows lie by their owner's rank, away by the rank they
// came from.
class ExchangeRows : public Exchange {
 public:
  ExchangeRows(const BuildContext& m, bool back)
      : Exchange(m, m.graph().node(m.graph().value(m.node().inputs[back ? 1 : 2]).producer)),
        back_(back),
        row_bytes_(m.graph().row_bytes(m.node().inputs[0])),
        home_slots_(slots_of(m, back ? 2 : 1)),
        away_slots_(slots_of(m, back ? 1 : 2)) {}
  int64_t scratch_bytes() const override { return home_bytes() + away_slots_ * row_bytes_; }

 private:
  int64_t home_bytes() const { return align_up(home_slots_ * row_bytes_); }
  const DecisionView& home(const Call& c) const { return *c.in[back_ ? 2 : 1].decision; }
  const DecisionView& away(const Call& c) const { return *c.in[back_ ? 1 : 2].decision; }

  void send(const Call& c) const override {
    std::byte *at_home = c.scratch, *there = c.scratch + home_bytes();
    std::byte *from = back_ ? there : at_home, *to = back_ ? at_home : there;
    for_each_row(c, [&](int64_t slot, int64_t i) { copy(from + i * row_bytes_, c.in[0].data + slot * row_bytes_); });
    for (int64_t r = 0; r < ranks_; ++r) {
      const int32_t mine = sent_to(home(c), r), of_others = away(c).scratch[r];
      c.status->sent_rows[r] = back_ ? of_others : mine;
      c.status->arrived_rows[r] = back_ ? mine : of_others;
    }
    tell(c, from, to, row_bytes_, back_ ? home_slots_ : away_slots_, false);
  }
  void take(const Call& c) const override {
    const std::byte* arrived = back_ ? c.scratch : c.scratch + home_bytes();
    for_each_row(c,
                 [&](int64_t slot, int64_t i) { copy(c.out[0].data + slot * row_bytes_, arrived + i * row_bytes_); });
  }

  /// visit(slot, i): the i-th row as it travels. Rows that are sent, and that come back, are slots at home; else those
  /// away.
  template <class Visit>
  void for_each_row(const Call& c, Visit visit) const {
    int64_t i = 0;
    if (sends_ == back_) {
      for (; i < *away(c).cells; ++i) visit(away(c).slot[i], i);
    } else {
      for (int64_t r = 0; r < ranks_; ++r)
        for_each_slot_of(home(c), r, [&](int32_t slot, int32_t) { visit(slot, i++); });
    }
  }
  void copy(std::byte* to, const std::byte* from) const { std::memcpy(to, from, static_cast<size_t>(row_bytes_)); }

  bool back_;
  int64_t row_bytes_, home_slots_, away_slots_;
};

}  // namespace
std::unique_ptr<Kernel> make_exchange_decision(const BuildContext& m) { return std::make_unique<ExchangeDecision>(m); }
std::unique_ptr<Kernel> make_exchange_rows(const BuildContext& m) { return std::make_unique<ExchangeRows>(m, false); }
std::unique_ptr<Kernel> make_exchange_back(const BuildContext& m) { return std::make_unique<ExchangeRows>(m, true); }
}  // namespace stormcell::cpu
