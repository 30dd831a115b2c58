#include "security/secret_bytes.hpp"

#include <sodium.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "security/memory_lock.hpp"

namespace samovar::security {
namespace {

// Relaxed throughout: a setting made before threads start, and a count for people.
std::atomic<bool> g_lock_required{false};
std::atomic<std::size_t> g_unlocked{0};

// sodium_malloc does not say whether its mlock worked; mlock does not nest, so asking again tells.
bool lock_again(std::uint8_t* data, std::size_t size) noexcept { return sodium_mlock(data, size) == 0; }

std::uint8_t* allocate(std::size_t size) {
  ensure_sodium();
  auto* data = static_cast<std::uint8_t*>(sodium_malloc(size));
  SAMOVAR_ASSERT(data != nullptr);  // out of memory or of mappings
  if (!lock_again(data, size)) {
    // init() checked that the limit has room; running out later is a limit set too low for this box,
    // and going on would let a key reach the swap against the operator's wish.
    SAMOVAR_ASSERT(!locked_memory_required());
    g_unlocked.fetch_add(1, std::memory_order_relaxed);
  }
  std::memset(data, 0, size);
  return data;
}

void release(std::uint8_t* data) noexcept {
  if (data != nullptr) sodium_free(data);
}

}  // namespace

void require_locked_memory() noexcept { g_lock_required.store(true, std::memory_order_relaxed); }
bool locked_memory_required() noexcept { return g_lock_required.load(std::memory_order_relaxed); }
std::size_t unlocked_secrets() noexcept { return g_unlocked.load(std::memory_order_relaxed); }

void ensure_sodium() noexcept {
  static const bool kReady = sodium_init() >= 0;
  SAMOVAR_ASSERT(kReady);
}

SecretBytes::SecretBytes(std::size_t size) : data_(size == 0 ? nullptr : allocate(size)), size_(size) {}

SecretBytes SecretBytes::random(std::size_t size) {
  SecretBytes out(size);
  if (size > 0) randombytes_buf(out.data_, size);
  return out;
}

SecretBytes SecretBytes::copy_of(ByteView bytes) {
  SecretBytes out(bytes.size());
  if (!bytes.empty()) std::memcpy(out.data_, bytes.data(), bytes.size());
  return out;
}

SecretBytes SecretBytes::take(std::string& text) {
  SecretBytes out = copy_of(as_bytes(text));
  wipe(text);
  return out;
}

SecretBytes SecretBytes::take(Bytes& bytes) {
  SecretBytes out = copy_of(bytes);
  wipe(MutableBytes(bytes));
  bytes.clear();
  return out;
}

SecretBytes::SecretBytes(SecretBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SecretBytes& SecretBytes::operator=(SecretBytes&& other) noexcept {
  if (this != &other) {
    release(data_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

SecretBytes::~SecretBytes() { release(data_); }

bool SecretBytes::equal(const SecretBytes& other) const noexcept {
  return equal_constant_time(view(), other.view());
}
bool SecretBytes::equal(ByteView other) const noexcept { return equal_constant_time(view(), other); }

bool equal_constant_time(ByteView a, ByteView b) noexcept {
  if (a.size() != b.size()) return false;
  return a.empty() || sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

void wipe(MutableBytes bytes) noexcept {
  if (!bytes.empty()) sodium_memzero(bytes.data(), bytes.size());
}

void wipe(std::string& text) noexcept {
  // The whole capacity: an earlier, longer content may lie behind the end.
  text.resize(text.capacity());
  if (!text.empty()) sodium_memzero(text.data(), text.size());
  text.clear();
}

}  // namespace samovar::security
