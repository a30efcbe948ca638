// Inputs that a model requires of its data, identified by role, never by name.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/cell/picture_size.h"

namespace stormcell {

/// Role of a graph's input. Code that fills inputs looks it up by role, never by name.
enum class InputRole : uint8_t {
  none,
  ids,        ///< token ids
  mask,       ///< 1 where a cell of its space is real, 0 where it pads
  label,      ///< the branch, or the class, that is given with a cell
  pixels,     ///< [height, width, channels]
  positions,  ///< the place of a cell in its sequence: real cells before it; 1 in padding
  target,     ///< token ids that teach a decoder: its start token, then what it should give; where the data has no
              ///< targets, the ids
  item,       ///< the number of an item in the data
};
std::string_view to_text(InputRole role);
/// none for an unknown word.
InputRole parse_role(std::string_view text);

/// One input of a model, as its data has to bring it: shape [items x cells of an item, content...].
struct InputSpec {
  std::string name;
  DType dtype = DType::i32;
  InputRole role = InputRole::none;
  std::string space;             ///< the cell space it lives over
  std::string parent;            ///< the space above; empty: its cells are the items themselves
  int64_t cells_per_item = 0;    ///< 1 where its cells are the items; 0: as many as the longest item of a batch has
  std::vector<int64_t> content;  ///< of one cell; pixels: [height, width, channels]
  int64_t classes = 0;           ///< label: numbers are below it; 0: any number
  /// pixels: heights and widths that fit too, beside those of `content`; none: no others do.
  std::optional<PictureSizes> sizes = {};
  bool operator==(const InputSpec&) const = default;
};

/// True if one of them has the role.
bool asks_for(const std::vector<InputSpec>& inputs, InputRole role);

}  // namespace stormcell
