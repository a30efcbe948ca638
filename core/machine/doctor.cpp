#include "core/machine/doctor.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/thread_team.h"
#include "core/cpu/kernels/isa.h"
#include "core/cpu/machine.h"
#include "core/formats/video.h"
#include "core/machine/control_group.h"
#include "core/machine/memory.h"
#include "core/models/model.h"
#include "core/session/sqlite.h"
#include "core/summary/summary_json.h"
#include "gpu/device/examine.h"
#include "gpu/device/module.h"

#ifndef STORMCELL_SENTENCEPIECE_VERSION
#define STORMCELL_SENTENCEPIECE_VERSION "unknown"
#endif

// Empty: not in this build.
#ifndef STORMCELL_PNG_VERSION
#define STORMCELL_PNG_VERSION ""
#endif
#ifndef STORMCELL_JPEG_VERSION
#define STORMCELL_JPEG_VERSION ""
#endif
#ifndef STORMCELL_FFMPEG_VERSION
#define STORMCELL_FFMPEG_VERSION ""
#endif

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

std::string sqlite_version() {
  try {
    return sqlite::Database(":memory:", sqlite::OpenMode::create).text("SELECT sqlite_version()");
  } catch (const Error&) {
    return {};
  }
}

struct Need {
  cpu::Isa isa;
  std::array<const char*, 6> features;
};
constexpr std::array kNeeds = {
    Need{cpu::Isa::avx512_bf16, {"avx512f", "avx512bw", "avx512vl", "avx512dq", "fma", "avx512_bf16"}},
    Need{cpu::Isa::avx512, {"avx512f", "avx512bw", "avx512vl", "avx512dq", "fma", nullptr}},
    Need{cpu::Isa::avx2, {"avx2", "fma", nullptr, nullptr, nullptr, nullptr}},
};

std::vector<std::string> unused(const cpu::Processor& processor, cpu::Isa active) {
  std::vector<std::string> reasons;
  const auto has = [&](std::string_view f) {
    return std::find(processor.features.begin(), processor.features.end(), f) != processor.features.end();
  };
  const auto available = cpu::available_isas();
  for (const Need& need : kNeeds) {
    if (need.isa <= active) continue;
    std::string reason(to_text(need.isa));
    if (std::find(available.begin(), available.end(), need.isa) == available.end()) {
      std::string missing;
      for (const char* f : need.features)
        if (f && !has(f)) missing += std::string(missing.empty() ? "" : ", ") + f;
      reason += missing.empty() ? ": not in this build" : ": the processor lacks " + missing;
    } else if (std::getenv("STORMCELL_ISA")) {
      reason += ": STORMCELL_ISA asks for less";
    } else {
      reason += ": measured slower than " + std::string(to_text(active)) + " on this processor";
    }
    reasons.push_back(std::move(reason));
  }
  for (const char* f : {"avx512_vnni", "avx512_fp16", "amx_bf16", "amx_int8"})
    if (has(f)) reasons.push_back(std::string(f) + ": no kernels for it in this version");
  if (processor.logical_processors > processor.cores)
    reasons.push_back(
        "the second hardware thread of " + counted(processor.logical_processors - processor.cores, "core") +
        ": used, though it seldom helps; --threads " + std::to_string(processor.cores) + " leaves them out");
  return reasons;
}

/// A library that reads other formats of pictures, and the Debian package that a build needs for it.
LibraryVersion picture_library(const char* name, const std::string& version, const std::string& what,
                               const std::string& package) {
  return {name, version, version.empty() ? "not in this build (" + package + "); it reads no " + what : what};
}

/// FFmpeg's libraries are loaded when a video is opened, so the build may know them and the machine lack them.
LibraryVersion video_library() {
  const LibraryVersion built = picture_library("libavformat", STORMCELL_FFMPEG_VERSION, "video",
                                               "libavformat-dev libavcodec-dev libswscale-dev");
  const std::string lacked = lacked_for_video();
  return built.version.empty() || lacked.empty() ? built : LibraryVersion{built.name, "", lacked};
}

void add_cards(DoctorReport& r) {
  const card::ExaminedCards found = card::examine_cards(card::module_folders());
  r.cuda_module = found.module, r.cuda_architectures = found.architectures, r.cuda_reason = found.reason;
  for (const card::ExaminedCard& c : found.cards)
    r.cuda_cards.push_back(
        {c.name, std::to_string(c.major) + "." + std::to_string(c.minor), c.bytes, c.free_bytes, c.reason});
}

Json json_of_cards(const DoctorReport& r) {
  Json cards = Json::array(), architectures = Json::array();
  for (const DoctorCard& c : r.cuda_cards)
    cards.push_back({{"name", c.name},
                     {"compute_capability", c.capability},
                     {"bytes", c.bytes},
                     {"free_bytes", c.free_bytes},
                     {"reason", text_or_null(c.reason)}});
  if (!r.cuda_architectures.empty()) architectures.push_back(r.cuda_architectures);
  return {{"module", text_or_null(r.cuda_module)},
          {"architectures", std::move(architectures)},
          {"devices", std::move(cards)},
          {"reason", text_or_null(r.cuda_reason)}};
}

std::string resources() {
  try {
    return resources_folder();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

DoctorReport examine_machine() {
  DoctorReport r;
  const cpu::Processor processor = cpu::describe_processor();
  const cpu::Isa active = cpu::active_isa();
  r.version = STORMCELL_VERSION;
  r.processor = processor.model.empty() ? "unknown" : processor.model;
  r.features = processor.features;
  r.cores = processor.cores;
  r.logical_processors = processor.logical_processors;
  r.sockets = processor.sockets;
  r.l2_bytes = processor.l2_bytes;
  r.l3_bytes = processor.l3_bytes;
  r.isa = std::string(to_text(active));
  for (const cpu::Isa isa : cpu::available_isas()) r.available_isas.emplace_back(to_text(isa));
  r.not_used = unused(processor, active);
  r.memory_bytes = total_memory();
  r.available_bytes = available_memory();
  r.memory_limit_bytes = memory_limit();
  r.cpu_limit = cpu_limit();
  add_cards(r);
  r.resources = resources();
  r.libraries = {{"SQLite", sqlite_version(), "sessions"},
                 {"SentencePiece", STORMCELL_SENTENCEPIECE_VERSION, "tokenizers"},
                 {"nlohmann-json",
                  std::to_string(NLOHMANN_JSON_VERSION_MAJOR) + "." + std::to_string(NLOHMANN_JSON_VERSION_MINOR) +
                      "." + std::to_string(NLOHMANN_JSON_VERSION_PATCH),
                  "JSON"},
                 picture_library("libpng", STORMCELL_PNG_VERSION, "PNG", "libpng-dev"),
                 picture_library("libjpeg", STORMCELL_JPEG_VERSION, "JPEG", "libjpeg62-turbo-dev"),
                 video_library(),
                 {"oneDNN", "", "not in this build; Stormcell's own kernels do dense products"}};
  return r;
}

std::string to_json(const DoctorReport& r) {
  Json j = json_of_verb("doctor");
  j["cpu"] = {{"name", r.processor},
              {"features", r.features},
              {"cores", r.cores},
              {"logical_processors", r.logical_processors},
              {"sockets", r.sockets},
              {"l2_bytes", positive_or_null(r.l2_bytes)},
              {"l3_bytes", positive_or_null(r.l3_bytes)},
              {"isa", {{"used", r.isa}, {"available", r.available_isas}}},
              {"not_used", r.not_used}};
  j["memory"] = {{"bytes", r.memory_bytes},
                 {"available_bytes", r.available_bytes},
                 {"limit_bytes", positive_or_null(r.memory_limit_bytes)},
                 {"cpu_limit", positive_or_null(r.cpu_limit)}};
  j["cuda"] = json_of_cards(r);
  Json libraries = Json::array();
  for (const LibraryVersion& l : r.libraries)
    libraries.push_back({{"name", l.name}, {"version", text_or_null(l.version)}, {"note", l.note}});
  j["libraries"] = std::move(libraries);
  j["resources"] = r.resources;
  return json_text(j);
}

}  // namespace stormcell
