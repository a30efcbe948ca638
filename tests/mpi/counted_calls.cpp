#include "tests/mpi/counted_calls.h"

#include <map>

namespace stormcell::testing {
namespace {

// MPI calls the wrappers, so what they count has no other place.
std::map<MPI_Comm, std::vector<int64_t>>& counts() {
  static std::map<MPI_Comm, std::vector<int64_t>> of_communicator;
  return of_communicator;
}

std::vector<int64_t>& counts_of(MPI_Comm communicator) {
  std::vector<int64_t>& sent = counts()[communicator];
  if (sent.empty()) {
    int processes = 0;
    PMPI_Comm_size(communicator, &processes);
    sent.resize(static_cast<size_t>(processes));
  }
  return sent;
}

int64_t bytes_of(MPI_Datatype type, int count) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<int64_t>(size) * count;
}

}  // namespace

std::vector<int64_t> take_sent_bytes(MPI_Comm communicator) {
  std::vector<int64_t> sent = counts_of(communicator);
  counts().erase(communicator);
  return sent;
}

}  // namespace stormcell::testing

extern "C" {

int MPI_Alltoallv(const void* send, const int send_counts[], const int send_at[], MPI_Datatype send_type, void* receive,
                  const int receive_counts[], const int receive_at[], MPI_Datatype receive_type,
                  MPI_Comm communicator) {
  std::vector<int64_t>& sent = stormcell::testing::counts_of(communicator);
  for (size_t to = 0; to < sent.size(); ++to) sent[to] += stormcell::testing::bytes_of(send_type, send_counts[to]);
  return PMPI_Alltoallv(send, send_counts, send_at, send_type, receive, receive_counts, receive_at, receive_type,
                        communicator);
}

int MPI_Isend(const void* send, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  stormcell::testing::counts_of(communicator)[static_cast<size_t>(to)] += stormcell::testing::bytes_of(type, count);
  return PMPI_Isend(send, count, type, to, tag, communicator, request);
}
}
