// How the ranks of a distributed plan exchange rows. Here: ranks that are threads of one process; MPI and NCCL implement the same later.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/progress.h"

namespace stormcell {

/// One rank's end. Every rank calls the same operations in the same order; a call returns when its own data has arrived. A rank that
/// cannot go on says so with abandon(): calls of the others, those that wait and those to come, end with an Error.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Sends send[r] to rank r and receives receive[s] from each rank s; receive[s].size() must be what s sends here. Polls `cancel`, where
  /// there is one, while it waits: ends with the token's Error, and abandons.
  virtual void all_to_all(std::span<const std::span<const std::byte>> send, std::span<const std::span<std::byte>> receive,
                          const CancellationToken* cancel) = 0;
  /// This rank will not come any more.
  virtual void abandon() = 0;
  /// Bytes this rank has sent to other ranks.
  virtual int64_t sent_bytes() const = 0;
};

/// `ranks` ends that meet in this process. A rank that neither calls nor abandons leaves the others waiting. Once abandoned, they are of no
/// more use.
std::vector<std::unique_ptr<Communicator>> in_process_ranks(int ranks);

}  // namespace stormcell
