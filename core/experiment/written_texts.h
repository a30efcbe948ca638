// The texts of one batch while a plan writes them: decoded piece by piece, ended at stop texts, timed token by token.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/bench/state.h"
#include "core/formats/stop_texts.h"
#include "core/formats/text_stream.h"
#include "core/formats/tokenizer.h"
#include "core/runtime/executor.h"
#include "core/summary/text_listener.h"

namespace stormcell {

class WrittenTexts final : public TurnListener {
 public:
  struct Settings {
    std::shared_ptr<const Tokenizer> tokenizer;  ///< null: tokens stay numbers
    std::vector<int32_t> ends;                   ///< tokens that end a text
    std::vector<std::string> stops;              ///< texts that end it
    TextListener* listener = nullptr;            ///< null: nobody listens
  };
  /// Begins the clock. The batch must outlive it.
  WrittenTexts(const Settings& settings, const Batch& batch);

  bool hear(std::span<const int32_t> written) override;
  /// Ends the texts that reached the most tokens. Call it once, after the batch.
  void finish();

  /// How many tokens each sequence has where a stop text ended it, else kNotStopped (core/bench/ready_plan.h).
  const std::vector<int64_t>& stopped() const { return stopped_; }
  bool some_stopped() const;
  /// The text of a sequence before its stop text.
  const std::string& text(int64_t sequence) const { return texts_[sequence].text; }
  /// Milliseconds to the first token of the batch, and from each token to the next, without the listener's own time.
  double first_token_ms() const { return first_token_ms_; }
  const std::vector<double>& token_ms() const { return token_ms_; }

 private:
  struct Text {
    std::unique_ptr<TextStream> stream;  ///< null: there is no tokenizer
    StopTexts stops;
    std::string text;
    int64_t tokens = 0;
    bool ended = false;
  };
  void write(int64_t sequence, const std::string& piece);
  void end(int64_t sequence);

  const Settings& settings_;
  const Batch& batch_;
  std::vector<Text> texts_;
  std::vector<int64_t> stopped_;
  double last_, first_token_ms_ = 0;  // last_: when the token before came, in seconds
  std::vector<double> token_ms_;
  bool begun_ = false;
};

}  // namespace stormcell
