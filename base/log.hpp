// Structured logging: SAMOVAR_LOG(info, jobs, "round done", kv("job", id), kv("loss", loss));
//
// The category is the folder. Info is rare; error means that something stops; debug switches on per
// category. Never a secret: SecretBytes has no conversion that kv would take.
// Text on a terminal, journald fields under systemd, JSON lines on request.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace samovar::log {

enum class Level : std::uint8_t { debug, info, warn, error };
enum class Category : std::uint8_t {
  base,
  security,
  raft,
  cluster,
  power,
  api,
  jobs,
  store,
  net,
  discovery,
  cli,
  main,
  count_
};
enum class Format : std::uint8_t { text, journal, json };

struct Field {
  std::string_view key;
  std::string value;
  bool quoted;  // false for numbers and booleans, so that JSON keeps their type
};

template <class T>
Field kv(std::string_view key, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return {key, value ? "true" : "false", false};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return {key, std::to_string(value), false};
  } else {
    return {key, std::string(std::string_view(value)), true};
  }
}

bool enabled(Level level, Category category) noexcept;
void write(Level level, Category category, std::string_view message, std::span<const Field> fields,
           const char* file, int line);

// auto: journald when its socket is our stderr, else text.
void set_format(Format format);
Format detect_format();
void set_level(Level level);  // all categories
void set_level(Level level, Category category);
// For tests: receives the finished line instead of stderr; empty function restores.
void set_sink(std::function<void(std::string_view line)> sink);

std::string_view to_string(Level level) noexcept;
std::string_view to_string(Category category) noexcept;

template <class... Fields>
void emit(Level level, Category category, const char* file, int line, std::string_view message,
          Fields&&... fields) {
  const Field list[sizeof...(fields) + 1] = {std::forward<Fields>(fields)..., Field{}};
  write(level, category, message, {list, sizeof...(fields)}, file, line);
}

}  // namespace samovar::log

#define SAMOVAR_LOG(level, category, ...)                                                              \
  do {                                                                                                 \
    using ::samovar::log::kv;                                                                          \
    if (::samovar::log::enabled(::samovar::log::Level::level, ::samovar::log::Category::category))     \
      ::samovar::log::emit(::samovar::log::Level::level, ::samovar::log::Category::category, __FILE__, \
                           __LINE__, __VA_ARGS__);                                                     \
  } while (false)
