#include "tests/integration/http_fixture.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <chrono>

namespace samovar::test {

using namespace api;

namespace {

std::string to_pem(const std::function<int(BIO*)>& write) {
  BIO* bio = BIO_new(BIO_s_mem());
  write(bio);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

Response text(std::string body) {
  Response response;
  response.headers.set("Content-Type", "application/json");
  response.body = std::move(body);
  return response;
}

}  // namespace

Pem make_certificate(const std::string& name, bool rsa) {
  EVP_PKEY* key = rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
  X509* leaf = X509_new();
  X509_set_version(leaf, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(leaf), 1);
  X509_gmtime_adj(X509_getm_notBefore(leaf), -3600);
  X509_gmtime_adj(X509_getm_notAfter(leaf), 86400);
  X509_set_pubkey(leaf, key);
  X509_NAME* subject = X509_get_subject_name(leaf);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(leaf, subject);
  X509_sign(leaf, key, EVP_sha256());
  Pem pem{to_pem([&](BIO* bio) { return PEM_write_bio_X509(bio, leaf); }), to_pem([&](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
          })};
  X509_free(leaf);
  EVP_PKEY_free(key);
  return pem;
}

ServerOptions HttpFixture::loose() {
  ServerOptions options;
  options.limits.connections_per_address_max = 100000;
  options.limits.requests_per_second = 1e9;
  options.limits.request_burst = 1e9;
  return options;
}

Task<Response> HttpFixture::upload(Request& request) {
  for (;;) {
    Result<Bytes> piece = co_await request.stream->read();
    if (!loop.in_loop()) ++off_loop;
    if (!piece) {
      upload_error = std::string(to_string(piece.error().code()));
      Response response;
      response.status = piece.error().code() == Errc::timeout ? 408 : 400;
      co_return response;
    }
    if (piece->empty()) break;
    uploaded += piece->size();
    ++upload_pieces;
    if (hold_upload) {
      const std::function<void(std::function<void(int)>)> hold = [this](std::function<void(int)> go) {
        held_upload = std::move(go);
      };
      co_await from_callback<int>(hold);
    }
  }
  co_return text(std::to_string(uploaded));
}

class HttpFixture::LetterSource : public BodySource {
 public:
  LetterSource(HttpFixture& test, Streamed what) : test_(test), what_(std::move(what)) { ++test_.sources; }
  ~LetterSource() override {
    if (!test_.loop.in_loop()) ++test_.off_loop;
    --test_.sources;
  }

  Task<Result<Bytes>> next() override {
    if (!test_.loop.in_loop()) ++test_.off_loop;
    if (what_.wait) co_await from_callback<int>(what_.wait);
    if (what_.fails_at && given_ >= *what_.fails_at) co_return Error{Errc::corrupt, "a planted error"};
    static const Bytes kLetters = [] {
      Bytes some(26 << 16);
      for (std::size_t i = 0; i < some.size(); ++i) some[i] = static_cast<std::uint8_t>('a' + i % 26);
      return some;
    }();
    const auto at = kLetters.begin() + static_cast<std::ptrdiff_t>(given_ % 26);
    const std::uint64_t size = std::min<std::uint64_t>(what_.piece, what_.bytes - given_);
    Bytes piece(at, at + static_cast<std::ptrdiff_t>(size));
    given_ += size;
    test_.streamed += piece.size();
    co_return piece;
  }

 private:
  HttpFixture& test_;
  const Streamed what_;
  std::uint64_t given_ = 0;
};

std::vector<Route> HttpFixture::routes() {
  const Handler count = [this](Request&) -> Task<Response> {
    ++handled;
    if (!loop.in_loop()) ++off_loop;
    co_return text(R"({"hello":"you"})");
  };
  const Handler echo = [this](Request& request) -> Task<Response> {
    ++handled;
    co_return text(request.body);
  };
  const Handler act = [this](Request&) -> Task<Response> {
    ++handled;
    Response response;
    response.status = 204;
    co_return response;
  };
  const Handler wait = [this](Request&) -> Task<Response> {
    const std::function<void(std::function<void(int)>)> start = [this](std::function<void(int)> done) {
      waiting.push_back(std::move(done));
    };
    co_await from_callback<int>(start);
    co_return text("{}");
  };
  const Handler events = [this](Request&) -> Task<Response> {
    Response response;
    response.headers.set("Content-Type", "text/event-stream");
    response.events = [this](std::shared_ptr<EventSink> sink) {
      if (!loop.in_loop()) ++off_loop;
      sink->on_closed([this] {
        if (!loop.in_loop()) ++off_loop;
        ++sinks_closed;
      });
      sink->send("retry: 2000\n\n");
      sinks.push_back(std::move(sink));
    };
    co_return response;
  };
  const Handler big = [](Request&) -> Task<Response> { co_return text(std::string(4 << 20, 'x')); };
  const Handler long_answer = [this](Request&) -> Task<Response> {
    Response response;
    response.headers.set("Content-Type", "text/csv");
    response.stream = std::make_shared<LetterSource>(*this, stream);
    response.stream_length = stream.length;
    co_return response;
  };
  const Handler take = [this](Request& request) { return upload(request); };
  const auto anyone = Access::anyone();
  return {
      {Method::get, "/api/v1/hello", anyone, Body::none, count},
      {Method::post, "/api/v1/echo", anyone, Body::json, echo},
      {Method::post, "/api/v1/act", anyone, Body::none, act},
      {Method::put, "/api/v1/upload", anyone, Body::stream, take},
      {Method::put, "/api/v1/small-upload", anyone, Body::stream, take, 1000},
      {Method::put, "/api/v1/ignore", anyone, Body::stream, count},
      {Method::get, "/api/v1/wait", anyone, Body::none, wait},
      {Method::get, "/api/v1/events", anyone, Body::none, events},
      {Method::get, "/api/v1/big", anyone, Body::none, big},
      {Method::get, "/api/v1/stream", anyone, Body::none, long_answer},
      {Method::put, "/api/v1/denied-upload", Access::roles({Role::admin}), Body::stream, take},
  };
}

void HttpFixture::start(ServerOptions options) {
  loop_thread = std::thread([this] { loop.run(); });
  Guard guard = [](const Route& route, Request&) -> Task<std::optional<Response>> {
    if (!route.access.needs_user()) co_return std::nullopt;
    Response response;
    response.status = 401;
    co_return response;
  };
  const Pem pem = make_certificate("first");
  auto router = Router::create(routes());
  ASSERT_TRUE(router) << router.error().message();
  auto created = Server::create(loop, std::move(options), *std::move(router), std::move(guard),
                                StaticFiles::embedded(), {pem.chain, pem.key});
  ASSERT_TRUE(created) << created.error().message();
  server = *std::move(created);
  const auto chosen = server->listen({"127.0.0.1"}, 0);
  ASSERT_TRUE(chosen) << chosen.error().message();
  port = *chosen;
}

void HttpFixture::TearDown() {
  server.reset();
  if (loop_thread.joinable()) {
    // What the server told the loop last must run before the things it refers to go.
    on_loop([this] { sinks.clear(); });
    loop.stop();
    loop_thread.join();
  }
  EXPECT_EQ(off_loop, 0) << "handlers, sinks and readers belong to the loop thread";
}

void HttpFixture::on_loop(const std::function<void()>& work) {
  std::promise<void> ran;
  loop.post([&] {
    work();
    ran.set_value();
  });
  ran.get_future().wait();
}

void HttpFixture::release_waiting() {
  on_loop([this] {
    for (const auto& done : std::exchange(waiting, {})) done(0);
  });
}

bool HttpFixture::eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace samovar::test
