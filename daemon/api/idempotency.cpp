#include "daemon/api/idempotency.hpp"

#include <algorithm>

#include "base/encoding.hpp"
#include "daemon/api/auth.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "security/hash.hpp"

namespace samovar::api {
namespace {

bool is_key(std::string_view key) {
  return key.size() >= 8 && key.size() <= 128 &&
         std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

// Keyed: the body may hold a password, and a plain hash of it would be a way to guess.
Bytes fingerprint_of(Services& services, const Request& request) {
  security::Hasher hasher(services.node.keys()->pepper);
  for (const std::string_view part :
       {to_string(request.method), std::string_view(request.path), std::string_view(request.body)}) {
    hasher.update(as_bytes(std::to_string(part.size()) + ":"));
    hasher.update(as_bytes(part));
  }
  const auto hash = hasher.finish();
  return {hash.begin(), hash.end()};
}

std::optional<Response> earlier_answer(Services& services, const Request& request, const std::string& key,
                                       const Bytes& print) {
  const auto saved = services.cluster().saved_response(request.caller->user.id, key);
  if (!saved) return std::nullopt;
  if (saved->fingerprint != print)
    return problem(request, 422, "idempotency_key_reused",
                   "This Idempotency-Key was used with another request: choose a new one.");
  Response response;
  response.status = static_cast<int>(saved->status);
  response.headers.set("Content-Type", "application/json");
  response.headers.set("Idempotency-Replayed", "true");
  response.body = saved->body;
  return response;
}

}  // namespace

Task<Response> idempotent(Services& services, Request& request,
                          std::function<Task<Created>(std::string request_id)> create) {
  const std::string key(request.headers.get("Idempotency-Key"));
  if (key.empty()) {
    Created made = co_await create(std::string());
    co_return std::move(made.response);
  }
  if (!is_key(key))
    co_return problem(request, 400, "bad_idempotency_key",
                      "Idempotency-Key must be 8 to 128 printable characters.");
  const Bytes print = fingerprint_of(services, request);
  if (auto earlier = earlier_answer(services, request, key, print)) co_return std::move(*earlier);
  const auto running = std::make_pair(request.caller->user.id, key);
  if (!services.running_keys.insert(running).second)
    co_return problem(request, 409, "request_running",
                      "The first request with this Idempotency-Key is still running.");

  const auto id = security::blake2b_256(as_bytes(running.first + "\n" + key));
  Created made = co_await create("idem_" + hex_encode(ByteView(id).first(16)));
  if (made.response.status < 300 && services.node.cluster() != nullptr) {
    cluster::SavedResponse saved;
    saved.user_id = running.first;
    saved.key = key;
    saved.fingerprint = print;
    saved.status = static_cast<unsigned>(made.response.status);
    saved.body = made.saved_body.empty() ? made.response.body : made.saved_body;
    ignore(co_await services.cluster().save_response(std::move(saved)),
           "the act is done; its request id still guards it");
  }
  services.running_keys.erase(running);
  co_return std::move(made.response);
}

}  // namespace samovar::api
