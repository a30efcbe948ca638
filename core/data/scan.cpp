// Opening a dataset: everything is looked at once, checked, counted and put into batches.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/data/picture_form.h"
#include "core/data/prepared.h"

namespace stormcell {
namespace {

// 64-bit FNV-1a over words instead of bytes: it only labels the inputs.
class Fingerprint {
 public:
  void add(int64_t value) {
    hash_ = (hash_ ^ static_cast<uint64_t>(value)) * 0x100000001b3u;
    hash_ ^= hash_ >> 29;
  }
  void add(const std::vector<int32_t>& values) {
    add(std::ssize(values));
    for (const int32_t value : values) add(int64_t{value});
  }
  /// Absent fields add nothing, so that data without them keep their older fingerprint.
  template <class T>
  void add_also(const std::vector<T>& values) {
    for (const T value : values) add(int64_t{std::bit_cast<int32_t>(value)});
  }
  void add(const TargetPicture& target) {
    for (const int64_t extent : target.shape) add(extent);
    add_also(target.values);
    for (const uint8_t judged : target.judged) add(int64_t{judged});
  }
  std::string text() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[hash_ >> shift & 15];
    return text;
  }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

/// Both items are of one batch, so their pictures have one size.
ItemLength longer(const ItemLength& a, const ItemLength& b) {
  return {std::max(a.ids, b.ids), std::max(a.target, b.target), std::max(a.picture, b.picture)};
}

int64_t count_ones(const std::vector<int32_t>& mask) { return std::count(mask.begin(), mask.end(), 1); }

void look_at(const std::vector<int32_t>& mask, Padding& padding) {
  const auto ones = count_ones(mask);
  padding.some_in_each = padding.some_in_each && ones > 0;
  padding.last = padding.last && std::all_of(mask.begin(), mask.begin() + ones, [](int32_t m) { return m == 1; });
}

}  // namespace

void Dataset::check_batch_size(int64_t items, int64_t length) const {
  constexpr int64_t kMaxCells = int64_t{1} << 31;  // more could not be run, and fewer overflow nothing here
  if (items * length > kMaxCells)
    bad_input(source_->where(),
              "a batch of " + counted(items, "sequence") + " of " + counted(length, "token") + " is too large",
              "choose a smaller --batch");
}

/// Lengths of a batch whose longest items are `longest`. A decoder without ids of its own sees the encoder's matrix,
/// padding included.
ItemLength Dataset::padded(const ItemLength& longest) const {
  const auto ids = std::max(static_cast<int32_t>(options_.length), longest.ids);
  return {ids, target_follows_ids() ? ids : longest.target, longest.picture};
}

// Reads everything once, in the data's order: checks it, finds the sizes, counts the cells.
void Dataset::scan() {
  for (const Space& space : filled_) spaces_.push_back({space.name, space.content != Content::fixed, 0, 0, 0, {}});
  const bool sizes_are_free = std::any_of(options_.inputs.begin(), options_.inputs.end(),
                                          [](const InputSpec& i) { return i.sizes.has_value(); });
  std::vector<ItemLength> given, real;
  Fingerprint fingerprint;
  fingerprint.add(options_.batch);
  arrangement_ = Arrangement::as_given(items_, options_.batch);
  for (int64_t b = 0; b < batch_count(); ++b) {
    const std::vector<int64_t> items = arrangement_.items_of(b);
    ItemLength longest;
    options_.cancel.check();
    for (const int64_t i : items) {
      const Prepared prepared = prepare(source_->outline(i), i);
      const Sequence& s = prepared.sequence;
      check_ids(s.ids, "input", i);
      check_ids(s.decoder_ids, "decoder input", i);
      check_ids(s.target_ids, "target", i);
      check_labels(s, i);
      look_at_range(s, i);
      given.push_back(prepared.given);
      real.push_back(prepared.real);
      longest = longer(longest, prepared.lengths());
      check_batch_size(std::ssize(items), std::max(padded(longest).ids, longest.target));
      truncated_ += prepared.cut;
      for (const auto* values : {&s.ids, &s.mask, &s.decoder_ids, &s.decoder_mask}) fingerprint.add(*values);
      fingerprint.add_also(s.label_ids);
      fingerprint.add_also(s.pixels);
      if (has_target_pictures()) fingerprint.add(source_->target_outline(i));
      if (has_target_classes()) fingerprint.add(source_->target_classes(i).classes);
      if (sizes_are_free) fingerprint.add(s.picture.height), fingerprint.add(s.picture.width);
      real_.push_back(0);
      for (size_t k = 0; k < filled_.size(); ++k) {
        if (!spaces_[k].holds_tokens) continue;
        const std::vector<int32_t>& mask = prepared.mask(filled_[k].content);
        const int64_t ones = count_ones(mask);
        spaces_[k].real += ones;
        real_.back() += static_cast<int32_t>(ones);
        look_at(mask, spaces_[k].padding);
      }
    }
    fingerprint.add(int64_t{padded(longest).ids});
  }
  options_.cancel = {};  // what is asked later is another call's
  arrange(given, real);
  check_real_cells();
  warn_of_range();
  if (!arrangement_.is_as_given())
    for (int64_t b = 0; b < batch_count(); ++b)
      for (const int64_t item : arrangement_.items_of(b)) fingerprint.add(item);
  fingerprint_ = fingerprint.text();
}

ItemLength Dataset::padded_batch(const Arrangement& arrangement, const std::vector<ItemLength>& lengths,
                                 int64_t batch) const {
  ItemLength longest;
  for (const int64_t item : arrangement.items_of(batch)) longest = longer(longest, lengths[item]);
  return padded(longest);
}

void Dataset::warn_of_range() {
  if (out_of_range_.pictures == 0) return;
  char range[64];
  std::snprintf(range, sizeof range, "%.3g to %.3g", static_cast<double>(out_of_range_.darkest),
                static_cast<double>(out_of_range_.brightest));
  warnings_.push_back(source_->where() + ": " + std::to_string(out_of_range_.pictures) + " of " +
                      std::to_string(lengths_.size()) +
                      " pictures hold pixels far from 0 to 1, which models of pictures take; the first is " +
                      source_->place(out_of_range_.first) + ", from " + range + "; give f32 divided by 255, or u8");
}

/// Takes the arrangement that was asked for, and counts the cells of both.
void Dataset::arrange(const std::vector<ItemLength>& given, const std::vector<ItemLength>& real) {
  Arrangement as_given = Arrangement::by_size(given, options_.batch),
              by_length = Arrangement::by_length(real, options_.batch);
  // Pictures of several sizes fill more batches than their number asks for.
  if (options_.batches >= 0) as_given.keep(options_.batches), by_length.keep(options_.batches);
  arrangement_ = options_.bucket_by_length ? by_length : as_given;
  lengths_ = options_.bucket_by_length ? real : given;
  count_sizes();
  const auto tokens = [&](const Arrangement& arrangement, const std::vector<ItemLength>& lengths) {
    int64_t sum = 0;
    for (int64_t b = 0; b < arrangement.batches(); ++b) {
      const ItemLength padded = padded_batch(arrangement, lengths, b);
      const auto items = std::ssize(arrangement.items_of(b));
      check_batch_size(items, std::max(padded.ids, padded.target));
      for (const Space& space : filled_)
        if (space.content != Content::fixed) sum += items * cells_of(space, padded);
    }
    return sum;
  };
  given_tokens_ = tokens(as_given, given);
  tokens_by_length_ = tokens(by_length, real);
  for (int64_t b = 0; b < batch_count(); ++b) {
    const ItemLength padded = padded_batch(arrangement_, lengths_, b);
    const auto items = std::ssize(arrangement_.items_of(b));
    for (size_t k = 0; k < filled_.size(); ++k) {
      const int64_t cells = cells_of(filled_[k], padded);
      spaces_[k].cells += items * cells;
      if (!spaces_[k].holds_tokens) spaces_[k].real += items * cells;
      spaces_[k].most_per_item = std::max(spaces_[k].most_per_item, cells);
    }
  }
}

/// Items in batches, and which sizes they have.
void Dataset::count_sizes() {
  std::map<PictureSize, SizeCount> counts;
  const int64_t asked_for = items_;
  items_ = 0;
  for (int64_t b = 0; b < batch_count(); ++b) {
    const std::vector<int64_t> items = arrangement_.items_of(b);
    const PictureSize size = lengths_[items.front()].picture;
    SizeCount& count = counts[size];
    count.size = size;
    const auto number = std::ssize(items);
    ++count.batches;
    count.items += number;
    count.largest_batch = std::max(count.largest_batch, number);
    max_items_ = std::max(max_items_, number);
    items_ += number;
  }
  for (const auto& [size, count] : counts)
    if (size != PictureSize()) sizes_.push_back(count);
  for (const InputSpec& spec : options_.inputs)
    if (spec.role == InputRole::pixels)
      for (const SizeCount& s : sizes_) check_batch_of_pictures(s.largest_batch, s.size, spec.content[2]);
  if (items_ < asked_for)
    warnings_.push_back("--batches " + std::to_string(options_.batches) + " leaves out " +
                        std::to_string(asked_for - items_) + " of the first " + std::to_string(asked_for) +
                        " pictures: a batch holds pictures of one size, so they fill more batches");
}

}  // namespace stormcell
