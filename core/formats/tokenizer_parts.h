// Reads values of an untrusted tokenizer.json. Each error names the file and its part.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace stormcell {

class TokenizerParts {
 public:
  static constexpr int64_t kMaxId = 1 << 24;

  explicit TokenizerParts(const std::string& where) : where_(where) {}

  const std::string& where() const { return where_; }
  /// Refuses a damaged file.
  [[noreturn]] void refuse(const std::string& what) const;
  /// Refuses a part that this version does not read.
  [[noreturn]] void unsupported(const std::string& part, const std::string& what) const;

  const nlohmann::json& member(const nlohmann::json& object, const char* key, const std::string& part) const;
  /// Null if there is none.
  const nlohmann::json& optional_member(const nlohmann::json& object, const char* key) const;
  const std::string& text(const nlohmann::json& object, const char* key, const std::string& part) const;
  const nlohmann::json& list(const nlohmann::json& object, const char* key, const std::string& part) const;
  bool flag(const nlohmann::json& object, const char* key, bool otherwise) const;
  int32_t id_of(const nlohmann::json& value, const std::string& part) const;

 private:
  std::string where_;
};

}  // namespace stormcell
