#include "core/formats/tokenizer_config.h"

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"

namespace stormcell {

std::vector<AddedToken> read_added_tokens(const std::string& path) {
  std::vector<AddedToken> tokens;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return tokens;
  const nlohmann::json config = read_json_file(path);
  if (!config.is_object()) bad_input(path, "is not a JSON object", "get the file again");
  const auto list = config.find("added_tokens_decoder");
  if (list == config.end() || !list->is_object()) return tokens;
  for (const auto& item : list->items()) {
    const std::string& id_text = item.key();
    const nlohmann::json& entry = item.value();
    AddedToken token;
    const auto [end, failure] = std::from_chars(id_text.data(), id_text.data() + id_text.size(), token.id);
    constexpr int32_t kMaxId = 1 << 24;
    if (failure != std::errc() || end != id_text.data() + id_text.size() || token.id < 0 || token.id >= kMaxId || !entry.is_object() ||
        !entry.contains("content") || !entry["content"].is_string())
      bad_input(path, "added_tokens_decoder: " + in_quotes(id_text) + " is no token", "get the file again");
    token.content = entry["content"].get<std::string>();
    if (!token.content.starts_with("<extra_id_")) continue;  // the others are pieces of the vocabulary
    const auto flag = [&](const char* name) { return entry.contains(name) && entry[name].is_boolean() && entry[name].get<bool>(); };
    token.special = true;
    token.strip_left = flag("lstrip");
    token.strip_right = flag("rstrip");
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace stormcell
