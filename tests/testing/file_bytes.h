// Files for tests, made byte by byte so that they can be wrong.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell::testing {

/// Length, header, then `data_bytes` times `fill`.
std::string safetensors_bytes(std::string_view header, size_t data_bytes, char fill = 0);

/// An .npy file with any header; the line end behind the header is added.
std::string npy_bytes(std::string_view header, std::string_view data, int version = 1);
/// Returns what numpy writes before the data of a C array: shape "(2, 3)", type "<i4".
std::string npy_header(const std::string& shape, const std::string& type = "<i4");
template <class T>
std::string npy_of(const std::string& shape, const std::string& type, const std::vector<T>& values) {
  return npy_bytes(npy_header(shape, type), {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}
/// Token ids.
inline std::string npy_ids(const std::string& shape, const std::vector<int32_t>& ids) {
  return npy_of(shape, "<i4", ids);
}

}  // namespace stormcell::testing
