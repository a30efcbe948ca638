#include "core/formats/tokenizer_config.h"

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/formats/open_file.h"

namespace stormcell {
namespace {
using Json = nlohmann::json;

constexpr size_t kMaxConfig = size_t{64} << 20;

Json object_of(std::string_view text, const std::string& path) {
  Json object = parse_json_text(text, path);
  if (!object.is_object()) bad_input(path, "is not a JSON object", "get the file again");
  return object;
}

std::vector<AddedToken> added_tokens(const Json& config, const std::string& path) {
  std::vector<AddedToken> tokens;
  const auto list = config.find("added_tokens_decoder");
  if (list == config.end() || !list->is_object()) return tokens;
  for (const auto& item : list->items()) {
    const std::string& id_text = item.key();
    const Json& entry = item.value();
    AddedToken token;
    const auto [end, failure] = std::from_chars(id_text.data(), id_text.data() + id_text.size(), token.id);
    constexpr int32_t kMaxId = 1 << 24;
    if (failure != std::errc() || end != id_text.data() + id_text.size() || token.id < 0 || token.id >= kMaxId ||
        !entry.is_object() || !entry.contains("content") || !entry["content"].is_string())
      bad_input(path, "added_tokens_decoder: " + in_quotes(id_text) + " is not a token", "get the file again");
    token.content = entry["content"].get<std::string>();
    const auto flag = [&](const char* name) {
      return entry.contains(name) && entry[name].is_boolean() && entry[name].get<bool>();
    };
    token.special = true;
    token.strip_left = flag("lstrip");
    token.strip_right = flag("rstrip");
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// Reads a text, or an object whose "content" is a text.
void take_token(const Json& config, const char* key, const std::string& path, ConfiguredToken& token) {
  const auto at = config.find(key);
  if (at == config.end() || !token.text.empty() || token.is_null) return;
  const Json& value = at->is_object() && at->contains("content") ? (*at)["content"] : *at;
  if (value.is_null()) {
    token.is_null = true;
    return;
  }
  if (!value.is_string())
    bad_input(path, in_quotes(key) + " is not a token", "write it as a text, or as an object with \"content\"");
  token.text = value.get<std::string>();
}

std::optional<bool> stated_flag(const Json& config, const char* key, const std::string& path) {
  const auto at = config.find(key);
  if (at == config.end() || at->is_null()) return {};
  if (!at->is_boolean()) bad_input(path, in_quotes(key) + " is neither true nor false", "correct it in the file");
  return at->get<bool>();
}

}  // namespace

TokenizerConfig parse_tokenizer_config(std::string_view json, const std::string& path) {
  const Json config = object_of(json, path);
  TokenizerConfig read;
  read.path = path;
  read.added = added_tokens(config, path);
  read.begin.is_added = stated_flag(config, "add_bos_token", path);
  read.end.is_added = stated_flag(config, "add_eos_token", path);
  read.begins_with_blank = stated_flag(config, "add_prefix_space", path);
  take_token(config, "bos_token", path, read.begin);
  take_token(config, "eos_token", path, read.end);
  return read;
}

TokenizerConfig read_tokenizer_config(const std::string& folder) {
  const auto in_folder = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  const std::string path = in_folder("tokenizer_config.json"), map = in_folder("special_tokens_map.json");
  TokenizerConfig read;
  read.path = path;
  // A link whose target is missing counts as a file, so that opening it fails.
  if (has_entry(path)) read = parse_tokenizer_config(read_file_text(path, kMaxConfig), path);
  if (has_entry(map)) {
    const Json tokens = object_of(read_file_text(map, kMaxConfig), map);
    take_token(tokens, "bos_token", map, read.begin);
    take_token(tokens, "eos_token", map, read.end);
  }
  return read;
}

}  // namespace stormcell
