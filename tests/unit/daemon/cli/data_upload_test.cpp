// samovar data upload against a box that keeps uploads as tus has it, and breaks where a test says.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "base/json.hpp"
#include "daemon/cli/digest.hpp"
#include "fake_box.hpp"

namespace samovar::cli {
namespace {

using nlohmann::json;

// The server's side of an upload.
class TusBox {
 public:
  explicit TusBox(Bench& bench) {
    bench.box.serve = [this](const HttpRequest& request) { return serve(request); };
  }

  std::map<std::string, std::string> uploads;  // id → bytes
  std::map<std::string, std::uint64_t> lengths;
  std::map<std::string, std::string> metadata;
  std::vector<std::size_t> cuts;  // bytes of the next PATCH requests that arrive before the line breaks
  std::vector<int> refusals;      // statuses the next PATCH requests get instead
  std::string refusal_code = "disk_full";
  bool lies_about_hash = false;
  int created = 0;
  std::function<void()> on_patch;

 private:
  static HttpReply answer(int status, const json& body = {},
                          std::vector<std::pair<std::string, std::string>> headers = {}) {
    HttpReply reply;
    reply.status = status;
    reply.body = body.is_null() ? "" : body.dump();
    reply.headers = std::move(headers);
    return reply;
  }
  static HttpReply problem(int status, const std::string& code) {
    return answer(status, {{"status", status}, {"code", code}, {"detail", "because of " + code}});
  }
  static std::string header(const HttpRequest& request, const std::string& name) {
    for (const auto& [key, value] : request.headers) {
      if (key == name) return value;
    }
    return {};
  }

  HttpReply create(const HttpRequest& request) {
    const std::string id = "upl_" + std::to_string(++created);
    uploads[id] = "";
    lengths[id] = std::stoull(header(request, "Upload-Length"));
    metadata[id] = header(request, "Upload-Metadata");
    return answer(201, {}, {{"location", "/api/v1/uploads/" + id}, {"upload-offset", "0"}});
  }

  Result<HttpReply> patch(const HttpRequest& request, const std::string& id) {
    if (on_patch) on_patch();
    EXPECT_EQ(header(request, "Content-Type"), "application/offset+octet-stream");
    EXPECT_EQ(header(request, "Tus-Resumable"), "1.0.0");
    if (!refusals.empty()) {
      const int status = refusals.front();
      refusals.erase(refusals.begin());
      return problem(status, refusal_code);
    }
    std::string& bytes = uploads[id];
    if (header(request, "Upload-Offset") != std::to_string(bytes.size()))
      return problem(409, "upload_offset");
    std::size_t room = request.read_bytes;
    bool cut = false;
    if (!cuts.empty()) {
      cut = cuts.front() < room;
      room = std::min(room, cuts.front());
      cuts.erase(cuts.begin());
    }
    std::string piece(1000, '\0');
    std::size_t taken = 0;
    while (taken < room) {
      const std::size_t count = request.read_body(piece.data(), piece.size());
      if (count == kReadStop) return Error{Errc::io, "interrupted"};
      if (count == 0) break;
      // What was read here but did not arrive is lost, as in a socket's buffer.
      bytes += piece.substr(0, std::min(count, room - taken));
      taken += count;
    }
    if (cut) return Error{Errc::io, "the line broke"};
    return answer(204, {}, {{"upload-offset", std::to_string(bytes.size())}});
  }

  std::optional<Result<HttpReply>> serve(const HttpRequest& request) {
    const std::string path = request.url.substr(request.url.find("/api/v1"));
    if (request.method == "POST" && path == "/api/v1/uploads") return create(request);
    const std::string prefix = "/api/v1/uploads/";
    if (path.rfind(prefix, 0) != 0 || path.find(':') != std::string::npos) return std::nullopt;
    const std::string id = path.substr(prefix.size());
    if (uploads.count(id) == 0) return problem(404, "not_found");
    if (request.method == "PATCH") return patch(request, id);
    const std::string& bytes = uploads[id];
    const bool complete = bytes.size() == lengths[id];
    return answer(200, {{"id", id},
                        {"file_name", "cells.csv"},
                        {"length", lengths[id]},
                        {"offset", bytes.size()},
                        {"complete", complete},
                        {"sha256", complete ? json(lies_about_hash ? "00" : sha256_hex(bytes)) : json()}});
  }
};

class DataUpload : public testing::Test {
 protected:
  DataUpload() {
    for (const char* id : {"upl_1", "upl_2"}) {
      bench.box.on(
          std::string("POST /api/v1/uploads/") + id + ":inspect", 200,
          R"({"options":{"format":"csv","delimiter":";","header":true,"encoding":"utf8","compression":"none"},
                       "columns":[{"name":"age","type":"integer","evidence":"all are whole numbers","missing":2,
                                   "sensitive":false,"constant":false,"identifier":false,"sensitive_reason":""}],
                       "sample_rows":3,"notes":["The second line looks odd."]})");
    }
    bench.box.on("POST /api/v1/datasets", 202, R"({"id":"op_1","state":"queued"})");
    bench.box.on("GET /api/v1/operations/op_1", 200, R"({"id":"op_1","state":"running","step":"reading"})");
    bench.box.on("GET /api/v1/operations/op_1", 200, R"({"id":"op_1","state":"done","dataset_id":"dst_1"})");
    bench.box.on("GET /api/v1/datasets/dst_1", 200,
                 R"({"id":"dst_1","name":"cells","rows":1234567,"columns":1,"bad_rows":0,"version":1})");
    bench.io.pauses_left = 100;
    std::string text;
    for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919) + ";x\n";
    write(text);
  }
  void write(const std::string& text) {
    content = text;
    std::ofstream(file) << text;
  }
  bool nothing_remembered() {
    const auto dir = std::filesystem::path(bench.env.config_dir) / "uploads";
    return !std::filesystem::exists(dir) || std::filesystem::is_empty(dir);
  }

  Bench bench;
  TusBox box{bench};
  std::string file = (bench.home / "cells.csv").string();
  std::string content;
};

TEST_F(DataUpload, FileBecomesADataSet) {
  const Outcome outcome = bench.run({"data", "upload", file, "--type", "age=real", "--delimiter", ";"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(box.uploads["upl_1"], content);
  EXPECT_EQ(box.metadata["upl_1"], "filename Y2VsbHMuY3N2");
  const json body = json::parse(bench.box.last("POST", "/datasets").body);
  EXPECT_EQ(body, json::parse(R"({"upload_id":"upl_1","name":"cells","hints":{"delimiter":";"},
                                  "columns":[{"column":"age","type":"real"}]})"));
  EXPECT_NE(outcome.err.find("all are whole numbers"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("The second line looks odd."), std::string::npos);
  EXPECT_NE(outcome.err.find(sha256_hex(content)), std::string::npos);
  EXPECT_NE(outcome.out.find("1,234,567"), std::string::npos) << outcome.out;
  EXPECT_TRUE(nothing_remembered());
}

TEST_F(DataUpload, BrokenLinesAreMended) {
  box.cuts = {10'000, 0, 20'001, 5};
  const Outcome outcome = bench.run({"data", "upload", file});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(box.uploads["upl_1"], content);
  EXPECT_EQ(box.created, 1);
  EXPECT_NE(outcome.err.find("the line broke; trying again"), std::string::npos) << outcome.err;
}

TEST_F(DataUpload, BusyAndAwayAreWaitedFor) {
  box.refusal_code = "upload_busy";
  box.refusals = {423, 503, 429, 408};
  EXPECT_EQ(bench.run({"data", "upload", file}).code, 0);
  EXPECT_EQ(box.uploads["upl_1"], content);
}

TEST_F(DataUpload, AFullDiskIsNotTriedAgain) {
  box.refusals = {507};
  const Outcome outcome = bench.run({"data", "upload", file});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("disk_full"), std::string::npos);
  EXPECT_EQ(box.uploads["upl_1"], "");
}

TEST_F(DataUpload, CtrlCSaysHowToGoOnAndTheNextRunDoes) {
  box.cuts = {30'000};
  box.on_patch = [this] {
    if (!box.uploads["upl_1"].empty()) bench.io.interrupted = true;
  };
  Outcome outcome = bench.run({"data", "upload", file});
  EXPECT_EQ(outcome.code, 130);
  EXPECT_NE(outcome.err.find("The same command goes on from there"), std::string::npos) << outcome.err;
  EXPECT_EQ(box.uploads["upl_1"].size(), 30'000U);
  const auto remembered = *std::filesystem::directory_iterator(bench.env.config_dir + "/uploads");
  EXPECT_EQ(std::filesystem::status(remembered).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  box.on_patch = nullptr;
  bench.io.interrupted = false;
  outcome = bench.run({"data", "upload", file, "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(box.uploads["upl_1"], content);
  EXPECT_EQ(box.created, 1);
  EXPECT_NE(outcome.err.find("Going on with cells.csv at 29.3 KiB"), std::string::npos) << outcome.err;
}

TEST_F(DataUpload, GivesUpAfterManyFailuresInVain) {
  box.cuts.assign(100, 0);
  const Outcome outcome = bench.run({"data", "upload", file});
  EXPECT_EQ(outcome.code, 7);
  EXPECT_NE(outcome.err.find("run the same command again"), std::string::npos) << outcome.err;
}

TEST_F(DataUpload, WhatTheBoxThrewAwayIsBegunAnew) {
  box.cuts = {1000};
  box.on_patch = [this] {
    if (!box.uploads["upl_1"].empty()) bench.io.interrupted = true;
  };
  bench.run({"data", "upload", file});
  bench.io.interrupted = false;
  box.on_patch = nullptr;
  box.uploads.clear();
  EXPECT_EQ(bench.run({"data", "upload", file, "--resume"}).code, 3);
  EXPECT_EQ(bench.run({"data", "upload", file}).code, 0);
  EXPECT_EQ(box.uploads["upl_2"], content);
}

TEST_F(DataUpload, AChangedFileIsAnotherFile) {
  box.cuts = {1000};
  box.on_patch = [this] {
    if (!box.uploads["upl_1"].empty()) bench.io.interrupted = true;
  };
  bench.run({"data", "upload", file});
  bench.io.interrupted = false;
  box.on_patch = nullptr;
  write(content + "1;2\n");
  EXPECT_EQ(bench.run({"data", "upload", file}).code, 0);
  EXPECT_EQ(box.created, 2);
  EXPECT_EQ(box.uploads["upl_2"], content);
}

TEST_F(DataUpload, RestartBeginsAnew) {
  EXPECT_EQ(bench.run({"data", "upload", file, "--upload-only"}).code, 0);
  EXPECT_EQ(bench.run({"data", "upload", file, "--restart", "--upload-only"}).code, 0);
  EXPECT_EQ(box.created, 2);
  EXPECT_EQ(bench.run({"data", "upload", file, "--restart", "--resume"}).code, 2);
}

TEST_F(DataUpload, AnotherHashIsAnError) {
  box.lies_about_hash = true;
  const Outcome outcome = bench.run({"data", "upload", file});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("differs"), std::string::npos);
  EXPECT_EQ(bench.box.last("POST", "/datasets").url, "");
  EXPECT_TRUE(nothing_remembered());
}

TEST_F(DataUpload, AFileThatShrinksIsSaid) {
  box.on_patch = [this] { std::filesystem::resize_file(file, 100); };
  const Outcome outcome = bench.run({"data", "upload", file});
  EXPECT_EQ(outcome.code, 6) << outcome.err;
  EXPECT_NE(outcome.err.find("shorter"), std::string::npos) << outcome.err;
}

TEST_F(DataUpload, AnEmptyFileIsSentToo) {
  write("");
  EXPECT_EQ(bench.run({"data", "upload", file, "--upload-only"}).code, 0);
  EXPECT_EQ(box.created, 1);
}

TEST_F(DataUpload, WhatIsNoFileIsRefused) {
  EXPECT_EQ(bench.run({"data", "upload", file + ".no"}).code, 3);
  EXPECT_EQ(bench.run({"data", "upload", bench.home.string()}).code, 6);
  EXPECT_EQ(box.created, 0);
}

TEST_F(DataUpload, ScriptsGetTheResource) {
  Outcome outcome = bench.run({"data", "upload", file, "--json"});
  EXPECT_EQ(json::parse(outcome.out)["id"], "dst_1");
  outcome = bench.run({"data", "upload", file, "--no-wait"});
  EXPECT_EQ(outcome.out, "op_1\n");
  outcome = bench.run({"data", "upload", file, "--upload-only", "--json"});
  EXPECT_EQ(json::parse(outcome.out)["sha256"], sha256_hex(content));
  outcome = bench.run({"data", "upload", file, "--progress", "json", "--upload-only"});
  const json first = json::parse(outcome.err.substr(0, outcome.err.find('\n')));
  EXPECT_EQ(first["event"], "sending");
  EXPECT_EQ(first["total"], content.size());
}

TEST_F(DataUpload, ATerminalGetsABar) {
  bench.io.terminal = true;
  const Outcome outcome = bench.run({"data", "upload", file});
  EXPECT_NE(outcome.err.find("[########################] 100 %"), std::string::npos) << outcome.err;
}

TEST_F(DataUpload, AFailedReadingIsExitCode8) {
  bench.box.on("POST /api/v1/datasets", 202, R"({"id":"op_2","state":"queued"})");
  bench.run({"data", "upload", file});
  bench.box.on("GET /api/v1/operations/op_2", 200,
               R"({"id":"op_2","state":"failed","error":"More than 1 % of the rows cannot be read."})");
  const Outcome outcome = bench.run({"data", "upload", file});
  EXPECT_EQ(outcome.code, 8);
  EXPECT_NE(outcome.err.find("More than 1 % of the rows"), std::string::npos);
}

TEST_F(DataUpload, OfSeveralFilesOneMayFail) {
  const Outcome outcome = bench.run({"data", "upload", file, file + ".no"});
  EXPECT_EQ(outcome.code, 9) << outcome.err;
  EXPECT_NE(outcome.err.find("1 of 2 files failed"), std::string::npos);
  EXPECT_EQ(bench.run({"data", "upload", file, file, "--name", "x"}).code, 2);
}

TEST_F(DataUpload, InspectMakesNothing) {
  const Outcome outcome = bench.run({"data", "inspect", file});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Understood as csv, cells between \";\", with header"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("2 missing in the sample"), std::string::npos);
  EXPECT_EQ(bench.box.last("POST", "/datasets").url, "");
}

TEST_F(DataUpload, WaitingSurvivesARestartOfTheBoxAndCtrlCLeavesItRunning) {
  int asked = 0;
  bench.box.serve = [&](const HttpRequest& request) -> std::optional<Result<HttpReply>> {
    if (request.url.find("/operations/op_1") == std::string::npos || ++asked > 3) return std::nullopt;
    return Result<HttpReply>(Error{Errc::io, "nothing answers"});
  };
  EXPECT_EQ(bench.run({"operations", "wait", "op_1"}).code, 0);
  bench.box.on("GET /api/v1/operations/op_9", 200, R"({"id":"op_9","state":"running","step":"reading"})");
  bench.io.pauses_left = 2;
  const Outcome outcome = bench.run({"operations", "wait", "op_9"});
  EXPECT_NE(outcome.err.find("samovar operations wait op_9"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace samovar::cli
