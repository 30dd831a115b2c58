#include "daemon/discovery/mdns_message.hpp"

#include <algorithm>

namespace samovar::discovery {
namespace {

constexpr unsigned kClassInternet = 1;
constexpr unsigned kClassAny = 255;
constexpr unsigned kTopBit = 0x8000;  // of a class: unicast wanted, or unique
constexpr unsigned kResponse = 0x8000;
constexpr unsigned kResponseAuthoritative = 0x8400;
constexpr unsigned kOpcode = 0x7800;
constexpr unsigned kQuestionsMax = 64;
constexpr unsigned kRecordsMax = 128;
constexpr std::size_t kHeadBytes = 12;
constexpr std::size_t kNameMax = 255;
constexpr std::size_t kLabelMax = 63;
constexpr std::uint8_t kPointer = 0xc0;

Error no_message(const char* why) { return Error{Errc::invalid, why}; }

class Reader {
 public:
  explicit Reader(ByteView all) : all_(all) {}

  Result<std::uint16_t> u16() {
    if (all_.size() - at_ < 2) return no_message("it ends early");
    const auto value = static_cast<std::uint16_t>(all_[at_] << 8 | all_[at_ + 1]);
    at_ += 2;
    return value;
  }
  Result<std::uint32_t> u32() {
    SAMOVAR_TRY(const std::uint32_t high, u16());
    SAMOVAR_TRY(const std::uint32_t low, u16());
    return high << 16 | low;
  }
  Result<ByteView> bytes(std::size_t count) {
    if (all_.size() - at_ < count) return no_message("it ends early");
    const ByteView out = all_.subspan(at_, count);
    at_ += count;
    return out;
  }
  Result<std::string> name();

 private:
  const ByteView all_;
  std::size_t at_ = 0;
};

bool add_label(std::string& name, ByteView label) {
  if (!name.empty()) name += '.';
  for (const std::uint8_t byte : label) {
    const char c = static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte);
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_') return false;
    name += c;
  }
  return true;
}

// Each jump must go to before where the name at hand began, so that none goes round in circles.
Result<std::string> Reader::name() {
  std::string out;
  bool plain = true;
  std::size_t at = at_;
  std::size_t began = at_;
  std::size_t length = 0;
  bool jumped = false;
  for (;;) {
    if (at >= all_.size()) return no_message("a name ends early");
    const std::uint8_t size = all_[at];
    if ((size & kPointer) == kPointer) {
      if (at + 1 >= all_.size()) return no_message("a name ends early");
      const std::size_t target = (size & ~kPointer & 0xffu) << 8 | all_[at + 1];
      if (target >= began) return no_message("a name points forwards");
      if (!jumped) at_ = at + 2;
      jumped = true;
      at = began = target;
      continue;
    }
    if (size > kLabelMax) return no_message("a name of an unknown kind");
    if (size == 0) break;
    length += size + 1u;
    if (length > kNameMax) return no_message("a name is too long");
    if (size >= all_.size() - at) return no_message("a name ends early");
    plain = add_label(out, all_.subspan(at + 1, size)) && plain;
    at += size + 1u;
  }
  if (!jumped) at_ = at + 1;
  return plain ? out : "?";
}

bool is_address(std::uint16_t type, std::size_t bytes) {
  return (type == static_cast<std::uint16_t>(MdnsType::a) && bytes == 4) ||
         (type == static_cast<std::uint16_t>(MdnsType::aaaa) && bytes == 16);
}

Result<void> read_records(Reader& reader, unsigned count, std::vector<MdnsRecord>& out) {
  for (unsigned i = 0; i < count; ++i) {
    MdnsRecord record;
    SAMOVAR_TRY(record.name, reader.name());
    SAMOVAR_TRY(record.type, reader.u16());
    SAMOVAR_TRY(const unsigned kind, reader.u16());
    SAMOVAR_TRY(record.seconds, reader.u32());
    SAMOVAR_TRY(const std::size_t size, reader.u16());
    SAMOVAR_TRY(const ByteView data, reader.bytes(size));
    record.unique = (kind & kTopBit) != 0;
    if ((kind & ~kTopBit) != kClassInternet) continue;
    if (is_address(record.type, size)) record.data.assign(data.begin(), data.end());
    out.push_back(std::move(record));
  }
  return {};
}

void put_u16(Bytes& out, unsigned value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}

void put_name(Bytes& out, const std::string& name) {
  std::size_t at = 0;
  while (at < name.size()) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    const std::size_t size = std::min(dot - at, kLabelMax);
    out.push_back(static_cast<std::uint8_t>(size));
    for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(name[at + i]));
    at = dot + 1;
  }
  out.push_back(0);
}

}  // namespace

Result<MdnsMessage> read_mdns(ByteView datagram) {
  if (datagram.size() < kHeadBytes) return no_message("it is too short");
  if (datagram.size() > kMdnsBytesMax) return no_message("it is too long");
  Reader reader(datagram);
  MdnsMessage out;
  SAMOVAR_TRY(out.id, reader.u16());
  SAMOVAR_TRY(const unsigned flags, reader.u16());
  if ((flags & kOpcode) != 0) return no_message("it is no question and no answer");
  out.response = (flags & kResponse) != 0;
  SAMOVAR_TRY(const unsigned questions, reader.u16());
  SAMOVAR_TRY(const unsigned answers, reader.u16());
  SAMOVAR_TRY(const unsigned proposed, reader.u16());
  SAMOVAR_CHECK(reader.u16());  // additional records: nothing in there concerns us
  if (questions > kQuestionsMax || answers > kRecordsMax || proposed > kRecordsMax)
    return no_message("it asks or says too much");
  for (unsigned i = 0; i < questions; ++i) {
    MdnsQuestion question;
    SAMOVAR_TRY(question.name, reader.name());
    SAMOVAR_TRY(question.type, reader.u16());
    SAMOVAR_TRY(const unsigned kind, reader.u16());
    question.unicast = (kind & kTopBit) != 0;
    const unsigned kind_alone = kind & ~kTopBit;
    if (kind_alone == kClassInternet || kind_alone == kClassAny) out.questions.push_back(std::move(question));
  }
  SAMOVAR_CHECK(read_records(reader, answers, out.answers));
  SAMOVAR_CHECK(read_records(reader, proposed, out.proposed));
  return out;
}

Bytes encode_mdns(std::uint16_t id, const std::vector<MdnsQuestion>& asked,
                  const std::vector<MdnsRecord>& answers) {
  Bytes out;
  put_u16(out, id);
  put_u16(out, kResponseAuthoritative);
  put_u16(out, static_cast<unsigned>(asked.size()));
  put_u16(out, static_cast<unsigned>(answers.size()));
  put_u16(out, 0);
  put_u16(out, 0);
  for (const MdnsQuestion& question : asked) {
    put_name(out, question.name);
    put_u16(out, question.type);
    put_u16(out, kClassInternet);
  }
  for (const MdnsRecord& record : answers) {
    put_name(out, record.name);
    put_u16(out, record.type);
    put_u16(out, kClassInternet | (record.unique ? kTopBit : 0));
    put_u16(out, record.seconds >> 16);
    put_u16(out, record.seconds & 0xffff);
    put_u16(out, static_cast<unsigned>(record.data.size()));
    out.insert(out.end(), record.data.begin(), record.data.end());
  }
  return out;
}

}  // namespace samovar::discovery
