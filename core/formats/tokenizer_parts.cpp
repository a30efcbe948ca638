#include "core/formats/tokenizer_parts.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
using Json = nlohmann::json;

void TokenizerParts::refuse(const std::string& what) const { bad_input(where_, what, "get the file again"); }

void TokenizerParts::unsupported(const std::string& part, const std::string& what) const {
  bad_input(where_, part + " " + in_quotes(what) + " is not in this version",
            "give token ids as .npy or .safetensors instead of text");
}

const Json& TokenizerParts::member(const Json& object, const char* key, const std::string& part) const {
  if (!object.is_object()) refuse(part + " is not an object");
  const auto it = object.find(key);
  if (it == object.end()) refuse(part + " has no " + in_quotes(key));
  return *it;
}

const Json& TokenizerParts::optional_member(const Json& object, const char* key) const {
  static const Json kNull;
  const auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

const std::string& TokenizerParts::text(const Json& object, const char* key, const std::string& part) const {
  const Json& value = member(object, key, part);
  if (!value.is_string()) refuse(part + ": " + in_quotes(key) + " is not a text");
  return value.get_ref<const std::string&>();
}

const Json& TokenizerParts::list(const Json& object, const char* key, const std::string& part) const {
  const Json& value = member(object, key, part);
  if (!value.is_array()) refuse(part + ": " + in_quotes(key) + " is not a list");
  return value;
}

bool TokenizerParts::flag(const Json& object, const char* key, bool otherwise) const {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return otherwise;
  if (!it->is_boolean()) refuse(in_quotes(key) + " is neither true nor false");
  return it->get<bool>();
}

int32_t TokenizerParts::id_of(const Json& value, const std::string& part) const {
  const int64_t id = value.is_number_integer() ? value.get<int64_t>() : -1;
  if (id < 0 || id >= kMaxId) refuse(part + ": " + in_quotes(value.dump()) + " is not a token id");
  return static_cast<int32_t>(id);
}

}  // namespace stormcell
