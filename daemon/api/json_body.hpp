// Request bodies: strict JSON, then every field checked, all problems told at once.
//
// Threading: loop only (values of one request).
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/api/problem.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::api {

inline constexpr unsigned kJsonDepthMax = 32;

// One value of RFC 8259 and nothing after it: at most kJsonDepthMax deep, no key twice, valid UTF-8.
Result<nlohmann::json> parse_json(std::string_view text);

// The body as an object; a response (400 or 422) when it is none. The body's text is wiped, since it
// may hold a password.
Result<nlohmann::json> take_object(Request& request, std::optional<Response>& refused);

enum class Need : std::uint8_t { optional, required };

struct TextRule {
  std::size_t chars_min = 0;
  std::size_t chars_max = 256;  // UTF-8 code points
  bool lines = false;           // newlines and tabs are allowed; other control characters never are
};

// Reads the members of one object. Absent, ill-typed or refused members give nothing and, unless they
// were merely optional and absent, an entry in `errors`; finish() adds one for each member nobody read.
class Fields {
 public:
  Fields(nlohmann::json& object, std::string pointer, std::vector<FieldError>& errors);

  bool has(std::string_view name) const;
  std::optional<std::string> text(std::string_view name, Need need, TextRule rule = {});
  // Moved out of the JSON and wiped there. No rule on characters: passwords may hold any.
  std::optional<security::SecretBytes> secret(std::string_view name, Need need);
  std::optional<bool> flag(std::string_view name, Need need);
  std::optional<std::int64_t> integer(std::string_view name, Need need, std::int64_t min, std::int64_t max);
  std::optional<std::vector<std::string>> texts(std::string_view name, Need need, std::size_t count_max);
  // Null when absent or no object.
  nlohmann::json* object(std::string_view name, Need need);
  bool is_null(std::string_view name);  // marks it as read

  void fail(std::string_view name, std::string_view code, std::string_view detail);
  void finish();
  std::string pointer_to(std::string_view name) const;

 private:
  nlohmann::json* find(std::string_view name, Need need);

  nlohmann::json& object_;
  std::string pointer_;
  std::vector<FieldError>& errors_;
  std::vector<std::string> read_;
};

Response json_response(int status, const nlohmann::ordered_json& body);
Response no_content();

}  // namespace samovar::api
