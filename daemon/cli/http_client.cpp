#include "daemon/cli/http_client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "daemon/cli/trust.hpp"

namespace samovar::cli {
namespace {

constexpr std::size_t kReplyBytesMax = 64 << 20;
constexpr long kUploadBufferBytes = 512 * 1024;

template <auto fn>
struct Free {
  template <class T>
  void operator()(T* p) const noexcept {
    fn(p);
  }
};

struct Transfer {
  const HttpRequest* request = nullptr;
  HttpReply reply;
  bool too_large = false;
};

std::size_t on_body(char* data, std::size_t, std::size_t size, void* arg) {
  auto& transfer = *static_cast<Transfer*>(arg);
  const std::string_view chunk(data, size);
  if (transfer.request->on_data && transfer.reply.status / 100 == 2) {
    return transfer.request->on_data(chunk) ? size : 0;
  }
  if (transfer.reply.body.size() + size > kReplyBytesMax) {
    transfer.too_large = true;
    return 0;
  }
  transfer.reply.body.append(chunk);
  return size;
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* arg) {
  auto& reply = static_cast<Transfer*>(arg)->reply;
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    reply.headers.clear();
    const std::size_t space = line.find(' ');
    reply.status = 0;
    if (space != std::string_view::npos) {
      std::from_chars(line.data() + space + 1, line.data() + line.size(), reply.status);
    }
    return size;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  line.remove_prefix(colon + 1);
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  reply.headers.emplace_back(std::move(name), std::string(line));
  return size;
}

std::size_t on_read(char* out, std::size_t, std::size_t room, void* arg) {
  const std::size_t count = static_cast<Transfer*>(arg)->request->read_body(out, room);
  return count == kReadStop ? CURL_READFUNC_ABORT : count;
}

int on_progress(void* arg, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Transfer*>(arg)->request->go_on() ? 0 : 1;
}

CURLcode on_ssl_context(CURL*, void* context, void* arg) {
  install_pin_check(static_cast<SSL_CTX*>(context), *static_cast<PinCheck*>(arg));
  return CURLE_OK;
}

Error transport_error(CURLcode code, const std::string& url, long timeout_s, const char* detail) {
  const std::size_t path = url.find('/', 8);
  const std::string server = url.substr(0, path);
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      return Error{Errc::io, fmt::format("nothing answers at {}: check the address, and on the box "
                                         "\"systemctl status samovard\"",
                                         server)};
    case CURLE_COULDNT_RESOLVE_HOST:
      return Error{Errc::io,
                   fmt::format("the name in {} is not known: try the box's address instead", server)};
    case CURLE_OPERATION_TIMEDOUT:
      return Error{Errc::timeout, fmt::format("no answer from {} within {} s: try again, or raise --timeout",
                                              server, timeout_s)};
    case CURLE_ABORTED_BY_CALLBACK:
      return Error{Errc::io, "interrupted"};
    case CURLE_SSL_CONNECT_ERROR:
      return Error{Errc::io, fmt::format("{} does not speak TLS as a box does ({}): is the port right?",
                                         server, detail)};
    default:
      return Error{Errc::io, fmt::format("talking to {} failed: {}", server, detail)};
  }
}

class CurlClient : public HttpClient {
 public:
  CurlClient() {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    handle_.reset(curl_easy_init());
  }
  ~CurlClient() override {
    handle_.reset();
    curl_global_cleanup();
  }

  Result<HttpReply> send(const HttpRequest& request) override {
    if (!handle_) return Error{Errc::internal, "libcurl gave no handle: memory is short"};
    CURL* curl = handle_.get();
    // Reset keeps the open connection; but a connection made under another pin must not be used again.
    curl_easy_reset(curl);
    const bool fresh =
        request.pin.leaf_sha256 != last_pin_.leaf_sha256 || request.pin.root_pem != last_pin_.root_pem;
    last_pin_ = request.pin;
    Transfer transfer;
    transfer.request = &request;
    PinCheck check{request.pin, {}, false};
    std::unique_ptr<curl_slist, Free<&curl_slist_free_all>> headers(header_list(request));
    char detail[CURL_ERROR_SIZE] = "";
    set_options(curl, request, transfer, check, detail);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
    const CURLcode code = curl_easy_perform(curl);
    if (!check.leaf_sha256.empty()) last_leaf_ = check.leaf_sha256;
    transfer.reply.leaf_sha256 = last_leaf_;
    if (code != CURLE_OK && check.refused) {
      transfer.reply.untrusted = true;
      transfer.reply.status = 0;
      return std::move(transfer.reply);
    }
    if (transfer.too_large) return Error{Errc::invalid, "the answer is longer than 64 MiB: ask for less"};
    if (code != CURLE_OK) {
      return transport_error(code, request.url, request.timeout_s,
                             detail[0] != 0 ? detail : curl_easy_strerror(code));
    }
    return std::move(transfer.reply);
  }

 private:
  static curl_slist* header_list(const HttpRequest& request) {
    curl_slist* list = nullptr;
    for (const auto& entry : request.headers) {
      list = curl_slist_append(list, (entry.first + ": " + entry.second).c_str());
    }
    // Without these libcurl adds its own: a wait for "100 Continue" and a form content type.
    list = curl_slist_append(list, "Expect:");
    return list;
  }

  static void set_options(CURL* curl, const HttpRequest& request, Transfer& transfer, PinCheck& check,
                          char* detail) {
    curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https");
    // The box is on the local network: a proxy from the environment would carry secrets elsewhere.
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "samovar/" SAMOVAR_VERSION);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    // The pin check replaces both of libcurl's own checks: see http_client.hpp.
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(curl, CURLOPT_CAINFO, nullptr);
    curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);
    curl_easy_setopt(curl, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, &on_ssl_context);
    curl_easy_setopt(curl, CURLOPT_SSL_CTX_DATA, &check);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, std::min(request.timeout_s, 10L));
    if (request.on_data || request.read_body) {
      // A long transfer may take its time, but not stand still.
      curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
      curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, request.timeout_s);
    } else {
      curl_easy_setopt(curl, CURLOPT_TIMEOUT, request.timeout_s);
    }
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (request.method == "HEAD") curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    if (request.go_on) {
      curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
      curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &on_progress);
      curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
    }
    if (request.read_body) {
      curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
      curl_easy_setopt(curl, CURLOPT_READFUNCTION, &on_read);
      curl_easy_setopt(curl, CURLOPT_READDATA, &transfer);
      curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.read_bytes));
      curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, kUploadBufferBytes);
    } else if (!request.body.empty() || request.method == "POST" || request.method == "PUT" ||
               request.method == "PATCH") {
      curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
      curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
    }
  }

  std::unique_ptr<CURL, Free<&curl_easy_cleanup>> handle_;
  Pin last_pin_;
  std::string last_leaf_;
};

}  // namespace

std::string_view HttpReply::header(std::string_view lower_name) const noexcept {
  for (const auto& entry : headers) {
    if (entry.first == lower_name) return entry.second;
  }
  return {};
}

std::unique_ptr<HttpClient> make_http_client() { return std::make_unique<CurlClient>(); }

Result<std::string> normalize_server(std::string_view text) {
  std::string server(text);
  std::transform(server.begin(), server.end(), server.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (server.starts_with("http://")) {
    return Error{Errc::invalid, fmt::format("{} is not encrypted: use https://", text)};
  }
  if (server.find("://") == std::string::npos) server.insert(0, "https://");
  std::unique_ptr<CURLU, Free<&curl_url_cleanup>> url(curl_url());
  const auto part = [&](CURLUPart which) {
    char* value = nullptr;
    if (curl_url_get(url.get(), which, &value, 0) != CURLUE_OK) return std::string();
    std::string copy(value);
    curl_free(value);
    return copy;
  };
  if (!url || curl_url_set(url.get(), CURLUPART_URL, server.c_str(), 0) != CURLUE_OK ||
      part(CURLUPART_SCHEME) != "https" || (part(CURLUPART_PATH) != "/" && !part(CURLUPART_PATH).empty()) ||
      !part(CURLUPART_QUERY).empty() || !part(CURLUPART_USER).empty() || !part(CURLUPART_FRAGMENT).empty()) {
    return Error{Errc::invalid,
                 fmt::format("\"{}\" is no server address: write https://HOST or https://HOST:PORT", text)};
  }
  const std::string port = part(CURLUPART_PORT);
  return fmt::format("https://{}:{}", part(CURLUPART_HOST), port.empty() ? "8443" : port);
}

std::string url_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~') {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

}  // namespace samovar::cli
