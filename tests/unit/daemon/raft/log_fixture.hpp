// A consensus log over a real folder and the real loop, driven step by step by a test.
#pragma once
#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/asio_loop.hpp"
#include "daemon/raft/consensus_log.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::raft::testing {

namespace fs = std::filesystem;

class TempDir {
 public:
  TempDir() {
    std::string pattern = (fs::temp_directory_path() / "samovar-raft-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

inline Bytes read_all(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_all(const fs::path& path, ByteView bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline std::map<std::string, Bytes> contents_of(const std::string& dir) {
  std::map<std::string, Bytes> files;
  for (const auto& file : fs::directory_iterator(dir)) files[file.path().filename()] = read_all(file.path());
  return files;
}

// Remembers every command; its reply is the number of commands so far.
class ListMachine : public StateMachine {
 public:
  Bytes apply(std::uint64_t index, ByteView command) override {
    EXPECT_GT(index, last_index);
    last_index = index;
    list.emplace_back(as_text(command));
    return to_bytes(std::to_string(list.size()));
  }
  Result<Bytes> snapshot() override {
    ++snapshots;
    std::string text;
    for (const auto& line : list) text += line + "\n";
    return to_bytes(text);
  }
  Result<void> restore(ByteView snapshot) override {
    ++restores;
    list.clear();
    std::string line;
    for (const char c : as_text(snapshot)) {
      if (c == '\n') {
        list.push_back(std::exchange(line, {}));
      } else {
        line += c;
      }
    }
    return {};
  }

  std::vector<std::string> list;
  std::uint64_t last_index = 0;
  int snapshots = 0;
  int restores = 0;
};

inline security::SecretBytes key_of(std::uint8_t byte) {
  return security::SecretBytes::copy_of(Bytes(32, byte));
}

class LogFixture : public ::testing::Test {
 protected:
  LogFixture() { EXPECT_GE(sodium_init(), 0); }
  ~LogFixture() override { shut(); }

  ConsensusOptions options(bool bootstrap) const {
    ConsensusOptions options;
    options.dir = dir_.path("raft");
    options.cluster_id = "clu_1";
    options.node_id = "node";
    options.bootstrap = bootstrap;
    options.segment_bytes = 64 * 1024;
    options.free_bytes = [] { return std::uint64_t{1} << 40; };
    return options;
  }

  Result<void> open(ConsensusOptions with, std::uint8_t key = 7) {
    machine_ = std::make_unique<ListMachine>();
    auto log = ConsensusLog::open(loop_, std::move(with), key_of(key), *machine_);
    if (!log) return std::move(log).error();
    log_ = *std::move(log);
    return {};
  }
  void begin() {
    const auto opened = open(options(true));
    ASSERT_TRUE(opened) << opened.error().message();
  }
  void reopen() {
    shut();
    const auto opened = open(options(false));
    ASSERT_TRUE(opened) << opened.error().message();
  }
  void shut() {
    if (!log_) return;
    log_->close([this] { loop_.stop(); });
    loop_.run();
    log_.reset();
  }
  // As a crash would: nothing is closed first. (The destructor waits for libraft's threads.)
  void drop() { log_.reset(); }

  Result<Bytes> propose(const std::string& text) { return propose_all({text}).front(); }
  std::vector<Result<Bytes>> propose_all(const std::vector<std::string>& texts) {
    std::vector<std::optional<Result<Bytes>>> results(texts.size());
    std::size_t left = texts.size();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      log_->propose(to_bytes(texts[i]), [&, i](Result<Bytes> result) {
        results[i].emplace(std::move(result));
        if (--left == 0) loop_.stop();
      });
    }
    loop_.run();
    std::vector<Result<Bytes>> out;
    for (auto& result : results) out.push_back(std::move(*result));
    return out;
  }
  void fill(int count, const std::string& prefix = "change") {
    for (int i = 0; i < count; ++i) {
      const auto reply = propose(prefix + std::to_string(i));
      ASSERT_TRUE(reply) << reply.error().message();
    }
  }

  fs::path dir() const { return dir_.path("raft"); }
  // By prefix; the newest by name.
  std::string file_like(const std::function<bool(const std::string&)>& wanted) const {
    std::string found;
    for (const auto& [name, bytes] : contents_of(dir()))
      if (wanted(name) && std::any_of(bytes.begin(), bytes.end(), [](auto b) { return b != 0; }))
        found = name;
    return found;
  }
  std::string newest_closed() const {
    return file_like([](const std::string& n) { return n.size() == 33 && n[16] == '-'; });
  }
  std::string newest_open() const {
    return file_like([](const std::string& n) { return n.rfind("open-", 0) == 0; });
  }

  TempDir dir_;
  AsioLoop loop_;
  std::unique_ptr<ListMachine> machine_;
  std::unique_ptr<ConsensusLog> log_;
};

}  // namespace samovar::raft::testing
