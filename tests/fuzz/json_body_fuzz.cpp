// Bodies of requests: strict JSON, then fields of every type, whatever comes.

#include "base/assert.hpp"
#include "base/json.hpp"
#include "daemon/api/cidr.hpp"
#include "daemon/api/json_body.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace samovar;
  using namespace samovar::api;
  auto body = parse_json(as_text({data, size}));
  if (!body || !body->is_object()) return 0;
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  if (const auto text = fields.text("name", Need::optional, {1, 64, false})) SAMOVAR_ASSERT(!text->empty());
  [[maybe_unused]] const auto disabled = fields.flag("disabled", Need::optional);
  if (const auto days = fields.integer("expires_days", Need::optional, 1, 365))
    SAMOVAR_ASSERT(*days >= 1 && *days <= 365);
  if (const auto scopes = fields.texts("scopes", Need::optional, 8)) SAMOVAR_ASSERT(scopes->size() <= 8);
  if (const auto cidr = fields.text("cidr", Need::optional)) {
    const auto parsed = parse_cidr(*cidr);
    if (parsed) SAMOVAR_ASSERT(*parse_cidr(*parsed) == *parsed);
  }
  if (auto* inner = fields.object("admin", Need::optional)) Fields(*inner, "/admin", errors).finish();
  fields.finish();
  return 0;
}
