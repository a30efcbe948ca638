// An item of a dataset as its source has it, with the data's statements about it.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cell/picture_size.h"

namespace stormcell {

/// A pixel of a ClassMap that does not count.
inline constexpr int32_t kNotJudged = -1;
/// The class of each pixel of a picture.
struct ClassMap {
  PictureSize size = {};
  std::vector<int32_t> classes;  ///< [height, width], or kNotJudged
  std::vector<int32_t> shown;    ///< classes of all pixels, also of those that are not judged; each once, ascending
};
/// The picture that the model should compute.
struct TargetPicture {
  std::array<int64_t, 3> shape{};  ///< height, width, channels
  std::vector<float> values;       ///< of that shape, 0 to 1
  std::vector<uint8_t> judged;     ///< [height, width] 0: a pixel that does not count; empty: all count
};

struct Sequence {
  std::vector<int32_t> ids, decoder_ids;
  std::vector<int32_t> mask, decoder_mask;  ///< empty: all ones
  std::string text, target, label;
  std::vector<int32_t> target_ids;
  std::vector<int32_t> label_ids;    ///< one, or one a cell; empty: `label` says it, or nothing
  std::vector<float> pixels;         ///< [height, width, channels]
  PictureSize picture = {};          ///< height and width of the pixels
  float darkest = 0, brightest = 1;  ///< of an outline: the smallest and the largest pixel
};

/// A part of the data that cannot be fed and was passed over: a file of a folder.
struct SkippedItem {
  std::string name, reason;  ///< the reason as an Error says it, without the file
};

}  // namespace stormcell
