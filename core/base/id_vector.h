// Things by their ids.
#pragma once
#include <cassert>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/base/id.h"

namespace stormcell {

/// Ids from `first` on, before `past`.
template <class Key>
class IdRange {
 public:
  class Iterator {
   public:
    explicit Iterator(Key at) : at_(at) {}
    Key operator*() const { return at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    Key at_;
  };
  IdRange(Key first, Key past) : first_(first), past_(past) {}
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(past_); }

 private:
  Key first_, past_;
};

/// A vector whose places are ids of one kind, which another kind's do not index; plain numbers do, as in any vector.
template <class Key, class Value>
class IdVector : public std::vector<Value> {
 public:
  using std::vector<Value>::vector;
  // In builds with assertions an index out of range ends the program, as in the standard library. That check is missing
  // in std::vector<bool> and in builds without _GLIBCXX_ASSERTIONS.
  decltype(auto) operator[](Key id) { return std::vector<Value>::operator[](there(static_cast<size_t>(id))); }
  decltype(auto) operator[](Key id) const { return std::vector<Value>::operator[](there(static_cast<size_t>(id))); }
  decltype(auto) operator[](Number auto place) {
    return std::vector<Value>::operator[](there(static_cast<size_t>(place)));
  }
  decltype(auto) operator[](Number auto place) const {
    return std::vector<Value>::operator[](there(static_cast<size_t>(place)));
  }

  /// All ids, in order; those of things added meanwhile are not among them.
  IdRange<Key> ids() const { return {Key(0), next_id()}; }
  /// The id of the next element.
  Key next_id() const { return Key(this->size()); }
  bool holds(Key id) const { return id >= Key(0) && id < next_id(); }
  /// Adds a thing and gives its id.
  Key add(Value value) {
    this->push_back(std::move(value));
    return Key(this->size() - 1);
  }

 private:
  size_t there(size_t place) const {
    assert(place < this->size());
    return place;
  }
};

/// Memory of others whose places are ids of one kind; plain numbers index it as they do any span.
template <class Key, class Value>
class IdSpan : public std::span<Value> {
 public:
  IdSpan() = default;
  IdSpan(std::span<Value> values) : std::span<Value>(values) {}  // NOLINT: a span says nothing of its places
  using std::span<Value>::operator[];
  Value& operator[](Key id) const { return std::span<Value>::operator[](static_cast<size_t>(id)); }
};

}  // namespace stormcell
