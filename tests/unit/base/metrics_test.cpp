#include "base/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace samovar::metrics {
namespace {

// The part of the page about one metric.
std::string rendered(const std::string& name) {
  const std::string all = render();
  const auto begin = all.find("# HELP " + name + " ");
  if (begin == std::string::npos) return "";
  const auto end = all.find("# HELP ", begin + 1);
  return all.substr(begin, end - begin);
}

TEST(Metrics, CounterCounts) {
  Counter& c = counter("test_reads_total", "Reads so far.");
  c.add();
  c.add(41);
  EXPECT_EQ(c.value(), 42U);
  EXPECT_EQ(rendered("test_reads_total"),
            "# HELP test_reads_total Reads so far.\n# TYPE test_reads_total counter\ntest_reads_total 42\n");
}

TEST(Metrics, GaugeGoesUpAndDown) {
  Gauge& g = gauge("test_watts", "Watts.");
  g.set(7.5);
  g.add(-2.25);
  EXPECT_EQ(rendered("test_watts"), "# HELP test_watts Watts.\n# TYPE test_watts gauge\ntest_watts 5.25\n");
  g.set(std::numeric_limits<double>::infinity());
  EXPECT_NE(rendered("test_watts").find("test_watts +Inf\n"), std::string::npos);
  g.set(-std::numeric_limits<double>::infinity());
  EXPECT_NE(rendered("test_watts").find("test_watts -Inf\n"), std::string::npos);
  g.set(std::nan(""));
  EXPECT_NE(rendered("test_watts").find("test_watts NaN\n"), std::string::npos);
}

TEST(Metrics, HistogramIsCumulative) {
  const double bounds[] = {0.5, 1, 2};
  Histogram& h = histogram("test_seconds", "Time.", {{"route", "/x"}}, bounds);
  for (const double v : {0.1, 0.5, 0.75, 1.5, 99.0}) h.observe(v);
  EXPECT_EQ(h.count(), 5U);
  EXPECT_EQ(rendered("test_seconds"),
            "# HELP test_seconds Time.\n"
            "# TYPE test_seconds histogram\n"
            "test_seconds_bucket{route=\"/x\",le=\"0.5\"} 2\n"
            "test_seconds_bucket{route=\"/x\",le=\"1\"} 3\n"
            "test_seconds_bucket{route=\"/x\",le=\"2\"} 4\n"
            "test_seconds_bucket{route=\"/x\",le=\"+Inf\"} 5\n"
            "test_seconds_sum{route=\"/x\"} 101.85\n"
            "test_seconds_count{route=\"/x\"} 5\n");
}

TEST(Metrics, ValuesBeyondEveryBoundLandInInf) {
  Histogram h(latency_bounds());
  h.observe(std::numeric_limits<double>::infinity());
  h.observe(std::nan(""));
  h.observe(-1);
  EXPECT_EQ(h.count(), 3U);
  EXPECT_GE(h.bucket(0), 1U);
}

TEST(Metrics, SameNameAndLabelsAreTheSameObject) {
  Counter& a = counter("test_same_total", "x", {{"k", "1"}});
  EXPECT_EQ(&a, &counter("test_same_total", "x", {{"k", "1"}}));
  EXPECT_NE(&a, &counter("test_same_total", "x", {{"k", "2"}}));
  EXPECT_NE(&a, &counter("test_same_total", "x"));
}

TEST(Metrics, OneHelpForManyLabels) {
  counter("test_many_total", "Many.", {{"k", "b"}}).add(2);
  counter("test_many_total", "Many.", {{"k", "a"}}).add(1);
  EXPECT_EQ(rendered("test_many_total"),
            "# HELP test_many_total Many.\n# TYPE test_many_total counter\n"
            "test_many_total{k=\"a\"} 1\ntest_many_total{k=\"b\"} 2\n");
}

TEST(Metrics, LabelsAndHelpAreEscaped) {
  counter("test_escape_total", "a\\b\nc\"d", {{"path", "a\"b\\c\nd"}}).add();
  EXPECT_EQ(rendered("test_escape_total"),
            "# HELP test_escape_total a\\\\b\\nc\"d\n# TYPE test_escape_total counter\n"
            "test_escape_total{path=\"a\\\"b\\\\c\\nd\"} 1\n");
}

TEST(Metrics, UpdatesOfManyThreadsAllCount) {
  Counter& c = counter("test_threads_total", "x");
  Gauge& g = gauge("test_threads", "x");
  Histogram& h = histogram("test_threads_seconds", "x");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        c.add();
        g.add(1);
        h.observe(1);
        if (i % 100 == 0) render();
        counter("test_threads_total", "x").add();
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(c.value(), 8000U);
  EXPECT_EQ(g.value(), 4000);
  EXPECT_EQ(h.count(), 4000U);
  EXPECT_EQ(h.sum(), 4000);
}

TEST(MetricsDeathTest, WrongNamesAssert) {
  for (const char* bad : {"", "1a", "a-b", "a b", "a\nb", "é"})
    EXPECT_DEATH(counter(bad, "x"), "valid_name") << bad;
  for (const char* bad : {"", "1a", "a:b", "__a", "le", "a\"b"}) {
    EXPECT_DEATH(counter("test_ok_total", "x", {{bad, "v"}}), "valid_name") << bad;
  }
}

TEST(MetricsDeathTest, OneNameWithTwoKindsAsserts) {
  counter("test_kind", "x");
  EXPECT_DEATH(gauge("test_kind", "x"), "holds_alternative");
}

}  // namespace
}  // namespace samovar::metrics
