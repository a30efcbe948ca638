#include "core/traces/routed_layout.h"

#include <algorithm>
#include <optional>

#include "core/base/counted.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {

class LayoutSearch {
 public:
  LayoutSearch(const std::vector<const RoutedIds*>& parts, const TracedModel& model, int64_t tokens, const JsonRow& row)
      : parts_(parts), model_(model), tokens_(tokens), row_(row) {
    for (const RoutedIds* part : parts) values_ += std::ssize(part->ids), like_int64_ |= part->like_int64;
  }

  RoutedLayout find() {
    // With k > 1, expert 0 would be the second choice of every token.
    if (like_int64_ && model_.k > 1) refuse_int64();
    std::vector<Candidate> all;
    const int64_t moe = std::ssize(model_.moe_layers);
    for (const int64_t width : {int64_t{model_.k}, int64_t{model_.k} + model_.shared})
      for (const int64_t further : {int64_t{0}, int64_t{model_.further_layers}}) {
        add({0, model_.layers + further, width, true}, all);
        if (moe != model_.layers) add({0, moe + further, width, false}, all);
      }
    const bool fits = !all.empty();
    if (tokens_ >= 0) std::erase_if(all, [&](const Candidate& c) { return c.layout.rows > tokens_; });
    if (all.empty() && like_int64_) refuse_int64();
    if (all.empty()) refuse(fits);
    if (values_ == 0) return all[0].layout;
    if (all.size() == 1) {
      refuse_other_layers(all[0].layout);
      return all[0].layout;
    }
    for (Candidate& c : all) c.doubt = doubt_of(c.layout);
    std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.doubt < b.doubt; });
    constexpr double kAlike = 0.05;
    if (is_partial(all[0].layout) && all[1].doubt - all[0].doubt < kAlike)
      row_.wrong("routed_experts holds " + counted(values_, "number") + " for " + counted(tokens_, "token") +
                 ": rows are missing, as with routed_experts_start_len, and they may be of " +
                 counted(all[0].layout.layers, "layer") + " or " + std::to_string(all[1].layout.layers));
    refuse_other_layers(all[0].layout);
    return all[0].layout;
  }

 private:
  struct Candidate {
    RoutedLayout layout;
    double doubt = 0;
  };

  void add(RoutedLayout layout, std::vector<Candidate>& all) const {
    const auto is_it = [&](const Candidate& c) {
      return c.layout.layers == layout.layers && c.layout.width == layout.width &&
             c.layout.all_layers == layout.all_layers;
    };
    const auto rows = rows_of(layout.layers, layout.width);
    if (!rows || std::any_of(all.begin(), all.end(), is_it)) return;
    layout.rows = *rows;
    all.push_back({layout, 0});
  }
  bool has_experts(const RoutedLayout& l, int64_t layer) const {
    return !l.all_layers ||
           std::binary_search(model_.moe_layers.begin(), model_.moe_layers.end(), static_cast<int32_t>(layer));
  }

  std::optional<int64_t> rows_of(int64_t layers, int64_t width) const {
    int64_t rows = 0;
    for (const RoutedIds* part : parts_) {
      const int64_t size = std::ssize(part->ids), row = layers * width;
      if (row == 0 || size % row ||
          (part->has_shape() && !part->empty() && (part->layers != layers || part->width != width)))
        return {};
      rows += size / row;
    }
    return rows <= INT32_MAX / 2 ? std::optional(rows) : std::nullopt;
  }

  bool is_partial(const RoutedLayout& l) const { return tokens_ >= 0 && l.rows < tokens_ - 1; }

  /// A measure of how unlikely a layout is; 0: nothing contradicts it. It is a weighted sum of three shares of rows:
  /// those with impossible ids (their weight excludes the layout), rows of layers without experts that are not zero,
  /// and rows of zeros, as for tokens that were not recorded.
  double doubt_of(const RoutedLayout& l) const {
    constexpr double kWrongId = 1e6, kDense = 10, kPartial = 0.25, kShared = 0.1;
    int64_t wrong = 0, dense = 0, unrecorded = 0, dense_rows = 0, expert_rows = 0;
    const int64_t known = l.all_layers ? model_.layers : std::ssize(model_.moe_layers);
    for (const RoutedIds* part : parts_)
      for (int64_t at = 0, i = 0; at < std::ssize(part->ids); at += l.width, ++i) {
        const auto first = part->ids.begin() + at, end = first + model_.k;
        if (i % l.layers >= known) continue;
        if (!has_experts(l, i % l.layers)) {
          dense += std::any_of(first, end, [](int32_t id) { return id > 0; });
          ++dense_rows;
          continue;
        }
        ++expert_rows;
        if (std::any_of(first, end, [&](int32_t id) { return id >= model_.branches + model_.zero_experts; })) ++wrong;
        if (model_.k < 2) continue;
        if (std::all_of(first, end, [](int32_t id) { return id == 0; }))
          ++unrecorded;
        else if (chooses_twice(first, end))
          ++wrong;
      }
    const auto share = [](int64_t part, int64_t all) { return all > 0 ? static_cast<double>(part) / all : 0; };
    return kWrongId * share(wrong, expert_rows) + kDense * share(dense, dense_rows) + share(unrecorded, expert_rows) +
           (is_partial(l) ? kPartial : 0) + (l.width > model_.k ? kShared : 0);
  }
  /// Layers without experts are zeros in every token. Refuses zeros that come again after another number of layers.
  void refuse_other_layers(const RoutedLayout& l) const {
    if (model_.k < 2) return;
    std::vector<uint8_t> zero;
    for (const RoutedIds* part : parts_) {
      if (part->has_shape()) return;
      for (auto first = part->ids.begin(); first != part->ids.end(); first += l.width)
        zero.push_back(std::all_of(first, first + model_.k, [](int32_t id) { return id == 0; }));
    }
    const auto rows = std::ssize(zero);
    const auto comes_again = [&](int64_t layers) {
      return std::equal(zero.begin() + layers, zero.end(), zero.begin());
    };
    if (comes_again(std::min(l.layers, rows))) return;
    for (int64_t layers = 2; layers <= std::min(rows / 2, kMostTracedLayers); ++layers)
      if (rows % layers == 0 && comes_again(layers))
        row_.wrong("routed_experts has zeros that repeat after " + counted(layers, "layer") + ", " + model_.source +
                   " has " + counted(model_.layers, "layer") + ", " + std::to_string(model_.moe_layers.size()) +
                   " of them with experts, so it belongs to another model");
  }
  template <class At>
  static bool chooses_twice(At first, At end) {
    for (At id = first; id != end; ++id)
      if (*id >= 0 && std::find(first, id, *id) != id) return true;
    return false;
  }

  [[noreturn]] void refuse_int64() const {
    row_.wrong("routed_experts is not base64 of int32: every second number is 0, and it looks like int64");
  }
  [[noreturn]] void refuse(bool too_many) const {
    const std::string shape = counted(model_.layers, "layer") + ", " + std::to_string(model_.moe_layers.size()) +
                              " of them with experts, and " + counted(model_.k, "choice");
    for (const RoutedIds* part : parts_)
      if (part->has_shape() && !too_many)
        row_.wrong("routed_experts has the shape " +
                   shape_text(std::vector<int64_t>{part->rows, part->layers, part->width}) + ", " + model_.source +
                   " has " + shape);
    if (too_many)
      row_.wrong("routed_experts holds " + counted(values_, "number") + ": more tokens than the " +
                 std::to_string(tokens_) + " of prompt and answer, of " + shape);
    row_.wrong("routed_experts holds " + counted(values_, "number") + ", no whole number of tokens of " + shape);
  }

  const std::vector<const RoutedIds*>& parts_;
  const TracedModel& model_;
  const int64_t tokens_;
  const JsonRow& row_;
  int64_t values_ = 0;
  bool like_int64_ = false;
};

}  // namespace

RoutedLayout find_layout(const std::vector<const RoutedIds*>& parts, const TracedModel& model, int64_t tokens,
                         const JsonRow& row) {
  return LayoutSearch(parts, model, tokens, row).find();
}

}  // namespace stormcell
