#include "core/data/dataset.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/data/picture_form.h"
#include "core/data/prepared.h"
#include "core/formats/tokenizer.h"

namespace stormcell {
namespace {
void check_options(const DataOptions& options) {
  constexpr int64_t kMaxBatch = 1 << 24, kMaxLength = 1 << 24;
  if (options.batch < 1 || options.batch > kMaxBatch) bad_input("--batch", std::to_string(options.batch) + " sequences", "1 to 16777216");
  if (options.batches < -1 || options.batches == 0) bad_input("--batches", std::to_string(options.batches) + " batches", "at least 1");
  if (options.length < 0 || options.length > kMaxLength) bad_input("--length", std::to_string(options.length) + " tokens", "1 to 16777216");
  if (options.max_length > 0 && options.length > options.max_length)
    bad_input("--length", std::to_string(options.length) + " tokens, the model takes at most " + std::to_string(options.max_length),
              "choose a smaller length");
}

// 64-bit FNV-1a over words instead of bytes: no more than a label of what was fed.
class Fingerprint {
 public:
  void add(int64_t value) {
    hash_ = (hash_ ^ static_cast<uint64_t>(value)) * 0x100000001b3u;
    hash_ ^= hash_ >> 29;
  }
  void add(const std::vector<int32_t>& values) {
    add(static_cast<int64_t>(values.size()));
    for (const int32_t value : values) add(int64_t{value});
  }
  /// Nothing of what is not there: data without it keep the fingerprint that they had before it could be read.
  template <class T>
  void add_also(const std::vector<T>& values) {
    for (const T value : values) add(int64_t{std::bit_cast<int32_t>(value)});
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

/// Of items of one batch, whose pictures have one size.
ItemLength longer(const ItemLength& a, const ItemLength& b) {
  return {std::max(a.ids, b.ids), std::max(a.target, b.target), std::max(a.picture, b.picture)};
}

int64_t count_ones(const std::vector<int32_t>& mask) { return std::count(mask.begin(), mask.end(), 1); }

void look_at(const std::vector<int32_t>& mask, Padding& padding) {
  const auto ones = count_ones(mask);
  padding.some_in_each = padding.some_in_each && ones > 0;
  padding.last = padding.last && std::all_of(mask.begin(), mask.begin() + ones, [](int32_t m) { return m == 1; });
}

// Appends a row to a padded matrix.
void append_row(std::vector<int32_t>& matrix, const std::vector<int32_t>& row, int64_t length, int32_t padding) {
  matrix.insert(matrix.end(), row.begin(), row.end());
  matrix.insert(matrix.end(), static_cast<size_t>(length) - row.size(), padding);
}

// The number of real cells before each; 1 in padding, as the operator `positions` has it. Without a mask all cells are real.
void append_positions(std::vector<int32_t>& places, const std::vector<int32_t>* mask, int64_t cells) {
  int32_t before = 0;
  for (int64_t c = 0; c < cells; ++c) {
    const bool real = !mask || (c < static_cast<int64_t>(mask->size()) && (*mask)[static_cast<size_t>(c)] == 1);
    places.push_back(real ? before++ : 1);
  }
}

}  // namespace

int64_t Dataset::cells_of(const Space& space, const ItemLength& lengths) {
  return space.content == Content::ids ? lengths.ids : space.content == Content::target ? lengths.target : space.cells_per_item;
}

std::shared_ptr<const Dataset> Dataset::open(const std::string& spec, std::shared_ptr<const Tokenizer> tokenizer,
                                             const DataOptions& options) {
  check_options(options);
  std::shared_ptr<Dataset> dataset(new Dataset);
  dataset->name_ = spec;
  dataset->options_ = options;
  if (tokenizer) {
    dataset->options_.pad_id = tokenizer->pad_id() >= 0 ? tokenizer->pad_id() : options.pad_id;
    dataset->options_.end_id = tokenizer->end_id() >= 0 ? tokenizer->end_id() : options.end_id;
  }
  dataset->read_spaces();
  dataset->source_ = open_source(spec, tokenizer, options);
  dataset->check_source();
  const int64_t available = dataset->source_->size();
  const bool limited = options.batches >= 0 && options.batches <= available / options.batch;
  dataset->items_ = limited ? options.batches * options.batch : available;
  dataset->scan();
  return dataset;
}

Dataset::~Dataset() = default;

int64_t Dataset::batch_count() const { return arrangement_.batches(); }

int64_t Dataset::max_items(PictureSize size) const {
  const auto at = std::find_if(sizes_.begin(), sizes_.end(), [&](const SizeCount& s) { return s.size == size; });
  return at == sizes_.end() ? max_items_ : at->largest_batch;
}

std::vector<std::string> Dataset::warnings() const { return source_->warnings(); }
bool Dataset::has_targets() const { return source_->contents().target; }
bool Dataset::has_labels() const { return source_->contents().label; }

int64_t Dataset::max_length() const {
  int64_t most = 0;
  for (size_t s = 0; s < filled_.size(); ++s)
    if (filled_[s].content == Content::ids) most = std::max(most, spaces_[s].most_per_item);
  return most;
}

const SpaceCells* Dataset::find_space(std::string_view name) const {
  const auto at = std::find_if(spaces_.begin(), spaces_.end(), [&](const SpaceCells& s) { return s.space == name; });
  return at == spaces_.end() ? nullptr : &*at;
}

CellTotals Dataset::cells() const {
  CellTotals totals;
  for (const SpaceCells& space : spaces_)
    if (space.holds_tokens) totals.cells += space.cells, totals.real += space.real;
  if (totals.cells == 0) return {items_, items_, items_, items_};
  totals.as_given = given_tokens_, totals.by_length = tokens_by_length_;
  return totals;
}

bool Dataset::asks_for(Content content) const {
  return std::any_of(filled_.begin(), filled_.end(), [&](const Space& s) { return s.content == content; });
}

void Dataset::check_batch_size(int64_t items, int64_t length) const {
  constexpr int64_t kMaxCells = int64_t{1} << 31;  // more could not be run, and fewer overflow nothing here
  if (items * length > kMaxCells)
    bad_input(source_->where(), "a batch of " + std::to_string(items) + " sequences of " + std::to_string(length) + " tokens is too large",
              "choose a smaller --batch");
}

/// Of a batch whose longest items are as long as `longest`. Without ids of its own the decoder sees the encoder's matrix, padding included.
ItemLength Dataset::padded(const ItemLength& longest) const {
  const auto ids = std::max(static_cast<int32_t>(options_.length), longest.ids);
  return {ids, target_follows_ids() ? ids : longest.target, longest.picture};
}

// Reads everything once, in the data's order: checks it, finds the sizes, counts the cells.
void Dataset::scan() {
  for (const Space& space : filled_) spaces_.push_back({space.name, space.content != Content::fixed, 0, 0, 0, {}});
  std::vector<ItemLength> given, real;
  const bool sizes_are_free =
      std::any_of(options_.inputs.begin(), options_.inputs.end(), [](const InputSpec& i) { return i.sizes.has_value(); });
  Fingerprint fingerprint;
  fingerprint.add(options_.batch);
  arrangement_ = Arrangement::as_given(items_, options_.batch);
  for (int64_t b = 0; b < batch_count(); ++b) {
    const std::vector<int64_t> items = arrangement_.items_of(b);
    ItemLength longest;
    for (const int64_t i : items) {
      const Prepared prepared = prepare(i);
      const Sequence& s = prepared.sequence;
      check_ids(s.ids, "input", i);
      check_ids(s.decoder_ids, "decoder input", i);
      check_ids(s.target_ids, "target", i);
      check_labels(s, i);
      check_pixels(s, i);
      given.push_back(prepared.given);
      real.push_back(prepared.real);
      longest = longer(longest, prepared.lengths());
      check_batch_size(static_cast<int64_t>(items.size()), std::max(padded(longest).ids, longest.target));
      truncated_ += prepared.cut;
      for (const auto* values : {&s.ids, &s.mask, &s.decoder_ids, &s.decoder_mask}) fingerprint.add(*values);
      fingerprint.add_also(s.label_ids);
      fingerprint.add_also(s.pixels);
      if (sizes_are_free) fingerprint.add(s.picture.height), fingerprint.add(s.picture.width);
      for (size_t k = 0; k < filled_.size(); ++k) {
        if (!spaces_[k].holds_tokens) continue;
        const std::vector<int32_t>& mask = prepared.mask(filled_[k].content);
        spaces_[k].real += count_ones(mask);
        look_at(mask, spaces_[k].padding);
      }
    }
    fingerprint.add(int64_t{padded(longest).ids});
  }
  arrange(given, real);
  if (!arrangement_.is_as_given())
    for (int64_t b = 0; b < batch_count(); ++b)
      for (const int64_t item : arrangement_.items_of(b)) fingerprint.add(item);
  fingerprint_ = fingerprint.text();
}

/// Takes the arrangement that was asked for, and counts the cells of both.
void Dataset::arrange(const std::vector<ItemLength>& given, const std::vector<ItemLength>& real) {
  Arrangement as_given = Arrangement::by_size(given, options_.batch), by_length = Arrangement::by_length(real, options_.batch);
  // Pictures of several sizes fill more batches than their number asks for.
  if (options_.batches >= 0) as_given.keep(options_.batches), by_length.keep(options_.batches);
  arrangement_ = options_.bucket_by_length ? by_length : as_given;
  count_sizes(given);
  const auto padded_batch = [&](const Arrangement& arrangement, const std::vector<ItemLength>& lengths, int64_t batch) {
    ItemLength longest;
    for (const int64_t item : arrangement.items_of(batch)) longest = longer(longest, lengths[static_cast<size_t>(item)]);
    return padded(longest);
  };
  const auto tokens = [&](const Arrangement& arrangement, const std::vector<ItemLength>& lengths) {
    int64_t sum = 0;
    for (int64_t b = 0; b < arrangement.batches(); ++b) {
      const ItemLength padded = padded_batch(arrangement, lengths, b);
      const auto items = static_cast<int64_t>(arrangement.items_of(b).size());
      check_batch_size(items, std::max(padded.ids, padded.target));
      for (const Space& space : filled_)
        if (space.content != Content::fixed) sum += items * cells_of(space, padded);
    }
    return sum;
  };
  given_tokens_ = tokens(as_given, given);
  tokens_by_length_ = tokens(by_length, real);
  for (int64_t b = 0; b < batch_count(); ++b) {
    const ItemLength padded = padded_batch(arrangement_, options_.bucket_by_length ? real : given, b);
    const auto items = static_cast<int64_t>(arrangement_.items_of(b).size());
    for (size_t k = 0; k < filled_.size(); ++k) {
      const int64_t cells = cells_of(filled_[k], padded);
      spaces_[k].cells += items * cells;
      if (!spaces_[k].holds_tokens) spaces_[k].real += items * cells;
      spaces_[k].most_per_item = std::max(spaces_[k].most_per_item, cells);
    }
  }
}

/// Items in batches, and which sizes they have.
void Dataset::count_sizes(const std::vector<ItemLength>& lengths) {
  std::map<PictureSize, SizeCount> counts;
  items_ = 0;
  for (int64_t b = 0; b < batch_count(); ++b) {
    const std::vector<int64_t> items = arrangement_.items_of(b);
    const PictureSize size = lengths[static_cast<size_t>(items.front())].picture;
    SizeCount& count = counts[size];
    count.size = size;
    const auto number = static_cast<int64_t>(items.size());
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
}

bool Dataset::target_follows_ids() const {
  const SequenceSource::Contents contents = source_->contents();
  return asks_for(Content::target) && !contents.target && !contents.decoder_ids;
}

BatchCells Dataset::space_of(const Space& space, const std::vector<Prepared>& rows, const ItemLength& lengths) const {
  const int64_t per_item = cells_of(space, lengths);
  BatchCells filled{space.name, space.parent, space.content != Content::fixed, static_cast<int32_t>(per_item), {}};
  if (filled.holds_tokens)
    for (const Prepared& row : rows) append_row(filled.real, row.mask(space.content), per_item, 0);
  else if (space.has_mask)
    filled.real.assign(rows.size() * static_cast<size_t>(per_item), 1);
  return filled;
}

BatchInput Dataset::input_of(const InputSpec& spec, const std::vector<Prepared>& rows, const ItemLength& lengths) const {
  const Space& space = *std::find_if(filled_.begin(), filled_.end(), [&](const Space& s) { return s.name == spec.space; });
  const int64_t per_item = cells_of(space, lengths);
  BatchInput input{spec.name, spec.role, {static_cast<int64_t>(rows.size()) * per_item}, {}, {}};
  std::vector<int64_t> content = spec.content;
  if (spec.role == InputRole::pixels) content = {lengths.picture.height, lengths.picture.width, spec.content[2]};
  input.shape.insert(input.shape.end(), content.begin(), content.end());
  for (const Prepared& row : rows) {
    const std::vector<int32_t>& labels = row.sequence.label_ids;
    if (spec.role == InputRole::pixels)
      input.reals.insert(input.reals.end(), row.sequence.pixels.begin(), row.sequence.pixels.end());
    else if (spec.role == InputRole::label && labels.size() == 1)
      input.integers.insert(input.integers.end(), static_cast<size_t>(per_item), labels[0]);
    else if (spec.role == InputRole::label)
      append_row(input.integers, labels, per_item, 0);
    else if (spec.role == InputRole::positions)
      append_positions(input.integers, space.content == Content::fixed ? nullptr : &row.mask(space.content), per_item);
    else if (spec.role != InputRole::mask)
      append_row(input.integers, row.ids(space.content), per_item, options_.pad_id);
  }
  if (spec.role == InputRole::mask) input.integers = space_of(space, rows, lengths).real;
  return input;
}

Batch Dataset::batch(int64_t index) const {
  if (index < 0 || index >= batch_count()) throw std::out_of_range("batch " + std::to_string(index) + " of " + name_);
  const SequenceSource::Contents contents = source_->contents();
  Batch batch;
  batch.index = index;
  batch.items = arrangement_.items_of(index);
  ItemLength longest;
  std::vector<Prepared> rows;
  rows.reserve(batch.items.size());
  for (const int64_t i : batch.items) {
    rows.push_back(prepare(i));
    batch.truncated += rows.back().cut;
    longest = longer(longest, rows.back().lengths());
  }
  const ItemLength lengths = padded(longest);
  batch.picture = lengths.picture;
  for (const Space& space : filled_) batch.spaces.push_back(space_of(space, rows, lengths));
  for (const InputSpec& spec : options_.inputs) batch.inputs.push_back(input_of(spec, rows, lengths));
  for (Prepared& row : rows) {
    if (contents.text) batch.texts.push_back(std::move(row.sequence.text));
    if (contents.label) batch.labels.push_back(std::move(row.sequence.label));
    if (contents.target) {
      batch.targets.push_back(std::move(row.sequence.target));
      batch.target_ids.push_back(std::move(row.sequence.target_ids));
    }
  }
  return batch;
}

}  // namespace stormcell
