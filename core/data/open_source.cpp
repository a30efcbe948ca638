// Opens the source of data that a user names.
#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/data/picture_form.h"
#include "core/data/sequence_source.h"
#include "core/formats/file_kind.h"
#include "core/formats/gzip_file.h"
#include "core/formats/picture_formats.h"
#include "core/formats/video.h"

namespace stormcell {
namespace {

const Tokenizer& need_tokenizer(const std::shared_ptr<const Tokenizer>& tokenizer, const std::string& spec,
                                const DataOptions& options) {
  if (options.tokenizer_fault) throw *options.tokenizer_fault;
  if (!tokenizer)
    bad_input(spec, "is text, and the model has no tokenizer",
              "put spiece.model or tokenizer.json beside its weights, or give token ids as .npy or .safetensors");
  return *tokenizer;
}

/// The reason why the libraries do not open a video.
void refuse_cut_video(const std::string& path) {
  const std::optional<KnownFile> known = known_file(path);
  if (known && known->kind->id == "mp4")
    bad_input(
        path,
        "is an MP4 or QuickTime file without its table of frames, which is at the end of such a file: it may be cut",
        "copy it anew");
}

std::unique_ptr<const SequenceSource> open_pictures(const std::string& spec, const DataOptions& options,
                                                    const PictureForm& form, int64_t limit) {
  const std::string name = unpacked_name(spec);
  std::error_code error;
  if (spec.starts_with("random:")) return make_random_pictures(spec, options, form);
  if (spec.starts_with("demo:")) return open_pictures(find_demo_data(spec, options).file, options, form, limit);
  if (std::filesystem::is_directory(spec, error)) return open_picture_folder(spec, form, limit, options.cancel);
  if (name.ends_with(".npy")) return open_npy_pictures(spec, form, options.cancel);
  if (name.ends_with(".safetensors")) return open_tensor_pictures(spec, options, form);
  const bool is_file = std::filesystem::is_regular_file(spec, error);
  if (is_file && is_picture(spec)) return open_picture_file(spec, form);
  if (is_file)
    if (std::unique_ptr<const SequenceSource> frames = open_video(spec, form, limit, options.cancel)) return frames;
  const std::string lacked = lacked_for_video();
  if (is_file && lacked.empty()) refuse_cut_video(spec);
  if (is_file) refuse_other_kind(spec, FileUse::data);
  const bool is_there = spec.empty() || std::filesystem::exists(spec, error);
  bad_input(spec.empty() ? "--data" : spec,
            is_there ? "holds no pictures that this version reads, and the model takes pictures"
                     : "does not exist, and the model takes pictures",
            "a video, a folder of pictures (" + picture_format_names() +
                ") or of such folders, one a class, FILE.npy or FILE.safetensors " +
                "with pixels [items, height, width, channels], random:N or random:NxHxW" +
                (lacked.empty() ? std::string() : "; " + lacked));
}
}  // namespace

std::unique_ptr<const SequenceSource> open_source(const std::string& spec,
                                                  const std::shared_ptr<const Tokenizer>& tokenizer,
                                                  DataOptions options) {
  const int64_t limit = options.batches < 0 || options.batches > std::numeric_limits<int64_t>::max() / options.batch
                            ? std::numeric_limits<int64_t>::max()
                            : options.batches * options.batch;
  // A missing file is reported before a missing tokenizer.
  if (std::error_code missing; spec.find(':') == std::string::npos && spec != "-" &&
                               spec.find('.') != std::string::npos && !std::filesystem::exists(spec, missing))
    bad_input(spec, "no such file", "check the path");
  const auto pixels = std::find_if(options.inputs.begin(), options.inputs.end(),
                                   [](const InputSpec& i) { return i.role == InputRole::pixels; });
  if (pixels != options.inputs.end() && !options.prompts.empty())
    bad_input("--prompt", "is text, and the model takes pictures", "name pictures with --data");
  if (pixels != options.inputs.end()) return open_pictures(spec, options, PictureForm(*pixels), limit);
  if (!options.prompts.empty()) return make_prompts(need_tokenizer(tokenizer, "--prompt", options), options, limit);
  if (spec.starts_with("random:")) return make_random_sequences(spec, options);
  if (spec.starts_with("demo:")) {
    const DemoData demo = find_demo_data(spec, options);
    if (options.target_field.empty()) options.target_field = demo.target_field;
    if (options.label_field.empty()) options.label_field = demo.label_field;
    return open_source(demo.file, tokenizer, options);
  }
  const std::string name = unpacked_name(spec);
  if (spec == "-" || name.ends_with(".txt"))
    return open_text_lines(spec, need_tokenizer(tokenizer, spec, options), options, limit);
  if (name.ends_with(".jsonl")) return open_json_lines(spec, need_tokenizer(tokenizer, spec, options), options, limit);
  if (name.ends_with(".npy")) return open_npy_sequences(spec, options.cancel);
  if (name.ends_with(".safetensors")) return open_tensor_sequences(spec, options);
  std::error_code error;
  const bool exists = !spec.empty() && std::filesystem::exists(spec, error);
  const std::string advice =
      "FILE.txt, FILE.jsonl, FILE.npy, FILE.safetensors, random:NxT[xU], demo:switch-names, or - for lines on standard "
      "input";
  if (exists && !std::filesystem::is_directory(spec, error))
    refuse_file(spec, FileUse::data, "is not data that this version reads", advice);
  bad_input(
      spec.empty() ? "--data" : spec,
      spec.empty() ? "names no data"
      : exists     ? "is a folder; data is a file"
                   : "no such file",
      !exists && !nearest_words(spec, demo_data_names()).empty() ? advice_on_word(spec, demo_data_names()) : advice);
}

}  // namespace stormcell
