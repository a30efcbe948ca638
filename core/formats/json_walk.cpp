#include "core/formats/json_walk.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/header_bytes.h"

namespace stormcell {
namespace {
using Json = nlohmann::json;

constexpr size_t kDeepestWalk = 64;

/// Keeps the path and hands the parser's events to the visitor.
class JsonWalker {
 public:
  JsonWalker(JsonVisitor& visitor, const std::string& where) : visitor_(visitor), where_(where) {}

  bool null() { return went_on(); }
  bool boolean(bool value) {
    visitor_.flag(path_, value);
    return went_on();
  }
  bool number_integer(Json::number_integer_t value) {
    visitor_.whole(path_, value);
    return went_on();
  }
  bool number_unsigned(Json::number_unsigned_t value) {
    if (value <= static_cast<uint64_t>(INT64_MAX)) visitor_.whole(path_, static_cast<int64_t>(value));
    return went_on();
  }
  bool number_float(Json::number_float_t, const Json::string_t&) { return went_on(); }
  bool string(Json::string_t& value) {
    visitor_.text(path_, value);
    return went_on();
  }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(size_t) { return opened(false); }
  bool start_array(size_t) { return opened(true); }
  bool end_object() { return closed(); }
  bool end_array() { return closed(); }
  bool key(Json::string_t& name) {
    path_.keys_.back() = std::move(name);
    return went_on();
  }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) {
    bad_input(where_, "is not JSON at byte " + std::to_string(at), "get the file again");
  }

 private:
  bool went_on() const { return !visitor_.done(); }
  bool opened(bool is_list) {
    if (path_.size() >= kDeepestWalk) bad_input(where_, "is nested too deeply", "get the file again");
    visitor_.open(path_, is_list);
    path_.keys_.emplace_back("*");
    return went_on();
  }
  bool closed() {
    path_.keys_.pop_back();
    visitor_.close(path_);
    return went_on();
  }

  JsonVisitor& visitor_;
  const std::string& where_;
  JsonPath path_;
};

}  // namespace

void walk_json(HeaderBytes& bytes, uint64_t size, JsonVisitor& visitor, const std::string& where) {
  JsonWalker walker(visitor, where);
  const uint64_t begin = bytes.at();
  Json::sax_parse(HeaderCharacters(bytes, size), HeaderCharacters(), &walker);
  if (!visitor.done()) bytes.go_to(begin + size);
}

}  // namespace stormcell
