#include "daemon/join_rules.hpp"

#include <gtest/gtest.h>

namespace samovar::daemon {
namespace {

KnownNode member() {
  KnownNode known;
  known.row.emplace();
  known.row->id = "an id";
  known.row->name = "board-7";
  known.row->sign_public = Bytes(32, 1);
  known.row->box_public = Bytes(32, 2);
  return known;
}

std::string refusal(const KnownNode& known, const Bytes& sign = Bytes(32, 1)) {
  const auto verdict = may_be_admitted(known, sign, Bytes(32, 2));
  return verdict ? "" : verdict.error().message();
}

TEST(JoinRules, AnUnknownIdIsFresh) { EXPECT_EQ(*may_be_admitted({}, {}, {}), Admission::fresh); }

TEST(JoinRules, ARowWithNobodyBehindItIsTakenUpAgain) {
  EXPECT_EQ(*may_be_admitted(member(), Bytes(32, 1), Bytes(32, 2)), Admission::again);
}

TEST(JoinRules, AConnectedMembersIdIsAClonedDisk) {
  KnownNode known = member();
  known.up = true;
  EXPECT_NE(refusal(known).find("copy of its disk"), std::string::npos);
  EXPECT_NE(refusal(known).find("board-7"), std::string::npos);
}

TEST(JoinRules, AVoterThatForgotDoesNotComeBackUnderItsId) {
  KnownNode known = member();
  known.voter = true;
  EXPECT_NE(refusal(known).find("forgotten"), std::string::npos);
}

TEST(JoinRules, ARemovedNodeIsResetFirst) {
  KnownNode known = member();
  known.row->state = cluster::NodeState::removed;
  EXPECT_NE(refusal(known).find("factory"), std::string::npos);
}

TEST(JoinRules, OtherKeysUnderTheSameIdAreRefused) {
  EXPECT_NE(refusal(member(), Bytes(32, 9)), "");
  KnownNode old = member();
  old.row->sign_public.clear();  // a row from before it had any
  EXPECT_EQ(refusal(old, Bytes(32, 9)), "");
}

}  // namespace
}  // namespace samovar::daemon
