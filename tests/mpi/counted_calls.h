// The bytes that this process gives MPI to send, counted where the calls are made: by the profiling interface, whose
// names the
// standard sets aside for that (MPI 4.0, 15.2). The library's own headers and retransmissions are none of an engine's
// bytes.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <vector>

namespace stormcell::testing {

/// [processes of it] bytes given to MPI_Alltoallv and MPI_Isend on this communicator since the last call, by receiver.
std::vector<int64_t> take_sent_bytes(MPI_Comm communicator);

}  // namespace stormcell::testing
