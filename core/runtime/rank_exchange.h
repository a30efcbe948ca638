// Meets the other ranks between two submissions, when an executor's device waits for their rows, and brings what
// arrived.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/communicator.h"
#include "core/runtime/device.h"
#include "core/runtime/host_copies.h"

namespace stormcell {

class RankExchange {
 public:
  /// Throws Error(failed) if the program is for another number of ranks. All must outlive it.
  RankExchange(Communicator& communicator, const Program& program, const SegmentTree& segments, HostCopies& copies);

  /// After a submission that ended with `exchange`, once the stream is done. `came`: the host's copy of the status,
  /// which lies at `status` on the device. `stream`: that of the copies. Rows that arrived are on their way to the
  /// device when this returns.
  void run(const StatusArea& came, DeviceAddress status, Stream& stream, const CancellationToken& cancel);
  /// After the last submission of a batch: no rank goes on to another before all have come so far.
  void end_batch(const CancellationToken& cancel) { communicator_.meet("the end of a batch", cancel); }
  /// The others must not wait for this rank any more.
  void abandon(std::string_view why) { communicator_.abandon(why); }

 private:
  void name_place(const StatusArea& came);
  void learn_rows(const StatusArea& came, DeviceAddress status, Stream& stream, const CancellationToken& cancel);

  Communicator& communicator_;
  const Program& program_;
  const SegmentTree& segments_;
  HostCopies& copies_;
  std::string where_;
  // Rows that arrive are received in ordinary memory, and the copies pass them on. The pinned memory of the copies
  // holds the rows to send meanwhile.
  std::vector<std::byte> arrived_;
  std::vector<int32_t> sent_rows_, arrived_rows_;  // by rank
  std::vector<std::span<const std::byte>> send_;
  std::vector<std::span<std::byte>> receive_;
};

}  // namespace stormcell
