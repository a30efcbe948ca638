// Memory of plans that never run at the same time: one allocation of each kind, as large as the largest plan needs, for
// the plan that runs. What a plan leaves there is valid until the next plan runs. States are not here: they outlive an
// execution.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace stormcell {

class DeviceBuffer;
class Device;
struct DeviceAddress;

enum class SharedPart : uint8_t {
  activations,  ///< arena and scratch
  records,      ///< recorded decisions
  status,       ///< execution status and events
  inputs,       ///< inputs of the graph
  replayed,     ///< decisions to replay
  pages,        ///< addresses of the pages that the sequences' states lie in
};

class SharedMemory {
 public:
  using Allocate = std::function<std::unique_ptr<DeviceBuffer>(int64_t bytes, const std::string& what)>;
  explicit SharedMemory(Allocate allocate);
  explicit SharedMemory(Device& device);
  ~SharedMemory();

  /// Reserves at least so many bytes of a kind from here on. If that moves the memory, its contents are lost and
  /// address() changes: ask for it at each submission. Throws the device's Error if it has no memory; then nothing of
  /// the kind is held.
  void reserve(SharedPart kind, int64_t bytes);
  /// Address of a kind that was reserved.
  DeviceAddress address(SharedPart kind) const;
  int64_t bytes(SharedPart kind) const;
  /// Bytes of all kinds.
  int64_t bytes() const;

 private:
  Allocate allocate_;
  std::array<std::unique_ptr<DeviceBuffer>, 6> buffers_;
};

}  // namespace stormcell
