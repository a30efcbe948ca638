// States that belong to sequences: in pages of kPageRows rows, outside of arenas and executables. A plan asks for pages
// by its layout key. Any other plan with the same key can continue what it has written.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/runtime/state_rows.h"

namespace stormcell {

class Device;
class DeviceBuffer;
struct Program;

/// One state of the sequences, as a plan wants it.
struct SequenceState {
  std::string name;
  DType dtype = DType::f32;
  int64_t width = 1;              ///< elements of a row
  int64_t page_rows = kPageRows;  ///< rows of a page
  int64_t page_bytes() const { return page_rows * width * static_cast<int64_t>(element_size(dtype)); }
  bool operator==(const SequenceState&) const = default;
};
/// The states that a plan needs of sequences. Two plans with the same key can read each other's states.
struct StateKey {
  std::vector<SequenceState> states;  ///< in the order of Program::paged
  /// Whether the two hold the same states, in whatever order. If not, `why` says the first difference.
  bool fits(const StateKey& other, std::string* why = nullptr) const;
};
StateKey state_key(const Program& program);

enum class SequenceId : int64_t {};

/// Not for several threads at once. The device must outlive it.
class StateStore {
 public:
  explicit StateStore(Device& device);
  ~StateStore();
  StateStore(const StateStore&) = delete;
  StateStore& operator=(const StateStore&) = delete;

  /// A sequence without rows, at place 0.
  SequenceId open();
  /// Gives its pages back.
  void close(SequenceId sequence);
  /// How many rows its states have.
  int32_t place(SequenceId sequence) const;
  /// Its states have so many rows from here on, no more than it has pages for; pages behind them go back.
  void set_place(SequenceId sequence, int32_t place);
  /// Pages for `rows` rows of each state of the key. Throws Error(bad_input) where the sequence holds states of another
  /// plan, the device's Error where it has no memory; then the sequence keeps what it had.
  void reserve(SequenceId sequence, const StateKey& key, int64_t rows);
  /// Addresses of pages [states of the key][sequences][pages]; 0 where a sequence has none. Keys as reserve() was
  /// called with.
  void table(std::span<const SequenceId> sequences, const StateKey& key, int64_t pages,
             std::vector<uint64_t>& addresses) const;

  /// Bytes of pages that sequences hold, and of all pages that are allocated.
  int64_t used_bytes() const { return used_; }
  int64_t bytes() const;

 private:
  struct Pages {
    SequenceState state;
    std::vector<uint64_t> addresses;
  };
  struct Sequence {
    int32_t place = 0;
    std::vector<Pages> states;  ///< empty until pages are asked for
  };
  Sequence& at(SequenceId sequence);
  const Sequence& at(SequenceId sequence) const;
  uint64_t take(int64_t page_bytes);
  void give_back(Pages& pages, size_t keep);
  void expect_key(const Sequence& sequence, const StateKey& key) const;

  Device& device_;
  std::map<SequenceId, Sequence> sequences_;
  std::map<int64_t, std::vector<uint64_t>> free_;  // by bytes of a page
  std::vector<std::unique_ptr<DeviceBuffer>> slabs_;
  int64_t next_ = 0, used_ = 0;
};

}  // namespace stormcell
