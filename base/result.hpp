// Result<T>: a value or an Error. The names are those of C++23's std::expected, so that
// moving to it is one `using`.
//
// The world misbehaves (peer, disk, user): return a Result whose message says what to do.
// We misbehave: SAMOVAR_ASSERT (base/assert.hpp). We throw nothing.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/assert.hpp"

namespace samovar {

enum class Errc : std::uint8_t {
  invalid,      // the caller's input is wrong
  not_found,    // no such object
  denied,       // known, but not allowed
  conflict,     // the state does not permit it now
  busy,         // a bound was reached: try again later
  timeout,      // no answer in time
  corrupt,      // bytes that do not verify
  io,           // disk or network failed
  no_space,     // the disk is full
  unavailable,  // locked, not ready, no leader
  unsupported,  // this build, board or version cannot do it
  internal,     // a library threw or broke its contract
};

std::string_view to_string(Errc code) noexcept;

class [[nodiscard]] Error {
 public:
  Error(Errc code, std::string message, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : code_(code), line_(line), file_(file), message_(std::move(message)) {}

  Errc code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }
  const char* file() const noexcept { return file_; }
  int line() const noexcept { return line_; }

  // Puts what the caller was doing in front of what went wrong below it.
  Error within(std::string_view doing) && {
    message_.insert(0, std::string(doing) + ": ");
    return std::move(*this);
  }

 private:
  Errc code_;
  int line_;
  const char* file_;
  std::string message_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // Implicit on purpose: `return value;` and `return Error{...};` both read well.
  template <class U = T>
  requires(std::is_constructible_v<T, U> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
           !std::is_same_v<std::remove_cvref_t<U>, Error>) Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}            // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& value() & { return require(), std::get<0>(state_); }
  const T& value() const& { return require(), std::get<0>(state_); }
  T&& value() && { return require(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return require_error(), std::get<1>(state_); }
  Error&& error() && { return require_error(), std::get<1>(std::move(state_)); }

  template <class U>
  T value_or(U&& other) const& {
    return has_value() ? std::get<0>(state_) : static_cast<T>(std::forward<U>(other));
  }

 private:
  void require() const { SAMOVAR_ASSERT(has_value()); }
  void require_error() const { SAMOVAR_ASSERT(!has_value()); }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: as above

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  void value() const { SAMOVAR_ASSERT(has_value()); }
  const Error& error() const& { return SAMOVAR_ASSERT(!has_value()), std::get<1>(state_); }
  Error&& error() && { return SAMOVAR_ASSERT(!has_value()), std::get<1>(std::move(state_)); }

 private:
  std::variant<std::monostate, Error> state_;
};

// Dropping a Result is a decision with a reason.
template <class T>
void ignore(const Result<T>&, [[maybe_unused]] const char* why) noexcept {}

}  // namespace samovar

#define SAMOVAR_CAT_(a, b) a##b
#define SAMOVAR_CAT(a, b) SAMOVAR_CAT_(a, b)
#define SAMOVAR_TRY_(keyword, tmp, decl, ...) \
  auto tmp = (__VA_ARGS__);                   \
  if (!tmp) keyword std::move(tmp).error();   \
  decl = *std::move(tmp)

// SAMOVAR_TRY(Plan plan, plan_job(spec)); returns the error, or declares plan.
#define SAMOVAR_TRY(decl, ...) SAMOVAR_TRY_(return, SAMOVAR_CAT(samovar_try_, __COUNTER__), decl, __VA_ARGS__)
// The same for a Result<void>: SAMOVAR_CHECK(file->sync());
#define SAMOVAR_CHECK(...)                                         \
  do {                                                             \
    auto samovar_check_ = (__VA_ARGS__);                           \
    if (!samovar_check_) return std::move(samovar_check_).error(); \
  } while (false)
// Inside coroutines.
#define SAMOVAR_CO_TRY(decl, ...) \
  SAMOVAR_TRY_(co_return, SAMOVAR_CAT(samovar_try_, __COUNTER__), decl, __VA_ARGS__)
#define SAMOVAR_CO_CHECK(...)                                         \
  do {                                                                \
    auto samovar_check_ = (__VA_ARGS__);                              \
    if (!samovar_check_) co_return std::move(samovar_check_).error(); \
  } while (false)
