// Hears the texts of generate while they are written.
#pragma once
#include <cstdint>
#include <string_view>

namespace stormcell {

/// Called from the thread that runs generate. What it throws ends the batch; batches before it stay recorded.
class TextListener {
 public:
  virtual ~TextListener() = default;
  /// A sequence of a batch that begins. `item`: its number in the data; `prompt`: the text that the model reads, empty
  /// where the data are token ids.
  virtual void begin(int64_t item, std::string_view prompt) = 0;
  /// A piece of its text: whole characters, and nothing of a text that stops it.
  virtual void write(int64_t item, std::string_view text) = 0;
  /// It has ended.
  virtual void end(int64_t item) = 0;
};

}  // namespace stormcell
