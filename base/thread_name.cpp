#include "base/thread_name.hpp"

#include <pthread.h>

#include <algorithm>

namespace samovar {

void set_thread_name(std::string_view name) noexcept {
  char text[16] = {};
  std::copy_n(name.begin(), std::min(name.size(), sizeof text - 1), text);
  pthread_setname_np(pthread_self(), text);
}

}  // namespace samovar
