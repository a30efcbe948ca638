// random:NxT[xU]: N sequences of T seeded ids (U: the decoder's); random:N[xHxW[xC]]: N pictures; the same on every
// machine.
#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "core/base/error.h"
#include "core/data/picture_form.h"
#include "core/data/sequence_source.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {
// Counter-based (SplitMix64's finaliser): an id depends on the seed and its place only, so batches are made in any
// order.
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Parses "8x128" as {8, 128}: one to four numbers from 1 on; empty for other texts.
std::vector<int64_t> parse_sizes(std::string_view text) {
  std::vector<int64_t> sizes;
  for (;;) {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 1 || sizes.size() == 4) return {};
    sizes.push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return sizes;
    if (text.front() != 'x') return {};
    text.remove_prefix(1);
  }
}
std::vector<int64_t> sizes_in(const std::string& spec) {
  return parse_sizes(std::string_view(spec).substr(std::string_view("random:").size()));
}

struct Sizes {
  int64_t sequences = 0, length = 0, decoder_length = 0;
};

class RandomSource : public SequenceSource {
 public:
  RandomSource(std::string spec, const Sizes& sizes, const DataOptions& options)
      : spec_(std::move(spec)), sizes_(sizes), seed_(mixed(options.seed)) {
    // The first three ids are padding, end and unknown; a vocabulary without room for that is used whole.
    lowest_ = options.vocabulary > 3 ? 3 : 0;
    range_ = static_cast<uint64_t>(options.vocabulary - lowest_);
    for (const InputSpec& spec : options.inputs)
      if (spec.role == InputRole::label)
        labels_ = std::min(labels_ > 0 ? labels_ : kAnyLabel, spec.classes > 0 ? spec.classes : kAnyLabel);
  }
  int64_t size() const override { return sizes_.sequences; }
  Contents contents() const override { return {.decoder_ids = sizes_.decoder_length > 0, .label_ids = labels_ > 0}; }
  const std::string& where() const override { return spec_; }
  Sequence sequence(int64_t index) const override {
    return {.ids = ids(index, 0, sizes_.length),
            .decoder_ids = ids(index, 1, sizes_.decoder_length),
            .label_ids = label(index)};
  }

 private:
  /// Labels are below this if any number is a label.
  static constexpr int64_t kAnyLabel = 1 << 16;

  /// One label for the item, all equally likely.
  std::vector<int32_t> label(int64_t index) const {
    if (labels_ == 0) return {};
    const uint64_t high_bits = mixed(~mixed(seed_ ^ mixed(static_cast<uint64_t>(index) * 2))) >> 32;
    return {static_cast<int32_t>(high_bits * static_cast<uint64_t>(labels_) >> 32)};
  }
  std::vector<int32_t> ids(int64_t index, uint64_t side, int64_t length) const {
    const uint64_t stream = mixed(seed_ ^ mixed(static_cast<uint64_t>(index) * 2 + side));
    std::vector<int32_t> ids(length);
    for (size_t i = 0; i < ids.size(); ++i) {
      const uint64_t high_bits = mixed(stream + i) >> 32;
      ids[i] = static_cast<int32_t>(lowest_ + static_cast<int64_t>(high_bits * range_ >> 32));
    }
    return ids;
  }

  std::string spec_;
  Sizes sizes_;
  uint64_t seed_;
  int64_t lowest_ = 0, labels_ = 0;  ///< labels are below it; 0: none are asked for
  uint64_t range_ = 1;
};

/// Pixels from 0 up to 1: the mean of noise for each pixel and noise for squares of 16 pixels, so that parts of a
/// picture differ.
class RandomPictures : public SequenceSource {
 public:
  RandomPictures(std::string spec, int64_t items, uint64_t seed, PictureSize size, int64_t channels)
      : spec_(std::move(spec)), items_(items), seed_(mixed(seed)), size_(size), channels_(channels) {}
  int64_t size() const override { return items_; }
  Contents contents() const override { return {.ids = false, .pixels = true}; }
  const std::string& where() const override { return spec_; }
  std::string place(int64_t index) const override { return "picture " + std::to_string(index); }
  Sequence sequence(int64_t index) const override {
    const Noise noise(seed_, index);
    Sequence item{.picture = size_};
    item.pixels.reserve(pixels());
    for (int64_t y = 0; y < size_.height; ++y)
      for (int64_t x = 0; x < size_.width; ++x)
        for (int64_t c = 0; c < channels_; ++c)
          item.pixels.push_back(noise.pixel(std::ssize(item.pixels), square(y, x, c)));
    return item;
  }
  Sequence outline(int64_t index) const override {
    const Noise noise(seed_, index);
    Sequence item{.picture = size_};
    visit_sampled(pixels(), [&](int64_t first, int64_t count) {
      for (int64_t at = first; at < first + count; ++at) {
        const int64_t place = at / channels_;
        item.pixels.push_back(noise.pixel(at, square(place / size_.width, place % size_.width, at % channels_)));
      }
    });
    return item;
  }

 private:
  /// The seeds of a picture's random numbers: one for its pixels, one for its squares.
  struct Noise {
    Noise(uint64_t seed, int64_t index)
        : of_pixels(mixed(seed ^ mixed(static_cast<uint64_t>(index)))), of_squares(mixed(~of_pixels)) {}
    float pixel(int64_t at, int64_t square) const {
      return (part(of_pixels + static_cast<uint64_t>(at)) + part(of_squares + static_cast<uint64_t>(square))) / 2;
    }
    /// A number from 0 up to 1.
    static float part(uint64_t place) { return static_cast<float>(mixed(place) >> 40) * 0x1p-24F; }
    uint64_t of_pixels, of_squares;
  };
  static constexpr int64_t kSquare = 16;
  int64_t square(int64_t y, int64_t x, int64_t channel) const {
    return (y / kSquare * (size_.width / kSquare + 1) + x / kSquare) * channels_ + channel;
  }
  int64_t pixels() const { return size_.pixels() * channels_; }

  std::string spec_;
  int64_t items_;
  uint64_t seed_;
  PictureSize size_;
  int64_t channels_;
};
}  // namespace

std::unique_ptr<const SequenceSource> make_random_sequences(const std::string& spec, const DataOptions& options) {
  constexpr int64_t kMaxSequences = 100'000'000, kMaxLength = 1 << 24;
  const std::vector<int64_t> given = sizes_in(spec);
  const Sizes sizes = given.size() == 2   ? Sizes{given[0], given[1], 0}
                      : given.size() == 3 ? Sizes{given[0], given[1], given[2]}
                                          : Sizes{};
  if (sizes.sequences == 0)
    bad_input(spec, "is not random:NxT or random:NxTxU", "for example random:64x128: 64 sequences of 128 tokens");
  if (sizes.sequences > kMaxSequences || sizes.length > kMaxLength || sizes.decoder_length > kMaxLength)
    bad_input(spec, "is too large", "at most 100000000 sequences of 16777216 tokens");
  if (sizes.decoder_length > 0 && !asks_for(options.inputs, InputRole::target))
    bad_input(spec, "gives decoder inputs, and this model has no decoder beside an encoder", "random:NxT");
  if (options.vocabulary < 1 || options.vocabulary > std::numeric_limits<int32_t>::max())
    bad_input(spec, "needs a model with a vocabulary", "name data that the model takes");
  return std::make_unique<RandomSource>(spec, sizes, options);
}

std::unique_ptr<const SequenceSource> make_random_pictures(const std::string& spec, const DataOptions& options,
                                                           const PictureForm& form) {
  constexpr int64_t kMaxItems = 100'000'000;
  const std::vector<int64_t> sizes = sizes_in(spec);
  if (sizes.empty() || sizes.size() == 2)
    bad_input(spec, "is not random:N or random:NxHxW[xC]",
              "for example random:64, or random:64x48x80: 64 pictures of 48 x 80 pixels");
  if (sizes[0] > kMaxItems) bad_input(spec, "is too large", "at most 100000000 pictures");
  const PictureSize size = sizes.size() > 1 ? PictureSize{sizes[1], sizes[2]} : form.size;
  const int64_t channels = sizes.size() > 3 ? sizes[3] : form.channels;
  if (!form.takes(size, channels))
    bad_input(spec, "gives pictures of another size than the model takes: " + form.to_text(),
              "random:" + std::to_string(sizes[0]) + " gives those that fit");
  return std::make_unique<RandomPictures>(spec, sizes[0], options.seed, size, channels);
}

}  // namespace stormcell
