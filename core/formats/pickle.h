// Python's pickles as values. No code of a pickle ever runs. Only the classes and functions that rebuild tensors and
// ordered dictionaries are known by name, and this code does their work; any other is refused by its name.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"

namespace stormcell {

struct PickleNode;

/// A value of a pickle. Small ones are stored in it, others in a node of their pickle; the pickle and its bytes must
/// outlive it.
struct PickleValue {
  enum class Kind : uint8_t { none, boolean, whole, real, text, list, tuple, dict, tensor, storage, global, object };
  Kind kind = Kind::none;
  uint32_t size = 0;  ///< of a text, in bytes
  union {
    int64_t whole = 0;  ///< also of a boolean
    double real;
    const char* begin;  ///< of a text
    PickleNode* node;   ///< of all others
  };
  bool is(Kind k) const { return kind == k; }
  std::string_view text() const { return kind == Kind::text ? std::string_view(begin, size) : std::string_view(); }
  /// Items of a list, tuple or object; keys and values of a dictionary in turn; else empty.
  std::span<const PickleValue> items() const;
  /// The value under a text key of a dictionary; null: there is none.
  const PickleValue* find(std::string_view key) const;
};

/// Arguments of torch._utils._rebuild_tensor_v2.
struct PickleTensor {
  DType dtype{};
  std::string_view storage;      ///< its key
  int64_t storage_elements = 0;  ///< as the pickle says
  int64_t offset = 0;            ///< elements
  std::vector<int64_t> shape, strides;
};

struct PickleNode {
  std::vector<PickleValue> items;
  std::unique_ptr<PickleTensor> tensor;  ///< of tensors and storages
  std::string_view name;                 ///< of globals and objects: "torch._utils._rebuild_tensor_v2"
};

/// A class or function that a pickle names and that does not rebuild tensors.
enum class UnknownGlobals : uint8_t {
  refused,
  kept,  ///< as a name; a call of it becomes an object, whose items are its arguments and its state
};

class Pickle {
 public:
  /// Protocols 2 to 5. Error(bad_input) that begins with `where`: a global that is not known, an instruction that is
  /// not needed, damage.
  Pickle(std::span<const std::byte> bytes, const std::string& where, UnknownGlobals unknown = UnknownGlobals::refused);
  const PickleValue& root() const { return root_; }
  /// Bytes of the pickle: another one may follow it.
  size_t size() const { return size_; }

 private:
  std::deque<PickleNode> nodes_;
  std::deque<std::string> names_;  ///< of unknown globals
  size_t size_ = 0;
  PickleValue root_;
};

}  // namespace stormcell
