// Finds the model that a named file or folder belongs to, with all files that its sheet reads.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stormcell {

/// How the sheet of a model is read.
enum class SheetForm : uint8_t { none, folder, gguf, safetensors, torch, torchscript, pt2, onnx, trace };

struct ModelPlace {
  SheetForm form = SheetForm::none;  ///< none: nothing that has a sheet
  std::string kind;                  ///< id of the kind of files: "gguf", "model-folder"
  std::string path;                  ///< of the model: a folder, or its first file
  std::vector<std::string> files;    ///< of weights, in their order; of a folder they are found later
  /// True: the model belongs to a family of this version, or is too damaged to tell: opening it says more than a sheet.
  bool opens = false;
};
/// Looks at names, first bytes and, of folders, config.json. Error(bad_input): a folder with several models, parts of a
/// model that are missing.
ModelPlace model_place(const std::string& path);

}  // namespace stormcell
