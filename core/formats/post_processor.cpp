#include "core/formats/post_processor.h"

#include <nlohmann/json.hpp>

#include "core/formats/file_text.h"

namespace stormcell {
namespace {
using Json = nlohmann::json;
const std::string kPart = "the post-processor";

void add_ids(const Json& step, const Json& item, const TokenizerParts& parts, std::vector<int32_t>& tokens) {
  const std::string& name = parts.text(parts.member(item, "SpecialToken", kPart), "id", kPart);
  const Json& token = parts.member(parts.member(step, "special_tokens", kPart), name.c_str(), kPart);
  for (const Json& id : parts.list(token, "ids", kPart)) tokens.push_back(parts.id_of(id, kPart));
}

TokenFrame template_frame(const Json& step, const TokenizerParts& parts) {
  TokenFrame frame;
  int texts = 0;
  for (const Json& item : parts.list(step, "single", kPart)) {
    if (item.is_object() && item.contains("Sequence"))
      ++texts;
    else
      add_ids(step, item, parts, texts == 0 ? frame.before : frame.behind);
  }
  if (texts != 1)
    parts.refuse(kPart + ": its template for one text has the text " + std::to_string(texts) + " times, expected once");
  return frame;
}

}  // namespace

std::optional<TokenFrame> parse_post_processor(const Json& step, const TokenizerParts& parts) {
  if (step.is_null()) return {};
  const std::string& type = parts.text(step, "type", kPart);
  if (type == "TemplateProcessing") return template_frame(step, parts);
  if (type == "ByteLevel") return TokenFrame();
  if (type != "Sequence") parts.unsupported(kPart, type);
  std::optional<TokenFrame> all;
  for (const Json& inner : parts.list(step, "processors", kPart)) {
    const std::optional<TokenFrame> frame = parse_post_processor(inner, parts);
    if (!frame) continue;
    if (!all) all = TokenFrame();
    // Each step puts its tokens around the result of the step before.
    all->before.insert(all->before.begin(), frame->before.begin(), frame->before.end());
    all->behind.insert(all->behind.end(), frame->behind.begin(), frame->behind.end());
  }
  return all ? all : TokenFrame();
}

}  // namespace stormcell
