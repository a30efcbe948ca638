// One class for each pixel. The measure of a class: pixels that both answer and target have, of those that either has,
// over the judged pixels.
#include <algorithm>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/quality/task.h"

namespace stormcell {
namespace {

class ClassMapJudge final : public TaskJudge {
 public:
  ClassMapJudge(const Dataset& data, std::vector<std::string> names) : data_(data), names_(std::move(names)) {}

  void score(const Batch& batch, const OutputValue& answers, std::vector<ItemScore>& scores) override {
    expect_values(batch, answers, batch.size() * batch.picture.pixels() * std::ssize(names_),
                  "the classes of its pixels");
    const float* logits = answers.reals.data();
    std::vector<Overlap> overlaps(names_.size());
    for (const int64_t item : batch.items) {
      const ClassMap target = data_.target_classes(item);
      std::fill(overlaps.begin(), overlaps.end(), Overlap{});
      for (const int32_t shown : target.classes) {
        values_.all += 1;
        if (shown != kNotJudged) values_.judged += 1, add(shown, logits, item, overlaps);
        logits += names_.size();
      }
      for (size_t c = 0; c < overlaps.size(); ++c)
        if (overlaps[c].either > 0)
          scores.push_back({item, static_cast<double>(overlaps[c].both), static_cast<double>(overlaps[c].either),
                            static_cast<int32_t>(c)});
    }
  }

  std::vector<std::string> groups() const override { return names_; }
  std::optional<double> judged_share() const override { return values_.share(); }

 private:
  struct Overlap {
    int64_t both = 0, either = 0;
  };

  /// A pixel without an answer is wrong for the class that it shows.
  void add(int32_t shown, const float* logits, int64_t item, std::vector<Overlap>& overlaps) const {
    const auto classes = std::ssize(names_);
    if (shown >= classes)
      bad_input(data_.name(),
                "the target of " + data_.place(item) + " has class " + std::to_string(shown) + ", the model has " +
                    std::to_string(classes),
                "give classes from 0 to " + std::to_string(classes - 1) +
                    ", and 255 (u8) or -1 (i32) where nothing is to be judged");
    const int32_t answer = largest_class(logits, classes);
    ++overlaps[shown].either;
    if (answer == shown)
      ++overlaps[shown].both;
    else if (answer >= 0)
      ++overlaps[answer].either;
  }

  const Dataset& data_;
  std::vector<std::string> names_;
  JudgedValues values_;
};

std::string text_of(PictureSize size) {
  return "[" + std::to_string(size.height) + ", " + std::to_string(size.width) + "]";
}

}  // namespace

std::unique_ptr<TaskJudge> judge_class_maps(const Model& model, const Dataset& data, std::vector<std::string>&) {
  if (data.has_target_pictures())
    bad_input(data.name(), "targets are pictures, the model answers a class of each pixel",
              "give targets [items, height, width], u8 or i32");
  if (!data.has_target_classes()) return nullptr;
  for (int64_t b = 0; b < data.batch_count(); ++b) {
    const Batch batch = data.outline(b);
    for (const int64_t item : batch.items)
      if (const auto shape = data.target_shape(item); PictureSize{shape[0], shape[1]} != batch.picture)
        bad_input(data.name(),
                  "the target of " + data.place(item) + " is " + text_of({shape[0], shape[1]}) + ", the picture is " +
                      text_of(batch.picture),
                  "give targets as large as the pictures");
  }
  return std::make_unique<ClassMapJudge>(data, class_names(model.classes, model.answer.classes));
}

}  // namespace stormcell
