#include "core/traces/token_pieces.h"

#include <cstring>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {

constexpr const char* kWriteTokensAgain = "write it again, as the guide's page recordings shows";

}  // namespace

std::map<int32_t, std::string> read_token_pieces(const SafetensorsFile& file, const std::string& path,
                                                 const Progress& progress) {
  const auto wrong = [&](const std::string& what) { bad_input(path, what, kWriteTokensAgain); };
  const StoredTensor *ids = file.find("token.id"), *ends = file.find("token.end"), *text = file.find("token.text");
  if (!ids) return {};
  if (ids->shape.size() != 1) wrong("token.id has the shape " + shape_text(ids->shape) + ", expected [tokens]");
  const std::vector<int64_t> shape = {ids->shape[0]};
  if (!ends) wrong("has no token.end");
  for (const auto& [tensor, type] : {std::pair{ids, DType::i32}, {ends, DType::i64}})
    if (tensor->dtype != type || tensor->shape != shape)
      wrong(tensor->name + " is " + std::string(to_text(tensor->dtype)) + " " + shape_text(tensor->shape) +
            ", expected " + std::string(to_text(type)) + " " + shape_text(shape));
  if (!text || text->dtype != DType::u8 || text->shape.size() != 1) wrong("has no token.text of bytes");
  std::map<int32_t, std::string> pieces;
  int64_t begin = 0;
  for (int64_t i = 0; i < shape[0]; ++i) {
    if (i % 65536 == 0) progress.report("reading tokens", i, shape[0]);
    int32_t id = 0;
    int64_t end = 0;
    std::memcpy(&id, ids->bytes.data() + static_cast<size_t>(i) * sizeof id, sizeof id);
    std::memcpy(&end, ends->bytes.data() + static_cast<size_t>(i) * sizeof end, sizeof end);
    if (end < begin || end > text->shape[0])
      wrong("element [" + std::to_string(i) + "] of token.end is " + std::to_string(end) + ", " +
            std::to_string(begin) + " to " + std::to_string(text->shape[0]) + " are allowed");
    const std::string_view bytes(reinterpret_cast<const char*>(text->bytes.data()) + begin,
                                 static_cast<size_t>(end - begin));
    if (find_invalid_utf8(bytes) == std::string_view::npos) pieces.try_emplace(id, bytes);
    begin = end;
  }
  return pieces;
}

}  // namespace stormcell
