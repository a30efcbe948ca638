#include "core/formats/sentencepiece_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/formats/charsmap.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {
constexpr std::string_view kGetModelAgain = "get the tokenizer file again";

enum class WireType : int { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  uint64_t number = 0;
  WireType type{};
  uint64_t value = 0;      // varint, fixed32, fixed64
  std::string_view bytes;  // of type bytes
  std::string_view whole;  // tag and value, to copy
};

// The fields of one protobuf message.
class Message {
 public:
  Message(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  bool next(Field& field) {
    if (rest_.empty()) return false;
    const char* begin = rest_.data();
    const uint64_t tag = varint();
    field.number = tag >> 3;
    field.type = static_cast<WireType>(tag & 7);
    if (field.number == 0 || field.number >= uint64_t{1} << 29) refuse();
    switch (field.type) {
      case WireType::varint:
        field.value = varint();
        break;
      case WireType::fixed64:
        field.value = fixed(8);
        break;
      case WireType::fixed32:
        field.value = fixed(4);
        break;
      case WireType::bytes: {
        const uint64_t size = varint();
        field.bytes = take(size);
        break;
      }
      default:
        refuse();  // groups are long out of use
    }
    field.whole = {begin, static_cast<size_t>(rest_.data() - begin)};
    return true;
  }
  [[noreturn]] void refuse() const {
    refuse_other_kind(where_, FileUse::tokenizer);
    bad_input(where_, "is not a SentencePiece model, or is truncated", kGetModelAgain);
  }
  void expect(const Field& field, WireType type) const {
    if (field.type != type) refuse();
  }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    refuse();
  }
  uint64_t fixed(size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, take(size).data(), size);
    return value;
  }
  std::string_view take(uint64_t size) {
    if (size > rest_.size()) refuse();
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  const std::string& where_;
};

class Writer {
 public:
  void varint(uint64_t number, uint64_t value) {
    raw_varint(number << 3 | static_cast<uint64_t>(WireType::varint));
    raw_varint(value);
  }
  void bytes(uint64_t number, std::string_view value) {
    raw_varint(number << 3 | static_cast<uint64_t>(WireType::bytes));
    raw_varint(value.size());
    text_ += value;
  }
  void number(uint64_t number, float value) {
    raw_varint(number << 3 | static_cast<uint64_t>(WireType::fixed32));
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void copy(std::string_view field) { text_ += field; }
  std::string take() { return std::move(text_); }

 private:
  void raw_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

// Field numbers of sentencepiece_model.proto.
namespace model_field {
enum : uint64_t { pieces = 1, trainer_spec = 2, normalizer_spec = 3, denormalizer_spec = 5 };
}
namespace piece_field {
enum : uint64_t { text = 1, score = 2, type = 3 };
}
namespace trainer_field {
enum : uint64_t { model_type = 3, byte_fallback = 35, unknown_surface = 44 };
}
namespace normalizer_field {
enum : uint64_t { charsmap = 2, add_dummy_prefix = 3, remove_extra_whitespaces = 4, escape_whitespaces = 5 };
}
constexpr uint64_t kUnigram = 1, kChar = 4;

class Checker {
 public:
  explicit Checker(const std::string& where) : where_(where) {}

  std::string check(std::string_view model) {
    Message message(model, where_);
    Writer result;
    bool trainer = false, normalizer = false, denormalizer = false;
    for (Field field; message.next(field);) {
      switch (field.number) {
        case model_field::pieces:
          message.expect(field, WireType::bytes);
          add_piece(field.bytes);
          result.copy(field.whole);
          break;
        case model_field::trainer_spec:
          once(trainer);
          message.expect(field, WireType::bytes);
          check_trainer(field.bytes);
          result.copy(field.whole);
          break;
        case model_field::normalizer_spec:
          once(normalizer);
          message.expect(field, WireType::bytes);
          result.bytes(field.number, checked_normalizer(field.bytes));
          break;
        case model_field::denormalizer_spec:
          once(denormalizer);
          message.expect(field, WireType::bytes);
          result.bytes(field.number, checked_normalizer(field.bytes));
          break;
        default:
          break;  // self-tests and extensions
      }
    }
    if (!normalizer) result.bytes(model_field::normalizer_spec, checked_normalizer({}));
    check_pieces();
    return result.take();
  }

  std::vector<Piece> take_pieces() { return std::move(pieces_); }

 private:
  [[noreturn]] void refuse(const std::string& what) const { bad_input(where_, what, kGetModelAgain); }
  void once(bool& seen) const {
    if (seen) refuse("a part of the model occurs twice");
    seen = true;
  }

  void add_piece(std::string_view bytes) {
    Message message(bytes, where_);
    Piece piece;
    for (Field field; message.next(field);) {
      if (field.number == piece_field::text) {
        message.expect(field, WireType::bytes);
        piece.text = field.bytes;
      } else if (field.number == piece_field::score) {
        message.expect(field, WireType::fixed32);
        const uint32_t bits = field.value;
        std::memcpy(&piece.score, &bits, sizeof piece.score);
      } else if (field.number == piece_field::type) {
        message.expect(field, WireType::varint);
        if (field.value < 1 || field.value > 6)
          refuse("piece " + std::to_string(pieces_.size()) + " is of an unknown type");
        piece.type = static_cast<PieceType>(field.value);
      }
    }
    check_piece(piece);
    pieces_.push_back(std::move(piece));
  }

  void check_piece(const Piece& piece) const {
    const std::string name = "piece " + std::to_string(pieces_.size());
    if (piece.text.empty()) refuse(name + " is empty");
    if (piece.text.size() > kMaxPiece) refuse(name + " is longer than 1024 bytes");
    if (piece.text.find('\0') != std::string::npos) refuse(name + " holds a zero byte");
    if (find_invalid_utf8(piece.text) != std::string_view::npos) refuse(name + " is not valid UTF-8");
    if (!std::isfinite(piece.score) || std::fabs(piece.score) > kMaxScore) refuse(name + " has no usable score");
  }

  void check_trainer(std::string_view bytes) {
    Message message(bytes, where_);
    for (Field field; message.next(field);) {
      if (field.number == trainer_field::model_type) {
        message.expect(field, WireType::varint);
        if (field.value < kUnigram || field.value > kChar) refuse("is a model of an unknown type");
      } else if (field.number == trainer_field::byte_fallback) {
        message.expect(field, WireType::varint);
        byte_fallback_ = field.value != 0;
      } else if (field.number == trainer_field::unknown_surface) {
        message.expect(field, WireType::bytes);
        if (find_invalid_utf8(field.bytes) != std::string_view::npos)
          refuse("what it writes for the unknown is not valid UTF-8");
      }
    }
  }

  std::string checked_normalizer(std::string_view bytes) const {
    Message message(bytes, where_);
    Writer result;
    std::string_view charsmap;
    for (Field field; message.next(field);) {
      if (field.number == normalizer_field::charsmap) {
        message.expect(field, WireType::bytes);
        charsmap = field.bytes;
      } else {
        result.copy(field.whole);
      }
    }
    const CharsMap check(charsmap, where_);
    result.bytes(normalizer_field::charsmap, charsmap.empty() ? CharsMap::without_rules() : std::string(charsmap));
    return result.take();
  }

  void check_pieces() const {
    if (pieces_.empty()) refuse("is not a SentencePiece model: it has no pieces");
    std::set<std::string_view> texts;
    std::vector<std::string_view> user_defined;
    int unknown = 0, bytes = 0, ordinary = 0;
    for (const Piece& piece : pieces_) {
      if (!texts.insert(piece.text).second) refuse("the piece " + in_quotes(piece.text) + " occurs twice");
      unknown += piece.type == PieceType::unknown;
      ordinary += piece.type == PieceType::normal || piece.type == PieceType::user_defined;
      if (piece.type == PieceType::user_defined) user_defined.push_back(piece.text);
      if (piece.type != PieceType::byte) continue;
      ++bytes;
      unsigned value = 0;
      char rest = 0;
      if (piece.text.size() != 6 || std::sscanf(piece.text.c_str(), "<0x%2X%c", &value, &rest) != 2 || rest != '>')
        refuse("the byte piece " + in_quotes(piece.text) + " is not of the form <0x00>");
    }
    if (unknown != 1) refuse("it has " + std::to_string(unknown) + " pieces for the unknown, expected one");
    if (ordinary == 0) refuse("it has no ordinary pieces");
    if (byte_fallback_ ? bytes != 256 : bytes != 0)
      refuse("it has " + std::to_string(bytes) + " byte pieces, expected " + (byte_fallback_ ? "256" : "none"));
    check_nesting(std::move(user_defined));
  }

  // The library has room for 64 user-defined pieces that begin alike.
  void check_nesting(std::vector<std::string_view> pieces) const {
    std::sort(pieces.begin(), pieces.end());
    std::vector<std::string_view> prefixes;
    for (const std::string_view piece : pieces) {
      while (!prefixes.empty() && !piece.starts_with(prefixes.back())) prefixes.pop_back();
      prefixes.push_back(piece);
      if (prefixes.size() > 64) refuse("more than 64 user-defined pieces begin alike");
    }
  }

  static constexpr size_t kMaxPiece = 1024;
  static constexpr float kMaxScore = 1e9f;
  const std::string& where_;
  std::vector<Piece> pieces_;
  bool byte_fallback_ = false;
};
}  // namespace

std::string checked_sentencepiece_model(std::string_view model, const std::string& where) {
  return Checker(where).check(model);
}

std::vector<Piece> sentencepiece_pieces(std::string_view model, const std::string& where) {
  Checker checker(where);
  checker.check(model);
  return checker.take_pieces();
}

std::string plain_unigram_model(std::span<const Piece> pieces, bool byte_fallback) {
  Writer model;
  for (const Piece& piece : pieces) {
    Writer message;
    message.bytes(piece_field::text, piece.text);
    message.number(piece_field::score, piece.score);
    message.varint(piece_field::type, static_cast<uint64_t>(piece.type));
    model.bytes(model_field::pieces, message.take());
  }
  Writer trainer;
  trainer.varint(trainer_field::model_type, kUnigram);
  trainer.varint(trainer_field::byte_fallback, byte_fallback);
  model.bytes(model_field::trainer_spec, trainer.take());
  Writer normalizer;
  normalizer.varint(normalizer_field::add_dummy_prefix, 0);
  normalizer.varint(normalizer_field::remove_extra_whitespaces, 0);
  normalizer.varint(normalizer_field::escape_whitespaces, 0);
  model.bytes(model_field::normalizer_spec, normalizer.take());
  return model.take();
}

}  // namespace stormcell
