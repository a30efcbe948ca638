// A limit to the memory of a test: what asks for more than it leaves gets none.
#pragma once
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace stormcell::testing {

/// As long as it lives the process may take so many bytes of addresses more. Sanitizers take addresses by themselves:
/// ask limits_hold() first.
class AddressLimit {
 public:
  explicit AddressLimit(size_t more) {
    std::ifstream pages("/proc/self/statm");
    rlim_t taken = 0;
    pages >> taken;
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit limit{taken * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + more, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  AddressLimit(const AddressLimit&) = delete;
  AddressLimit& operator=(const AddressLimit&) = delete;

  static constexpr bool limits_hold() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
  }

 private:
  rlimit before_{};
};

}  // namespace stormcell::testing
