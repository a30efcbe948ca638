// Finds the experts of tokens in answers of servers. SGLang puts them into meta_info (/generate) or sglext (OpenAI
// endpoints), vLLM into each choice, with the prompt's in a field of their own, Dynamo into nvext. Logs of clients wrap
// answers in response or body.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formats/text_lines.h"
#include "core/traces/json_values.h"
#include "core/traces/routed_ids.h"

namespace stormcell {

/// One sequence of an answer.
struct RoutedSequence {
  RoutedIds routed;  ///< rows of the answer's tokens, or of the prompt's and the answer's
  RoutedIds other;   ///< for chunks with equal beginnings: the result of the other way to join them; absent: both give
                     ///< the same
  int64_t completion = -1;  ///< number of tokens that the answer states; -1: not stated
  int64_t listed = -1;      ///< number of tokens that the answer lists; -1: it lists none
  int64_t start = -1;       ///< position of the first row; -1: the answer does not state it
  int64_t index = 0;        ///< number among the choices
  RoutedIds prompt;  ///< rows of its own prompt; absent: the answer's prompt is shared, or has no rows of its own
  int64_t prompt_tokens = -1;  ///< number of tokens of its own prompt; -1: the choice states none
  /// The number of tokens of the answer; -1: not stated. The server does not compute on the last one, so it has no row.
  int64_t tokens() const { return std::max(completion, listed); }
};
struct RoutedAnswer {
  std::string id;
  bool chunk = false;              ///< it is marked as a part of a streamed answer
  bool finished = false;           ///< it states why the answer ends
  bool has_totals = false;         ///< it has counts and an empty list of choices, as the last chunk of a stream
  bool one_prompt = false;         ///< the answer itself, and not a choice, has the tokens or the rows of the prompt
  int64_t completion_tokens = -1;  ///< over all its sequences; -1: not stated
  RoutedIds prompt;                ///< rows of the prompt, if they have their own field
  int64_t prompt_tokens = -1;      ///< of one prompt, or the sum over the prompts of all choices; -1: not stated
  std::vector<RoutedSequence> sequences;  ///< each has a value; empty if only the prompt has one
  bool has_any() const;
};

/// Finds the experts in one JSON value, which may be wrapped.
RoutedAnswer find_routed(const nlohmann::json& answer, const JsonRow& row);

/// Joins the chunks of streamed answers. Chunks of one id are one answer, whatever is between them: streams of several
/// requests may be mixed. A chunk without an id continues the answer of the chunk before it.
class RoutedChunks {
 public:
  using Visit = std::function<void(const RoutedAnswer&, const JsonRow&)>;
  /// `visit` gets each answer, and the row of its last chunk. `where` is the file, and outlives this.
  RoutedChunks(const std::string& where, Visit visit) : where_(where), visit_(std::move(visit)) {}

  /// True if an answer is a chunk: it is marked so, or earlier chunks have its id.
  bool takes(const RoutedAnswer& answer) const;
  void add(RoutedAnswer chunk, const JsonRow& row);
  /// Notes an error that the server sent in place of a chunk: the answer of the chunk before it is cut.
  void add_error(const std::string& message, const JsonRow& row);
  /// Ends the stream of the last chunk ("[DONE]"): passes on all answers that state why they end, and the one without
  /// an id.
  void end_stream();
  /// Passes on all answers, in the order of their first chunks.
  void end();
  int64_t cut() const { return cut_; }  ///< answers passed on that state no end
  int64_t errors() const { return errors_; }
  const std::string& first_error() const { return first_error_; }  ///< with its line

 private:
  /// The rows of one sequence. Some servers repeat all earlier rows in each chunk, others send only new rows, and a new
  /// row may equal the one before it. Both ways of joining are kept until the chunks show which is right.
  struct Joined {
    RoutedSequence sequence;  ///< joined so that a chunk replaces the rows so far if it begins with them
    RoutedIds appended;       ///< the rows of all chunks, one after another
    int64_t grown = 0;        ///< chunks that began with all rows so far, and had more
    bool repeated = false;    ///< a chunk of several rows equalled all rows so far
    int64_t listed_together = 0, listed_last = -1;
    bool listed_grows = true;  ///< each list of tokens was longer than the one before
  };
  struct Open {
    RoutedAnswer answer;
    std::map<int64_t, Joined> of_index;
    int64_t number = 0, line = 0;  ///< place of its first chunk among the answers, and of its last one in the file
    bool ended = false;            ///< a chunk or the stream states the end
    bool failed = false;           ///< an error came in place of a chunk
  };
  static void join(RoutedIds chunk, int64_t completion, Joined& to, const JsonRow& row);
  void hand_on(const std::string& id);
  void hand_on_finished();

  const std::string& where_;
  Visit visit_;
  std::map<std::string, Open> open_;  // by id
  std::string current_;               // id of the last chunk
  int64_t answers_ = 0, cut_ = 0, errors_ = 0;
  std::string first_error_;
};

/// Reads a stream of server-sent events.
void read_streamed(TextLines& lines, RoutedChunks& chunks);

}  // namespace stormcell
