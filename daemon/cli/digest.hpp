// SHA-256, to compare what the box received with what lies here. OpenSSL is seen only in the .cpp.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace samovar::cli {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void update(std::string_view bytes);
  std::string finish();  // lower-case hex; once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace samovar::cli
