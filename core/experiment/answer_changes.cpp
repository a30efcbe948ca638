#include "core/experiment/answer_changes.h"

#include <algorithm>
#include <bit>

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

bool counts_cell(const std::vector<int32_t>& real, int64_t cell) { return real.empty() || real[cell] != 0; }

}  // namespace

AnswerReader::AnswerReader(const ExperimentState& state) {
  const TaskAnswer& answer = state.model->answer;
  if (answer.task == Task::classification || answer.task == Task::segmentation) {
    answers_.output = answer.output, classes_ = answer.classes;
    answers_.answer = answer.task == Task::classification ? "answer" : "pixel";
    return;
  }
  for (const NamedValue& out : state.graph->outputs)
    if (out.name == kLogits && answer.task == Task::none) {
      const std::vector<Dim> shape = state.graph->shape(out.value);
      answers_.output = out.name, classes_ = shape.back().constant(), answers_.answer = "token";
    }
}

void AnswerReader::add(const Batch& batch, const ReadyPlan& plan) {
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
  std::vector<ChangedCount> of_item;
  for (const auto& [number, was] : before.items) {
    const auto at = after.items.find(number);
    if (at == after.items.end()) continue;
    const ItemAnswers& is = at->second;
    changed.outputs.changed += was.bits != is.bits;
    ChangedCount& count = of_item.emplace_back();
    count.of = std::ssize(was.answers);
    for (size_t i = 0; i < std::min(was.answers.size(), is.answers.size()); ++i)
      count.changed += was.answers[i] != is.answers[i];
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

}  // namespace stormcell
