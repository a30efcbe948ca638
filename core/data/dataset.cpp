#include "core/data/dataset.h"

#include <algorithm>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/data/picture_form.h"
#include "core/data/prepared.h"
#include "core/formats/tokenizer.h"

namespace stormcell {
namespace {
void check_options(const DataOptions& options) {
  constexpr int64_t kMaxBatch = 1 << 24, kMaxLength = 1 << 24;
  if (options.batch < 1 || options.batch > kMaxBatch)
    bad_input("--batch", counted(options.batch, "sequence"), "1 to 16777216");
  if (options.batches < -1 || options.batches == 0)
    bad_input("--batches", counted(options.batches, "batch"), "at least 1");
  if (options.length < 0 || options.length > kMaxLength)
    bad_input("--length", counted(options.length, "token"), "1 to 16777216");
  if (options.max_length > 0 && options.length > options.max_length)
    bad_input("--length",
              counted(options.length, "token") + ", the model takes at most " + std::to_string(options.max_length),
              "choose a smaller length");
}

/// Options of token sequences are an error for pictures: ignored, they would seem to have taken effect.
void refuse_options_of_tokens(const DataOptions& o) {
  const auto refuse = [](bool given, const char* option, const char* advice = "leave it out") {
    if (given) bad_input(option, "has no meaning for pictures, which the model takes", advice);
  };
  refuse(o.length > 0, "--length");
  refuse(o.truncate, "--truncate");
  refuse(o.bucket_by_length, "--bucket-by-length", "leave it out, since batches hold pictures of one size already");
  refuse(o.field != DataOptions().field, "--field");
  refuse(!o.target_field.empty(), "--target-field");
  refuse(
      !o.label_field.empty(), "--label-field",
      "leave it out: labels of pictures are a tensor labels in .safetensors, a folder for each class, or labels.csv");
}

// Appends a row to a padded matrix.
void append_row(std::vector<int32_t>& matrix, const std::vector<int32_t>& row, int64_t length, int32_t padding) {
  matrix.insert(matrix.end(), row.begin(), row.end());
  matrix.insert(matrix.end(), static_cast<size_t>(length) - row.size(), padding);
}

// The number of real cells before each; 1 in padding, as the operator `positions` has it. Without a mask all cells are
// real.
void append_positions(std::vector<int32_t>& places, const std::vector<int32_t>* mask, int64_t cells) {
  int32_t before = 0;
  for (int64_t c = 0; c < cells; ++c) {
    const bool real = !mask || (c < std::ssize(*mask) && (*mask)[c] == 1);
    places.push_back(real ? before++ : 1);
  }
}

}  // namespace

int64_t Dataset::cells_of(const Space& space, const ItemLength& lengths) {
  return space.content == Content::ids      ? lengths.ids
         : space.content == Content::target ? lengths.target
                                            : space.cells_per_item;
}

std::shared_ptr<const Dataset> Dataset::open(const std::string& spec, std::shared_ptr<const Tokenizer> tokenizer,
                                             const DataOptions& options) {
  check_options(options);
  if (stormcell::asks_for(options.inputs, InputRole::pixels)) refuse_options_of_tokens(options);
  std::shared_ptr<Dataset> dataset(new Dataset);
  dataset->name_ = options.prompts.empty() ? spec : "--prompt";
  dataset->options_ = options;
  if (tokenizer && tokenizer->pad_id() >= 0) dataset->options_.pad_id = tokenizer->pad_id();
  dataset->read_spaces();
  dataset->source_ = open_source(spec, tokenizer, options);
  if (options.chat && !dataset->source_->contents().text)
    bad_input("--chat", "takes messages, and " + dataset->name_ + " holds no texts", "leave it out, or name texts");
  dataset->check_source();
  if (tokenizer && dataset->source_->contents().text) dataset->warnings_ = tokenizer->warnings();
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

std::string Dataset::note() const { return note_of_demo_data(name_); }

std::vector<std::string> Dataset::warnings() const {
  std::vector<std::string> all = source_->warnings();
  all.insert(all.end(), warnings_.begin(), warnings_.end());
  return all;
}

std::vector<SkippedItem> Dataset::skipped() const { return source_->skipped(); }

bool Dataset::has_labels() const { return source_->contents().label; }

bool Dataset::has_text() const { return source_->contents().text; }
bool Dataset::has_target_pictures() const { return source_->contents().target_picture; }
TargetPicture Dataset::target_picture(int64_t item) const { return source_->target_picture(item); }
bool Dataset::has_target_classes() const { return source_->contents().target_classes; }
ClassMap Dataset::target_classes(int64_t item) const { return source_->target_classes(item); }
std::array<int64_t, 3> Dataset::target_shape(int64_t item) const { return source_->target_shape(item); }
std::string Dataset::place(int64_t item) const { return source_->place(item); }

std::vector<std::string> Dataset::classes() const {
  if (!options_.classes.empty()) return options_.classes;
  std::vector<std::string> names = source_->classes();
  const auto is_number = [](const std::string& name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  // Names still count as numbers if only empty folders have other names.
  const std::vector<std::string> empty = empty_classes();
  const auto may_be_number = [&](const std::string& name) {
    return is_number(name) || std::find(empty.begin(), empty.end(), name) != empty.end();
  };
  if (std::all_of(names.begin(), names.end(), may_be_number)) names.clear();
  return names;
}

std::vector<std::string> Dataset::empty_classes() const { return source_->empty_classes(); }

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

std::string_view Dataset::item_noun() const {
  if (!sizes_.empty()) return "picture";
  return std::any_of(spaces_.begin(), spaces_.end(), [](const SpaceCells& space) { return space.holds_tokens; })
             ? "sequence"
             : "item";
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

BatchInput Dataset::input_of(const InputSpec& spec, const std::vector<Prepared>& rows,
                             const ItemLength& lengths) const {
  const Space& space =
      *std::find_if(filled_.begin(), filled_.end(), [&](const Space& s) { return s.name == spec.space; });
  const int64_t per_item = cells_of(space, lengths);
  BatchInput input{spec.name, spec.role, {std::ssize(rows) * per_item}, {}, {}};
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

PictureSize Dataset::picture_size(int64_t batch) const {
  return lengths_[arrangement_.items_of(batch).front()].picture;
}

Batch Dataset::outline(int64_t index) const {
  if (index < 0 || index >= batch_count()) throw std::out_of_range("batch " + std::to_string(index) + " of " + name_);
  Batch batch;
  batch.index = index;
  batch.items = arrangement_.items_of(index);
  const ItemLength lengths = padded_batch(arrangement_, lengths_, index);
  batch.picture = lengths.picture;
  for (const Space& space : filled_)
    batch.spaces.push_back({space.name,
                            space.parent,
                            space.content != Content::fixed,
                            static_cast<int32_t>(cells_of(space, lengths)),
                            {}});
  return batch;
}

int64_t Dataset::real_cells(int64_t index) const {
  const std::vector<int64_t> items = arrangement_.items_of(index);
  int64_t tokens = 0;
  for (const int64_t item : items) tokens += real_[item];
  return tokens > 0 ? tokens : std::ssize(items);
}

Batch Dataset::batch(int64_t index, const CancellationToken& cancel) const {
  if (index < 0 || index >= batch_count()) throw std::out_of_range("batch " + std::to_string(index) + " of " + name_);
  const SequenceSource::Contents contents = source_->contents();
  Batch batch;
  batch.index = index;
  batch.items = arrangement_.items_of(index);
  std::vector<Prepared> rows;
  rows.reserve(batch.items.size());
  for (const int64_t i : batch.items) {
    cancel.check();
    source_->await(i, cancel);
    rows.push_back(prepare(source_->sequence(i), i));
    batch.truncated += rows.back().cut;
  }
  const ItemLength lengths = padded_batch(arrangement_, lengths_, index);
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
