// A Transport whose mesh comes later, or comes and goes: the port is taken, the certificate is not there yet.
// What is built on it (exchange, log, copies) is built once.
//
// Threading: loop only. Ownership: borrows the mesh between attach and detach.
#pragma once
#include <string>
#include <utility>

#include "base/transport.hpp"

namespace samovar::daemon {

class MeshSlot final : public Transport {
 public:
  explicit MeshSlot(std::string self) : self_(std::move(self)) {}

  void attach(Transport& mesh) {
    mesh_ = &mesh;
    mesh.on_message([this](const std::string& from, Bytes message) {
      if (message_) message_(from, std::move(message));
    });
    mesh.on_lost([this](const std::string& peer, Lane lane) {
      if (lost_) lost_(peer, lane);
    });
  }
  void detach() { mesh_ = nullptr; }
  bool attached() const noexcept { return mesh_ != nullptr; }

  const std::string& self() const override { return self_; }
  Result<void> send(const std::string& to, Bytes message, Lane lane = Lane::control) override {
    if (mesh_ == nullptr) return Error{Errc::unavailable, "this node's port for the cluster is not open"};
    return mesh_->send(to, std::move(message), lane);
  }
  void on_message(OnMessage handler) override { message_ = std::move(handler); }
  void on_lost(OnLost handler) override { lost_ = std::move(handler); }

 private:
  const std::string self_;
  Transport* mesh_ = nullptr;
  OnMessage message_;
  OnLost lost_;
};

}  // namespace samovar::daemon
