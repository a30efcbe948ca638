// A dataset: sequences of token ids in batches, whatever they were read or made from.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

class Tokenizer;
class SequenceSource;

/// One batch, padded to its longest sequence. Matrices are [sequences, length] in C order; a mask is 1 where there is data.
struct Batch {
  int64_t index = 0, first_sequence = 0, sequences = 0, length = 0, decoder_length = 0;
  std::vector<int32_t> input_ids, attention_mask;
  std::vector<int32_t> decoder_input_ids, decoder_attention_mask;  ///< empty when the model has no decoder of its own
  std::vector<std::string> texts, targets, labels;                 ///< one a sequence, or empty when the data has none
  std::vector<std::vector<int32_t>> target_ids;                    ///< with the end token; one a sequence, or empty
  int64_t truncated = 0;                                           ///< sequences that were cut
};

struct DataOptions {
  int64_t batch = 8;           ///< sequences in a batch; the last one may have fewer
  int64_t batches = -1;        ///< at most so many; -1: all
  int64_t length = 0;          ///< every input sequence is padded or cut to it; 0: as the data
  int64_t max_length = 0;      ///< what the model takes, of inputs and of decoder inputs; 0: anything
  bool truncate = false;       ///< cut what is longer, instead of an error
  std::string field = "text";  ///< .jsonl: the key of the text
  std::string target_field;    ///< .jsonl: the key of the target, empty: none
  std::string label_field;     ///< .jsonl: the key of the label, empty: none
  uint64_t seed = 0;           ///< random:
  int64_t vocabulary = 0;      ///< ids are below it; 0: not known
  bool needs_decoder = false;  ///< fill the decoder's inputs
  int32_t pad_id = 0, end_id = 1, decoder_start_id = 0;
  std::string resources;  ///< a folder whose sample/ and, last, data/ hold demo data; empty: none
};

/// Where sequences are padded, over all batches.
struct Padding {
  bool last = true;          ///< never before data
  bool some_in_each = true;  ///< every sequence has data
};

/// Cells (tokens) over all batches, with and without padding.
struct CellTotals {
  int64_t encoder = 0, encoder_without_padding = 0;
  int64_t decoder = 0, decoder_without_padding = 0;
  Padding encoder_padding, decoder_padding;
};

/// Immutable once open; batch() may be called by several threads at once.
class Dataset {
 public:
  /// `spec`: FILE.txt, FILE.jsonl, FILE.npy, FILE.safetensors, random:NxT[xU], demo:NAME, or - (lines on standard input).
  /// Everything is checked here (ids, lengths, text): batch() of an open dataset does not fail. `tokenizer` may be null where the
  /// data is token ids.
  static std::shared_ptr<const Dataset> open(const std::string& spec, std::shared_ptr<const Tokenizer> tokenizer,
                                             const DataOptions& options);
  ~Dataset();

  /// The spec it was opened with.
  const std::string& name() const { return name_; }
  int64_t batch_count() const;
  int64_t sequences() const { return sequences_; }
  Batch batch(int64_t index) const;

  /// Over all batches, for planning.
  int64_t max_sequences() const;
  int64_t max_length() const { return max_length_; }
  int64_t max_decoder_length() const { return max_decoder_length_; }
  const CellTotals& cells() const { return cells_; }
  int64_t truncated() const { return truncated_; }
  bool has_targets() const;
  bool has_labels() const;
  /// 16 hexadecimal digits: equal for equal ids in equal batches.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  struct Prepared;
  Dataset() = default;
  void scan();
  Prepared prepare(int64_t index) const;
  bool cut(std::vector<int32_t>& ids, std::vector<int32_t>& mask, int64_t limit, const char* which, bool keep_end, int64_t index) const;
  void check_ids(const std::vector<int32_t>& ids, const char* which, int64_t index) const;
  void check_batch_size(int64_t sequences, int64_t length) const;
  bool decoder_follows_encoder() const;

  std::string name_, fingerprint_;
  DataOptions options_;
  std::unique_ptr<const SequenceSource> source_;
  int64_t sequences_ = 0, max_length_ = 0, max_decoder_length_ = 0, truncated_ = 0;
  CellTotals cells_;
};

}  // namespace stormcell
