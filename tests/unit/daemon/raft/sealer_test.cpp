#include "daemon/raft/sealer.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

namespace samovar::raft {
namespace {

Sealer make(std::uint8_t key = 1, std::string cluster = "clu_1", std::uint32_t generation = 1) {
  EXPECT_GE(sodium_init(), 0);
  return Sealer(security::SecretBytes::copy_of(Bytes(32, key)), std::move(cluster), generation);
}

TEST(Sealer, EntryComesBackAsItWas) {
  const Sealer sealer = make();
  for (std::size_t size = 0; size < 20; ++size) {
    const Bytes command(size, 0x42);
    const Position position{size + 1, random_entry_id()};
    const EntryId previous = random_entry_id();
    const Bytes frame = sealer.seal_entry(position, previous, command);
    EXPECT_EQ(frame.size() % 8, 0u);
    const auto entry = sealer.open_entry(frame);
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->position, position);
    EXPECT_EQ(entry->previous, previous);
    EXPECT_EQ(entry->command, command);
  }
}

TEST(Sealer, EveryChangedByteIsNoticed) {
  const Sealer sealer = make();
  const Bytes frame = sealer.seal_entry({5, random_entry_id()}, random_entry_id(), to_bytes("command"));
  for (std::size_t i = 0; i < frame.size(); ++i) {
    Bytes changed = frame;
    changed[i] ^= 0x10;
    EXPECT_FALSE(sealer.open_entry(changed)) << i;
  }
  for (std::size_t keep = 0; keep < frame.size(); ++keep)
    EXPECT_FALSE(sealer.open_entry(ByteView(frame).first(keep))) << keep;
}

TEST(Sealer, PurposesAndBoxesDoNotMix) {
  const Sealer sealer = make();
  const Bytes entry = sealer.seal_entry({1, {}}, {}, to_bytes("x"));
  Bytes as_snapshot = entry;
  const Bytes snapshot = sealer.seal_snapshot({1, {}}, to_bytes("x"));
  std::copy_n(snapshot.begin(), 4, as_snapshot.begin());  // the right head on the wrong seal
  EXPECT_FALSE(sealer.open_snapshot(as_snapshot));
  EXPECT_FALSE(make(2).open_entry(entry));
  EXPECT_FALSE(make(1, "clu_2").open_entry(entry));
  EXPECT_FALSE(make(1, "clu_1", 2).open_entry(entry));
}

TEST(Sealer, KeyCheckNamesTheKey) {
  EXPECT_EQ(make(1).key_check(), make(1, "clu_2").key_check());
  EXPECT_NE(make(1).key_check(), make(2).key_check());
}

TEST(Sealer, WitnessComesBackAsItWas) {
  const Sealer sealer = make();
  const Witness witness{7, {9, random_entry_id()}, 11, 2};
  const auto back = sealer.open_witness(sealer.seal_witness(witness));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->counter, 7u);
  EXPECT_EQ(back->position, witness.position);
  EXPECT_EQ(back->index, 11u);
  EXPECT_EQ(back->term, 2u);
}

}  // namespace
}  // namespace samovar::raft
