// The options of a dataset: those that a user gives, and those that the model needs.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/cell/input_spec.h"

namespace stormcell {

/// The form that messages of a user are written in.
struct ChatOptions {
  std::string chat_template, where;  ///< the template, and the file that has it
  std::string system, date;          ///< empty: none
};

struct DataOptions {
  int64_t batch = 8;     ///< items in a batch; the last one may have fewer
  int64_t batches = -1;  ///< at most so many; -1: all
  /// batches of items of like length (of their real cells), instead of the data's order
  bool bucket_by_length = false;
  int64_t length = 0;                ///< every input sequence is padded or cut to it; 0: as the data
  int64_t max_length = 0;            ///< limit of the model for inputs and decoder inputs; 0: none
  bool truncate = false;             ///< cut longer inputs, instead of an error
  std::string field = "text";        ///< .jsonl: the key of the text
  std::string target_field;          ///< .jsonl: the key of the target, empty: none
  std::string label_field;           ///< .jsonl: the key of the label, empty: none
  std::vector<std::string> prompts;  ///< texts that a person typed, in the place of a named source
  std::optional<ChatOptions> chat;   ///< texts are messages of a user; nothing: they are as the model reads them
  bool special_tokens = false;       ///< special tokens in typed text (prompts, messages of a chat) are tokens
  uint64_t seed = 0;                 ///< of `random:` data
  int64_t vocabulary = 0;            ///< ids are below it; 0: not known
  std::vector<std::string> classes;  ///< names of labels, by their numbers; empty: labels are numbers
  std::vector<InputSpec> inputs;     ///< inputs that every batch has
  int32_t pad_id = 0, decoder_start_id = 0;
  /// why the model's tokenizer cannot be used, if it has one; thrown if the data are text
  std::optional<Error> tokenizer_fault;
  CancellationToken cancel;  ///< checked while all data are read
  std::string resources;     ///< a folder whose sample/ and, last, data/ hold demo data; empty: none
};

}  // namespace stormcell
