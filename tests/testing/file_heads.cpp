// The bytes follow the formats' own descriptions: none is made by the code that is tested.
#include "tests/testing/file_heads.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "tests/testing/zip_bytes.h"

namespace stormcell::testing {
namespace {

using namespace std::string_literals;

std::string little(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}

/// POSIX 1003.1: one entry of ustar.
std::string tar(const std::string& name) {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  block.replace(100, 7, "0000644"), block.replace(124, 11, "00000000000"), block.replace(257, 8, "ustar\00000"s);
  block[156] = '0';
  block.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  std::string digits;
  for (int i = 5; i >= 0; --i) digits += static_cast<char>('0' + (sum >> 3 * i & 7));
  block.replace(148, 8, digits + "\0 "s);
  return block + std::string(1024, '\0');
}

std::string gguf(std::initializer_list<std::pair<std::string, std::string>> texts) {
  std::string file = "GGUF" + little(3, 4) + little(0, 8) + little(texts.size() + 1, 8);
  const auto text = [&](const std::string& t) { file += little(t.size(), 8) + t; };
  text("tokenizer.ggml.scores"),
      file += little(9, 4) + little(6, 4) + little(2, 8) + std::string(8, 'x');  // a list of two floats
  for (const auto& [key, value] : texts) text(key), file += little(8, 4), text(value);
  return file;
}

std::string safetensors(const std::string& header, size_t data) {
  return little(header.size(), 8) + header + std::string(data, '\1');
}

/// sqlite.org/fileformat2: page size 4096, user_version at byte 60, application_id at byte 68.
std::string sqlite(uint32_t version, const std::string& application, const std::string& words) {
  std::string file = "SQLite format 3\0\x10\0\1\1\0\x40\x20\x20"s + std::string(76, '\0');
  for (int i = 0; i < 4; ++i) file[60 + static_cast<size_t>(i)] = static_cast<char>(version >> 8 * (3 - i));
  file.replace(68, 4, application);
  file += "\x0d\0\0\0\0\x10\0\0"s + std::string(92, '\0') + words;  // the first page: a leaf without cells
  file.resize(4096);
  return file;
}

/// A dictionary {'layer': 3} of protocol 4.
const std::string kPickle = "\x80\x04\x95\x0e\0\0\0\0\0\0\0}\x94\x8c\x05layer\x94K\x03s."s;

std::string utf16(const std::string& text, bool mark) {
  std::string bytes = mark ? "\xff\xfe" : "";
  for (const char c : text) bytes += c, bytes += '\0';
  return bytes;
}

/// The length 5 in 8 bytes and its masked Castagnoli checksum, computed with Python's crc32c.
const std::string kRecord = little(5, 8) + "\xea\xb2\x04\x3e"s + "hello"s + std::string(4, '\0');

}  // namespace

std::vector<FileHead> file_heads() {
  const std::string csv = "turn,phase,step,layer,slot,expert,weight,residency,expert_bytes\n0,0,0,0,0,1,1,0,0\n";
  return {
      {"empty", "counts.json", "", "empty", "again"},
      {"empty", "calls.csv", "\xEF\xBB\xBF \r\n\n", "a file that holds only blanks", "again"},
      {"http-answer", "answers.json", "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"id\": 1}\n",
       "an answer of a server with the lines of HTTP before it", "curl without -i"},
      {"download", "model.safetensors.part", "\1\2\3\4", "a download that is not finished", "download it again"},
      {"download", "model.safetensors.incomplete", safetensors("{}", 0), "a download that is not finished",
       "wait until it is finished"},
      {"download", "trace.npy.crdownload", "\x93NUMPY", "a download that is not finished", "download it again"},
      {"zeros", "model.safetensors", std::string(4096, '\0'), "all zero bytes", "download the whole file again"},
      {"git-lfs-pointer", "model.safetensors",
       "version https://git-lfs.github.com/spec/v1\noid "
       "sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n",
       "a Git LFS pointer", "git lfs pull"},
      {"git-annex-pointer", "x.npy", "/annex/objects/SHA256E-s31390--f50d7ac.npy\n", "a git-annex pointer",
       "git annex get"},
      {"xet-pointer", "x.gguf", "# xet version 0\nfilesize = 12\nhash = \"ab\"\n", "a Xet pointer", "git xet"},
      {"html", "config.json", "<!DOCTYPE html>\n<html class=\"\"><head><title>Hugging Face</title>", "an HTML page",
       "sign in"},
      {"html", "model.safetensors", "\xEF\xBB\xBF\n  <!-- cached --><HTML lang=en>", "an HTML page",
       "download it again"},
      {"report", "run.html",
       "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"generator\" "
       "content=\"stormcell 0.1.0\"/>",
       "a report page", "name the session"},
      {"server-error", "weights.safetensors",
       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>AccessDenied</Code><Message>Request has "
       "expired</Message></Error>",
       "an error that a file server sent", "sign in"},
      {"server-error", "config.json", "Entry not found", "an error that a server sent", "check the address"},
      {"server-error", "answers.json", R"({"error":{"message":"model not found","type":"NotFoundError","code":404}})",
       "an error that a server sent", "get it again"},
      {"server-error", "answers.json", R"({"detail":"Not Found"})", "an error that a server sent: \"Not Found\"",
       "get it again"},

      {"gzip", "counts.json.gz", "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0"s, "a gzip file", "gunzip -k "},
      {"tar-gzip", "traces.tgz", "\x1f\x8b\x08\0\0\0\0\0\0\x03"s, "a gzip-compressed tar archive", "tar -xzf "},
      {"xz", "counts.xz",
       "\xfd"
       "7zXZ\0\0\x04"s,
       "an xz file", "xz -dk "},
      {"tar-xz", "counts.tar.xz",
       "\xfd"
       "7zXZ\0\0\x04"s,
       "an xz-compressed tar archive", "tar -xJf "},
      {"zstd", "counts.zst", "\x28\xb5\x2f\xfd\x04\x58", "a Zstandard file", "zstd -d "},
      {"tar-zstd", "a.tar.zst", "\x28\xb5\x2f\xfd\x04\x58", "a Zstandard-compressed tar archive", "tar --zstd -xf "},
      {"bzip2", "counts.bz2", "BZh91AY&SY\1\2\3\4", "a bzip2 file", "bunzip2 -k "},
      {"tar-bzip2", "counts.tar.bz2", "BZh91AY&SY\1\2\3\4", "a bzip2-compressed tar archive", "tar -xjf "},
      {"lz4", "counts.lz4", "\x04\x22\x4d\x18\x64\x40", "an LZ4 file", "lz4 -d "},
      {"7z", "counts.7z", "7z\xbc\xaf\x27\x1c\0\x04"s, "a 7z archive", "7z x "},
      {"rar", "counts.rar", "Rar!\x1a\x07\x01\0"s, "a RAR archive", "unrar x "},
      {"zlib", "counts.zz", "x\x9c\x03\0\0\0\0\1"s, "a zlib stream", "zlib-flate"},
      {"tar", "traces.tar", tar("rank0.json"), "a tar archive", "tar -xf "},
      {"zip", "traces.zip", zip_bytes({{"a.json", "{}"}}), "a zip archive", "unzip "},
      {"zip", "none.zip", zip_bytes({}), "an empty zip archive", "get it again"},
      {"npz", "experts.npz", zip_bytes({{"ids.npy", "\x93NUMPY"}}), "a NumPy archive of arrays", "unzip "},
      {"torch", "pytorch_model.bin",
       zip_bytes({{"archive/data.pkl", kPickle}, {"archive/data/0", "abcd"}, {"archive/version", "3\n"}}),
       "a PyTorch file", "safetensors"},
      {"sglang", "expert_distribution.pt",
       zip_bytes(
           {{"archive/data.pkl", "\x80\x02}q\0X\x0d\0\0\0logical_countq\1ctorch._utils\n_rebuild_tensor_v2\n."s}}),
       "a recording of SGLang", "stormcell import "},
      {"torchscript", "model.pt",
       zip_bytes({{"model/data.pkl", kPickle}, {"model/code/__torch__.py", ""}, {"model/constants.pkl", kPickle}}),
       "a TorchScript program", "safetensors"},
      {"pt2", "model.pt2", zip_bytes({{"model/archive_format", "pt2"}, {"model/models/model.json", "{}"}}),
       "a program of torch.export", "safetensors"},
      {"torch-checkpoint", "mp_rank_00_model_states.pt", zip_bytes({{"archive/data.pkl", kPickle}}),
       "a part of a DeepSpeed checkpoint", "zero_to_fp32.py"},
      {"torch-checkpoint", "model_optim_rng.pt", zip_bytes({{"archive/data.pkl", kPickle}}),
       "a part of a Megatron-LM checkpoint", "Hugging Face"},
      {"torch-checkpoint", "__0_0.distcp", zip_bytes({{"archive/data.pkl", kPickle}}),
       "a part of a distributed PyTorch checkpoint", "dcp_to_torch"},
      {"spreadsheet", "calls.xlsx",
       zip_bytes({{"[Content_Types].xml", "<Types/>"}, {"xl/workbook.xml", "<workbook/>"}}), "an Excel spreadsheet",
       "save the sheet as CSV"},
      {"spreadsheet", "calls.ods", zip_bytes({{"mimetype", "application/vnd.oasis.opendocument.spreadsheet"}}),
       "a LibreOffice spreadsheet", "save the sheet as CSV"},
      {"office", "calls.xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel or Word file of the old form", "CSV"},
      {"document", "notes.docx", zip_bytes({{"word/document.xml", "<w/>"}}), "a document of a word processor", "text"},
      {"keras", "model.keras", zip_bytes({{"model.weights.h5", "\x89HDF"}}), "a Keras model", "safetensors"},

      {"safetensors", "model.safetensors", safetensors(R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1),
       "a safetensors file of tensors", "MODEL"},
      {"native", "trace.safetensors",
       safetensors(R"({"layer.0.indices":{"dtype":"I32","shape":[1,1],"data_offsets":[0,4]}})", 4),
       "a routing trace of this program", "stormcell import "},
      {"trtllm-rank", "rank0.safetensors",
       safetensors(R"({"100_3":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", 8), "the counts of one rank",
       "meta_info.json"},
      {"gguf", "model.gguf", gguf({{"general.architecture", "llama"}, {"quantize.imatrix.file", "imatrix.dat"}}),
       "a GGUF model of llama", "config.json"},
      {"gguf-adapter", "lora.gguf", gguf({{"general.type", "adapter"}, {"general.architecture", "llama"}}),
       "an adapter in GGUF", "the model that it changes"},
      {"gguf-projector", "mmproj.gguf", gguf({{"general.type", "mmproj"}, {"general.architecture", "clip"}}),
       "the part of a GGUF model that reads pictures", "the model that it belongs to"},
      {"imatrix", "imatrix.gguf", gguf({{"general.type", "imatrix"}}), "an importance matrix of llama.cpp",
       "stormcell import "},
      {"imatrix-dat", "imatrix.dat",
       little(6, 4) + little(26, 4) + "blk.0.ffn_gate_exps.weight" + little(2, 4) + little(32, 4) +
           std::string(128, 'x'),
       "an importance matrix of llama.cpp in the old form", "imatrix.gguf"},
      {"ggml", "ggml-model.bin", "tjgg\x03\0\0\0"s, "a GGML model", "config.json"},
      {"npy", "ids.npy", "\x93NUMPY\x01\0v\0{'descr': '<i4'"s, "a NumPy array", "--data"},
      {"pickle", "trace.pkl", kPickle, "a Python pickle", "JSON"},
      {"pickle", "old.pkl", "(dp0\nVlayer\np1\nI3\ns.", "a Python pickle", "JSON"},
      {"torch-old", "pytorch_model.bin", "\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."s,
       "a PyTorch file of the form before 1.6", "torch.load()"},
      {"hdf5", "model.h5", "\x89HDF\r\n\x1a\n\0\0"s, "an HDF5 file", "safetensors"},
      {"onnx", "model.onnx",
       "\x08\x08\x12\x07pytorch\x1a\x05"
       "2.1.0",
       "an ONNX model", "config.json"},
      {"onnx", "other.onnx", "\x08\x08\x3a\x04\x12\x02\x67\x31", "an ONNX model", "config.json"},
      {"tflite", "model.tflite", "\x1c\0\0\0TFL3\x14\0"s, "a TensorFlow Lite model", "safetensors"},
      {"tensorflow", "saved_model.pb", "\x08\x01\x12\x9a\x05\n", "a TensorFlow saved model", "safetensors"},
      {"tensorflow", "model.ckpt.index", "\0\0\x0a" + std::string(40, '\0') + "\x57\xfb\x80\x8b\x24\x75\x47\xdb",
       "an index of a TensorFlow", "safetensors"},
      {"tensorflow", "model.ckpt.data-00000-of-00001", "\x3f\x80\1\2", "a part of a TensorFlow checkpoint",
       "safetensors"},
      {"tfrecord", "train.tfrecord", kRecord, "a TFRecord file", "JSON lines"},
      {"tensorrt", "rank0.engine", "ftrt\0\0\1"s, "a TensorRT engine", "config.json"},
      {"executorch", "model.pte", "\x1c\0\0\0ET12\x14\0\x20\0"s, "an ExecuTorch program", "safetensors"},
      {"rknn", "model.rknn", "RKNN\0\0\0\0\2\0"s, "a model of Rockchip's processors", "config.json"},
      {"ncnn", "model.param", "7767517\n2 1\nInput data 0 1 data\n", "the graph of an ncnn model", "safetensors"},
      {"coreml", "model.mlmodel", "\x08\x04\x12\x10\x0a\x02"s, "a Core ML model", "safetensors"},
      {"paddle", "inference.pdmodel", "\x0a\x8a\x01\x08\0\x10"s, "a model of PaddlePaddle", "safetensors"},
      {"msgpack", "flax_model.msgpack", "\x83\xa5model", "a Flax checkpoint", "safetensors"},
      {"sentencepiece", "tokenizer.model", "\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02\n"s, "a SentencePiece tokenizer",
       "the model's folder"},
      {"tiktoken", "tokenizer.model", "IQ== 0\nIg== 1\n", "a tiktoken vocabulary", "the model's folder"},

      {"session", "S.storm", sqlite(8, "StCe", ""), "a session of schema 8", "stormcell inspect "},
      {"session", "S.storm", sqlite(99, "StCe", ""), "a session of schema 99", "stormcell inspect "},
      {"sqlite", "places.sqlite", sqlite(1, "\0\0\0\0"s, "CREATE TABLE t(x)"), "an SQLite database of another program",
       "-o"},
      {"nsight", "report.sqlite", sqlite(0, "\0\0\0\0"s, "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start)"),
       "a profile of Nsight Systems", "page recordings"},
      {"nsight", "report1.nsys-rep", "\x01\x02", "a profile of Nsight", "page recordings"},
      {"sqlite-log", "S.storm-wal", "\x37\x7f\x06\x82\0\x2d\xe2\x18"s, "the log beside an SQLite database",
       "session itself"},
      {"perf", "perf.data", "PERFILE2\x68\0\0\0"s, "a profile of perf", "page recordings"},
      {"parquet", "data.parquet", "PAR1\x15\x04PAR1", "a Parquet table", "table"},
      {"arrow", "data.arrow", "ARROW1\0\0"s, "an Arrow table", "table"},
      {"arrow", "data.feather", "FEA1", "a Feather table", "table"},
      {"orc", "data.orc", "ORC\x0a\x0b\0"s, "an ORC table", "table"},
      {"avro", "data.avro", "Obj\x01\x04", "an Avro table", "table"},
      {"matlab", "data.mat", "MATLAB 5.0 MAT-file, Platform: GLNXA64", "a MATLAB file", "table"},

      {"png", "a.png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s, "a PNG picture", "--data"},
      {"jpeg", "a.jpg", "\xff\xd8\xff\xe0\0\x10JFIF"s, "a JPEG picture", "--data"},
      {"netpbm", "a.ppm", "P6\n1 1\n255\nabc", "a PPM or PGM picture", "--data"},
      {"webp", "a.webp", "RIFF\x24\0\0\0WEBPVP8 "s, "a WebP picture", "PNG or JPEG"},
      {"gif", "a.gif", "GIF89a\1\0\1\0"s, "a GIF picture", "PNG or JPEG"},
      {"tiff", "a.tif", "II*\0\x08\0\0\0"s, "a TIFF picture", "PNG or JPEG"},
      {"bmp", "a.bmp", "BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28"s, "a BMP picture", "PNG or JPEG"},
      {"avif", "a.avif",
       "\0\0\0\x20"
       "ftypavif\0\0\0\0"s,
       "an AVIF or HEIC picture", "PNG or JPEG"},
      {"psd", "a.psd", "8BPS\0\1"s, "a Photoshop picture", "PNG or JPEG"},
      {"svg", "a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "an SVG picture", "PNG or JPEG"},
      {"mp4", "a.mp4",
       "\0\0\0\x20"
       "ftypisom\0\0\2\0"s,
       "an MP4 or QuickTime video", "--data"},
      {"video", "a.mkv", "\x1a\x45\xdf\xa3\x01", "a Matroska or WebM video", "--data"},
      {"video", "a.avi", "RIFF\x24\0\0\0AVI LIST"s, "an AVI video", "--data"},
      {"video", "a.ts", "G" + std::string(187, 'x') + "G" + std::string(187, 'x') + "G", "an MPEG video", "--data"},
      {"wav", "a.wav", "RIFF\x24\0\0\0WAVEfmt "s, "a WAV sound", "no sound"},
      {"sound", "a.mp3", "ID3\x04\0"s, "an MP3 sound", "no sound"},
      {"pdf", "paper.pdf", "%PDF-1.7\n", "a PDF document", "name the data"},
      {"postscript", "paper.ps", "%!PS-Adobe-3.0\n", "a PostScript document", "name the data"},
      {"program", "stormcell",
       "\x7f"
       "ELF\2\1\1\0"s,
       "a program or library", "name the file"},
      {"script", "run.sh", "#!/bin/bash\necho\n", "a script", "name the file"},
      {"script", "train.py", "import torch\n", "a Python program", "name the file"},

      {"utf-16", "calls.csv", utf16("op,gpu,us\n", true), "text in UTF-16", "iconv -f UTF-16"},
      {"utf-16", "calls.csv", utf16("op,gpu,us\n", false), "text in UTF-16", "iconv -f UTF-16"},
      {"utf-16", "calls.csv", "\xfe\xff\0o\0p"s, "text in UTF-16", "iconv -f UTF-16"},
      {"utf-32", "calls.csv", "\xff\xfe\0\0o\0\0\0"s, "text in UTF-32", "iconv -f UTF-32"},
      {"carriage-returns", "calls.csv", "op,gpu,us\rdispatch,H100,3\r",
       "text whose lines end with only carriage returns", "tr "},

      {"route-trace", "t.csv", "# route_trace v1\n# model=x n_layer=1 n_expert=2 n_expert_used=1\n" + csv,
       "a routing trace", "stormcell import "},
      {"route-trace-rows", "t.csv", csv, "a table of route_trace without", "record it again"},
      {"router-trace", "t.json", R"({"expertsPerLayer":8,"layers":1,"selections":[[[1]]]})", "a routing trace",
       "stormcell import "},
      {"logical-count", "t.json", R"({"logical_count":[[1,2]]})", "a dump of SGLang's counts of experts",
       "stormcell import "},
      {"routed-experts", "a.json", R"({"meta_info":{"routed_experts":"AAAA"}})",
       "a file of answers with routed_experts", "stormcell import "},
      {"vllm-eplb", "loads.jsonl", "{\"record_type\":\"eplb_load_stats\",\"step\":1}\n",
       "a recording of vLLM's expert loads", "stormcell import "},
      {"trtllm", "meta_info.json", R"({"num_experts": 3, "num_experts_per_token": 2})",
       "the head of TensorRT-LLM's expert statistics", "stormcell import "},
      {"megatron", "r0.jsonl", "{\"num_tokens\":1,\"top_indices\":[[1]]}\n", "a routing trace of Megatron-LM",
       "stormcell import "},

      {"config", "best.json", R"({"schema":"stormcell.config/1","passes":{}})", "a configuration that optimize wrote",
       "--config "},
      {"cluster", "c.json", R"({"name":"x","schema":"stormcell.cluster/1"})", "a cluster", "--cluster "},
      {"calibration", "cal.json", R"({"schema":"stormcell.calibration/1","calls":[]})", "a calibration",
       "--calibration "},
      {"jobs", "jobs.json", R"({"schema":"stormcell.jobs/1","jobs":[]})", "a list of jobs", "stormcell batch "},
      {"figures", "run.json", R"({"schema":"stormcell.run/1","speedup":1})",
       "a file of figures that this program wrote, schema \"stormcell.run/1\"", "name the session"},
      {"graph", "g.txt", "stormcell.graph/1\nsymbols N\n", "a graph that this program wrote", "name the model"},

      {"model-config", "config.json", R"({"architectures":["MixtralForCausalLM"],"model_type":"mixtral"})",
       "a model's config.json, model_type \"mixtral\"", "--model-config "},
      {"generation-config", "generation_config.json", R"({"eos_token_id":2,"transformers_version":"5.0"})",
       "a generation_config.json", "folder"},
      {"tokenizer", "tokenizer.json", R"({"version":"1.0","added_tokens":[],"model":{}})", "a tokenizer.json",
       "folder"},
      {"ollama-manifest", "latest",
       R"({"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json","config":{},"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:ab","size":1}]})",
       "a manifest of Ollama", "blobs"},
      {"quantize-config", "quantize_config.json", R"({"bits":4,"group_size":128,"desc_act":false})",
       "the configuration of a quantisation", "the model's folder"},
      {"python-text", "counts.json", "{'logical_count': [[[1, 2]]]}\n", "a dictionary as Python prints it",
       "json.dump()"},
      {"modelfile", "Modelfile", "FROM ./model.gguf\nTEMPLATE x\n", "a Modelfile of Ollama", "GGUF"},
      {"tokenizer-config", "tokenizer_config.json", R"({"tokenizer_class":"LlamaTokenizer"})",
       "a tokenizer's configuration", "folder"},
      {"vocabulary", "vocab.json", R"({"a":0,"b":1})", "a tokenizer's vocabulary", "folder"},
      {"merges", "merges.txt", "#version: 0.2\ni n\n", "a tokenizer's merges", "folder"},
      {"index", "model.safetensors.index.json",
       R"({"metadata":{},"weight_map":{"w":"model-00001-of-00002.safetensors"}})", "an index of safetensors files",
       "folder"},
      {"index", "pytorch_model.bin.index.json", R"({"weight_map":{"w":"pytorch_model-00001-of-00002.bin"}})",
       "an index of PyTorch weights", "convert the weights"},
      {"preprocessor-config", "preprocessor_config.json", R"({"image_processor_type":"ViT"})",
       "a preprocessor's configuration", "folder"},
      {"adapter", "adapter_config.json", R"({"peft_type":"LORA","r":8})", "the configuration of an adapter", "merge"},
      {"params", "params.json", R"({"dim":4096,"n_layers":32})", "the params.json of a model", "config.json"},
      {"placement", "p.json", R"({"physical_to_logical_map":[[0,1]]})", "a placement of SGLang", "--from "},
      {"placement", "p.json", R"({"record_type":"eplb_initial_mapping"})", "a placement of vLLM", "--from "},
      {"placement", "p.json", R"({"moe_layer_count":1,"layer_list":[]})", "a placement of vLLM-Ascend", "--from "},
      {"placement", "p.yaml", "num_slots: 8\ninitial_global_assignments:\n  0: [0, 1]\n", "a placement of TensorRT-LLM",
       "--from "},
      {"notebook", "a.ipynb", R"({"cells":[],"nbformat":4})", "a Jupyter notebook", "name the file"},
      {"profile", "trace.json", R"({"schemaVersion":1,"traceEvents":[]})", "a profile of PyTorch or Chrome",
       "page recordings"},
      {"training-log", "trainer_state.json", R"({"epoch":1,"log_history":[]})", "the log of a training",
       "page recordings"},
      {"answers", "a.json", R"({"id":"x","object":"chat.completion","choices":[]})",
       "a file of answers of a server without routed_experts", "ask the server for routed_experts"},
      {"answers", "generate.jsonl", R"({"text":"x","meta_info":{"id":"a","prompt_tokens":3}})",
       "a file of answers of a server without routed_experts", "ask the server for routed_experts"},
      {"answers", "generate.json", R"([{"output_ids":[1],"meta_info":{"id":"a"}}])",
       "a file of answers of a server without routed_experts", "ask the server for routed_experts"},
      {"diffusers", "model_index.json", R"({"_class_name":"X","_diffusers_version":"1"})",
       "the index of a Diffusers pipeline", "folder"},
      {"xml", "x.xml", "<?xml version=\"1.0\"?><a/>", "an XML file", "JSON or CSV"},
      {"openvino", "x.xml", "<net name=\"m\"/>", "an OpenVINO model", "config.json"},

      {"nccl-tests", "a.txt",
       "# nThread 1 nGpus 8\n#       size         count      type   redop    root     time   algbw   busbw #wrong\n",
       "the output of nccl-tests", "stormcell calibrate "},
      {"nccl-log", "a.log", "host:1:1 [0] NCCL INFO Bootstrap : Using eth0\n", "a log of NCCL", "stormcell calibrate"},
      {"calls", "calls.csv", "op,gpu,ranks,us\ndispatch,H100,8,30\n", "a table of measured calls",
       "stormcell calibrate "},
      {"calls", "calls.csv", "\xEF\xBB\xBF# mine\r\n\"op\";\"gpu\";\"us\"\r\n", "a table of measured calls",
       "stormcell calibrate "},

      {"json-lines", "a.jsonl", "{\"text\":\"x\"}\n{\"text\":\"y\"}\n", "JSON lines with the keys \"text\"", ""},
      {"json", "a.json", R"({"a":[1,{"b":2}],"c":"d"})", "JSON with the keys \"a\", \"c\"", ""},
      {"json", "a.json", "[[0,1],[1,0]]", "a JSON list", ""},
      {"table", "a.csv", "name,label\nx,1\n", "a table with the columns \"name\", \"label\"", ""},
      {"text", "a.txt", "The quick brown fox\n", "a text file", ""},
  };
}

}  // namespace stormcell::testing
