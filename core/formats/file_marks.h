// Marks of kinds that the first bytes alone do not show. All use only what FileLook holds, and accept any bytes.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/formats/file_kind.h"

namespace stormcell {

/// The `application_id` of a session's SQLite file: "StCe".
inline constexpr int32_t kSessionApplicationId = 0x53744365;

bool has_in_name(const FileLook& look, std::initializer_list<std::string_view> parts);
bool name_ends(const FileLook& look, std::initializer_list<std::string_view> ends);
/// Searches the head and the tail.
bool holds(const FileLook& look, std::string_view text);

// Downloads.
bool is_all_zeros(const FileLook& look);
bool is_html(const FileLook& look);
/// An answer as "curl -i" saves it, with a status that is no error.
bool is_answer_with_head(const FileLook& look);
bool is_error_text(const FileLook& look);
bool is_error_json(const FileLook& look);
std::string error_detail(const FileLook& look);

// Archives and pickles.
bool is_tar(const FileLook& look);
bool is_zlib(const FileLook& look);
bool is_pickle(const FileLook& look);
bool is_sglang_torch(const FileLook& look);

// Tensors.
bool is_safetensors(const FileLook& look);
bool is_rank_counts(const FileLook& look);
/// True for a matrix of llama-imatrix. The keys of the header decide, because a model that was quantised with a matrix
/// names it too.
bool is_imatrix_header(std::string_view content);
bool is_imatrix_dat(const FileLook& look);
bool is_gguf_adapter(const FileLook& look);
/// The part of a model that turns pictures or sound into what its language model takes.
bool is_gguf_projector(const FileLook& look);
std::string gguf_detail(const FileLook& look);
bool is_onnx(const FileLook& look);
bool is_tf_record(const FileLook& look);
bool is_sentencepiece(const FileLook& look);

// Databases.
bool is_session_database(const FileLook& look);
std::string session_detail(const FileLook& look);

// Pictures and sound.
bool is_media_brand(const FileLook& look, std::initializer_list<std::string_view> brands);
bool is_transport_stream(const FileLook& look);

// Text.
bool is_text(const FileLook& look);
/// An extra check for kinds whose first bytes are letters, because a text may begin with them.
bool is_not_text(const FileLook& look);
bool is_blank(const FileLook& look);
bool is_python_text(const FileLook& look);
bool is_utf16(const FileLook& look);
bool is_utf32(const FileLook& look);
bool has_only_carriage_returns(const FileLook& look);
bool is_nccl_table(const FileLook& look);
/// True if the first line that is not a comment has all of these as fields, separated by commas, semicolons or tabs.
bool has_columns(const FileLook& look, std::initializer_list<std::string_view> columns);
bool is_table(const FileLook& look);
std::string columns_detail(const FileLook& look);
std::string keys_detail(const FileLook& look);
/// ", KEY \"value\"" with the JSON's text of that key; empty: there is none.
std::string text_detail(const FileLook& look, std::string_view key);

}  // namespace stormcell
