#include "core/formats/chat_template.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/formats/file_text.h"
#include "core/formats/gguf_header.h"
#include "core/formats/header_bytes.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/formats/open_file.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;
constexpr size_t kMostTemplate = size_t{4} << 20, kMostTemplateConfig = size_t{8} << 20;

std::string template_in(const nlohmann::json& config) {
  const nlohmann::json& found = value_at(config, "chat_template");
  if (found.is_string()) return found.get<std::string>();
  // Several by name; the default one is used.
  if (found.is_array())
    for (const nlohmann::json& one : found)
      if (text_at(one, "name") == "default" || found.size() == 1) return text_at(one, "template");
  return {};
}

ChatTemplate template_of_folder(const fs::path& folder) {
  if (const std::string path = (folder / "chat_template.jinja").string(); has_entry(path))
    if (std::string text = read_file_text(path, kMostTemplate); !text.empty()) return {std::move(text), path};
  for (const char* name : {"chat_template.json", "tokenizer_config.json"})
    if (const std::string path = (folder / name).string(); has_entry(path))
      if (std::string text = template_in(read_json_file(path, {kMostTemplateConfig, 64})); !text.empty())
        return {std::move(text), path};
  return {{}, folder.string()};
}

}  // namespace

ChatTemplate chat_template_of(const std::string& path) {
  if (fs::is_directory(path)) return template_of_folder(path);
  if (has_gguf_mark(path)) {
    const OpenFile file = OpenFile::open_regular(path);
    HeaderBytes bytes(file);
    const GgufHeader header = read_gguf_header(bytes, [](GgufPlace&&) {});
    return {std::string(header.keys.text("tokenizer.chat_template")), path};
  }
  const fs::path folder = fs::path(path).parent_path();
  return template_of_folder(folder.empty() ? "." : folder);
}

}  // namespace stormcell
