// An enlarged picture of each item: squared error of its values, cut to 0 to 1, against the picture that the data have
// for it.
#include <algorithm>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/formats/safetensors.h"
#include "core/quality/task.h"

namespace stormcell {
namespace {

class PictureJudge final : public TaskJudge {
 public:
  explicit PictureJudge(const Dataset& data) : data_(data) {}

  void score(const Batch& batch, const OutputValue& answers, std::vector<ItemScore>& scores) override {
    expect_values(batch, answers, values_of_targets(batch), "the targets of its pictures");
    const float* answer = answers.reals.data();
    for (const int64_t item : batch.items) {
      const TargetPicture target = data_.target_picture(item);
      const size_t channels = target.shape[2];
      ItemScore score{item, 0, 0};
      for (size_t i = 0; i < target.values.size(); ++i) {
        if (!target.judged.empty() && target.judged[i / channels] == 0) continue;
        const double off = std::clamp(answer[i], 0.0F, 1.0F) - target.values[i];
        score.part += off * off, score.whole += 1;
      }
      answer += target.values.size();
      if (score.whole > 0) scores.push_back(score);
      values_.judged += static_cast<int64_t>(score.whole), values_.all += std::ssize(target.values);
      look_at_range(target, item);
    }
  }

  std::optional<double> judged_share() const override { return values_.share(); }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> all;
    if (values_.judged == 0 && values_.all > 0)
      all.push_back(data_.name() + ": no pixel of the targets is to be judged, so there is no PSNR");
    if (!out_of_range_.empty())
      all.push_back(data_.name() + ": " + counted(std::ssize(out_of_range_), "target holds", "targets hold") +
                    " values far from 0 to 1, to which answers are cut: divide them by 255 where they are bytes; the "
                    "first is that of " +
                    data_.place(*out_of_range_.begin()));
    return all;
  }

 private:
  /// Resizing overshoots edges a little.
  void look_at_range(const TargetPicture& target, int64_t item) {
    constexpr float kDarkest = -0.5F, kBrightest = 1.5F;
    if (std::all_of(target.values.begin(), target.values.end(),
                    [](float v) { return v >= kDarkest && v <= kBrightest; }))
      return;
    out_of_range_.insert(item);
  }
  int64_t values_of_targets(const Batch& batch) const {
    int64_t values = 0;
    for (const int64_t item : batch.items) {
      const std::array<int64_t, 3> shape = data_.target_shape(item);
      values += shape[0] * shape[1] * shape[2];
    }
    return values;
  }

  const Dataset& data_;
  JudgedValues values_;
  std::set<int64_t> out_of_range_;  // items
};

/// [height, width, channels] that the model answers a picture of this size with.
std::array<int64_t, 3> answered(const Model& model, PictureSize size) {
  const std::shared_ptr<const Graph> graph = model.forward_for(size);
  const auto at = std::find_if(graph->outputs.begin(), graph->outputs.end(),
                               [&](const NamedValue& output) { return output.name == model.answer.output; });
  if (at == graph->outputs.end()) failed("quality", "no output " + model.answer.output);
  const auto& content = graph->value(at->value).type.content;
  return {content.at(0).constant(), content.at(1).constant(), content.at(2).constant()};
}

std::string text_of(const std::array<int64_t, 3>& shape) { return shape_text({shape.begin(), shape.end()}); }

}  // namespace

std::unique_ptr<TaskJudge> judge_pictures(const Model& model, const Dataset& data, std::vector<std::string>&) {
  if (data.has_target_classes())
    bad_input(data.name(), "targets are classes of pixels, the model answers pictures",
              "give targets [items, height, width, channels]");
  if (!data.has_target_pictures()) return nullptr;
  PictureSize size;
  std::array<int64_t, 3> shape{};
  for (int64_t b = 0; b < data.batch_count(); ++b) {
    const Batch batch = data.outline(b);
    if (b == 0 || batch.picture != size) size = batch.picture, shape = answered(model, size);
    for (const int64_t item : batch.items)
      if (data.target_shape(item) != shape)
        bad_input(data.name(),
                  "the target of " + data.place(item) + " is " + text_of(data.target_shape(item)) +
                      ", the model answers " + text_of(shape),
                  "give targets as large as what the model makes of the pictures");
  }
  return std::make_unique<PictureJudge>(data);
}

}  // namespace stormcell
