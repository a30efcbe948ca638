// The form of pictures that a model takes, for checks of all sources.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cell/input_spec.h"
#include "core/data/sequence.h"
#include "core/formats/file_range.h"
#include "core/formats/picture_file.h"

namespace stormcell {

/// [height, width, channels] that an input of the role pixels takes.
struct PictureForm {
  explicit PictureForm(const InputSpec& pixels);
  PictureSize size;                   ///< size that the model states
  int64_t channels = 0;               ///< always these
  std::optional<PictureSizes> sizes;  ///< others that fit too; none: no others

  bool takes(PictureSize came, int64_t came_channels) const;
  /// Throws Error(bad_input) naming `where` with `what` ("picture.npy holds a picture of"), the size that came and the
  /// size that fits.
  void check(const std::string& where, const std::string& what, PictureSize came, int64_t came_channels) const;
  /// Checks a file: its channels may differ from the model's if in_channels() can convert them. Those of an array must
  /// be equal.
  void check(const std::string& where, const PictureFile& file) const;
  /// "[64, 64, 3]", or "[height, width, 3], heights and widths of 16 to 8192 pixels".
  std::string to_text() const;
};

/// Throws Error(bad_input) if a batch of so many pictures has more than 2^31 values: it could not be run.
void check_batch_of_pictures(int64_t items, PictureSize size, int64_t channels);

/// Pixels from the bytes of an array: u8 become 0 to 1, f32 stay. Error(bad_input) naming `where` and the array for
/// other formats.
void expect_pixels(const std::string& where, const std::string& name, DType type);
std::vector<float> pixels_of(DType type, const FileRange& bytes);

/// Visits samples of `values` values of a picture, enough to tell it from others: runs of 32, evenly spread; all values
/// if they are few. Calls visit(first, count) for each run.
template <class Visit>
void visit_sampled(int64_t values, Visit visit) {
  constexpr int64_t kRun = 32, kRuns = 8;
  if (values <= kRun * kRuns) return visit(int64_t{0}, values);
  for (int64_t run = 0; run < kRuns; ++run) visit((values - kRun) * run / (kRuns - 1), kRun);
}
/// The samples of these values.
std::vector<float> sampled(const std::vector<float>& values);

/// Reads what opening the data needs: the size, sampled pixels, and for f32 the smallest and the largest value (one
/// pass over all pixels). Bytes need no such pass, they are always in range. Error(bad_input) naming `where` and
/// `place` if pixels are not finite.
Sequence outline_of(const std::string& where, const std::string& place, PictureSize size, DType type,
                    const FileRange& bytes);
/// The form of arrays of pixels, for errors.
inline constexpr const char* kPixelsForm =
    "give u8 from 0 to 255, or f32 from 0 to 1, as [items, height, width, channels]";

}  // namespace stormcell
