// What nodes and the leader tell each other about power, and the settings document.
#include "base/assert.hpp"
#include "daemon/power/power_message.hpp"
#include "daemon/power/settings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace samovar;
  if (size == 0) return 0;
  const ByteView rest(data + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      if (const auto question = power::decode_question(rest)) {
        // What was taken can be handed on and taken again.
        const auto again = power::decode_question(power::encode_question(*question));
        SAMOVAR_ASSERT(again && again->status.has_value() == question->status.has_value());
      }
      break;
    case 1:
      if (const auto reply = power::decode_reply(rest)) {
        SAMOVAR_ASSERT(!reply->cap.ready || !reply->cap.budget_watts || reply->cap.cap_watts);
        SAMOVAR_ASSERT(power::decode_reply(power::encode_reply(*reply)));
      }
      break;
    default: {
      const auto settings = power::decode_settings(as_text(rest));
      const auto again = power::decode_settings(power::encode_settings(settings));
      SAMOVAR_ASSERT(again.schedule.size() == settings.schedule.size());
    }
  }
  return 0;
}
