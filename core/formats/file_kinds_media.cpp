// Kinds of pictures, videos, sound, pages and programs.
#include <array>

#include "core/formats/file_kind_groups.h"
#include "core/formats/file_marks.h"

namespace stormcell {
namespace {

using namespace std::string_view_literals;
using Look = const FileLook&;

constexpr std::string_view kAsData = "name it as --data of a model that takes pictures",
                           kNoSound = "this program reads no sound";
constexpr FileUses kPictures = FileUses(FileUse::picture) | FileUse::data;

constexpr std::array kMedia = {
    FileKind{"png", "a PNG picture", kAsData, kPictures, "\x89PNG\r\n\x1a\n"},
    FileKind{"jpeg", "a JPEG picture", kAsData, kPictures, "\xff\xd8\xff"},
    FileKind{"netpbm", "a PPM or PGM picture", kAsData, kPictures, "",
             [](Look l) {
               return l.head.size() > 2 && l.head[0] == 'P' && (l.head[1] == '5' || l.head[1] == '6') &&
                      (l.head[2] == '\n' || l.head[2] == ' ' || l.head[2] == '\r' || l.head[2] == '\t');
             }},
    FileKind{"webp", "a WebP picture", remedy::kPicture, kNoUse, "RIFF",
             [](Look l) { return l.head.size() > 12 && l.head.substr(8, 4) == "WEBP"; }},
    FileKind{"gif", "a GIF picture", remedy::kPicture, kNoUse, "GIF8"},
    FileKind{"tiff", "a TIFF picture", remedy::kPicture, kNoUse, "",
             [](Look l) { return l.head.starts_with("II*\0"sv) || l.head.starts_with("MM\0*"sv); }},
    FileKind{"bmp", "a BMP picture", remedy::kPicture, kNoUse, "BM",
             [](Look l) { return l.head.size() >= 10 && l.head.substr(6, 4) == "\0\0\0\0"sv; }},
    FileKind{"avif", "an AVIF or HEIC picture", remedy::kPicture, kNoUse, "",
             [](Look l) {
               return is_media_brand(l, {"avif", "avis", "heic", "heix", "mif1"});
             }},
    FileKind{"psd", "a Photoshop picture", remedy::kPicture, kNoUse, "8BPS"},
    FileKind{"wav", "a WAV sound", kNoSound, kNoUse, "RIFF",
             [](Look l) { return l.head.size() > 12 && l.head.substr(8, 4) == "WAVE"; }},
    FileKind{"sound", "an MP3 sound", kNoSound, kNoUse, "ID3", is_not_text},
    FileKind{"sound", "a FLAC sound", kNoSound, kNoUse, "fLaC"},
    FileKind{"video", "an AVI video", kAsData, FileUse::data, "RIFF",
             [](Look l) { return l.head.size() > 12 && l.head.substr(8, 4) == "AVI "; }},
    FileKind{"mp4", "an MP4 or QuickTime video", kAsData, FileUse::data, "",
             [](Look l) { return l.head.size() > 11 && l.head.substr(4, 4) == "ftyp"; }},
    FileKind{"video", "a Matroska or WebM video", kAsData, FileUse::data, "\x1a\x45\xdf\xa3"},
    FileKind{"video", "an MPEG video", kAsData, FileUse::data, "",
             [](Look l) {
               return l.head.starts_with("\0\0\1\xba"sv) || l.head.starts_with("\0\0\1\xb3"sv) ||
                      is_transport_stream(l);
             }},
    FileKind{"video", "an Ogg video or sound", kAsData, FileUse::data, "OggS"},
    FileKind{"pdf", "a PDF document", "name the data that it describes", kNoUse, "%PDF-"},
    FileKind{"postscript", "a PostScript document", "name the data that it describes", kNoUse, "%!PS"},
    FileKind{"program", "a program or library", remedy::kNoProgram, kNoUse,
             "\x7f"
             "ELF"},
    FileKind{"program", "a program of Windows", remedy::kNoProgram, kNoUse, "MZ",
             [](Look l) { return l.head.size() > 64 && holds(l, "PE\0\0"sv); }},
    FileKind{"script", "a script", remedy::kNoProgram, FileUse::data, "#!"},
    FileKind{"script", "a Python program", remedy::kNoProgram, kNoUse, "",
             [](Look l) { return name_ends(l, {".py"}) && is_text(l); }},
    FileKind{"tar", "a tar archive", "unpack it: tar -xf FILE", kNoUse, "", is_tar},  // last: only a checksum shows it
};

}  // namespace

std::span<const FileKind> media_kinds() { return kMedia; }

}  // namespace stormcell
