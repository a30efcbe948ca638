// An item as it is fed: cut, checked, with masks, labels and the decoder's ids.
#pragma once
#include "core/data/dataset.h"
#include "core/data/sequence_source.h"

namespace stormcell {

struct Dataset::Prepared {
  Sequence sequence;
  bool cut = false;
  ItemLength given;  ///< with the padding behind its last real cells that the data have themselves
  ItemLength real;   ///< without padding; at least one cell unless it is empty

  /// Lengths of the item as the model gets it: `given`, or `real` in batches of like length.
  ItemLength lengths() const {
    return {static_cast<int32_t>(sequence.ids.size()), static_cast<int32_t>(sequence.decoder_ids.size()),
            sequence.picture};
  }
  const std::vector<int32_t>& ids(Content content) const {
    return content == Content::target ? sequence.decoder_ids : sequence.ids;
  }
  const std::vector<int32_t>& mask(Content content) const {
    return content == Content::target ? sequence.decoder_mask : sequence.mask;
  }
};

}  // namespace stormcell
