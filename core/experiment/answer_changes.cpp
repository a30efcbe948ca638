#include "core/experiment/answer_changes.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "core/quality/interval.h"
#include "core/quality/task.h"
#include "core/verification/references.h"

namespace stormcell {
namespace {

/// FNV-1a over words (Fowler, Noll, Vo): the same bits give the same number.
void hash(uint32_t word, uint64_t& bits) { bits = (bits ^ word) * 0x100000001b3ull; }

/// Cells of an item in an output; 0: they are not grouped by item.
int64_t cells_of_item(const OutputValue& output, size_t items) {
  const int64_t cells = output.shape.empty() ? 0 : output.shape[0], count = static_cast<int64_t>(items);
  return count > 0 && cells % count == 0 ? cells / count : 0;
}

/// Answers that differ; those that only one of both has do.
ChangedCount changed_of(const std::vector<int32_t>& before, const std::vector<int32_t>& after) {
  const size_t both = std::min(before.size(), after.size()), all = std::max(before.size(), after.size());
  ChangedCount count;
  count.of = static_cast<int64_t>(all), count.changed = static_cast<int64_t>(all - both);
  for (size_t i = 0; i < both; ++i) count.changed += before[i] != after[i];
  return count;
}

/// The place of the first answer that differs, or that only one of both has.
std::optional<int64_t> first_difference(const std::vector<int32_t>& before, const std::vector<int32_t>& after) {
  const auto [a, b] = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  if (a == before.end() && b == after.end()) return std::nullopt;
  return a - before.begin();
}

std::string text_of(const std::vector<int32_t>& tokens, const Tokenizer* tokenizer) {
  if (tokenizer) return tokenizer->decode(tokens);
  std::string ids;
  for (const int32_t token : tokens) ids += (ids.empty() ? "" : " ") + std::to_string(token);
  return ids;
}

bool counts_cell(const std::vector<int32_t>& real, int64_t cell) { return real.empty() || real[cell] != 0; }

}  // namespace

AnswerReader::AnswerReader(const ExperimentState& state, int64_t new_tokens) : new_tokens_(new_tokens) {
  if (new_tokens > 0) {
    answers_.output = kGenerated, answers_.answer = "token";
    return;
  }
  const TaskAnswer& answer = state.model->answer;
  if (answer.task == Task::classification || answer.task == Task::segmentation) {
    answers_.output = answer.output, classes_ = answer.classes;
    answers_.answer = answer.task == Task::classification ? "answer" : "pixel";
    return;
  }
  for (const NamedValue& out : state.graph->outputs)
    if (out.name == kLogits && (answer.task == Task::none || answer.task == Task::language)) {
      const std::vector<Dim> shape = state.graph->shape(out.value);
      answers_.output = out.name, classes_ = shape.back().constant(), answers_.answer = "token";
    }
}

void AnswerReader::add(const Batch& batch, const ReadyPlan& plan) {
  if (new_tokens_ > 0) return add_texts(batch, plan.decoded.at(batch.index));
  const std::map<std::string, std::vector<int32_t>> real = real_cells(*plan.graph, batch);
  std::vector<ItemAnswers> items(batch.items.size());
  for (const OutputValue& output : plan.result.outputs) {
    const auto known = real.find(output.name);
    const std::vector<int32_t> counts = known == real.end() ? std::vector<int32_t>() : known->second;
    add_bits(output, counts, items);
    if (output.name == answers_.output) add_answers(output, counts, items);
  }
  for (size_t i = 0; i < items.size(); ++i) answers_.items[batch.items[i]] = std::move(items[i]);
}

/// `tokens` [sequences, new_tokens]: -1 behind a sequence's end.
void AnswerReader::add_texts(const Batch& batch, const std::vector<int32_t>& tokens) {
  for (int64_t i = 0; i < batch.size(); ++i) {
    ItemAnswers item;
    for (int64_t t = i * new_tokens_; t < (i + 1) * new_tokens_ && tokens[t] >= 0; ++t) {
      item.answers.push_back(tokens[t]);
      hash(static_cast<uint32_t>(tokens[t]) + 1, item.bits);  // token 0 counts, too
    }
    answers_.items[batch.items[i]] = std::move(item);
  }
}

void AnswerReader::add_bits(const OutputValue& output, const std::vector<int32_t>& real,
                            std::vector<ItemAnswers>& items) const {
  const int64_t cells = cells_of_item(output, items.size()), all = output.shape.empty() ? 0 : output.shape[0];
  const auto values = std::max(std::ssize(output.reals), std::ssize(output.integers));
  const auto word = [&](int64_t i) {
    return output.reals.empty() ? static_cast<uint32_t>(output.integers[i]) : std::bit_cast<uint32_t>(output.reals[i]);
  };
  if (cells == 0) {  // whose a value is nobody tells: what differs, differs for all
    for (ItemAnswers& item : items)
      for (int64_t i = 0; i < values; ++i) hash(word(i), item.bits);
    return;
  }
  const int64_t width = values / all;
  for (int64_t cell = 0; cell < all; ++cell)
    if (counts_cell(real, cell))
      for (int64_t i = cell * width; i < (cell + 1) * width; ++i) hash(word(i), items[cell / cells].bits);
}

void AnswerReader::add_answers(const OutputValue& output, const std::vector<int32_t>& real,
                               std::vector<ItemAnswers>& items) const {
  const int64_t cells = cells_of_item(output, items.size());
  if (cells == 0 || classes_ <= 0) return;
  const int64_t answers = std::ssize(output.reals) / classes_, of_cell = answers / output.shape[0];
  for (int64_t a = 0; a < answers; ++a)
    if (const int64_t cell = a / of_cell; counts_cell(real, cell))
      items[cell / cells].answers.push_back(largest_class(output.reals.data() + a * classes_, classes_));
}

AnswersChanged changed_answers(const RunAnswers& before, const RunAnswers& after, const std::string& item) {
  AnswersChanged changed;
  changed.item = item;
  const bool decoded = before.output == kGenerated;
  std::vector<ChangedCount> of_item;
  for (const auto& [number, was] : before.items) {
    const auto at = after.items.find(number);
    if (at == after.items.end()) continue;
    const ItemAnswers& is = at->second;
    changed.outputs.changed += was.bits != is.bits;
    of_item.push_back(changed_of(was.answers, is.answers));
    const std::optional<int64_t> parted = first_difference(was.answers, is.answers);
    if (!decoded || !parted || (changed.first_token && *changed.first_token <= *parted)) continue;
    changed.first_token = parted, changed.first_item = number;
  }
  changed.outputs.of = std::ssize(of_item);
  changed.outputs.share_ci95 = wilson_interval(changed.outputs.changed, changed.outputs.of);
  if (before.output.empty()) return changed;
  changed.answer = before.answer;
  const auto sum_of = [&](const auto& drawn) {
    ChangedCount sum;
    for (const ChangedCount& c : drawn) sum.changed += c.changed, sum.of += c.of;
    return sum;
  };
  ChangedCount all = sum_of(of_item);
  const bool one_each = all.of == changed.outputs.of;
  all.share_ci95 = one_each ? wilson_interval(all.changed, all.of)
                            : bootstrap_interval(of_item.size(), [&](std::span<const size_t> drawn) {
                                ChangedCount sum;
                                for (const size_t i : drawn) sum.changed += of_item[i].changed, sum.of += of_item[i].of;
                                return sum.share();
                              });
  changed.answers = all;
  return changed;
}

std::vector<ChangedText> changed_texts(const RunAnswers& before, const RunAnswers& after, const Tokenizer* tokenizer) {
  std::vector<ChangedText> texts;
  for (const auto& [number, was] : before.items) {
    const auto at = after.items.find(number);
    if (at == after.items.end() || std::ssize(texts) == kMostChangedTexts) continue;
    const std::vector<int32_t>& is = at->second.answers;
    const std::optional<int64_t> parted = first_difference(was.answers, is);
    if (!parted) continue;
    const auto token_at = [&](const std::vector<int32_t>& tokens) {
      return *parted < std::ssize(tokens) ? std::optional(tokens[*parted]) : std::nullopt;
    };
    texts.push_back({number, *parted, token_at(was.answers), token_at(is), text_of(was.answers, tokenizer),
                     text_of(is, tokenizer)});
  }
  return texts;
}

}  // namespace stormcell
