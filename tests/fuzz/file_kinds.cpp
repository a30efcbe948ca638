// The recogniser takes any bytes: the first line names the file, the rest is its content.
#include "core/formats/file_kind.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(file_kinds) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t line = all.find('\n');
  const std::string name(all.substr(0, line == std::string_view::npos ? 0 : line));
  const std::string_view content = line == std::string_view::npos ? all : all.substr(line + 1);
  const std::optional<KnownFile> known = known_kind({content, name}, name);
  if (known) fuzz::require(!known->name.empty() && known->kind, "a kind has a name");
  fuzz::refused_or_done([&] { refuse_file("x", content, FileUse::trace, "is not a trace", "name one"); });
  // The parts that are read of a large file: any end after any beginning.
  (void)known_kind({content.substr(0, content.size() / 2), content.substr(content.size() / 2), uint64_t{1} << 40, name},
                   name);
  return 0;
}
