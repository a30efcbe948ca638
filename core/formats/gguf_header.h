// The header of a GGUF file, version 2 or 3: its keys and the places of its tensors. Lists such as vocabularies are
// passed over.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

class HeaderBytes;

/// A number format of GGML.
struct GgmlType {
  uint32_t id = 0;
  std::string_view name;  ///< "Q4_K"
  int32_t block_elements = 1, block_bytes = 0;
};
/// Null: the id is not known.
const GgmlType* ggml_type(uint32_t id);

/// A list under a key.
struct GgufList {
  uint64_t count = 0;
  std::vector<int64_t> numbers;  ///< its first elements, if they are whole numbers or flags
  std::string first;             ///< its first element, if it is a text
};

struct GgufEntries {
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, int64_t, std::less<>> numbers;  ///< flags too
  std::map<std::string, double, std::less<>> reals;
  std::map<std::string, GgufList, std::less<>> lists;

  /// Empty: there is no such text.
  std::string_view text(std::string_view key) const;
  std::optional<int64_t> number(std::string_view key) const;
};

struct GgufPlace {
  std::string name;
  std::vector<int64_t> dims;  ///< the first is that of neighbours
  uint32_t type = 0;          ///< 0 is F32
  uint64_t offset = 0;        ///< from the end of the header on
  /// Elements divided into blocks; nothing: the type is not known, or a row is not whole blocks.
  std::optional<uint64_t> bytes() const;
};

struct GgufHeader {
  uint32_t version = 0;
  GgufEntries keys;
  uint64_t tensors = 0;
  uint64_t data_begin = 0;  ///< offset in the file
};
/// Receives the elements of lists, which the header itself has only the beginnings of.
class GgufListTaker {
 public:
  virtual ~GgufListTaker() = default;
  virtual bool takes(std::string_view key) const = 0;
  virtual void text(std::string_view key, std::string&& element) = 0;
  virtual void number(std::string_view key, double element) = 0;
};
/// Hands every tensor to `see` in the order of the file. Error(bad_input): damaged, of another version, beyond the
/// limits: 512 MiB, 65,536 keys, 10^6 tensors, 16 MiB of texts.
GgufHeader read_gguf_header(HeaderBytes& bytes, const std::function<void(GgufPlace&&)>& see,
                            GgufListTaker* taker = nullptr);

inline bool is_gguf(std::string_view content) { return content.starts_with("GGUF"); }
/// True of a file that begins so, whatever its name is. Error(bad_input) if it cannot be read.
bool has_gguf_mark(const std::string& path);

}  // namespace stormcell
