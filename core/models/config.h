// Reading a model's config.json: every key checked, with the defaults that transformers gives it.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/config_keys.h"

namespace stormcell {

/// A view of a JSON object; `where` is the file, for errors. The object must outlive it. With a family's keys, a value
/// may have any of its names.
class Config {
 public:
  Config(const nlohmann::json& object, std::string where, std::span<const ConfigKey> keys = {})
      : object_(object), where_(std::move(where)), keys_(keys) {}

  const std::string& where() const { return where_; }
  const nlohmann::json& object() const { return object_; }
  /// The object under a key; empty if it is absent or null. Errors name its keys as "key.inner".
  std::optional<Config> part(std::string_view key) const;
  /// False also where the key is null.
  bool has(std::string_view key) const;
  /// An integer between `least` and `most`, `otherwise` when the key is absent or null.
  int64_t integer(std::string_view key, int64_t otherwise, int64_t least, int64_t most) const;
  double real(std::string_view key, double otherwise, double least, double most) const;
  bool boolean(std::string_view key, bool otherwise) const;
  std::string word(std::string_view key, std::string_view otherwise) const;
  /// A word of the list; the error shows the list.
  std::string word(std::string_view key, std::string_view otherwise, const std::vector<std::string_view>& known) const;
  /// An integer or a list of integers; empty when absent or null.
  std::vector<int32_t> ids(std::string_view key, int64_t below) const;
  /// An integer or a list of integers between `least` and `most`; empty when absent or null, or where the list is.
  std::vector<int64_t> integers(std::string_view key, int64_t least, int64_t most) const;
  /// One number for all of `count` things, or one for each; the error calls them by `noun`.
  std::vector<int64_t> integers_of_each(std::string_view key, std::vector<int64_t> otherwise, size_t count,
                                        std::string_view noun, int64_t least, int64_t most) const;
  /// As integers(), for numbers that fit; `range` describes them: "from 0 to 1".
  std::vector<double> reals(std::string_view key, bool (*fits)(double), std::string_view range) const;
  std::vector<std::string> words(std::string_view key) const;
  /// Names by number, as in transformers' id2label ({"0": "cat", "1": "dog"}), or as a list: each of `count` numbers
  /// has one. Equal names are distinguished by their numbers ("crane (134)"). Empty when absent or null.
  std::vector<std::string> names(std::string_view key, int64_t count) const;
  [[noreturn]] void refuse(std::string_view key, std::string_view expected) const;

 private:
  const nlohmann::json* at(std::string_view key) const;
  const nlohmann::json& object_;
  std::string where_, prefix_;
  std::span<const ConfigKey> keys_;
};

}  // namespace stormcell
