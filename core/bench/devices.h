// The devices that programs can run on: one list, in the order in which it is shown. The processor is always there. A
// GPU is in the list whether or not the machine has one, and says why not when it is opened. Calls add others behind
// them. Nothing is added before main() begins.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/device.h"

namespace stormcell {

struct DeviceOptions {
  int threads = 0;  ///< threads of the host, for the device if it runs there, and for what the host does beside it; 0:
                    ///< all cores of this process
};

/// Both functions may be called from several threads at once, for as long as the program runs: a module that adds them
/// stays loaded.
struct DeviceRow {
  std::string name;  ///< "cpu", "cuda", "cuda:1", as --device calls it: a word, or a word and a number
  std::function<std::unique_ptr<Device>(const DeviceOptions& options)> open;
  std::function<std::vector<std::string>(std::string_view op)>
      kernels;  ///< names of those of an operator, in the order they are tried
};

/// Rows are read and added from any thread.
class DeviceList {
 public:
  explicit DeviceList(std::vector<DeviceRow> rows) { add(std::move(rows)); }
  /// Adds rows behind the others, all or none. Throws Error(failed) for a wrong name, for one that is there already or
  /// comes twice, and for a row that lacks a function.
  void add(std::vector<DeviceRow> rows);
  /// The rows as they are now.
  std::vector<DeviceRow> rows() const;

 private:
  mutable std::mutex mutex_;
  std::vector<DeviceRow> rows_;
};

/// The rows of this program's list. add_device_rows() is DeviceList::add() of it.
std::vector<DeviceRow> devices();
void add_device_rows(std::vector<DeviceRow> rows);

/// Throws Error(bad_input) for a name that no row has (check_device).
DeviceRow device_row(std::string_view name);
/// Throws the same, and Error(failed) where the device cannot be opened, or says that it computes no operator.
std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options);

}  // namespace stormcell
