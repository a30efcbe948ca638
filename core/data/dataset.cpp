#include "core/data/dataset.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/data/sequence_source.h"
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

const Tokenizer& need_tokenizer(const std::shared_ptr<const Tokenizer>& tokenizer, const std::string& spec) {
  if (!tokenizer)
    bad_input(spec, "is text, and the model has no tokenizer",
              "put spiece.model or tokenizer.json beside its weights, or give token ids as .npy or .safetensors");
  return *tokenizer;
}

std::unique_ptr<const SequenceSource> open_source(const std::string& spec, const std::shared_ptr<const Tokenizer>& tokenizer,
                                                  DataOptions options) {
  const int64_t limit = options.batches < 0 || options.batches > std::numeric_limits<int64_t>::max() / options.batch
                            ? std::numeric_limits<int64_t>::max()
                            : options.batches * options.batch;
  // Before a tokenizer is missed: what is not there needs none.
  if (std::error_code missing;
      spec.find(':') == std::string::npos && spec != "-" && spec.find('.') != std::string::npos && !std::filesystem::exists(spec, missing))
    bad_input(spec, "no such file", "check the path");
  if (spec.starts_with("random:")) return make_random_sequences(spec, options);
  if (spec.starts_with("demo:")) {
    const DemoData demo = find_demo_data(spec, options);
    if (options.target_field.empty()) options.target_field = demo.target_field;
    if (options.label_field.empty()) options.label_field = demo.label_field;
    return open_json_lines(demo.file, need_tokenizer(tokenizer, spec), options, limit);
  }
  if (spec == "-" || spec.ends_with(".txt")) return open_text_lines(spec, need_tokenizer(tokenizer, spec), limit);
  if (spec.ends_with(".jsonl")) return open_json_lines(spec, need_tokenizer(tokenizer, spec), options, limit);
  if (spec.ends_with(".npy")) return open_npy_sequences(spec);
  if (spec.ends_with(".safetensors")) return open_tensor_sequences(spec);
  std::error_code error;
  const bool exists = !spec.empty() && std::filesystem::exists(spec, error);
  bad_input(spec.empty() ? "--data" : spec,
            spec.empty()                                 ? "names no data"
            : !exists                                    ? "no such file"
            : std::filesystem::is_directory(spec, error) ? "is a folder; data is a file"
                                                         : "is no data this version reads",
            "FILE.txt, FILE.jsonl, FILE.npy, FILE.safetensors, random:NxT[xU], demo:switch-names, or - for lines on standard input");
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
  std::string text() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[hash_ >> shift & 15];
    return text;
  }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

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
}  // namespace

/// A sequence as it is fed: cut, with masks and decoder ids.
struct Dataset::Prepared {
  Sequence sequence;
  bool cut = false;
};

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
  dataset->source_ = open_source(spec, tokenizer, options);
  const int64_t available = dataset->source_->size();
  const bool limited = options.batches >= 0 && options.batches <= available / options.batch;
  dataset->sequences_ = limited ? options.batches * options.batch : available;
  dataset->scan();
  return dataset;
}

Dataset::~Dataset() = default;

int64_t Dataset::batch_count() const { return (sequences_ + options_.batch - 1) / options_.batch; }
int64_t Dataset::max_sequences() const { return std::min(sequences_, options_.batch); }
bool Dataset::has_targets() const { return source_->contents().target; }
bool Dataset::has_labels() const { return source_->contents().label; }

void Dataset::check_ids(const std::vector<int32_t>& ids, const char* which, int64_t index) const {
  const int64_t vocabulary = options_.vocabulary > 0 ? options_.vocabulary : std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= vocabulary)
      bad_input(source_->where(),
                source_->place(index) + ", position " + std::to_string(i) + " of the " + which + ": id " + std::to_string(ids[i]) +
                    " is outside the model's vocabulary" + (options_.vocabulary > 0 ? " of " + std::to_string(options_.vocabulary) : ""),
                "use the tokenizer that belongs to the model");
}

bool Dataset::cut(std::vector<int32_t>& ids, std::vector<int32_t>& mask, int64_t limit, const char* which, bool keep_end,
                  int64_t index) const {
  if (limit == 0 || static_cast<int64_t>(ids.size()) <= limit) return false;
  if (!options_.truncate) {
    const bool by_model = options_.max_length > 0 && limit == options_.max_length;
    bad_input(source_->where(),
              source_->place(index) + ": the " + which + " has " + std::to_string(ids.size()) + " tokens, " +
                  (by_model ? "the model takes" : "--length allows") + " at most " + std::to_string(limit),
              "--truncate cuts it");
  }
  ids.resize(static_cast<size_t>(limit));
  if (!mask.empty()) mask.resize(ids.size());
  if (keep_end) ids.back() = options_.end_id;
  return true;
}

Dataset::Prepared Dataset::prepare(int64_t index) const {
  Prepared prepared{source_->sequence(index)};
  Sequence& s = prepared.sequence;
  const SequenceSource::Contents contents = source_->contents();
  const int64_t limit = options_.length > 0 ? options_.length : options_.max_length;
  prepared.cut |= cut(s.ids, s.mask, limit, "input", contents.end_token, index);
  if (s.mask.empty()) s.mask.assign(s.ids.size(), 1);
  std::vector<int32_t> no_mask;
  if (contents.target) prepared.cut |= cut(s.target_ids, no_mask, options_.max_length, "target", true, index);

  if (!options_.needs_decoder) {
    s.decoder_ids.clear();
    s.decoder_mask.clear();
    return prepared;
  }
  if (contents.target) {  // teacher forcing: the target shifted right by the start token
    s.decoder_ids.assign(1, options_.decoder_start_id);
    s.decoder_ids.insert(s.decoder_ids.end(), s.target_ids.begin(), s.target_ids.end() - 1);
    s.decoder_mask.clear();
  } else if (contents.decoder_ids) {
    prepared.cut |= cut(s.decoder_ids, s.decoder_mask, options_.max_length, "decoder input", false, index);
  } else {  // as in the paper: the encoder's
    s.decoder_ids = s.ids;
    s.decoder_mask = s.mask;
  }
  if (s.decoder_mask.empty()) s.decoder_mask.assign(s.decoder_ids.size(), 1);
  return prepared;
}

void Dataset::check_batch_size(int64_t sequences, int64_t length) const {
  constexpr int64_t kMaxCells = int64_t{1} << 31;  // more could not be run, and fewer overflow nothing here
  if (sequences * length > kMaxCells)
    bad_input(source_->where(),
              "a batch of " + std::to_string(sequences) + " sequences of " + std::to_string(length) + " tokens is too large",
              "choose a smaller --batch");
}

// Reads everything once: checks it, finds the sizes, counts the cells.
void Dataset::scan() {
  Fingerprint fingerprint;
  fingerprint.add(options_.batch);
  for (int64_t first = 0; first < sequences_; first += options_.batch) {
    const int64_t end = std::min(first + options_.batch, sequences_);
    const int64_t sequences = end - first;
    int64_t length = options_.length, decoder_length = 0;
    for (int64_t i = first; i < end; ++i) {
      const Prepared prepared = prepare(i);
      const Sequence& s = prepared.sequence;
      check_ids(s.ids, "input", i);
      check_ids(s.decoder_ids, "decoder input", i);
      check_ids(s.target_ids, "target", i);
      length = std::max(length, static_cast<int64_t>(s.ids.size()));
      decoder_length = std::max(decoder_length, static_cast<int64_t>(s.decoder_ids.size()));
      check_batch_size(sequences, std::max(length, decoder_length));
      cells_.encoder_without_padding += count_ones(s.mask);
      cells_.decoder_without_padding += count_ones(s.decoder_mask);
      look_at(s.mask, cells_.encoder_padding);
      if (options_.needs_decoder) look_at(s.decoder_mask, cells_.decoder_padding);
      truncated_ += prepared.cut;
      for (const auto* values : {&s.ids, &s.mask, &s.decoder_ids, &s.decoder_mask}) fingerprint.add(*values);
    }
    // Without decoder ids of its own the decoder sees the encoder's matrix, padding included.
    if (decoder_follows_encoder()) decoder_length = length;
    fingerprint.add(length);
    cells_.encoder += sequences * length;
    cells_.decoder += sequences * decoder_length;
    max_length_ = std::max(max_length_, length);
    max_decoder_length_ = std::max(max_decoder_length_, decoder_length);
  }
  fingerprint_ = fingerprint.text();
}

bool Dataset::decoder_follows_encoder() const {
  const SequenceSource::Contents contents = source_->contents();
  return options_.needs_decoder && !contents.target && !contents.decoder_ids;
}

Batch Dataset::batch(int64_t index) const {
  if (index < 0 || index >= batch_count()) throw std::out_of_range("batch " + std::to_string(index) + " of " + name_);
  const SequenceSource::Contents contents = source_->contents();
  Batch batch;
  batch.index = index;
  batch.first_sequence = index * options_.batch;
  batch.sequences = std::min(options_.batch, sequences_ - batch.first_sequence);
  batch.length = options_.length;
  std::vector<Sequence> rows;
  rows.reserve(static_cast<size_t>(batch.sequences));
  for (int64_t i = 0; i < batch.sequences; ++i) {
    Prepared prepared = prepare(batch.first_sequence + i);
    batch.truncated += prepared.cut;
    batch.length = std::max(batch.length, static_cast<int64_t>(prepared.sequence.ids.size()));
    batch.decoder_length = std::max(batch.decoder_length, static_cast<int64_t>(prepared.sequence.decoder_ids.size()));
    rows.push_back(std::move(prepared.sequence));
  }
  if (decoder_follows_encoder()) batch.decoder_length = batch.length;
  for (Sequence& row : rows) {
    append_row(batch.input_ids, row.ids, batch.length, options_.pad_id);
    append_row(batch.attention_mask, row.mask, batch.length, 0);
    append_row(batch.decoder_input_ids, row.decoder_ids, batch.decoder_length, options_.pad_id);
    append_row(batch.decoder_attention_mask, row.decoder_mask, batch.decoder_length, 0);
    if (contents.text) batch.texts.push_back(std::move(row.text));
    if (contents.label) batch.labels.push_back(std::move(row.label));
    if (contents.target) {
      batch.targets.push_back(std::move(row.target));
      batch.target_ids.push_back(std::move(row.target_ids));
    }
  }
  return batch;
}

}  // namespace stormcell
