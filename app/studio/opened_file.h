// Decides by its content, not its name, what a window does with a file or folder that is dropped on it or named.
#pragma once
#include <QString>
#include <cstdint>

namespace stormcell::studio {

enum class OpenedAs : uint8_t { session, trace, model, model_of_config };

/// Error(bad_input) that says what the file is and what to do with it, where the window opens no such file. May block.
OpenedAs opened_as(const QString& path);

}  // namespace stormcell::studio
