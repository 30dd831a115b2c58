// Names a thread for ps, gdb and the journal. docs/threads.md lists the names.
#pragma once
#include <string_view>

namespace samovar {
// The kernel keeps 15 bytes; the rest is cut.
void set_thread_name(std::string_view name) noexcept;
}  // namespace samovar
