#include "core/experiment/written_texts.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/bench/ready_plan.h"

namespace stormcell {

WrittenTexts::WrittenTexts(const Settings& settings, const Batch& batch)
    : settings_(settings), batch_(batch), stopped_(static_cast<size_t>(batch.size()), kNotStopped) {
  for (int64_t s = 0; s < batch.size(); ++s) {
    Text& text = texts_.emplace_back();
    if (settings.tokenizer) text.stream = std::make_unique<TextStream>(settings.tokenizer);
    text.stops = StopTexts(settings.stops);
    if (settings.listener)
      settings.listener->begin(batch.items[s], batch.texts.empty() ? std::string_view() : batch.texts[s]);
  }
  last_ = seconds_now();
}

bool WrittenTexts::hear(std::span<const int32_t> written) {
  const double milliseconds = (seconds_now() - last_) * 1e3;
  if (begun_)
    token_ms_.push_back(milliseconds);
  else
    first_token_ms_ = milliseconds;
  begun_ = true;
  for (size_t s = 0; s < texts_.size(); ++s) {
    Text& text = texts_[s];
    if (text.ended) continue;
    const auto sequence = static_cast<int64_t>(s);
    if (written[s] < 0) {
      end(sequence);
      continue;
    }
    ++text.tokens;
    if (text.stream) write(sequence, text.stream->add(written[s]));
    if (text.stops.stopped()) stopped_[s] = text.tokens;
    if (text.stops.stopped() || std::ranges::find(settings_.ends, written[s]) != settings_.ends.end()) end(sequence);
  }
  last_ = seconds_now();
  return std::ranges::any_of(texts_, [](const Text& text) { return !text.ended; });
}

void WrittenTexts::finish() {
  for (int64_t s = 0; s < std::ssize(texts_); ++s)
    if (!texts_[s].ended) end(s);
}

bool WrittenTexts::some_stopped() const {
  return std::ranges::any_of(stopped_, [](int64_t tokens) { return tokens != kNotStopped; });
}

void WrittenTexts::write(int64_t sequence, const std::string& piece) {
  const std::string certain = texts_[sequence].stops.add(piece);
  texts_[sequence].text += certain;
  if (settings_.listener && !certain.empty()) settings_.listener->write(batch_.items[sequence], certain);
}

void WrittenTexts::end(int64_t sequence) {
  Text& text = texts_[sequence];
  text.ended = true;
  // A stop text may come with the last bytes.
  if (text.stream && !text.stops.stopped()) write(sequence, text.stream->finish());
  if (text.stops.stopped()) {
    stopped_[sequence] = text.tokens;
  } else if (const std::string rest = text.stops.finish(); !rest.empty()) {
    text.text += rest;
    if (settings_.listener) settings_.listener->write(batch_.items[sequence], rest);
  }
  if (settings_.listener) settings_.listener->end(batch_.items[sequence]);
}

}  // namespace stormcell
