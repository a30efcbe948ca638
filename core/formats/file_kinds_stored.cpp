// Kinds of failed downloads, archives, tensors and models.
#include <array>

#include "core/formats/file_kind_groups.h"
#include "core/formats/file_marks.h"
#include "core/formats/torch_file.h"
#include "core/formats/trace_marks.h"
#include "core/formats/unfinished_download.h"

namespace stormcell {
namespace {

using namespace std::string_view_literals;
using Look = const FileLook&;

constexpr std::string_view kAgain = "download the whole file again",
                           kAsSafetensors = "save its tensors with safetensors as model.safetensors beside config.json";
constexpr FileUses kTensors = FileUses(FileUse::model) | FileUse::data | FileUse::tensors;

bool in_zip(Look look, std::string_view text) { return look.head.starts_with("PK") && holds(look, text); }

// Files that replace the one that was wanted.
constexpr std::array kReplacements = {
    FileKind{"empty", "empty", "get it again, or make it again", kNoUse, "", [](Look l) { return l.size == 0; }},
    FileKind{"empty", "a file that holds only blanks", "get it again, or make it again",
             FileUses(FileUse::data) | FileUse::calls | FileUse::labels, "", is_blank},
    FileKind{"download", "a download that is not finished", "wait until it is finished, or download it again", kNoUse,
             "", [](Look l) { return has_unfinished_ending(l.name); }},
    FileKind{"zeros", "all zero bytes, the space that a download reserves before it is finished", kAgain, kNoUse, "",
             is_all_zeros},
    FileKind{"git-lfs-pointer", "a Git LFS pointer", "fetch the file itself: git lfs pull, or download it again",
             kNoUse, "version https://git-lfs."},
    FileKind{"git-lfs-pointer", "a Git LFS pointer", "fetch the file itself: git lfs pull, or download it again",
             kNoUse, "version https://hawser."},
    FileKind{"git-annex-pointer", "a git-annex pointer", "fetch the file itself: git annex get FILE", kNoUse,
             "/annex/objects/"},
    FileKind{"xet-pointer", "a Xet pointer", "fetch the file itself: git xet checkout, or download it again", kNoUse,
             "# xet version"},
    FileKind{"report", "a report page of this program", "name the session that it was made of", kNoUse, "",
             [](Look l) { return is_html(l) && holds(l, "name=\"generator\" content=\"stormcell"); }},
    FileKind{"html", "an HTML page, as a server sends it in place of a file",
             "download it again: sign in, or take the address of the file itself", kNoUse, "", is_html},
    FileKind{"server-error", "an error that a file server sent instead of the file",
             "sign in, or check the address, and download it again", kNoUse, "",
             [](Look l) { return is_text(l) && holds(l, "<Error>") && holds(l, "<Code>"); }},
    FileKind{"http-answer", "an answer of a server with the lines of HTTP before it",
             "save it without them: curl without -i, or cut all up to the first empty line", kNoUse, "",
             is_answer_with_head},
    FileKind{"server-error", "an error that a server sent instead of the file",
             "sign in, or check the address, and download it again", kNoUse, "", is_error_text},
};

// Compressed files and archives.
constexpr std::array kArchives = {
    FileKind{"tar-gzip", "a gzip-compressed tar archive", "unpack it: tar -xzf FILE", kNoUse, "\x1f\x8b",
             [](Look l) {
               return name_ends(l, {".tar.gz", ".tgz", ".nemo"});
             }},
    FileKind{"gzip", "a gzip file", "unpack it: gunzip -k FILE", kNoUse, "\x1f\x8b"},
    FileKind{"tar-xz", "an xz-compressed tar archive", "unpack it: tar -xJf FILE", kNoUse,
             "\xfd"
             "7zXZ",
             [](Look l) {
               return name_ends(l, {".tar.xz", ".txz"});
             }},
    FileKind{"xz", "an xz file", "unpack it: xz -dk FILE", kNoUse,
             "\xfd"
             "7zXZ"},
    FileKind{"tar-zstd", "a Zstandard-compressed tar archive", "unpack it: tar --zstd -xf FILE", kNoUse,
             "\x28\xb5\x2f\xfd",
             [](Look l) {
               return name_ends(l, {".tar.zst", ".tzst"});
             }},
    FileKind{"zstd", "a Zstandard file", "unpack it: zstd -d FILE", kNoUse, "\x28\xb5\x2f\xfd"},
    FileKind{"tar-bzip2", "a bzip2-compressed tar archive", "unpack it: tar -xjf FILE", kNoUse, "BZh",
             [](Look l) {
               return name_ends(l, {".tar.bz2", ".tbz2"});
             }},
    FileKind{"bzip2", "a bzip2 file", "unpack it: bunzip2 -k FILE", kNoUse, "BZh",
             [](Look l) {
               return l.head.size() > 9 && l.head[3] >= '1' && l.head[3] <= '9' && l.head.substr(4, 2) == "1A";
             }},
    FileKind{"lz4", "an LZ4 file", "unpack it: lz4 -d FILE", kNoUse, "\x04\x22\x4d\x18"},
    FileKind{"7z", "a 7z archive", "unpack it: 7z x FILE", kNoUse, "7z\xbc\xaf\x27\x1c"},
    FileKind{"rar", "a RAR archive", "unpack it: unrar x FILE", kNoUse, "Rar!\x1a\x07"},
    FileKind{"zlib", "a zlib stream", "unpack it: zlib-flate -uncompress < FILE > NEW", kNoUse, "", is_zlib},
};

// Zip archives by their content.
constexpr std::array kZips = {
    FileKind{"torch-checkpoint", "a part of a DeepSpeed checkpoint",
             "run zero_to_fp32.py, which is beside its folder, with --safe_serialization", kNoUse, "",
             [](Look l) {
               return name_ends(l, {"_model_states.pt", "_optim_states.pt"});
             }},
    FileKind{"torch-checkpoint", "a part of a Megatron-LM checkpoint",
             "convert the checkpoint to a Hugging Face folder, then name that folder", kNoUse, "",
             [](Look l) {
               return has_in_name(l, {"model_optim_rng.pt", "distrib_optim.pt", "model_rng.pt"});
             }},
    FileKind{"torch-checkpoint", "a part of a distributed PyTorch checkpoint",
             "join it: python3 -m torch.distributed.checkpoint.format_utils dcp_to_torch FOLDER model.pt; then save it "
             "as model.safetensors",
             kNoUse, "", [](Look l) { return name_ends(l, {".distcp"}); }},
    FileKind{"sglang", "a recording of SGLang's expert distribution recorder", remedy::kImport, FileUse::trace,
             "PK\x03\x04", is_sglang_torch},
    FileKind{"pt2", "a program of torch.export", kAsSafetensors, kNoUse, "PK",
             [](Look l) {
               return in_zip(l, "serialized_exported_program") || in_zip(l, "archive_format") ||
                      in_zip(l, "models/model.json");
             }},
    FileKind{"torchscript", "a TorchScript program", kAsSafetensors, kNoUse, "PK",
             [](Look l) { return in_zip(l, "constants.pkl") && (in_zip(l, "/code/") || in_zip(l, "bytecode.pkl")); }},
    FileKind{"torch", "a PyTorch file of torch.save()",
             "load it with torch.load(), and save its tensors with safetensors as model.safetensors", kNoUse,
             "PK\x03\x04", [](Look l) { return TorchFile::is_one(l.head) || in_zip(l, "/data.pkl"); }},
    FileKind{"spreadsheet", "an Excel spreadsheet", "save the sheet as CSV in UTF-8", kNoUse, "PK",
             [](Look l) { return in_zip(l, "xl/workbook") || in_zip(l, "xl/worksheets"); }},
    FileKind{"spreadsheet", "a LibreOffice spreadsheet", "save the sheet as CSV in UTF-8", kNoUse, "PK",
             [](Look l) { return holds(l, "opendocument.spreadsheet"); }},
    FileKind{"document", "a document of a word processor", "save its text as UTF-8", kNoUse, "PK",
             [](Look l) { return in_zip(l, "word/document") || in_zip(l, "opendocument.text"); }},
    FileKind{"keras", "a Keras model", kAsSafetensors, kNoUse, "PK",
             [](Look l) { return in_zip(l, "model.weights.h5"); }},
    FileKind{"npz", "a NumPy archive of arrays, .npz", "unpack it: unzip FILE, then name one of its .npy files", kNoUse,
             "PK", [](Look l) { return in_zip(l, ".npy"); }},
    FileKind{"zip", "a zip archive", "unpack it: unzip FILE", kNoUse, "PK\x03\x04"},
    FileKind{"zip", "an empty zip archive", "get it again", kNoUse, "PK\x05\x06"},
};

// Tensors and models.
constexpr std::array kTensorFiles = {
    FileKind{"native", "a routing trace of this program", remedy::kImport, FileUses(FileUse::trace) | FileUse::tensors,
             "", [](Look l) { return is_native_trace(l.head); }},
    FileKind{"trtllm-rank", "the counts of one rank of TensorRT-LLM's expert statistics",
             "import its folder: meta_info.json, which says num_experts and num_experts_per_token, must be beside it",
             FileUse::tensors, "", is_rank_counts},
    FileKind{"safetensors", "a safetensors file of tensors", "give weights as MODEL, token ids or pixels as --data",
             kTensors, "", is_safetensors},
    FileKind{"imatrix", "an importance matrix of llama.cpp", remedy::kImport, FileUse::trace, "GGUF",
             [](Look l) { return is_imatrix_header(l.head); }},
    FileKind{"gguf-adapter", "an adapter in GGUF", "name the model that it changes", kNoUse, "GGUF", is_gguf_adapter},
    FileKind{"gguf-projector", "the part of a GGUF model that reads pictures or sound",
             "name the model that it belongs to", kNoUse, "GGUF", is_gguf_projector},
    FileKind{"gguf", "a GGUF model", remedy::kTakeFolder, kNoUse, "GGUF", nullptr, gguf_detail},
    FileKind{
        "ggml", "a GGML model, older than GGUF", remedy::kTakeFolder, kNoUse, "",
        [](Look l) { return l.head.starts_with("lmgg") || l.head.starts_with("fmgg") || l.head.starts_with("tjgg"); }},
    FileKind{"npy", "a NumPy array",
             "give token ids as --data; int32 [tokens, layers, k] is a routing trace: stormcell import FILE -o S.storm",
             FileUses(FileUse::trace) | FileUse::data | FileUse::array | FileUse::picture, "\x93NUMPY"},
    FileKind{"torch-old", "a PyTorch file of the form before 1.6",
             "load it with torch.load() and save it again with PyTorch 1.6 or later; weights as safetensors", kNoUse,
             "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"},
    FileKind{"pickle", "a Python pickle, a program rather than data",
             "load it in Python, and save it as JSON, .npy or safetensors", kNoUse, "", is_pickle},
    FileKind{"hdf5", "an HDF5 file, as Keras and MATLAB write them", kAsSafetensors, kNoUse, "\x89HDF\r\n\x1a\n"},
    FileKind{"onnx", "an ONNX model", remedy::kTakeFolder, kNoUse, "", is_onnx},
    FileKind{"tflite", "a TensorFlow Lite model", kAsSafetensors, kNoUse, "",
             [](Look l) { return l.head.size() > 8 && l.head.substr(4, 4) == "TFL3"; }},
    FileKind{"tensorflow", "a TensorFlow saved model", kAsSafetensors, kNoUse, "\x08\x01\x12",
             [](Look l) { return name_ends(l, {"saved_model.pb"}); }},
    FileKind{"tensorflow", "an index of a TensorFlow checkpoint", kAsSafetensors, kNoUse, "",
             [](Look l) { return l.tail.ends_with("\x57\xfb\x80\x8b\x24\x75\x47\xdb"); }},
    FileKind{"tensorflow", "a part of a TensorFlow checkpoint", kAsSafetensors, kNoUse, "",
             [](Look l) {
               return has_in_name(l, {".data-00000-of-", "ckpt.data-"});
             }},
    FileKind{"tfrecord", "a TFRecord file", remedy::kAsTable, kNoUse, "", is_tf_record},
    FileKind{"tensorrt", "a TensorRT engine", remedy::kTakeFolder, kNoUse, "ftrt"},
    FileKind{"executorch", "an ExecuTorch program", kAsSafetensors, kNoUse, "",
             [](Look l) { return l.head.size() > 8 && l.head.substr(4, 2) == "ET" && l.name.ends_with(".pte"); }},
    FileKind{"rknn", "a model of Rockchip's processors", remedy::kTakeFolder, kNoUse, "RKNN", is_not_text},
    FileKind{"ncnn", "the graph of an ncnn model", kAsSafetensors, kNoUse, "7767517\n"},
    FileKind{"coreml", "a Core ML model", kAsSafetensors, kNoUse, "\x08",
             [](Look l) { return name_ends(l, {".mlmodel"}); }},
    FileKind{"paddle", "a model of PaddlePaddle", kAsSafetensors, kNoUse, "",
             [](Look l) {
               return name_ends(l, {".pdmodel", ".pdiparams", ".pdparams"});
             }},
    FileKind{"msgpack", "a Flax checkpoint", kAsSafetensors, kNoUse, "",
             [](Look l) { return name_ends(l, {".msgpack"}); }},
    FileKind{"sentencepiece", "a SentencePiece tokenizer", remedy::kFolderOfModel, FileUse::tokenizer, "",
             is_sentencepiece},
    FileKind{"tiktoken", "a tiktoken vocabulary", remedy::kFolderOfModel, kNoUse, "IQ== 0\n"},
    FileKind{
        "imatrix-dat", "an importance matrix of llama.cpp in the old form, a .dat without counts of single experts",
        "it cannot be converted: make it again in a fresh run of llama-imatrix --output-format gguf -o imatrix.gguf",
        kNoUse, "", is_imatrix_dat},
};

}  // namespace

std::span<const FileKind> replacement_kinds() { return kReplacements; }
std::span<const FileKind> archive_kinds() { return kArchives; }
std::span<const FileKind> zip_kinds() { return kZips; }
std::span<const FileKind> tensor_kinds() { return kTensorFiles; }

}  // namespace stormcell
