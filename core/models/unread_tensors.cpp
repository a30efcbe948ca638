#include "core/models/unread_tensors.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <unordered_set>
#include <vector>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

/// Calls visit(begin, end) for each number in a name that follows a point or an underscore.
template <class Visit>
void for_each_number(const std::string& name, Visit visit) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t begin = 1; begin < name.size(); ++begin) {
    if (!digit(name[begin]) || (name[begin - 1] != '.' && name[begin - 1] != '_')) continue;
    size_t end = begin;
    while (end < name.size() && digit(name[end])) ++end;
    visit(begin, end);
  }
}

/// The last number that the graph's weights have after a prefix: "encoder.block." -> 3.
std::map<std::string, int64_t, std::less<>> last_numbers(const Model& model) {
  std::map<std::string, int64_t, std::less<>> last;
  for (const std::string& name : tensors_read(model.forward->values))
    for_each_number(name, [&](size_t begin, size_t) {
      int64_t& most = last.try_emplace(name.substr(0, begin), -1).first->second;
      most = std::max<int64_t>(most, std::strtoll(name.c_str() + begin, nullptr, 10));
    });
  return last;
}

/// Finds tensors beyond the end of a list by config.json: "encoder.block.5", while the graph reads blocks 0 to 3. Such
/// a shortened model would run without a message.
void refuse_surplus(const std::map<std::string, int64_t, std::less<>>& last, const std::string& stranger,
                    const std::string& config_path) {
  for_each_number(stranger, [&](size_t begin, size_t end) {
    if (end == stranger.size() || stranger[end] != '.' || end - begin > 6) return;
    const std::string base = stranger.substr(0, begin);
    const auto known = last.find(base);
    if (known != last.end() && std::strtoll(stranger.c_str() + begin, nullptr, 10) > known->second)
      bad_input(config_path,
                "the weights hold " + in_quotes(stranger.substr(0, end)) + ", by config.json " +
                    in_quotes(base + std::to_string(known->second)) + " is the last one",
                "correct config.json: the number of layers or experts");
  });
}

/// The names of tied tensors. The graph reads one of each group; the others are copies of it.
std::unordered_set<std::string> copies_of(const Architecture& architecture) {
  std::unordered_set<std::string> names;
  for (const std::vector<std::string>& group : architecture.tied()) names.insert(group.begin(), group.end());
  return names;
}

}  // namespace

bool is_buffer(std::string_view tensor) {
  constexpr std::array<std::string_view, 5> kEndings = {"rotary_emb.inv_freq", "rotary_emb.cos_cached",
                                                        "rotary_emb.sin_cached", "num_batches_tracked",
                                                        "embeddings.position_ids"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return tensor.ends_with(ending); });
}

void warn_of_unread(Model& model, const Architecture& architecture, const WeightFiles& files,
                    const std::string& config_path) {
  const std::vector<std::string> read = tensors_read(model.forward->values);
  const std::unordered_set<std::string_view> known(read.begin(), read.end());
  const std::unordered_set<std::string> copies = copies_of(architecture);
  std::vector<std::string> strangers;
  for (const TensorPlace& t : files.tensors())
    if (!known.contains(t.name) && !is_buffer(t.name) && !copies.contains(t.name)) strangers.push_back(t.name);
  if (strangers.empty()) return;
  model.unread_tensors = std::ssize(strangers);
  const auto last = last_numbers(model);
  for (const std::string& name : strangers) refuse_surplus(last, name, config_path);
  std::string text = counted(std::ssize(strangers), "tensor that this family does not know is not used",
                             "tensors that this family does not know are not used") +
                     ": ";
  for (size_t i = 0; i < std::min<size_t>(3, strangers.size()); ++i) text += (i ? ", " : "") + in_quotes(strangers[i]);
  model.warnings.push_back(text + (strangers.size() > 3 ? ", ..." : ""));
}

}  // namespace stormcell
