#include "daemon/raft/witness_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <uv.h>

#include "base/assert.hpp"
#include "daemon/raft/uv_driver.hpp"

namespace samovar::raft {

struct WitnessWriter::State {
  explicit State(UvDriver& runner) : driver(runner) {}
  UvDriver& driver;
  std::string path;
  int fd = -1;
  uv_fs_t request{};
  bool busy = false;
  Bytes slot;
  std::function<void(Result<void>)> written;

  static void finished(uv_fs_t* request) {
    State& self = *static_cast<State*>(request->data);
    const std::int64_t result = request->result;
    uv_fs_req_cleanup(request);
    self.busy = false;
    auto written = std::exchange(self.written, nullptr);
    if (result == static_cast<std::int64_t>(self.slot.size())) return written({});
    written(Error{result == UV_ENOSPC ? Errc::no_space : Errc::io,
                  fmt::format("cannot write {}: {}", self.path,
                              result < 0 ? uv_strerror(static_cast<int>(result)) : "short write")});
  }
};

WitnessWriter::WitnessWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<WitnessWriter>> WitnessWriter::open(UvDriver& driver, const std::string& path) {
  auto state = std::make_unique<State>(driver);
  state->path = path;
  // O_DSYNC: the write returns when it is durable, as libraft does with its segments.
  state->fd = ::open(path.c_str(), O_WRONLY | O_DSYNC | O_CLOEXEC);
  if (state->fd < 0) return Error{Errc::io, fmt::format("cannot open {}: {}", path, std::strerror(errno))};
  return std::unique_ptr<WitnessWriter>(new WitnessWriter(std::move(state)));
}

WitnessWriter::~WitnessWriter() {
  state_->written = [](const Result<void>&) {};
  state_->driver.drain([this] { return !state_->busy; });
  ::close(state_->fd);
}

bool WitnessWriter::busy() const { return state_->busy; }

void WitnessWriter::write(std::uint64_t offset, Bytes slot, std::function<void(Result<void>)> written) {
  SAMOVAR_ASSERT(!state_->busy);
  state_->busy = true;
  state_->slot = std::move(slot);
  state_->written = std::move(written);
  state_->request.data = state_.get();
  const uv_buf_t buffer =
      uv_buf_init(reinterpret_cast<char*>(state_->slot.data()), static_cast<unsigned>(state_->slot.size()));
  const int rc = uv_fs_write(state_->driver.uv(), &state_->request, state_->fd, &buffer, 1,
                             static_cast<std::int64_t>(offset), State::finished);
  SAMOVAR_ASSERT(rc == 0);  // with a callback it only queues
}

}  // namespace samovar::raft
