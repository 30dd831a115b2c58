// The messages of a join, whichever side hears them: the first byte chooses the decoder. What is accepted is
// written back as exactly the bytes it came from.
#include <algorithm>
#include <cstdint>

#include "security/join.hpp"
#include "security/join_wire.hpp"
#include "security/join_words.hpp"

using namespace samovar;
using namespace samovar::security;

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

bool same(const Result<Bytes>& bytes, ByteView input) {
  return bytes && bytes->size() == input.size() && std::equal(input.begin(), input.end(), bytes->begin());
}

const NodeIdentity& identity() {
  static const NodeIdentity made = *make_identity();
  return made;
}

JoinCluster cluster() {
  static const PrivateKey key = *PrivateKey::generate();
  static const Certificate ca = *make_cluster_ca(key, "clu_fuzz");
  return {"clu_fuzz", "Fuzz", identity().node_id, ca, "1.0.0", JoinForm::code};
}

void messages(std::uint8_t which, ByteView input) {
  switch (which) {
    case 0:
      if (const auto offer = decode_j1(input)) require(same(encode_j1(*offer), input));
      ignore(JoinNode::begin(identity(), {})->take_j1(input), "fuzz");
      break;
    case 1:
      if (const auto decoded = decode_j2(input)) {
        auto body = encode_j2_body(decoded->request);
        require(body && same(with_signature(*std::move(body), decoded->request.signature), input));
      }
      require(!JoinMember::begin(cluster())->take_j2(input));  // nobody guesses a signature over our J1
      break;
    case 2:
      for (const JoinKind kind : {JoinKind::j3, JoinKind::j5, JoinKind::j7, JoinKind::words})
        for (const std::size_t size : {32, 64})
          if (const auto content = decode_fixed(kind, input, size))
            require(same(encode_fixed(kind, *content), input));
      break;
    case 3:
      if (const auto refusal = decode_refusal(input)) {
        require(same(encode_refusal(*refusal), input));
        require(!describe(*refusal).empty());
      }
      if (decode_who(input)) require(same(encode_who(), input));
      if (const auto beacon = decode_here(input)) require(same(encode_here(*beacon), input));
      break;
    default:
      break;
  }
}

void contents(std::uint8_t which, ByteView input) {
  switch (which) {
    case 4:
      if (const auto grant = decode_grant(input)) require(same(encode_grant(*grant), input));
      break;
    case 5:
      if (const auto keys = decode_keys(input)) require(same(encode_keys(*keys), input));
      break;
    case 6:
      if (const auto words = parse_join_words(as_text(input)))
        require(parse_join_words(*words).value() == *words);
      require(
          !ca_digest_matches(as_text(input.first(std::min<std::size_t>(input.size(), 11))), cluster().ca));
      break;
    default:
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView input(data + 1, size - 1);
  messages(data[0] % 7, input);
  contents(data[0] % 7, input);
  return 0;
}
