// Whether memory that cannot be locked stops the program. Set by init(), read by SecretBytes.
#pragma once

namespace samovar::security {
void require_locked_memory() noexcept;
bool locked_memory_required() noexcept;
// sodium_init, once; a program whose random generator does not start must not go on.
void ensure_sodium() noexcept;
}  // namespace samovar::security
