#include "core/runtime/rank_exchange.h"

#include "core/base/counted.h"
#include "core/base/error.h"

namespace stormcell {
namespace {

/// Cuts memory into the parts of the ranks: so many rows of each.
template <class Byte>
void cut(std::span<std::byte> memory, std::span<const int32_t> rows, int64_t row_bytes,
         std::vector<std::span<Byte>>& parts) {
  size_t at = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    const size_t bytes = rows[r] * row_bytes;
    parts[r] = memory.subspan(at, bytes);
    at += bytes;
  }
}

int64_t sum(std::span<const int32_t> rows) {
  int64_t all = 0;
  for (const int32_t r : rows) all += r;
  return all;
}

}  // namespace

RankExchange::RankExchange(Communicator& communicator, const Program& program, const SegmentTree& segments,
                           HostCopies& copies)
    : communicator_(communicator), program_(program), segments_(segments), copies_(copies) {
  if (communicator.ranks() != program.ranks)
    failed("rank " + std::to_string(communicator.rank()),
           "a plan of " + counted(program.ranks, "rank") + " runs on " + std::to_string(communicator.ranks()));
  const size_t ranks = program.ranks;
  sent_rows_.resize(ranks);
  arrived_rows_.resize(ranks);
  send_.resize(ranks);
  receive_.resize(ranks);
}

/// "exchange sent, turn 2 of rounds": where all ranks have to be. How often other repeats have run is a rank's own
/// matter.
void RankExchange::name_place(const StatusArea& came) {
  where_ = "exchange " + program_.graph->node(came.exchange->node).name +
           segments_.turns_text(program_, came.status->leaf, came.turns);
}

void RankExchange::learn_rows(const StatusArea& came, DeviceAddress status, Stream& stream,
                              const CancellationToken& cancel) {
  if (!came.exchange->tells_rows) {
    arrived_rows_.assign(came.arrived_rows.begin(), came.arrived_rows.end());
    return;
  }
  constexpr int64_t kCount = sizeof(int32_t);
  const std::vector<int32_t> one(arrived_rows_.size(), 1);
  cut(std::as_writable_bytes(std::span(sent_rows_)), one, kCount, send_);
  cut(std::as_writable_bytes(std::span(arrived_rows_)), one, kCount, receive_);
  communicator_.all_to_all(where_, send_, receive_, cancel);
  const auto offset =
      reinterpret_cast<const std::byte*>(came.arrived_rows.data()) - reinterpret_cast<const std::byte*>(came.status);
  copies_.to_device(stream, status + offset, arrived_rows_.data(), std::ssize(arrived_rows_) * kCount);
}

void RankExchange::run(const StatusArea& came, DeviceAddress status, Stream& stream, const CancellationToken& cancel) {
  const ExchangeStatus& asked = *came.exchange;
  name_place(came);
  sent_rows_.assign(came.sent_rows.begin(), came.sent_rows.end());
  // The numbers of rows go first: any copy behind bring() may take the memory in which the rows lie.
  learn_rows(came, status, stream, cancel);
  const int64_t rows = sum(arrived_rows_);
  if (rows > asked.most_rows)
    failed("rank " + std::to_string(communicator_.rank()),
           where_ + ": expected at most " + counted(asked.most_rows, "row") + ", got " + std::to_string(rows) +
               ": the ranks have batches of different bounds");
  const int64_t bytes = sum(sent_rows_) * asked.row_bytes;
  std::byte* sent = copies_.bring(stream, asked.send, bytes);
  copies_.synchronize(stream);
  arrived_.resize(rows * asked.row_bytes);
  cut(std::span(sent, bytes), sent_rows_, asked.row_bytes, send_);
  cut(std::span(arrived_), arrived_rows_, asked.row_bytes, receive_);
  communicator_.all_to_all(where_, send_, receive_, cancel);
  copies_.to_device(stream, asked.receive, arrived_.data(), std::ssize(arrived_));
}

}  // namespace stormcell
