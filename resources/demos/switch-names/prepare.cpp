// Makes the data of demo:switch-names: names of countries, languages, currencies and scripts in
// their own writing (translations from Debian's iso-codes), each with its form in Latin letters
// (ICU's transliteration). The text is made where it is needed and never committed.
//
//     stormcell-prepare-switch-names LOCALE_DIR OUT_DIR
//
// LOCALE_DIR holds xx/LC_MESSAGES/iso_*.mo; OUT_DIR gets train.jsonl, val.jsonl and test.jsonl.
// The same catalogues and the same ICU give the same bytes: selection and split are by hash.

#include <unicode/errorcode.h>
#include <unicode/normalizer2.h>
#include <unicode/translit.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Language {
  const char* code;
  UScriptCode script;
};

// Ascending by how many translations there are: a name that several languages spell alike goes to
// the smallest of them. Thai is left out, since its transliteration follows a word-break dictionary.
constexpr std::array kLanguages = {
    Language{"hy", USCRIPT_ARMENIAN},   Language{"hi", USCRIPT_DEVANAGARI}, Language{"ar", USCRIPT_ARABIC},
    Language{"ko", USCRIPT_HANGUL},     Language{"he", USCRIPT_HEBREW},     Language{"el", USCRIPT_GREEK},
    Language{"vi", USCRIPT_LATIN},      Language{"ja", USCRIPT_KATAKANA},   Language{"bn", USCRIPT_BENGALI},
    Language{"tr", USCRIPT_LATIN},      Language{"ka", USCRIPT_GEORGIAN},   Language{"ru", USCRIPT_CYRILLIC},
    Language{"mr", USCRIPT_DEVANAGARI}, Language{"ta", USCRIPT_TAMIL},      Language{"uk", USCRIPT_CYRILLIC},
};

constexpr std::array kCatalogues = {"iso_3166-1", "iso_3166-2", "iso_3166-3", "iso_4217",
                                    "iso_15924",  "iso_639-2",  "iso_639-3",  "iso_639-5"};

constexpr int kMinCharacters = 2;
constexpr int kMaxCharacters = 40;
constexpr int kMaxTargetCharacters = 56;
constexpr std::size_t kMaxNamesPerLanguage = 2600;
constexpr std::uint64_t kTestPercent = 6;
constexpr std::uint64_t kTestAndValPercent = 8;

struct Translation {
  std::string english;
  std::string text;
};

struct Name {
  std::string text;
  std::string target;
  const Language* language;
  std::uint64_t order;          // hash of language and text
  std::uint64_t split_percent;  // hash of the English name: its translations stay together
};

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw std::runtime_error(path.string() + ": " + what);
}

std::uint64_t fnv1a64(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3u;
  }
  return hash;
}

// GNU gettext's binary catalogue: a header, then two tables of (length, offset) pairs, for the
// English strings and for their translations.
class Catalogue {
 public:
  explicit Catalogue(fs::path path) : path_(std::move(path)) {
    std::ifstream file(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad()) fail(path_, "cannot be read (check its permissions)");
    if (bytes_.size() < kHeaderBytes || (word(0) != kMagic && word(0) != swap(kMagic))) {
      broken("not a gettext catalogue");
    }
    swapped_ = word(0) != kMagic;
    count_ = word(8);
    english_table_ = word(12);
    translated_table_ = word(16);
  }

  std::vector<Translation> translations() const {
    std::vector<Translation> result;
    for (std::uint64_t i = 0; i < count_; ++i) {
      std::string english = text(english_table_ + 8 * i);
      std::string translated = text(translated_table_ + 8 * i);
      const bool plural = english.find('\0') != std::string::npos;
      if (english.empty() || translated.empty() || plural) continue;
      result.push_back({std::move(english), std::move(translated)});
    }
    return result;
  }

 private:
  static constexpr std::uint32_t kMagic = 0x950412de;
  static constexpr std::size_t kHeaderBytes = 28;

  static std::uint32_t swap(std::uint32_t value) {
    return value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24;
  }

  std::uint32_t word(std::uint64_t offset) const {
    if (offset + 4 > bytes_.size()) broken("truncated");
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return swapped_ ? swap(value) : value;
  }

  std::string text(std::uint64_t entry) const {
    const std::uint64_t length = word(entry);
    const std::uint64_t offset = word(entry + 4);
    if (offset + length > bytes_.size()) broken("truncated");
    return bytes_.substr(offset, length);
  }

  [[noreturn]] void broken(const std::string& what) const {
    fail(path_, what + " (unpack Debian's iso-codes package again)");
  }

  fs::path path_;
  std::string bytes_;
  bool swapped_ = false;
  std::uint64_t count_ = 0;
  std::uint64_t english_table_ = 0;
  std::uint64_t translated_table_ = 0;
};

// ICU's services, opened once. Every failure of ICU means that its data is not installed.
class Unicode {
 public:
  Unicode() {
    icu::ErrorCode status;
    nfc_ = icu::Normalizer2::getNFCInstance(status);
    to_latin_.reset(icu::Transliterator::createInstance("Any-Latin; Latin-ASCII", UTRANS_FORWARD, status));
    if (status.isFailure()) {
      fail("ICU", std::string(status.errorName()) + " (install libicu72 with its data)");
    }
  }

  // Composed, with runs of white space as one space and none at the ends.
  icu::UnicodeString clean(const std::string& utf8) const {
    icu::UnicodeString collapsed;
    const icu::UnicodeString raw = icu::UnicodeString::fromUTF8(utf8);
    bool space_due = false;
    for (int i = 0; i < raw.length(); i = raw.moveIndex32(i, 1)) {
      const UChar32 character = raw.char32At(i);
      if (u_isUWhiteSpace(character)) {
        space_due = !collapsed.isEmpty();
        continue;
      }
      if (space_due) collapsed.append(u' ');
      space_due = false;
      collapsed.append(character);
    }
    icu::ErrorCode status;
    return nfc_->normalize(collapsed, status);
  }

  std::string latin(icu::UnicodeString text) const {
    to_latin_->transliterate(text);
    return utf8(text);
  }

  static std::string utf8(const icu::UnicodeString& text) {
    std::string result;
    return text.toUTF8String(result);
  }

 private:
  const icu::Normalizer2* nfc_ = nullptr;
  std::unique_ptr<icu::Transliterator> to_latin_;
};

// Japanese is taken in kana only: a kanji's reading depends on the word it stands in.
bool belongs(UScriptCode script, const Language& language) {
  const bool kana = script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA;
  return language.script == USCRIPT_KATAKANA ? kana : script == language.script;
}

bool is_in_script_of(const icu::UnicodeString& text, const Language& language) {
  bool any = false;
  for (int i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
    icu::ErrorCode status;
    const UScriptCode script = uscript_getScript(text.char32At(i), status);
    if (script == USCRIPT_COMMON || script == USCRIPT_INHERITED) continue;
    if (!belongs(script, language)) return false;
    any = true;
  }
  return any;
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
}

std::vector<Translation> read_translations(const fs::path& locale_dir, const Language& language) {
  const fs::path folder = locale_dir / language.code / "LC_MESSAGES";
  std::vector<Translation> all;
  for (const char* name : kCatalogues) {
    const fs::path path = folder / (std::string(name) + ".mo");
    if (!fs::exists(path)) continue;  // no language has all eight
    std::vector<Translation> some = Catalogue(path).translations();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  if (all.empty()) {
    fail(folder, "holds no iso-codes catalogue (unpack Debian's iso-codes package and name its usr/share/locale)");
  }
  return all;
}

// The usable names of one language, without those in `taken`, to which they are added.
std::vector<Name> select_names(const fs::path& locale_dir, const Language& language, const Unicode& unicode,
                               std::unordered_set<std::string>& taken) {
  std::vector<Name> names;
  std::unordered_set<std::string> seen;
  for (const Translation& translation : read_translations(locale_dir, language)) {
    const icu::UnicodeString text = unicode.clean(translation.text);
    std::string utf8 = Unicode::utf8(text);
    if (utf8 == translation.english || text.indexOf(u'|') >= 0) continue;
    if (taken.contains(utf8) || !seen.insert(utf8).second) continue;
    const int characters = text.countChar32();
    if (characters < kMinCharacters || characters > kMaxCharacters) continue;
    if (!is_in_script_of(text, language)) continue;
    std::string target = unicode.latin(text);
    if (target.empty() || target.size() > kMaxTargetCharacters || !is_ascii(target)) continue;
    const std::uint64_t order = fnv1a64(std::string(language.code) + '\t' + utf8);
    names.push_back({std::move(utf8), std::move(target), &language, order, fnv1a64(translation.english) % 100});
  }
  std::sort(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.order < b.order; });
  if (names.size() > kMaxNamesPerLanguage) {
    names.erase(names.begin() + kMaxNamesPerLanguage, names.end());
  }
  for (const Name& name : names) taken.insert(name.text);
  return names;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      result += escape;
    } else {
      result += c;
    }
  }
  return result + '"';
}

class JsonLines {
 public:
  explicit JsonLines(fs::path path) : path_(std::move(path)), file_(path_, std::ios::binary) { check(); }

  void write(const Name& name) {
    file_ << "{\"text\":" << quoted(name.text) << ",\"target\":" << quoted(name.target)
          << ",\"language\":" << quoted(name.language->code)
          << ",\"script\":" << quoted(uscript_getShortName(name.language->script)) << "}\n";
  }

  void close() {
    file_.close();
    check();
  }

 private:
  void check() const {
    if (!file_) fail(path_, "cannot be written (check the folder's permissions and free space)");
  }

  fs::path path_;
  std::ofstream file_;
};

void prepare(const fs::path& locale_dir, const fs::path& out_dir) {
  if (!fs::is_directory(locale_dir)) {
    fail(locale_dir,
         "no such folder (unpack Debian's iso-codes package and name its "
         "usr/share/locale)");
  }
  const Unicode unicode;
  std::unordered_set<std::string> taken;
  std::vector<Name> names;
  for (const Language& language : kLanguages) {
    std::vector<Name> some = select_names(locale_dir, language, unicode, taken);
    std::move(some.begin(), some.end(), std::back_inserter(names));
  }
  // By language, so that a batch of neighbours is in one script and another script comes later.
  std::stable_sort(names.begin(), names.end(),
                   [](const Name& a, const Name& b) { return std::strcmp(a.language->code, b.language->code) < 0; });

  std::error_code error;
  fs::create_directories(out_dir, error);
  if (error) fail(out_dir, error.message() + " (name a folder that can be written)");
  JsonLines train(out_dir / "train.jsonl");
  JsonLines val(out_dir / "val.jsonl");
  JsonLines test(out_dir / "test.jsonl");
  for (const Name& name : names) {
    const bool is_test = name.split_percent < kTestPercent;
    const bool is_val = !is_test && name.split_percent < kTestAndValPercent;
    (is_test ? test : is_val ? val : train).write(name);
  }
  train.close();
  val.close();
  test.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs(
        "stormcell: arguments: expected LOCALE_DIR OUT_DIR (for example "
        "/usr/share/locale and an empty folder)\n",
        stderr);
    return 2;
  }
  try {
    prepare(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stormcell: %s\n", error.what());
    return 2;
  }
  return 0;
}
