// A dataset: items (token sequences or pictures) in batches, whatever they were read or made from.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/data/arrangement.h"
#include "core/data/batch.h"
#include "core/data/data_options.h"
#include "core/data/sequence.h"

namespace stormcell {

class Tokenizer;
class SequenceSource;

/// The sides of an item's padding, over all batches.
struct Padding {
  bool last = true;          ///< never before data
  bool some_in_each = true;  ///< every item has data
};

/// The cells of one space over all batches.
struct SpaceCells {
  std::string space;
  bool holds_tokens = false;
  int64_t cells = 0, real = 0;  ///< with and without padding
  int64_t most_per_item = 0;    ///< padding included
  Padding padding;
};

/// Pictures of one size over all batches.
struct SizeCount {
  PictureSize size;
  int64_t items = 0, batches = 0;
  int64_t largest_batch = 0;  ///< items of the batch that has most
};

/// Cells over all batches: tokens if there are any, else items.
struct CellTotals {
  int64_t cells = 0, real = 0;  ///< as the batches are, with and without padding
  /// Cells with padding, in batches in the data's order and in batches of like length; the latter without the data's
  /// own padding.
  int64_t as_given = 0, by_length = 0;
};

/// Immutable once open; batch() may be called by several threads at once.
class Dataset {
 public:
  /// `spec`: FILE.txt, FILE.jsonl, FILE.npy, FILE.safetensors, random:NxT[xU], demo:NAME, or - (lines on standard
  /// input); of pictures FILE.npy, FILE.safetensors, one picture, a video, a folder of pictures (or one of folders, one
  /// a class, or of inputs and targets), random:N[xHxW[xC]]. Everything is checked here (ids, lengths, text, pixels of
  /// f32): batch() of an open dataset does not fail. `tokenizer` may be null where the data is token ids.
  static std::shared_ptr<const Dataset> open(const std::string& spec, std::shared_ptr<const Tokenizer> tokenizer,
                                             const DataOptions& options);
  ~Dataset();

  /// The spec it was opened with.
  const std::string& name() const { return name_; }
  int64_t batch_count() const;
  /// Items of all batches together.
  int64_t items() const { return items_; }
  /// "picture", "sequence" of tokens, or "item".
  std::string_view item_noun() const;
  /// One past the largest number of an item in a batch: beyond items() where --batches leaves out pictures of some
  /// sizes.
  int64_t end_item() const { return std::ssize(lengths_); }
  /// Throws std::out_of_range for an index that is no batch's, and what cancel.check() throws.
  Batch batch(int64_t index, const CancellationToken& cancel = {}) const;
  /// The batch without its values: its items, the size of its pictures, how many cells of each space an item has. Reads
  /// no data.
  Batch outline(int64_t index) const;
  /// Returns what batch(index).real_cells() would; reads no data.
  int64_t real_cells(int64_t index) const;

  /// The largest number of items in a batch, for planning.
  int64_t max_items() const { return max_items_; }
  /// The same among the batches with pictures of this size; among all batches if none has it.
  int64_t max_items(PictureSize size) const;
  /// The longest sequence of ids, with the padding of its batch.
  int64_t max_length() const;
  /// Cell spaces in the order of the inputs.
  const std::vector<SpaceCells>& spaces() const { return spaces_; }
  /// Null if no input has this space.
  const SpaceCells* find_space(std::string_view name) const;
  CellTotals cells() const;
  /// Sizes of pictures with their counts, ascending; empty for a model without pictures. A batch holds only one size.
  const std::vector<SizeCount>& sizes() const { return sizes_; }
  /// The size of the batch's pictures; 0x0 without pictures.
  PictureSize picture_size(int64_t batch) const;
  int64_t truncated() const { return truncated_; }
  /// The number of items that the mask leaves no real cell.
  int64_t masked() const { return masked_; }
  /// A note that belongs beside figures of these data, as part of a sentence; empty: none.
  std::string note() const;
  /// Warnings about the data, one sentence each.
  std::vector<std::string> warnings() const;
  /// Files that could not be read, in the data's order; they have no item number.
  std::vector<SkippedItem> skipped() const;
  bool has_labels() const;
  /// The items are texts.
  bool has_text() const;
  /// True if the data have the picture that each item should become.
  bool has_target_pictures() const;
  /// Reads the target of one item; only if has_target_pictures().
  TargetPicture target_picture(int64_t item) const;
  /// The data have a class for each pixel.
  bool has_target_classes() const;
  ClassMap target_classes(int64_t item) const;
  /// Height, width and channels of an item's target; classes have one channel.
  std::array<int64_t, 3> target_shape(int64_t item) const;
  /// An item as messages name it: "line 17", "picture 3", a file's name.
  std::string place(int64_t item) const;
  /// Names of the classes, by label: the model's; without them, the data's in their order. Empty: labels are numbers
  /// (also if all of the data's names are numbers).
  std::vector<std::string> classes() const;
  /// Classes of the data that no item has.
  std::vector<std::string> empty_classes() const;
  /// True if the model gave the names.
  bool classes_of_model() const { return !options_.classes.empty(); }
  /// 16 hexadecimal digits: equal for equal ids in equal batches. For pictures equal for equal sizes and sampled pixels
  /// of the pictures and their targets.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  /// The content of a space's cells.
  enum class Content : uint8_t {
    ids,     ///< an item's token ids
    target,  ///< the decoder's
    fixed,   ///< no content, the same number of cells in each item
  };
  struct Space {
    std::string name, parent;
    Content content = Content::fixed;
    int64_t cells_per_item = 1;  ///< fixed
    bool has_mask = false, has_label = false;
  };
  struct Prepared;

  Dataset() = default;
  void read_spaces();
  void check_source() const;
  std::vector<int32_t> label_of(const Sequence& item, int64_t index) const;
  void check_labels(const Sequence& item, int64_t index) const;
  void check_real_cells();
  void warn_of_masked();
  void scan();
  Prepared prepare(Sequence item, int64_t index) const;
  Prepared prepare_as_given(Sequence item, int64_t index) const;
  static int64_t cells_of(const Space& space, const ItemLength& lengths);
  ItemLength padded(const ItemLength& longest) const;
  ItemLength padded_batch(const Arrangement& arrangement, const std::vector<ItemLength>& lengths, int64_t batch) const;
  void arrange(const std::vector<ItemLength>& given, const std::vector<ItemLength>& real);
  void count_sizes();
  void look_at_range(const Sequence& item, int64_t index);
  void warn_of_range();
  BatchCells space_of(const Space& space, const std::vector<Prepared>& rows, const ItemLength& lengths) const;
  BatchInput input_of(const InputSpec& spec, const std::vector<Prepared>& rows, const ItemLength& lengths) const;
  bool cut(std::vector<int32_t>& ids, std::vector<int32_t>& mask, int64_t limit, const char* which,
           std::span<const int32_t> behind, int64_t item) const;
  void check_ids(const std::vector<int32_t>& ids, const char* which, int64_t item) const;
  void check_batch_size(int64_t items, int64_t length) const;
  bool asks_for(Content content) const;
  bool target_follows_ids() const;

  std::string name_, fingerprint_;
  DataOptions options_;
  std::unique_ptr<const SequenceSource> source_;
  std::vector<Space> filled_;  // as spaces_
  std::vector<SpaceCells> spaces_;
  std::vector<SizeCount> sizes_;
  std::vector<ItemLength> lengths_;  // by item, of those that --batches asks for
  std::vector<int32_t> real_;        // by item: real tokens
  std::vector<std::string> warnings_;
  struct {
    int64_t pictures = 0, first = 0;
    float darkest = 0, brightest = 0;
  } out_of_range_;  // pixels that are not from 0 to 1, and the first such picture
  Arrangement arrangement_;
  int64_t given_tokens_ = 0, tokens_by_length_ = 0;
  int64_t items_ = 0, max_items_ = 0, truncated_ = 0, masked_ = 0;
};

}  // namespace stormcell
