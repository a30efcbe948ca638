// How the ranks of a distributed plan exchange rows. Here: ranks that are threads of one process; MPI and NCCL
// implement the same later.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/progress.h"

namespace stormcell {

/// One rank's end, which its executor asks between submissions: no device waits within one. Every rank calls the same
/// operations in the same order, and says `where` it is; ranks that meet at unlike places end with an Error(failed)
/// that names both. A rank that cannot go on says so with abandon(): calls of the others, those that wait and those to
/// come, end with an Error(failed) that names it and its reason. Calls poll `cancel` while they wait for a rank that
/// has not come: they end with the token's Error, and abandon. Once all have come no call ends before every rank has
/// what it receives: what one sends is its own again when its call returns or throws.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Sends send[r] to rank r and receives receive[s] from each rank s; receive[s].size() must be what s sends here.
  virtual void all_to_all(std::string_view where, std::span<const std::span<const std::byte>> send,
                          std::span<const std::span<std::byte>> receive, const CancellationToken& cancel) = 0;
  /// Returns when all ranks are there.
  virtual void meet(std::string_view where, const CancellationToken& cancel) = 0;
  /// Says that this rank will not come any more, and why. If several say so, the others name the first.
  virtual void abandon(std::string_view why) = 0;
  /// Bytes this rank has sent to other ranks.
  virtual int64_t sent_bytes() const = 0;
};

/// `ranks` ends that meet in this process. A rank that neither calls nor abandons leaves the others waiting. Once
/// abandoned, they are of no more use.
std::vector<std::unique_ptr<Communicator>> in_process_ranks(int ranks);

/// Runs `work` for each of so many ranks, each on a thread of its own, and returns when all have ended. A rank whose
/// work throws abandons; what the first of those threw is thrown here.
void run_ranks(int ranks, const std::function<void(Communicator&)>& work);

}  // namespace stormcell
