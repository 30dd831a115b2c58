#include "daemon/api/body_decoder.hpp"

#include <gtest/gtest.h>

namespace samovar::api {
namespace {

RequestHead chunked() {
  RequestHead head;
  head.framing = Framing::chunked;
  return head;
}
RequestHead length(std::uint64_t bytes) {
  RequestHead head;
  head.framing = Framing::length;
  head.content_length = bytes;
  return head;
}

struct Decoded {
  std::string body;
  std::string rest;
  bool done = false;
  int status = 0;
};

// Feeds the bytes in steps, as a socket would.
Decoded decode(const RequestHead& head, std::string_view in, std::size_t step,
               std::uint64_t bytes_max = 1 << 20, std::size_t piece = 7) {
  BodyDecoder decoder(head, bytes_max);
  Decoded result;
  std::string buffer;
  bool more = true;
  while (more && !decoder.done()) {
    more = !in.empty();
    buffer += in.substr(0, step);
    in.remove_prefix(std::min(step, in.size()));
    for (;;) {
      Bytes out;
      const auto stepped = decoder.decode(buffer, out, piece);
      result.body += as_text(out);
      buffer.erase(0, stepped.used);
      if (stepped.refusal) {
        result.status = stepped.refusal->status;
        return result;
      }
      if (stepped.used == 0) break;
    }
  }
  result.done = decoder.done();
  result.rest = buffer + std::string(in);
  return result;
}

TEST(BodyDecoder, NoFramingIsDoneAtOnce) {
  EXPECT_TRUE(BodyDecoder(RequestHead{}, 10).done());
  EXPECT_TRUE(BodyDecoder(length(0), 10).done());
}

TEST(BodyDecoder, FixedLengthStopsWhereItShould) {
  for (std::size_t step = 1; step < 16; ++step) {
    const Decoded got = decode(length(11), "hello worldGET /", step);
    EXPECT_TRUE(got.done);
    EXPECT_EQ(got.body, "hello world");
    EXPECT_EQ(got.rest, "GET /");
  }
}

TEST(BodyDecoder, ChunksInEverySplit) {
  const std::string in = "5\r\nhello\r\n6;name=\"v\"\r\n world\r\n0\r\nTrailer: x\r\n\r\nNEXT";
  for (std::size_t step = 1; step <= in.size(); ++step) {
    for (std::size_t piece = 1; piece < 12; ++piece) {
      const Decoded got = decode(chunked(), in, step, 100, piece);
      EXPECT_TRUE(got.done);
      EXPECT_EQ(got.status, 0);
      EXPECT_EQ(got.body, "hello world");
      EXPECT_EQ(got.rest, "NEXT");
    }
  }
}

TEST(BodyDecoder, RefusesMalformedChunks) {
  const std::string cases[] = {
      "x\r\n",
      "\r\n",
      "5\nhello\r\n",
      "5\r\nhelloX\r\n",
      "5\r\nhello\n0\r\n\r\n",
      "-1\r\n",
      "0x5\r\nhello",
      "5 5\r\nhello",
      "1111111111111111\r\n",
      " 5\r\nhello",
      "5\r\nhello\r\n\r\n",
      "0\r\nA\x01: b\r\n\r\n",
  };
  for (const std::string& in : cases) {
    const Decoded got = decode(chunked(), in, 3);
    EXPECT_EQ(got.status, 400) << in;
    EXPECT_FALSE(got.done) << in;
  }
}

TEST(BodyDecoder, BoundsLinesAndTrailers) {
  EXPECT_EQ(decode(chunked(), "5;" + std::string(600, 'x'), 100).status, 400);
  std::string trailers = "0\r\n";
  for (int i = 0; i < 100; ++i) trailers += "A: " + std::string(60, 'x') + "\r\n";
  EXPECT_EQ(decode(chunked(), trailers, 100).status, 400);
}

TEST(BodyDecoder, BoundsExtensionsOfAllChunksTogether) {
  const std::string chunk = "1;" + std::string(200, 'x') + "\r\na\r\n";
  for (const int chunks : {10, 1000}) {
    std::string in;
    for (int i = 0; i < chunks; ++i) in += chunk;
    EXPECT_EQ(decode(chunked(), in + "0\r\n\r\n", 100).status, chunks == 10 ? 0 : 400) << chunks;
  }
}

TEST(BodyDecoder, EnforcesTheLimitBeforeTheBytesArrive) {
  EXPECT_FALSE(BodyDecoder(length(10), 10).check_length());
  const auto refusal = BodyDecoder(length(11), 10).check_length();
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 413);
  EXPECT_EQ(decode(chunked(), "a\r\n0123456789\r\n0\r\n\r\n", 100, 10).status, 0);
  EXPECT_EQ(decode(chunked(), "a\r\n0123456789\r\n1\r\n", 100, 10).status, 413);
  EXPECT_EQ(decode(chunked(), "fffffffffffffff\r\n", 100, 10).status, 413);
}

TEST(BodyDecoder, IncompleteBodyIsNotDone) {
  EXPECT_FALSE(decode(length(5), "hell", 10).done);
  EXPECT_FALSE(decode(chunked(), "5\r\nhello\r\n0\r\n", 1).done);
  EXPECT_FALSE(decode(chunked(), "5\r\nhello\r\n0\r\n\r", 1).done);
}

}  // namespace
}  // namespace samovar::api
