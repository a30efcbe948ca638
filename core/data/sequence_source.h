// Sources of a dataset: each gives one sequence at a time, uncut and unpadded; dataset.cpp cuts, pads and batches.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/data/data_options.h"
#include "core/data/sequence.h"

namespace stormcell {

class Tokenizer;
struct PictureForm;

/// Folders of one folder: pictures, and their targets.
inline constexpr std::string_view kInputsFolder = "inputs", kTargetsFolder = "targets";

class SequenceSource {
 public:
  /// The fields that every sequence of the source has.
  struct Contents {
    bool text = false, target = false, label = false, decoder_ids = false;
    std::vector<int32_t> behind = {};  ///< ids that every sequence and every target ends with, also when cut
    bool ids = true, pixels = false, label_ids = false, target_picture = false, target_classes = false;
  };

  virtual ~SequenceSource() = default;
  virtual int64_t size() const = 0;
  /// May be called by several threads at once.
  virtual Sequence sequence(int64_t index) const = 0;
  /// Waits until sequence(index) is there at once, or throws what cancel.check() throws. Only sources whose items take
  /// long (frames of a video) need it.
  virtual void await(int64_t /*index*/, const CancellationToken& /*cancel*/) const {}
  /// The sequence as opening the data needs it: only a sample of the pixels (visit_sampled()). Error(bad_input) if the
  /// item cannot be fed; sequence() relies on that check.
  virtual Sequence outline(int64_t index) const { return sequence(index); }
  virtual Contents contents() const = 0;
  /// The target, if contents().target_picture: read on demand, because no batch holds it.
  virtual TargetPicture target_picture(int64_t) const { return {}; }
  /// The target as opening the data needs it: only a sample of the values (visit_sampled()).
  virtual TargetPicture target_outline(int64_t) const { return {}; }
  /// The classes of the pixels, if contents().target_classes; read on demand.
  virtual ClassMap target_classes(int64_t) const { return {}; }
  /// Height, width and channels of either target; classes have one channel. Reads no data.
  virtual std::array<int64_t, 3> target_shape(int64_t) const { return {}; }
  /// Names of the data's classes, in the data's order; empty: labels are the names, or there are none.
  virtual std::vector<std::string> classes() const { return {}; }
  /// Those of classes() that no item has.
  virtual std::vector<std::string> empty_classes() const { return {}; }
  /// Warnings about the data, one sentence each.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// Files that the source could not read, in the data's order; size() does not count them.
  virtual std::vector<SkippedItem> skipped() const { return {}; }
  /// Names the data in errors.
  virtual const std::string& where() const = 0;
  /// "line 17", "sequence 3".
  virtual std::string place(int64_t index) const { return "sequence " + std::to_string(index); }
};

/// Opens the source that `spec` names; errors list the known ones.
std::unique_ptr<const SequenceSource> open_source(const std::string& spec,
                                                  const std::shared_ptr<const Tokenizer>& tokenizer,
                                                  DataOptions options);

/// At most `limit` sequences are read. `path` "-" is standard input; a file may be packed with gzip.
std::unique_ptr<const SequenceSource> open_text_lines(const std::string& path, const Tokenizer& tokenizer,
                                                      const DataOptions& options, int64_t limit);
/// The prompts of the options, at most `limit` of them.
std::unique_ptr<const SequenceSource> make_prompts(const Tokenizer& tokenizer, const DataOptions& options,
                                                   int64_t limit);
std::unique_ptr<const SequenceSource> open_json_lines(const std::string& path, const Tokenizer& tokenizer,
                                                      const DataOptions& options, int64_t limit);
std::unique_ptr<const SequenceSource> open_npy_sequences(const std::string& path, const CancellationToken& cancel = {});
std::unique_ptr<const SequenceSource> open_tensor_sequences(const std::string& path, const DataOptions& options);
/// `form`: the pictures that the model takes; others are refused.
std::unique_ptr<const SequenceSource> open_npy_pictures(const std::string& path, const PictureForm& form,
                                                        const CancellationToken& cancel = {});
std::unique_ptr<const SequenceSource> open_tensor_pictures(const std::string& path, const DataOptions& options,
                                                           const PictureForm& form);
/// One picture a file, in the order of their names, each of its own size; or folders of pictures, one a class. Labels
/// are the folders' names, or those of labels.csv. Two folders, kInputsFolder and kTargetsFolder, hold pictures and the
/// pictures that they should become, under equal names. Every picture is decoded once; files that cannot be fed are
/// skipped. At most `limit` pictures are read. Error(bad_input): none is left, or labels do not fit the files.
std::unique_ptr<const SequenceSource> open_picture_folder(const std::string& folder, const PictureForm& form,
                                                          int64_t limit, const CancellationToken& cancel = {});
/// A single picture.
std::unique_ptr<const SequenceSource> open_picture_file(const std::string& path, const PictureForm& form);
/// The frames of a video, at most `limit`; null if this build cannot read it as a video. A video that ends early or
/// changes its size gives the frames before, with a warning. Error(bad_input): no frame is whole, or its pictures do
/// not fit.
std::unique_ptr<const SequenceSource> open_video(const std::string& path, const PictureForm& form, int64_t limit,
                                                 const CancellationToken& cancel = {});
/// `spec`: random:N with the size that the model states, random:NxHxW or random:NxHxWxC.
std::unique_ptr<const SequenceSource> make_random_pictures(const std::string& spec, const DataOptions& options,
                                                           const PictureForm& form);

/// `spec`: random:NxT[xU].
std::unique_ptr<const SequenceSource> make_random_sequences(const std::string& spec, const DataOptions& options);

struct DemoData {
  std::string file, target_field, label_field;
};
/// The lines behind demo:NAME; bad_input with the command that makes them if they are missing.
DemoData find_demo_data(const std::string& spec, const DataOptions& options);
/// "demo:NAME" for each demo.
std::vector<std::string> demo_data_names();
/// A note that belongs beside figures of these data; empty: none.
std::string note_of_demo_data(const std::string& spec);

}  // namespace stormcell
