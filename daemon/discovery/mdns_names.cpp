#include "daemon/discovery/mdns_names.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <set>

namespace samovar::discovery {
namespace {

constexpr Duration kClaimKept = std::chrono::minutes(2);
constexpr Duration kToAllPause = std::chrono::seconds(1);  // RFC 6762 §6
constexpr double kToOnePerSecond = 10;
constexpr std::uint32_t kLegacySeconds = 10;  // RFC 6762 §6.7
constexpr std::size_t kToldMax = 256;         // cards come and go

// As a record carries it; empty for one that means nothing on another computer.
Bytes address_bytes(const std::string& text) {
  Bytes out(16);
  if (::inet_pton(AF_INET, text.c_str(), out.data()) == 1)
    out.resize(4);
  else if (::inet_pton(AF_INET6, text.c_str(), out.data()) != 1 || text.starts_with("fe80:"))
    out.clear();
  return out;
}

std::vector<Bytes> all_bytes(const std::vector<std::string>& texts) {
  std::vector<Bytes> out;
  for (const std::string& text : texts)
    if (Bytes bytes = address_bytes(text); !bytes.empty()) out.push_back(std::move(bytes));
  return out;
}

bool asks_for(const MdnsQuestion& question, MdnsType type) {
  return question.type == static_cast<std::uint16_t>(type) ||
         question.type == static_cast<std::uint16_t>(MdnsType::any);
}

bool known(const MdnsMessage& message, const MdnsRecord& record) {
  return std::any_of(message.answers.begin(), message.answers.end(), [&](const MdnsRecord& other) {
    return other.name == record.name && other.type == record.type && other.data == record.data &&
           other.seconds >= kMdnsSeconds / 2;
  });
}

}  // namespace

void MdnsNames::set(std::vector<MdnsName> names) {
  names_ = std::move(names);
  std::erase_if(claims_, [&](const auto& claim) { return find(claim.first) == nullptr; });
}

const MdnsName* MdnsNames::find(const std::string& name) const {
  const auto found =
      std::find_if(names_.begin(), names_.end(), [&](const MdnsName& one) { return one.name == name; });
  return found == names_.end() ? nullptr : &*found;
}

std::string MdnsNames::claimed_by(MonoTime now, const std::string& name) const {
  const auto found = claims_.find(name);
  return found == claims_.end() || found->second.until <= now ? "" : found->second.by;
}

void MdnsNames::note_claims(MonoTime now, const std::vector<MdnsRecord>& records, const Source& source,
                            const std::vector<Bytes>& own, bool proposed) {
  for (const MdnsRecord& record : records) {
    if (find(record.name) == nullptr || record.data.empty() || record.seconds == 0) continue;
    if (!record.unique && !proposed) continue;  // shared, as ours is
    if (std::find(own.begin(), own.end(), record.data) != own.end()) continue;
    claims_[record.name] = {source.address, now + kClaimKept};
  }
}

bool MdnsNames::may_answer_one(MonoTime now) {
  const double passed = std::chrono::duration<double>(now - filled_).count();
  tokens_ = filled_once_ ? std::min(kToOnePerSecond, tokens_ + passed * kToOnePerSecond) : kToOnePerSecond;
  filled_ = now;
  filled_once_ = true;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

bool MdnsNames::may_answer_all(MonoTime now, unsigned card, const MdnsQuestion& question) {
  const auto key = std::make_tuple(card, question.name, question.type);
  const auto found = told_to_all_.find(key);
  if (found != told_to_all_.end() && now - found->second < kToAllPause) return false;
  if (told_to_all_.size() >= kToldMax) told_to_all_.clear();
  told_to_all_[key] = now;
  return true;
}

std::optional<MdnsNames::Reply> MdnsNames::hear(MonoTime now, ByteView datagram, const Source& source,
                                                const std::vector<std::string>& card_addresses,
                                                const std::vector<std::string>& own_addresses) {
  const auto message = read_mdns(datagram);
  if (!message) return std::nullopt;
  const std::vector<Bytes> own = all_bytes(own_addresses);
  if (message->response) {
    // Whoever answers does so from the port of the group (RFC 6762 §6).
    if (source.port == port_) note_claims(now, message->answers, source, own, false);
    return std::nullopt;
  }
  const bool legacy = source.port != port_;
  // So does whoever is about to take a name (§8.1): no ordinary program silences ours from a port of its own.
  if (!legacy) note_claims(now, message->proposed, source, own, true);
  std::vector<MdnsQuestion> asked;
  std::vector<MdnsRecord> answers;
  std::set<std::pair<std::string, std::uint16_t>> seen;
  bool to_all = false;
  for (const MdnsQuestion& question : message->questions) {
    const MdnsName* name = find(question.name);
    if (name == nullptr || !claimed_by(now, question.name).empty()) continue;
    // A short datagram that asks the same many times must not become a long one.
    if (!seen.emplace(question.name, question.type).second) continue;
    std::vector<MdnsRecord> found;
    for (Bytes& bytes : all_bytes(card_addresses)) {
      const MdnsType type = bytes.size() == 4 ? MdnsType::a : MdnsType::aaaa;
      if (!asks_for(question, type)) continue;
      MdnsRecord record{question.name, static_cast<std::uint16_t>(type), !name->shared && !legacy,
                        legacy ? kLegacySeconds : kMdnsSeconds, std::move(bytes)};
      if (!known(*message, record)) found.push_back(std::move(record));
    }
    if (found.empty()) continue;
    const bool to_one = legacy || question.unicast;
    if (!to_one && !may_answer_all(now, source.card, question)) continue;
    to_all = to_all || !to_one;
    if (legacy) asked.push_back(question);
    answers.insert(answers.end(), std::make_move_iterator(found.begin()),
                   std::make_move_iterator(found.end()));
  }
  if (answers.empty() || (!to_all && !may_answer_one(now))) return std::nullopt;
  return Reply{encode_mdns(legacy ? message->id : 0, asked, answers), to_all};
}

}  // namespace samovar::discovery
