// Messages between nodes as a seam: unordered between peers, possibly lost, never altered.
//
// Threading: loop only.
#pragma once
#include <functional>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar {

class Transport {
 public:
  using OnMessage = std::function<void(const std::string& from, Bytes message)>;

  virtual ~Transport() = default;
  virtual const std::string& self() const = 0;
  // Ok means handed over, not received: whoever needs to know asks for an answer.
  virtual Result<void> send(const std::string& to, Bytes message) = 0;
  virtual void on_message(OnMessage handler) = 0;
};

}  // namespace samovar
