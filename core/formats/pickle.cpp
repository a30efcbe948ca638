// The instructions of Python's pickle machine (Lib/pickletools.py of CPython documents them), as far as torch.save()
// uses them on plain values and tensors.
#include "core/formats/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

using Kind = PickleValue::Kind;

constexpr size_t kMostNodes = size_t{1} << 24, kMostNodesKept = size_t{1} << 21, kMostDims = 64;

// All that a pickle may name, and nothing else.
constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2", kOrderedDict = "collections.OrderedDict",
                           kSize = "torch.Size";
// The same of newer versions, and of parameters, where unknown globals are kept.
constexpr std::string_view kRebuildTensor3 = "torch._utils._rebuild_tensor_v3",
                           kRebuildParameter = "torch._utils._rebuild_parameter";
constexpr size_t kMostName = 256;
struct StorageClass {
  std::string_view name;
  DType dtype;
};
constexpr std::array kStorages = {
    StorageClass{"torch.FloatStorage", DType::f32}, StorageClass{"torch.DoubleStorage", DType::f64},
    StorageClass{"torch.HalfStorage", DType::f16},  StorageClass{"torch.BFloat16Storage", DType::bf16},
    StorageClass{"torch.LongStorage", DType::i64},  StorageClass{"torch.IntStorage", DType::i32},
    StorageClass{"torch.ShortStorage", DType::i16}, StorageClass{"torch.CharStorage", DType::i8},
    StorageClass{"torch.ByteStorage", DType::u8},   StorageClass{"torch.BoolStorage", DType::boolean},
};

const StorageClass* find_storage(std::string_view name) {
  const auto found =
      std::find_if(kStorages.begin(), kStorages.end(), [&](const StorageClass& s) { return s.name == name; });
  return found == kStorages.end() ? nullptr : &*found;
}

PickleValue value_of(Kind kind, int64_t whole) {
  PickleValue v;
  v.kind = kind, v.whole = whole;
  return v;
}

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& where, std::deque<PickleNode>& nodes,
          std::deque<std::string>& names, UnknownGlobals unknown)
      : bytes_(bytes), where_(where), nodes_(nodes), names_(names), unknown_(unknown) {}

  PickleValue run() {
    for (;;) {
      const auto code = take<uint8_t>();
      if (code == '.') break;
      if (!(push_plain(code) || build(code) || remember(code) || call(code) ||
            (unknown_ == UnknownGlobals::kept && pass_over(code))))
        wrong("instruction " + std::to_string(code) +
              " is not one that torch.save() writes for tensors and plain values");
    }
    if (stack_.size() != 1 || !marks_.empty()) wrong("it does not end with one value");
    return stack_[0];
  }
  size_t at() const { return at_; }

 private:
  [[noreturn]] void wrong(const std::string& what,
                          const std::string& advice = "save tensors and plain values alone") const {
    bad_input(where_, "as a pickle it is refused at byte " + std::to_string(at_) + ": " + what, advice);
  }

  // Little-endian.
  template <class T>
  T take() {
    if (bytes_.size() - at_ < sizeof(T)) wrong("it ends in the middle", "it may be truncated; copy it again");
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string_view take_text(uint64_t size) {
    if (bytes_.size() - at_ < size) wrong("it ends in the middle", "it may be truncated; copy it again");
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
    return text;
  }
  std::string_view take_line() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + at_, bytes_.size() - at_);
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) wrong("it ends in the middle", "it may be truncated; copy it again");
    at_ += end + 1;
    return rest.substr(0, end);
  }

  PickleValue pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) wrong("a value is missing");
    const PickleValue v = stack_.back();
    stack_.pop_back();
    return v;
  }
  PickleValue& top() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) wrong("a value is missing");
    return stack_.back();
  }
  PickleValue make(Kind kind) {
    const size_t most = unknown_ == UnknownGlobals::kept ? kMostNodesKept : kMostNodes;
    if (nodes_.size() >= most)
      wrong("it has more than " + with_commas(static_cast<int64_t>(most)) + " lists and tensors");
    PickleValue v;
    v.kind = kind, v.node = &nodes_.emplace_back();
    return v;
  }
  /// Takes the values above the last mark, and the mark.
  std::vector<PickleValue> pop_to_mark() {
    if (marks_.empty()) wrong("a mark is missing");
    const auto from = stack_.begin() + marks_.back();
    std::vector<PickleValue> values(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return values;
  }

  void push_text(std::string_view text) {
    if (text.size() > UINT32_MAX) wrong("a text is too long");
    PickleValue v;
    v.kind = Kind::text, v.size = static_cast<uint32_t>(text.size()), v.begin = text.data();
    stack_.push_back(v);
  }
  void push_long(size_t size) {
    const std::string_view digits = take_text(size);
    if (size > sizeof(int64_t) && unknown_ == UnknownGlobals::kept) return stack_.push_back(value_of(Kind::none, 0));
    if (size > sizeof(int64_t)) wrong("a number of " + std::to_string(size) + " bytes");
    uint64_t value = size > 0 && (digits.back() & 0x80) ? ~uint64_t{0} : 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(digits[i]);
    stack_.push_back(value_of(Kind::whole, static_cast<int64_t>(value)));
  }

  bool push_plain(uint8_t code) {
    switch (code) {
      case 0x80:  // PROTO
        if (const int version = take<uint8_t>(); version < 2 || version > 5)
          wrong("protocol " + std::to_string(version));
        return true;
      case 0x95:  // FRAME: how the rest was cut when it was written
        take<uint64_t>();
        return true;
      case 'N':
        stack_.push_back(value_of(Kind::none, 0));
        return true;
      case 0x88:
      case 0x89:
        stack_.push_back(value_of(Kind::boolean, code == 0x88));
        return true;
      case 'K':
        stack_.push_back(value_of(Kind::whole, take<uint8_t>()));
        return true;
      case 'M':
        stack_.push_back(value_of(Kind::whole, take<uint16_t>()));
        return true;
      case 'J':
        stack_.push_back(value_of(Kind::whole, take<int32_t>()));
        return true;
      case 0x8a:
        push_long(take<uint8_t>());
        return true;
      case 'G': {  // the one number that is big-endian
        uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) bits = bits << 8 | take<uint8_t>();
        PickleValue v;
        v.kind = Kind::real, v.real = std::bit_cast<double>(bits);
        stack_.push_back(v);
        return true;
      }
      case 0x8c:
        push_text(take_text(take<uint8_t>()));
        return true;
      case 'X':
        push_text(take_text(take<uint32_t>()));
        return true;
      default:
        return false;
    }
  }

  bool build(uint8_t code) {
    switch (code) {
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case '0':
        pop();
        return true;
      case ']':
        stack_.push_back(make(Kind::list));
        return true;
      case '}':
        stack_.push_back(make(Kind::dict));
        return true;
      case ')':
        stack_.push_back(make(Kind::tuple));
        return true;
      case 't':
      case 'l':
        push_items(code == 't' ? Kind::tuple : Kind::list, pop_to_mark());
        return true;
      case 'd':
        push_items(Kind::dict, pop_to_mark());
        return true;
      case 0x85:
      case 0x86:
      case 0x87: {
        std::vector<PickleValue> items(code - 0x84);
        for (size_t i = items.size(); i-- > 0;) items[i] = pop();
        push_items(Kind::tuple, std::move(items));
        return true;
      }
      case 'a':
        append({pop()}, Kind::list);
        return true;
      case 'e':
        append(pop_to_mark(), Kind::list);
        return true;
      case 's': {
        const PickleValue value = pop(), key = pop();
        append({key, value}, Kind::dict);
        return true;
      }
      case 'u':
        append(pop_to_mark(), Kind::dict);
        return true;
      default:
        return false;
    }
  }
  void push_items(Kind kind, std::vector<PickleValue> items) {
    if (kind == Kind::dict && items.size() % 2) wrong("a key without a value");
    const PickleValue v = make(kind);
    v.node->items = std::move(items);
    stack_.push_back(v);
  }
  void append(const std::vector<PickleValue>& items, Kind kind) {
    if (kind == Kind::dict && items.size() % 2) wrong("a key without a value");
    PickleValue& to = top();
    if (!to.is(kind)) wrong("items for something that is not a list or dictionary");
    to.node->items.insert(to.node->items.end(), items.begin(), items.end());
  }

  bool remember(uint8_t code) {
    switch (code) {
      case 'q':
        keep(take<uint8_t>());
        return true;
      case 'r':
        keep(take<uint32_t>());
        return true;
      case 0x94:
        keep(memo_.size());
        return true;
      case 'h':
        recall(take<uint8_t>());
        return true;
      case 'j':
        recall(take<uint32_t>());
        return true;
      default:
        return false;
    }
  }
  // Picklers number kept values in order: a much larger number would only take memory.
  void keep(size_t at) {
    if (at > memo_.size()) wrong("it keeps values out of order");
    if (at == memo_.size()) memo_.emplace_back();
    memo_[at] = top();
  }
  void recall(size_t at) {
    if (at >= memo_.size()) wrong("it refers to a value that it did not keep");
    stack_.push_back(memo_[at]);
  }

  bool call(uint8_t code) {
    switch (code) {
      case 'c': {
        const std::string_view module = take_line(), name = take_line();
        push_global(module, name);
        return true;
      }
      case 0x93: {
        const PickleValue name = pop(), module = pop();
        push_global(module.text(), name.text());
        return true;
      }
      case 'Q':
        push_storage(pop());
        return true;
      case 'R': {
        const PickleValue arguments = pop(), function = pop();
        reduce(function, arguments);
        return true;
      }
      default:
        return false;
    }
  }
  void push_global(std::string_view module, std::string_view name) {
    const std::string whole = std::string(module) + "." + std::string(name);
    std::string_view known;
    for (const std::string_view allowed : {kRebuildTensor, kOrderedDict, kSize})
      if (whole == allowed) known = allowed;
    if (const StorageClass* storage = find_storage(whole)) known = storage->name;
    if (known.empty() && unknown_ == UnknownGlobals::kept) known = names_.emplace_back(whole.substr(0, kMostName));
    if (known.empty())
      wrong("it names " + in_quotes(whole) + ", and nothing of that is run",
            "only tensors, numbers, texts, lists and dictionaries are read");
    const PickleValue v = make(Kind::global);
    v.node->name = known;
    stack_.push_back(v);
  }
  // ('storage', class, key, location, elements); the location does not matter.
  void push_storage(const PickleValue& id) {
    const auto parts = id.items();
    const StorageClass* storage =
        (parts.size() == 5 || (parts.size() == 6 && unknown_ == UnknownGlobals::kept)) && parts[1].is(Kind::global)
            ? find_storage(parts[1].node->name)
            : nullptr;
    if (!storage || parts[0].text() != "storage" || !parts[2].is(Kind::text) || !parts[4].is(Kind::whole)) {
      if (unknown_ == UnknownGlobals::kept) return push_object("storage", {id});
      wrong("a persistent id that is not a storage");
    }
    const PickleValue v = make(Kind::storage);
    v.node->tensor = std::make_unique<PickleTensor>();
    v.node->tensor->dtype = storage->dtype;
    v.node->tensor->storage = parts[2].text();
    v.node->tensor->storage_elements = parts[4].whole;
    stack_.push_back(v);
  }
  void reduce(const PickleValue& function, const PickleValue& arguments) {
    if (unknown_ == UnknownGlobals::kept && function.is(Kind::object))
      return push_object("call", {function, arguments});
    if (!function.is(Kind::global) || !arguments.is(Kind::tuple)) wrong("a call of something that is not a function");
    const std::string_view name = function.node->name;
    const auto given = arguments.items();
    if (unknown_ == UnknownGlobals::kept && reduce_unknown(name, given)) return;
    if (name == kOrderedDict && given.empty()) {
      stack_.push_back(make(Kind::dict));
    } else if (name == kSize && given.size() == 1 && (given[0].is(Kind::tuple) || given[0].is(Kind::list))) {
      push_items(Kind::tuple, {given[0].items().begin(), given[0].items().end()});
    } else if (name == kRebuildTensor && given.size() >= 6) {
      push_tensor(given);
    } else {
      wrong("a call of " + std::string(name) + " as torch.save() writes none");
    }
  }
  void push_object(std::string_view name, std::vector<PickleValue> items) {
    const PickleValue v = make(Kind::object);
    v.node->name = name, v.node->items = std::move(items);
    stack_.push_back(v);
  }
  /// A parameter is its tensor. Any other unknown call becomes an object.
  bool reduce_unknown(std::string_view name, std::span<const PickleValue> given) {
    if (name == kOrderedDict || name == kSize) return false;
    if (name == kRebuildTensor || name == kRebuildTensor3) {
      if (given.size() < 6 || !given[0].is(Kind::storage)) return push_object(name, {given.begin(), given.end()}), true;
      return push_tensor(given), true;
    }
    if (name.starts_with(kRebuildParameter) && !given.empty()) return stack_.push_back(given[0]), true;
    return push_object(name, {given.begin(), given.end()}), true;
  }
  /// The instructions of objects, sets and bytes: their arguments are kept, and nothing is made of them.
  bool pass_over(uint8_t code) {
    switch (code) {
      case 'b': {  // BUILD: the state of what is on top
        const PickleValue state = pop();
        if (top().is(Kind::object)) top().node->items.push_back(state);
        return true;
      }
      case 0x81: {  // NEWOBJ
        const PickleValue arguments = pop(), type = pop();
        return push_object(type.is(Kind::global) ? type.node->name : "object", {arguments}), true;
      }
      case 0x92: {  // NEWOBJ_EX
        const PickleValue named = pop(), arguments = pop(), type = pop();
        return push_object(type.is(Kind::global) ? type.node->name : "object", {arguments, named}), true;
      }
      case 0x8f:  // EMPTY_SET
        return stack_.push_back(make(Kind::list)), true;
      case 0x90:  // ADDITEMS
        return append(pop_to_mark(), Kind::list), true;
      case 0x91:  // FROZENSET
        return push_items(Kind::tuple, pop_to_mark()), true;
      case '1':  // POP_MARK
        return pop_to_mark(), true;
      case '2':  // DUP
        return stack_.push_back(top()), true;
      case 'C':
      case 'U':
        return push_text(take_text(take<uint8_t>())), true;
      case 'B':
      case 'T':
        return push_text(take_text(take<uint32_t>())), true;
      case 0x8b:  // LONG4: its size alone matters
        return take_text(take<uint32_t>()), stack_.push_back(value_of(Kind::none, 0)), true;
      case 0x8d:
      case 0x8e:
      case 0x96:
        return push_text(take_text(take<uint64_t>())), true;
      default:
        return false;
    }
  }
  // storage, offset, size, strides, requires_grad, backward_hooks
  void push_tensor(std::span<const PickleValue> given) {
    if (!given[0].is(Kind::storage) || !given[1].is(Kind::whole)) wrong("a tensor without a storage");
    const PickleValue v = make(Kind::tensor);
    v.node->tensor = std::make_unique<PickleTensor>(*given[0].node->tensor);
    PickleTensor& tensor = *v.node->tensor;
    tensor.offset = given[1].whole;
    const auto numbers = [&](const PickleValue& of, std::vector<int64_t>& to) {
      if (!of.is(Kind::tuple) || of.items().size() > kMostDims) wrong("a tensor without a shape");
      for (const PickleValue& n : of.items()) {
        if (!n.is(Kind::whole) || n.whole < 0) wrong("a tensor whose shape or strides are not numbers");
        to.push_back(n.whole);
      }
    };
    numbers(given[2], tensor.shape), numbers(given[3], tensor.strides);
    if (tensor.offset < 0 || tensor.shape.size() != tensor.strides.size())
      wrong("a tensor whose shape and strides do not fit");
    stack_.push_back(v);
  }

  std::span<const std::byte> bytes_;
  const std::string& where_;
  std::deque<PickleNode>& nodes_;
  std::deque<std::string>& names_;
  UnknownGlobals unknown_;
  size_t at_ = 0;
  std::vector<PickleValue> stack_, memo_;
  std::vector<size_t> marks_;  // heights of the stack
};

}  // namespace

std::span<const PickleValue> PickleValue::items() const {
  const bool has = kind == Kind::list || kind == Kind::tuple || kind == Kind::dict || kind == Kind::object;
  return has ? std::span<const PickleValue>(node->items) : std::span<const PickleValue>();
}

const PickleValue* PickleValue::find(std::string_view key) const {
  if (kind != Kind::dict) return nullptr;
  for (size_t i = 0; i + 1 < node->items.size(); i += 2)
    if (node->items[i].is(Kind::text) && node->items[i].text() == key) return &node->items[i + 1];
  return nullptr;
}

Pickle::Pickle(std::span<const std::byte> bytes, const std::string& where, UnknownGlobals unknown) {
  Machine machine(bytes, where, nodes_, names_, unknown);
  root_ = machine.run(), size_ = machine.at();
}

}  // namespace stormcell
