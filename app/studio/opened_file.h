// Decides how a window opens a dropped or named file or folder. The content decides, not the name.
#pragma once
#include <QString>
#include <cstdint>

namespace stormcell::studio {

enum class OpenedAs : uint8_t {
  session,
  trace,
  model,  ///< a folder or file that read_model() takes, preset:NAME or demo:NAME
  data,   ///< of a run of the model on show
};

/// `takes_data`: a model is shown, whose run could read the file. Throws Error(bad_input) if the window does not open
/// such a file; the error says what the file is and what to do with it. May block.
OpenedAs opened_as(const QString& path, bool takes_data);

}  // namespace stormcell::studio
