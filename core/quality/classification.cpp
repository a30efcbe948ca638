// One class for each item: right if the largest logit, the first of equal ones, is the label's.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "core/base/counted.h"
#include "core/formats/file_text.h"
#include "core/quality/task.h"

namespace stormcell {
namespace {

class ClassJudge final : public TaskJudge {
 public:
  ClassJudge(const Dataset& data, int64_t classes, std::vector<std::string> names)
      : data_(data), classes_(classes), names_(std::move(names)) {
    for (size_t n = 0; n < names_.size(); ++n) number_of_.emplace(names_[n], static_cast<int32_t>(n));
  }

  void score(const Batch& batch, const OutputValue& answers, std::vector<ItemScore>& scores) override {
    if (batch.labels.empty()) return;
    expect_values(batch, answers, batch.size() * classes_, "the classes of its items");
    const float* logits = answers.reals.data();
    for (size_t i = 0; i < batch.items.size(); ++i, logits += classes_) {
      const int32_t label = class_of(batch.labels[i]);
      if (label < 0) {
        look_at(batch.labels[i], batch.items[i]);
        continue;
      }
      const int32_t answer = largest_class(logits, classes_);
      scores.push_back({batch.items[i], answer == label ? 1.0 : 0.0, 1.0, label, answer});
      if (answer < 0) no_answers_.insert(batch.items[i]);
    }
  }

  std::vector<std::string> groups() const override { return class_names(names_, classes_); }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> all;
    if (!no_answers_.empty())
      all.push_back(data_.name() + ": " + counted(std::ssize(no_answers_), "answer holds", "answers hold") +
                    " values that are not numbers, and count as wrong");
    if (strangers_.empty()) return all;
    const auto [item, label] = *strangers_.begin();
    const auto some = std::ssize(strangers_);
    all.push_back(data_.name() + ": " + counted(some, "label is not a class", "labels are not classes") +
                  " of the model, which has " + with_commas(classes_) + "; the first is " + in_quotes(label) + ", of " +
                  data_.place(item) + "; accuracy leaves such items out");
    return all;
  }

 private:
  /// -1: no class of the model.
  int32_t class_of(const std::string& label) const {
    if (const auto named = number_of_.find(label); named != number_of_.end()) return named->second;
    int32_t number = -1;
    const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
    return error == std::errc() && end == label.data() + label.size() && number >= 0 && number < classes_ ? number : -1;
  }
  void look_at(const std::string& label, int64_t item) {
    if (!label.empty()) strangers_.emplace(item, label);
  }

  const Dataset& data_;
  int64_t classes_;
  std::vector<std::string> names_;
  std::map<std::string, int32_t, std::less<>> number_of_;
  std::map<int64_t, std::string> strangers_;  // by item: labels that are no class
  std::set<int64_t> no_answers_;              // items
};

}  // namespace

std::unique_ptr<TaskJudge> judge_classes(const Model& model, const Dataset& data, std::vector<std::string>& warnings) {
  if (!data.has_labels()) return nullptr;
  std::vector<std::string> names = data.classes();
  if (!data.classes_of_model() && !names.empty()) {
    // An empty folder is either a class without pictures, or a stray folder. Only numbers distinguish them: if the
    // folders with pictures are as many as the model's classes, no class is left for it.
    const std::vector<std::string> empty = data.empty_classes();
    if (static_cast<int64_t>(names.size() - empty.size()) == model.answer.classes)
      for (const std::string& name : empty) {
        warnings.push_back(
            data.name() + ": " + in_quotes(name) +
            " is not taken for a class: the folders that hold pictures are as many as the model's classes, " +
            with_commas(model.answer.classes));
        std::erase(names, name);
      }
    const auto some = std::ssize(names);
    if (some != model.answer.classes) {
      warnings.push_back(
          data.name() + ": the folders name " + counted(some, "class") + ", the model has " +
          with_commas(model.answer.classes) +
          " and names none (id2label in config.json): accuracy is not known; name the folders by the classes' numbers");
      return nullptr;
    }
    warnings.push_back(
        data.name() +
        ": the model names no classes (id2label in config.json), so the folders are taken in the order of " +
        "their names, as torchvision's ImageFolder does: " + in_quotes(names.front()) + " is class 0");
  }
  return std::make_unique<ClassJudge>(data, model.answer.classes, std::move(names));
}

}  // namespace stormcell
