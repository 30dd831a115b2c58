#include <gtest/gtest.h>

#include "daemon/cli/app.hpp"

namespace samovar::cli {
namespace {

TEST(ExitCode, FollowsTheStatus) {
  const std::pair<int, Exit> expected[] = {
      {400, Exit::invalid},  {401, Exit::denied},   {403, Exit::denied},      {404, Exit::not_found},
      {409, Exit::conflict}, {412, Exit::conflict}, {422, Exit::invalid},     {423, Exit::conflict},
      {428, Exit::conflict}, {500, Exit::failure},  {503, Exit::unreachable}, {507, Exit::failure}};
  for (const auto& entry : expected) EXPECT_EQ(exit_for_status(entry.first, ""), entry.second) << entry.first;
  EXPECT_EQ(exit_for_status(429, "locked_out"), Exit::denied);
  EXPECT_EQ(exit_for_status(429, "too_many_requests"), Exit::failure);
}

TEST(ExitCode, FollowsTheErrorWhereThereIsNoAnswer) {
  EXPECT_EQ(exit_for_error(Errc::io), Exit::unreachable);
  EXPECT_EQ(exit_for_error(Errc::timeout), Exit::unreachable);
  EXPECT_EQ(exit_for_error(Errc::not_found), Exit::not_found);
  EXPECT_EQ(exit_for_error(Errc::denied), Exit::denied);
  EXPECT_EQ(exit_for_error(Errc::conflict), Exit::conflict);
  EXPECT_EQ(exit_for_error(Errc::invalid), Exit::invalid);
  EXPECT_EQ(exit_for_error(Errc::corrupt), Exit::failure);
}

TEST(ExitCode, NumbersAreThePromiseToScripts) {
  EXPECT_EQ(static_cast<int>(Exit::usage), 2);
  EXPECT_EQ(static_cast<int>(Exit::not_found), 3);
  EXPECT_EQ(static_cast<int>(Exit::denied), 4);
  EXPECT_EQ(static_cast<int>(Exit::conflict), 5);
  EXPECT_EQ(static_cast<int>(Exit::invalid), 6);
  EXPECT_EQ(static_cast<int>(Exit::unreachable), 7);
  EXPECT_EQ(static_cast<int>(Exit::awaited_failed), 8);
  EXPECT_EQ(static_cast<int>(Exit::partly), 9);
  EXPECT_EQ(static_cast<int>(Exit::interrupted), 130);
}

}  // namespace
}  // namespace samovar::cli
