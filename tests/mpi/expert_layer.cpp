#include "tests/mpi/expert_layer.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"

namespace stormcell::testing {
namespace {

/// Whose a row is, and which of its choices it is for.
struct RowHeader {
  int32_t token;
  int32_t choice;  // kAllHeld: all of them whose experts lie where it goes
};
constexpr int32_t kAllHeld = -1;

/// Rows of one pair of processes.
template <class Number>
struct Rows {
  std::vector<RowHeader> headers;
  std::vector<Number> numbers;  // [headers, kHidden]
};
template <class Number>
using RowsByRank = std::vector<Rows<Number>>;

template <class Number>
MPI_Datatype type_of();
template <>
MPI_Datatype type_of<float>() {
  return MPI_FLOAT;
}
template <>
MPI_Datatype type_of<double>() {
  return MPI_DOUBLE;
}

std::vector<float> hidden_of(size_t token) {
  std::vector<float> x(kHidden);
  for (size_t i = 0; i < kHidden; ++i) x[i] = static_cast<float>((token * 7 + i * 5) % 4);
  return x;
}

/// Adds what a token's choice makes of its hidden state, times the weight of the choice.
void add_expert(int32_t expert, size_t choice, const float* x, double* sum) {
  for (size_t j = 0; j < kHidden; ++j) {
    double y = 0;
    for (size_t i = 0; i < kHidden; ++i)
      y += x[i] * (static_cast<double>((static_cast<size_t>(expert) * 31 + i * 11 + j * 17) % 3) - 1);
    sum[j] += static_cast<double>(choice + 1) * std::max(y, 0.);
  }
}

/// The begin of the rows of each process, [processes + 1].
template <class Number>
std::vector<int> begins_of(const RowsByRank<Number>& rows, int unit) {
  std::vector<int> at = {0};
  for (const auto& of_rank : rows) at.push_back(at.back() + static_cast<int>(of_rank.headers.size()) * unit);
  return at;
}

std::vector<int> counts_of(const std::vector<int>& begins) {
  std::vector<int> counts;
  for (size_t r = 0; r + 1 < begins.size(); ++r) counts.push_back(begins[r + 1] - begins[r]);
  return counts;
}

class LayerOfProcess {
 public:
  LayerOfProcess(const ExpertLayer& layer, const LayerWires& wires) : layer_(layer), wires_(wires) {
    MPI_Comm_rank(wires.headers, &me_), MPI_Comm_size(wires.headers, &ranks_);
    gpus_per_node_ = ranks_ / layer.nodes;
  }

  std::vector<Hidden> run() {
    std::vector<size_t> own;
    for (size_t t = 0; t < layer_.routes->size(); ++t)
      if (layer_.routes->tokens[t].rank == me_) own.push_back(t);
    RowsByRank<float> to(static_cast<size_t>(ranks_));
    for (const size_t t : own) pack(t, to);
    const RowsByRank<float> come = sent(to, wires_.dispatch);
    RowsByRank<double> answers = layer_.backend == Backend::per_node ? forwarded(come) : computed(come);
    const RowsByRank<double> back = sent(answers, wires_.combine);
    std::vector<Hidden> out(own.size(), Hidden(kHidden));
    for (const Rows<double>& rows : back)
      for (size_t i = 0; i < rows.headers.size(); ++i) {
        const auto at =
            std::lower_bound(own.begin(), own.end(), static_cast<size_t>(rows.headers[i].token)) - own.begin();
        add_row(rows, i, out[static_cast<size_t>(at)].data());
      }
    return out;
  }

 private:
  std::span<const int32_t> choices(size_t token) const { return layer_.routes->at(token, 0); }

  int32_t rank_of(size_t token, int32_t expert) const {
    BranchShares nearest;
    find_nearest((*layer_.shares)[static_cast<size_t>(expert)], static_cast<size_t>(layer_.routes->tokens[token].rank),
                 static_cast<size_t>(gpus_per_node_), nearest);
    if (nearest.size() != 1) failed("expert layer", "several replicas are as near");
    return static_cast<int32_t>(nearest[0].rank);
  }
  std::set<int32_t> ranks_of(size_t token) const {
    std::set<int32_t> out;
    for (const int32_t expert : choices(token))
      if (expert >= 0) out.insert(rank_of(token, expert));
    return out;
  }

  static void add(Rows<float>& rows, size_t token, int32_t choice, const float* x) {
    rows.headers.push_back({static_cast<int32_t>(token), choice});
    rows.numbers.insert(rows.numbers.end(), x, x + kHidden);
  }
  static void add_row(const Rows<double>& rows, size_t i, double* sum) {
    for (size_t j = 0; j < kHidden; ++j) sum[j] += rows.numbers[i * kHidden + j];
  }

  /// The first way of a token that lives here.
  void pack(size_t token, RowsByRank<float>& to) const {
    const std::vector<float> x = hidden_of(token);
    const std::set<int32_t> ranks = ranks_of(token);
    if (ranks.empty()) return;  // a capacity dropped it
    const auto send = [&](int32_t rank, int32_t choice) {
      add(to[static_cast<size_t>(rank)], token, choice, x.data());
    };
    switch (layer_.backend) {
      case Backend::per_expert:
        for (size_t c = 0; c < choices(token).size(); ++c)
          if (const int32_t expert = choices(token)[c]; expert >= 0)
            send(rank_of(token, expert), static_cast<int32_t>(c));
        return;
      case Backend::per_rank:
        for (const int32_t rank : ranks) send(rank, kAllHeld);
        return;
      case Backend::gather:
        for (int32_t rank = 0; rank < ranks_; ++rank) send(rank, kAllHeld);
        return;
      case Backend::per_node: {
        // To the process of the same place in each node, its own included: that is the process itself.
        std::set<int32_t> relays;
        for (const int32_t rank : ranks) relays.insert(rank / gpus_per_node_ * gpus_per_node_ + me_ % gpus_per_node_);
        for (const int32_t relay : relays) send(relay, kAllHeld);
      }
    }
  }

  /// [processes that sent] what the experts here make of it, in the order in which it came.
  RowsByRank<double> computed(const RowsByRank<float>& come) const {
    RowsByRank<double> out(come.size());
    for (size_t from = 0; from < come.size(); ++from) {
      out[from].headers = come[from].headers;
      out[from].numbers.assign(come[from].numbers.size(), 0);
      for (size_t i = 0; i < come[from].headers.size(); ++i) {
        const RowHeader& h = come[from].headers[i];
        const auto token = static_cast<size_t>(h.token);
        for (size_t c = 0; c < choices(token).size(); ++c) {
          const int32_t expert = choices(token)[c];
          const bool asked = h.choice == kAllHeld || h.choice == static_cast<int32_t>(c);
          if (expert >= 0 && asked && rank_of(token, expert) == me_)
            add_expert(expert, c, &come[from].numbers[i * kHidden], &out[from].numbers[i * kHidden]);
        }
      }
    }
    return out;
  }

  /// Rows that came over the network go on to the processes of this node, and what they answer is summed here.
  RowsByRank<double> forwarded(const RowsByRank<float>& come) const {
    RowsByRank<float> on(static_cast<size_t>(ranks_));
    for (const Rows<float>& rows : come)
      for (size_t i = 0; i < rows.headers.size(); ++i) {
        const auto token = static_cast<size_t>(rows.headers[i].token);
        for (const int32_t rank : ranks_of(token))
          if (rank / gpus_per_node_ == me_ / gpus_per_node_)
            add(on[static_cast<size_t>(rank)], token, kAllHeld, &rows.numbers[i * kHidden]);
      }
    const RowsByRank<double> answers = sent(computed(sent(on, wires_.dispatch)), wires_.combine);
    RowsByRank<double> out(come.size());
    for (size_t from = 0; from < come.size(); ++from) {
      out[from].headers = come[from].headers;
      out[from].numbers.assign(come[from].numbers.size(), 0);
      for (size_t i = 0; i < come[from].headers.size(); ++i)
        for (const Rows<double>& rows : answers)
          for (size_t a = 0; a < rows.headers.size(); ++a)
            if (rows.headers[a].token == come[from].headers[i].token) add_row(rows, a, &out[from].numbers[i * kHidden]);
    }
    return out;
  }

  /// [processes] what each of them sent here.
  template <class Number>
  RowsByRank<Number> sent(const RowsByRank<Number>& to, MPI_Comm wire) const {
    RowsByRank<Number> come(to.size());
    const std::vector<int> headers = counts_of(begins_of(to, 1));
    std::vector<int> coming(to.size());
    MPI_Alltoall(headers.data(), 1, MPI_INT, coming.data(), 1, MPI_INT, wires_.headers);
    for (size_t r = 0; r < come.size(); ++r) come[r].headers.resize(static_cast<size_t>(coming[r]));
    send_headers(to, come);
    for (Rows<Number>& rows : come) rows.numbers.resize(rows.headers.size() * kHidden);
    layer_.transport == Transport::all_to_all ? send_at_once(to, come, wire) : send_singly(to, come, wire);
    return come;
  }

  template <class Number>
  void send_headers(const RowsByRank<Number>& to, RowsByRank<Number>& come) const {
    const std::vector<int> out_at = begins_of(to, 2), in_at = begins_of(come, 2);
    std::vector<RowHeader> out, in(static_cast<size_t>(in_at.back() / 2));
    for (const auto& rows : to) out.insert(out.end(), rows.headers.begin(), rows.headers.end());
    MPI_Alltoallv(out.data(), counts_of(out_at).data(), out_at.data(), MPI_INT32_T, in.data(), counts_of(in_at).data(),
                  in_at.data(), MPI_INT32_T, wires_.headers);
    for (size_t r = 0; r < come.size(); ++r)
      std::copy_n(in.begin() + in_at[r] / 2, come[r].headers.size(), come[r].headers.begin());
  }

  template <class Number>
  void send_at_once(const RowsByRank<Number>& to, RowsByRank<Number>& come, MPI_Comm wire) const {
    const std::vector<int> out_at = begins_of(to, kHidden), in_at = begins_of(come, kHidden);
    std::vector<Number> out, in(static_cast<size_t>(in_at.back()));
    for (const auto& rows : to) out.insert(out.end(), rows.numbers.begin(), rows.numbers.end());
    MPI_Alltoallv(out.data(), counts_of(out_at).data(), out_at.data(), type_of<Number>(), in.data(),
                  counts_of(in_at).data(), in_at.data(), type_of<Number>(), wire);
    for (size_t r = 0; r < come.size(); ++r)
      std::copy_n(in.begin() + in_at[r], come[r].numbers.size(), come[r].numbers.begin());
  }

  template <class Number>
  void send_singly(const RowsByRank<Number>& to, RowsByRank<Number>& come, MPI_Comm wire) const {
    std::vector<MPI_Request> requests;
    for (size_t r = 0; r < to.size(); ++r) {
      const auto rank = static_cast<int>(r);
      if (rank == me_) {
        come[r].numbers = to[r].numbers;
        continue;
      }
      if (!come[r].numbers.empty())
        MPI_Irecv(come[r].numbers.data(), static_cast<int>(come[r].numbers.size()), type_of<Number>(), rank, 0, wire,
                  &requests.emplace_back());
      if (!to[r].numbers.empty())
        MPI_Isend(to[r].numbers.data(), static_cast<int>(to[r].numbers.size()), type_of<Number>(), rank, 0, wire,
                  &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  const ExpertLayer& layer_;
  const LayerWires& wires_;
  int me_ = 0, ranks_ = 0, gpus_per_node_ = 0;
};

}  // namespace

Hidden computed_alone(const TokenRoutes& routes, size_t token) {
  const std::vector<float> x = hidden_of(token);
  Hidden out(kHidden);
  for (size_t c = 0; c < routes.at(token, 0).size(); ++c)
    if (const int32_t expert = routes.at(token, 0)[c]; expert >= 0) add_expert(expert, c, x.data(), out.data());
  return out;
}

std::vector<Hidden> computed_together(const ExpertLayer& layer, const LayerWires& wires) {
  return LayerOfProcess(layer, wires).run();
}

}  // namespace stormcell::testing
