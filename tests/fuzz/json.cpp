#include <nlohmann/json.hpp>

#include "core/formats/json_file.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::refused_or_done([&] {
    const nlohmann::json value = parse_json_text({reinterpret_cast<const char*>(data), size}, "input");
    fuzz::require(parse_json_text(value.dump(), "input") == value, "what was read can be written and read again");
  });
  return 0;
}
