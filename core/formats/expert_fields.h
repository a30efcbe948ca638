// Finds the part of a config.json that names a model's experts, and reads its numbers under the names that families
// use.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

/// Models for pictures and sound contain the configuration of their language model.
struct ExpertPart {
  const nlohmann::json* object = nullptr;
  std::string path;    ///< "text_config."; empty: the configuration itself
  std::string family;  ///< its "model_type", or that of the object around it
};
/// `is_family` tells whether a name is in the table. If no part names experts, the result is the whole configuration.
ExpertPart find_expert_part(const nlohmann::json& config, const std::function<bool(std::string_view)>& is_family);

/// Reads values by key and checks each. "a.b" is the key b of the object a. A key whose value is null counts as absent.
class ExpertFields {
 public:
  ExpertFields(const nlohmann::json& object, std::string path, std::string where)
      : object_(object), path_(std::move(path)), where_(std::move(where)) {}

  bool has(std::string_view key) const;
  const nlohmann::json& at(std::string_view key) const;
  int64_t integer(std::string_view key, int64_t least, int64_t most) const;
  bool boolean(std::string_view key) const;
  /// One integer, or a list of them; true counts as 1.
  std::vector<int64_t> integers(std::string_view key, int64_t least, int64_t most) const;
  /// A list of integers, or a text of them with commas.
  std::vector<int64_t> numbers(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;

  /// Error(bad_input) if there are none; `otherwise` 0: the file must name the number.
  int32_t experts(int32_t otherwise) const;
  /// One number for each layer; empty if one number is for all.
  std::vector<int64_t> experts_by_layer(int64_t layers, int64_t further) const;
  std::string experts_key() const;
  /// A sentence that names the keys whose lists have unlike numbers for these layers; empty: there are none.
  std::string unlike_numbers(const std::vector<int32_t>& with_experts, int64_t layers) const;
  int32_t per_token(int32_t otherwise) const;
  int32_t shared() const;
  int32_t further() const;
  /// If `key` is empty, the usual keys are tried.
  int32_t layers(std::string_view key, int32_t otherwise) const;

  [[noreturn]] void wrong(std::string_view key, std::string_view what) const;

 private:
  const nlohmann::json* find(std::string_view key) const;
  int32_t most_of(const std::vector<std::string_view>& keys, int64_t most) const;

  const nlohmann::json& object_;
  std::string path_, where_;
};

}  // namespace stormcell
