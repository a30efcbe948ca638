// Checks the data against the model, and prepares an item as the model gets it.
#include <algorithm>
#include <charconv>
#include <limits>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/data/picture_form.h"
#include "core/data/prepared.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

/// The form in which this version's data fill an input of a role.
void check_form(const InputSpec& spec) {
  const auto refuse = [&](const char* what, const char* advice) {
    bad_input("input " + spec.name, "of the role " + std::string(to_text(spec.role)) + " " + what, advice);
  };
  if (spec.role == InputRole::none)
    refuse("cannot be filled from data", "give it one of the roles ids, mask, label, pixels, positions, target");
  if (spec.role == InputRole::pixels) {
    if (spec.dtype != DType::f32 || spec.content.size() != 3 || spec.cells_per_item != 1)
      refuse("is not one picture an item", "declare it f32 [height, width, channels] over the items");
    return;
  }
  if (spec.dtype != DType::i32 || !spec.content.empty())
    refuse("is not one number a cell", "declare it i32 without content");
}

/// Cells up to the last real one, at least one if there are any.
size_t real_length(const std::vector<int32_t>& mask) {
  size_t length = mask.size();
  while (length > 1 && mask[length - 1] == 0) --length;
  return length;
}

void shorten(std::vector<int32_t>& ids, std::vector<int32_t>& mask, int32_t length) {
  ids.resize(length);
  mask.resize(ids.size());
}

}  // namespace

/// The spaces that inputs live over, and what fills each of them.
void Dataset::read_spaces() {
  int64_t pictures = 0;
  for (const InputSpec& spec : options_.inputs) {
    check_form(spec);
    auto at = std::find_if(filled_.begin(), filled_.end(), [&](const Space& s) { return s.name == spec.space; });
    if (at == filled_.end())
      at = filled_.insert(filled_.end(),
                          Space{spec.space, spec.parent, Content::fixed, spec.cells_per_item, false, false});
    at->has_mask |= spec.role == InputRole::mask;
    at->has_label |= spec.role == InputRole::label;
    if (spec.role == InputRole::ids) at->content = Content::ids;
    if (spec.role == InputRole::target) at->content = Content::target;
    if (spec.role != InputRole::pixels) continue;
    if (++pictures > 1)
      bad_input("input " + spec.name, "needs a second picture of an item",
                "this version reads one picture of each item");
  }
  const bool free_size = std::any_of(options_.inputs.begin(), options_.inputs.end(),
                                     [](const InputSpec& i) { return i.sizes.has_value(); });
  for (const Space& space : filled_) {
    if (free_size && space.content == Content::fixed && space.cells_per_item != 1)
      bad_input("space " + space.name,
                "has cells of an item that the data fill, and the model takes pictures of any size",
                "this version knows their number for one size only");
    if (space.content == Content::fixed && space.cells_per_item == 0)
      bad_input("space " + space.name, "has a number of cells that no input gives",
                "a space of any length needs an input of the role ids or target");
    if (space.content != Content::fixed && space.cells_per_item != 0)
      bad_input("space " + space.name,
                "has " + counted(space.cells_per_item, "cell") + " an item, token ids have any number",
                "count its cells by a symbol");
    if (space.content != Content::fixed && space.has_label)
      bad_input("space " + space.name, "asks for a label of every token",
                "labels of this version are those of items, or of a fixed number of cells");
  }
}

/// Throws if the data lack an input that the model requires.
void Dataset::check_source() const {
  const SequenceSource::Contents contents = source_->contents();
  for (const InputSpec& spec : options_.inputs) {
    if (spec.role == InputRole::ids && !contents.ids)
      bad_input(source_->where(), "has no token ids, and the model takes them",
                "give text, or token ids as .npy or .safetensors");
    if (spec.role == InputRole::label && !contents.label && !contents.label_ids)
      bad_input(source_->where(), "has no labels, and the model's input " + in_quotes(spec.name) + " takes them",
                ".jsonl: name their field with --label-field; .safetensors: add a tensor labels [items]");
  }
}

void Dataset::check_ids(const std::vector<int32_t>& ids, const char* which, int64_t item) const {
  const int64_t vocabulary = options_.vocabulary > 0 ? options_.vocabulary : std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= vocabulary)
      bad_input(source_->where(),
                source_->place(item) + ", position " + std::to_string(i) + " of the " + which + ": id " +
                    std::to_string(ids[i]) + " is outside the model's vocabulary" +
                    (options_.vocabulary > 0 ? " of " + std::to_string(options_.vocabulary) : ""),
                "use the tokenizer that belongs to the model");
}

bool Dataset::cut(std::vector<int32_t>& ids, std::vector<int32_t>& mask, int64_t limit, const char* which,
                  std::span<const int32_t> behind, int64_t item) const {
  if (limit == 0 || std::ssize(ids) <= limit) return false;
  if (!options_.truncate) {
    const bool by_model = options_.max_length > 0 && limit == options_.max_length;
    bad_input(source_->where(),
              source_->place(item) + ": the " + which + " has " + counted(std::ssize(ids), "token") + ", " +
                  (by_model ? "the model takes" : "--length allows") + " at most " + std::to_string(limit),
              "--truncate cuts it");
  }
  ids.resize(limit);
  if (!mask.empty()) mask.resize(ids.size());
  const std::ptrdiff_t kept = std::min(ids.size(), behind.size());
  std::copy(behind.end() - kept, behind.end(), ids.end() - kept);
  return true;
}

/// Batches of like length hold only real cells: the data's own padding behind them is left out. In the data's order it
/// stays.
Dataset::Prepared Dataset::prepare(Sequence item, int64_t index) const {
  Prepared prepared = prepare_as_given(std::move(item), index);
  Sequence& s = prepared.sequence;
  prepared.given = prepared.lengths();
  prepared.real = {static_cast<int32_t>(real_length(s.mask)), static_cast<int32_t>(real_length(s.decoder_mask)),
                   s.picture};
  if (!options_.bucket_by_length) return prepared;
  shorten(s.ids, s.mask, prepared.real.ids);
  shorten(s.decoder_ids, s.decoder_mask, prepared.real.target);
  return prepared;
}

Dataset::Prepared Dataset::prepare_as_given(Sequence sequence, int64_t item) const {
  Prepared prepared{std::move(sequence)};
  Sequence& s = prepared.sequence;
  const SequenceSource::Contents contents = source_->contents();
  const int64_t limit = options_.length > 0 ? options_.length : options_.max_length;
  prepared.cut |= cut(s.ids, s.mask, limit, "input", contents.behind, item);
  if (s.mask.empty()) s.mask.assign(s.ids.size(), 1);
  s.label_ids = stormcell::asks_for(options_.inputs, InputRole::label) ? label_of(s, item) : std::vector<int32_t>();
  std::vector<int32_t> no_mask;
  if (contents.target) prepared.cut |= cut(s.target_ids, no_mask, options_.max_length, "target", contents.behind, item);

  if (!asks_for(Content::target)) {
    s.decoder_ids.clear();
    s.decoder_mask.clear();
    return prepared;
  }
  if (contents.target) {  // teacher forcing: the target shifted right by the start token
    s.decoder_ids.assign(1, options_.decoder_start_id);
    s.decoder_ids.insert(s.decoder_ids.end(), s.target_ids.begin(), s.target_ids.end() - 1);
    s.decoder_mask.clear();
  } else if (contents.decoder_ids) {
    prepared.cut |= cut(s.decoder_ids, s.decoder_mask, options_.max_length, "decoder input", {}, item);
  } else {  // as in the paper: the encoder's
    s.decoder_ids = s.ids;
    s.decoder_mask = s.mask;
  }
  if (s.decoder_mask.empty()) s.decoder_mask.assign(s.decoder_ids.size(), 1);
  return prepared;
}

/// The label of an item as numbers, one or one a cell.
std::vector<int32_t> Dataset::label_of(const Sequence& item, int64_t index) const {
  if (!item.label_ids.empty()) return item.label_ids;
  if (const auto known = std::find(options_.classes.begin(), options_.classes.end(), item.label);
      known != options_.classes.end())
    return {static_cast<int32_t>(known - options_.classes.begin())};
  int32_t number = 0;
  const auto [end, error] = std::from_chars(item.label.data(), item.label.data() + item.label.size(), number);
  if (error != std::errc() || end != item.label.data() + item.label.size())
    bad_input(source_->where(),
              source_->place(index) + ": the label " + in_quotes(item.label) + " is " +
                  (options_.classes.empty() ? "not a whole number, and the model names no classes"
                                            : "not a class of the model"),
              options_.classes.empty() ? "give labels as numbers from 0 on"
                                       : "the first class is " + in_quotes(options_.classes[0]));
  return {number};
}

void Dataset::check_labels(const Sequence& item, int64_t index) const {
  const std::vector<int32_t>& labels = item.label_ids;
  for (const InputSpec& spec : options_.inputs) {
    if (spec.role != InputRole::label) continue;
    if (labels.size() != 1 && std::ssize(labels) != spec.cells_per_item)
      bad_input(source_->where(),
                source_->place(index) + " has " + counted(std::ssize(labels), "label") + ", the model takes 1 or " +
                    std::to_string(spec.cells_per_item),
                "give labels [items] or [items, cells of " + spec.space + "]");
    for (const int32_t label : labels)
      if (label < 0 || (spec.classes > 0 && label >= spec.classes))
        bad_input(source_->where(),
                  source_->place(index) + ": there is no branch " + std::to_string(label) + " for this label",
                  spec.classes > 0 ? "labels are numbers from 0 to " + std::to_string(spec.classes - 1)
                                   : "labels are numbers from 0 on");
  }
}

/// Resizing overshoots edges a little; pixels far from 0 to 1 were made for another model, or not divided by 255.
void Dataset::look_at_range(const Sequence& item, int64_t index) {
  constexpr float kDarkest = -0.5F, kBrightest = 1.5F;
  if (item.darkest >= kDarkest && item.brightest <= kBrightest) return;
  if (out_of_range_.pictures++ == 0)
    out_of_range_.first = index, out_of_range_.darkest = item.darkest, out_of_range_.brightest = item.brightest;
}

/// A batch of padding alone has nothing to compute, and no rate.
void Dataset::check_real_cells() {
  if (std::none_of(spaces_.begin(), spaces_.end(), [](const SpaceCells& s) { return s.holds_tokens; })) return;
  for (int64_t b = 0; b < batch_count(); ++b) {
    const std::vector<int64_t> items = arrangement_.items_of(b);
    if (std::any_of(items.begin(), items.end(), [&](int64_t i) { return real_[i] > 0; })) continue;
    bad_input(source_->where(),
              "batch " + std::to_string(b) + ", " + source_->place(items.front()) +
                  (items.size() > 1 ? " and " + counted(std::ssize(items) - 1, "other") : std::string()) +
                  ": the mask leaves no real cell",
              "a mask is 1 where there is data; leave such items out, or choose a larger --batch");
  }
  warn_of_masked();
}

/// Items without a real cell, in a batch with others, are computed but not counted.
void Dataset::warn_of_masked() {
  std::string list;
  for (int64_t b = 0; b < batch_count(); ++b)
    for (const int64_t item : arrangement_.items_of(b))
      if (real_[item] == 0 && ++masked_ <= 3) add_to_list(list, source_->place(item));
  if (masked_ == 0) return;
  warnings_.push_back(source_->where() + ": the mask leaves no real cell of " + counted(masked_, "item") +
                      ", which no figure counts: " + list + (masked_ > 3 ? ", ..." : ""));
}

}  // namespace stormcell
