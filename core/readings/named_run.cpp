#include "core/readings/named_run.h"

#include "core/session/session_reader.h"

namespace stormcell {

NamedRun find_named_run(const std::string& text) {
  const SessionPath path = parse_session_path(text);
  return {path.file, path.run.empty() ? 0 : SessionReader(path.file).find_run(path.run).id};
}

}  // namespace stormcell
