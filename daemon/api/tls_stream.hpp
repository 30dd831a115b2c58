// The server's end of one TLS connection over a non-blocking socket. Internal, like engine.hpp.
//
// Ours and not asio's ssl::stream: that one hands OpenSSL 17 KB at a time through two buffers of its own, so
// each record of a large body is a system call, two copies and a turn of the event loop. Here many records
// are taken at once while a large body comes (expect_bulk), and may be asked for without waiting.
//
// One may read while another writes; two may not read, and shutdown() reads too. What never has to wait does
// not let others have their turn: a caller that goes round and round sees to that.
//
// Threading: http thread only. Ownership: owns the socket; keeps what it needs of the context alive.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
// Boost 1.74 uses std::exchange in its coroutine support without including it.
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/bytes.hpp"

struct ssl_st;
struct ssl_ctx_st;

namespace samovar::api {

// Where OpenSSL's bytes come from.
struct TlsSource {
  boost::asio::ip::tcp::socket socket;
  std::size_t ahead_max = 0;  // 0: nothing is read before it is asked for
  Bytes ahead = {};           // read, not yet asked for: [begin, end)
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t fruitless = 0;  // taken by OpenSSL since the last thing that came of it
};

class TlsStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using error_code = boost::system::error_code;
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  // No record of TLS 1.2 or 1.3 is longer, its header included.
  static constexpr std::size_t kRecordBytesMax = 5 + 16384 + 2048;

  TlsStream(Socket socket, ssl_ctx_st* context);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  Socket& next_layer() noexcept { return source_.socket; }

  Awaitable<error_code> handshake();
  // Some bytes, or an error: asio's eof after a goodbye in TLS, stream_truncated when the line just ends.
  Awaitable<std::size_t> read_some(MutableBytes into, error_code& error);
  Awaitable<error_code> write(ByteView from);  // all of it
  // Says goodbye in TLS and waits for the other's.
  Awaitable<error_code> shutdown();

  // What waits ends with operation_aborted; the connection stays usable.
  void cancel();

  // What is there, without waiting; would_block when that is nothing.
  std::size_t read_now(MutableBytes into, error_code& error);
  // When read_now() would block: until so many bytes of TLS wait in the kernel, its buffers are full, or the
  // connection ends. Only a hint: read_now() says what there is, and the caller sets the time.
  Awaitable<error_code> wait_readable(std::size_t bytes);

  // From now on up to `read_bytes` are taken from the kernel at once, into a buffer of that size.
  void expect_bulk(std::size_t read_bytes);
  // The buffer is given back when what is in it has been read.
  void end_bulk();

 private:
  enum class Want : std::uint8_t { nothing, read, write };
  struct Free {
    void operator()(ssl_st* p) const noexcept;
  };
  // One call of OpenSSL: what it waits for, if it is not done.
  template <class Call>
  Want perform(const Call& call, error_code& error);
  template <class Call>
  Awaitable<error_code> complete(Call call);
  Awaitable<error_code> wait(Want want);
  void set_low_water(std::size_t bytes);

  TlsSource source_;
  std::unique_ptr<ssl_st, Free> ssl_;
  std::size_t low_water_ = 1;  // SO_RCVLOWAT
  std::uint64_t cancels_ = 0;
};

}  // namespace samovar::api
