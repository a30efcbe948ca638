#include "tests/fuzz/pack.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "core/base/error.h"
#include "core/formats/sha256.h"

namespace stormcell::fuzz {
namespace {
constexpr std::string_view kMagic = "stormcell-fuzz-pack 1";

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
  bad_input(path, "is not a whole pack: " + what, "take the file of the last commit");
}

/// The lines of the index, one after another.
class Lines {
 public:
  Lines(const std::string& path, std::string_view text) : path_(path), text_(text) {}
  std::string_view next() {
    const size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) damaged(path_, "its index ends early");
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }
  size_t number(std::string_view text) const {
    size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      damaged(path_, "\"" + std::string(text) + "\" is not a number");
    return value;
  }
  size_t at() const { return at_; }

 private:
  const std::string& path_;
  std::string_view text_;
  size_t at_ = 0;
};
}  // namespace

std::vector<char> read_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) bad_input(path, "cannot be read", "name a file");
  return {std::istreambuf_iterator<char>(stream), {}};
}

PackedInput packed(std::vector<char> bytes) {
  std::string name = sha256_hex(std::string_view(bytes.data(), bytes.size()));
  return {std::move(name), std::move(bytes)};
}

std::vector<PackedInput> read_pack(const std::string& path) {
  const std::vector<char> file = read_bytes(path);
  const std::string_view text(file.data(), file.size());
  Lines lines(path, text);
  if (lines.next() != kMagic) damaged(path, "its first line is not \"" + std::string(kMagic) + "\"");
  constexpr std::string_view kInputs = "inputs ";
  const std::string_view stated = lines.next();
  if (!stated.starts_with(kInputs)) damaged(path, "its second line does not state the number of inputs");
  const size_t count = lines.number(stated.substr(kInputs.size()));
  std::vector<std::pair<std::string, size_t>> index;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view line = lines.next();
    if (line.size() < 66 || line[64] != ' ') damaged(path, "a line of its index is not \"SHA-256 SIZE\"");
    index.emplace_back(line.substr(0, 64), lines.number(line.substr(65)));
  }
  if (!lines.next().empty()) damaged(path, "its index has more inputs than it states");
  std::vector<PackedInput> inputs;
  size_t at = lines.at();
  for (auto& [name, size] : index) {
    if (size > file.size() - at) damaged(path, "it ends within " + name);
    PackedInput input =
        packed({file.begin() + static_cast<ptrdiff_t>(at), file.begin() + static_cast<ptrdiff_t>(at + size)});
    if (input.name != name) damaged(path, "the bytes of " + name + " have another SHA-256");
    inputs.push_back(std::move(input));
    at += size;
  }
  if (at != file.size()) damaged(path, "bytes follow that its index does not know");
  return inputs;
}

void write_pack(const std::string& path, std::vector<PackedInput> inputs) {
  const auto by_name = [](const PackedInput& a, const PackedInput& b) { return a.name < b.name; };
  const auto same_name = [](const PackedInput& a, const PackedInput& b) { return a.name == b.name; };
  std::sort(inputs.begin(), inputs.end(), by_name);
  inputs.erase(std::unique(inputs.begin(), inputs.end(), same_name), inputs.end());
  const std::string part = path + ".part";
  {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out << kMagic << "\ninputs " << inputs.size() << '\n';
    for (const PackedInput& input : inputs) out << input.name << ' ' << input.bytes.size() << '\n';
    out << '\n';
    for (const PackedInput& input : inputs)
      out.write(input.bytes.data(), static_cast<std::streamsize>(input.bytes.size()));
    if (!out.flush()) failed(part, "cannot be written", "look whether the disk is full");
  }
  std::filesystem::rename(part, path);
}

}  // namespace stormcell::fuzz
