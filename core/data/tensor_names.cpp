#include "core/data/tensor_names.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/tensor_file.h"

namespace stormcell {
namespace {

std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c != '_' && c != '-') text += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return text;
}

/// Letters to insert, leave out or exchange to make one of the other.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t exchanged = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// Two letters wrong, or the singular for the plural; in short names one, or two that changed places.
bool is_almost(std::string_view name, std::string_view known) {
  std::string a = plain(name), b = plain(known);
  if (distance(a, b) <= (b.size() > 8 ? 2U : 1U)) return true;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

std::string listed(const auto& names) {
  std::string text;
  for (const auto& name : names) add_to_list(text, name);
  return text;
}

/// "a, b, c, d, e and 3 more".
std::string first_of(std::vector<std::string_view> names) {
  constexpr size_t kShown = 5;
  const size_t more = names.size() > kShown ? names.size() - kShown : 0;
  names.resize(names.size() - more);
  return listed(names) + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

}  // namespace

std::vector<std::string> check_tensor_names(const std::string& path, const TensorFile& file,
                                            std::span<const std::string_view> known) {
  std::vector<std::string_view> unread;
  for (const TensorPlace& tensor : file.tensors()) {
    if (std::find(known.begin(), known.end(), tensor.name) != known.end()) continue;
    for (const std::string_view name : known)
      if (is_almost(tensor.name, name) && !file.find(name))
        bad_input(path, "has a tensor " + std::string(tensor.name) + " and no " + std::string(name),
                  "rename it or remove it; data may have " + listed(known));
    unread.push_back(tensor.name);
  }
  if (unread.empty()) return {};
  return {path + ": nothing reads " + first_of(std::move(unread)) + "; data may have " + listed(known)};
}

std::string held_instead(const TensorFile& file) {
  std::vector<std::string_view> names;
  for (const TensorPlace& tensor : file.tensors()) names.push_back(tensor.name);
  return names.empty() ? std::string() : "; it holds " + first_of(std::move(names));
}

}  // namespace stormcell
