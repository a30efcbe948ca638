// Checks one of the JSON values of a trace.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stormcell {

/// Takes one value of JsonLines; every error names the file and the line.
class JsonRow {
 public:
  JsonRow(const nlohmann::json& value, const std::string& path, int64_t line)
      : value_(value), path_(path), line_(line) {}

  [[noreturn]] void wrong(const std::string& what) const;
  std::string place() const { return path_ + ": line " + std::to_string(line_); }
  int64_t line() const { return line_; }
  int64_t whole(const char* key, int64_t least, int64_t most) const;
  bool has(const char* key) const;
  /// A list of `rows` lists (-1: as many as there are) of equal length, one after the other; `columns` is that length.
  std::vector<int64_t> matrix(const char* key, int64_t rows, int64_t least, int64_t most, int64_t& columns) const;

 private:
  /// One value is wrong, so the line may be corrected by hand.
  [[noreturn]] void wrong_value(const std::string& what) const;
  int64_t within(const nlohmann::json& v, const std::string& name, int64_t least, int64_t most) const;

  const nlohmann::json& value_;
  const std::string& path_;
  int64_t line_;
};

}  // namespace stormcell
