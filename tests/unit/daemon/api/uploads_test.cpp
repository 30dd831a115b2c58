// tus and PUT through guard and handlers, over a data service in memory.
#include <gtest/gtest.h>

#include "daemon/api/tus.hpp"
#include "tests/unit/daemon/api/box.hpp"

namespace samovar::api::test {
namespace {

constexpr const char* kUploads = "/api/v1/uploads";

class Uploads : public testing::Test {
 protected:
  As tus(As as, std::map<std::string, std::string> more = {}) {
    as.headers = std::move(more);
    as.headers["Tus-Resumable"] = "1.0.0";
    return as;
  }
  // The path of a new upload.
  std::string create(const As& as, std::uint64_t length, const std::string& name = "cells.csv") {
    const Reply reply = box.send(Method::post, kUploads, nullptr,
                                 tus(as, {{"Upload-Length", std::to_string(length)},
                                          {"Upload-Metadata", format_tus_metadata({{"filename", name}})}}));
    EXPECT_EQ(reply.status, 201) << reply.response.body;
    return reply.header("Location");
  }
  Reply patch(const std::string& path, const As& as, std::uint64_t offset, const std::string& bytes) {
    return box.send(Method::patch, path, bytes, tus(as, {{"Upload-Offset", std::to_string(offset)}}));
  }

  Box box;
  As ann = box.log_in(box.add_user("ann", cluster::Role::analyst));
};

TEST_F(Uploads, OptionsTellWhatIsOffered) {
  const Reply reply = box.send(Method::options, kUploads, nullptr, {});
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.header("Tus-Version"), "1.0.0");
  EXPECT_EQ(reply.header("Tus-Extension"), "creation,termination,expiration");
  EXPECT_EQ(reply.header("Tus-Max-Size"), std::to_string(kUploadBytesMax));
}

TEST_F(Uploads, AFileInTwoParts) {
  const std::string path = create(ann, 11);
  EXPECT_EQ(path.rfind("/api/v1/uploads/upl_", 0), 0U);
  Reply reply = patch(path, ann, 0, "hello ");
  EXPECT_EQ(reply.status, 204) << reply.response.body;
  EXPECT_EQ(reply.header("Upload-Offset"), "6");
  EXPECT_EQ(reply.header("Tus-Resumable"), "1.0.0");
  EXPECT_EQ(reply.header("Samovar-SHA256"), "");
  reply = box.send(Method::head, path, nullptr, tus(ann));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.header("Upload-Offset"), "6");
  EXPECT_EQ(reply.header("Upload-Length"), "11");
  EXPECT_EQ(reply.header("Cache-Control"), "no-store");
  EXPECT_NE(reply.header("Upload-Expires"), "");
  EXPECT_EQ(parse_tus_metadata(reply.header("Upload-Metadata")).value()[0].second, "cells.csv");
  reply = patch(path, ann, 6, "world");
  EXPECT_EQ(reply.header("Upload-Offset"), "11");
  EXPECT_EQ(reply.header("Samovar-SHA256"), "sha-of-11");
  reply = box.get(path, ann);
  EXPECT_EQ(reply.body["complete"], true);
  EXPECT_EQ(reply.body["file_name"], "cells.csv");
  EXPECT_EQ(box.get(kUploads, ann).body["items"][0], reply.body);
  EXPECT_EQ(box.data.held.begin()->second.bytes, "hello world");
}

TEST_F(Uploads, TheVersionIsChecked) {
  const std::string path = create(ann, 5);
  for (const char* version : {"", "0.2.2", "2.0.0"}) {
    for (const Method method : {Method::post, Method::head, Method::patch}) {
      As as = tus(ann, {{"Upload-Length", "5"}, {"Upload-Offset", "0"}});
      as.headers["Tus-Resumable"] = version;
      if (*version == 0) as.headers.erase("Tus-Resumable");
      const Reply reply = box.send(method, method == Method::post ? kUploads : path, nullptr, as);
      EXPECT_EQ(reply.status, 412) << version << to_string(method);
      EXPECT_EQ(reply.header("Tus-Version"), "1.0.0");
    }
  }
  As as = tus(ann);
  as.headers["Tus-Resumable"] = "9";
  EXPECT_EQ(box.send(Method::del, path, nullptr, as).status, 412);
}

TEST_F(Uploads, CreationNeedsALengthAndSoundMetadata) {
  const std::map<std::string, std::string> bad[] = {
      {},
      {{"Upload-Length", "-5"}},
      {{"Upload-Length", "five"}},
      {{"Upload-Defer-Length", "1"}},
      {{"Upload-Length", "5"}, {"Upload-Metadata", "filename !!!!"}},
      {{"Upload-Length", "5"}, {"Upload-Metadata", "filename /w=="}},
      {{"Upload-Length", "5"},
       {"Upload-Metadata", format_tus_metadata({{"filename", std::string(256, 'n')}})}},
  };
  for (const auto& headers : bad) {
    const Reply reply = box.send(Method::post, kUploads, nullptr, tus(ann, headers));
    EXPECT_EQ(reply.status, 400) << reply.response.body;
    EXPECT_EQ(reply.header("Tus-Resumable"), "1.0.0");
  }
  const Reply large = box.send(Method::post, kUploads, nullptr,
                               tus(ann, {{"Upload-Length", std::to_string(kUploadBytesMax + 1)}}));
  EXPECT_EQ(large.status, 413);
  EXPECT_TRUE(box.data.held.empty());
}

TEST_F(Uploads, NamesAreDataWhateverTheySay) {
  for (const std::string name : {"../../../etc/shadow", "/etc/passwd", "a\nb.csv", "данные.csv", "con:"}) {
    const std::string path = create(ann, 1, name);
    EXPECT_EQ(path.find(".."), std::string::npos);
    EXPECT_EQ(box.get(path, ann).body["file_name"], name);
  }
}

TEST_F(Uploads, NoRoomAndNoQuotaAreSaidAtCreation) {
  box.data.create_error = Error{Errc::no_space, "the disk is full"};
  Reply reply = box.send(Method::post, kUploads, nullptr, tus(ann, {{"Upload-Length", "5"}}));
  EXPECT_EQ(reply.status, 507);
  EXPECT_EQ(reply.code(), "disk_full");
  box.data.create_error = Error{Errc::busy, "over your quota"};
  reply = box.send(Method::post, kUploads, nullptr, tus(ann, {{"Upload-Length", "5"}}));
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(reply.code(), "quota");
}

TEST_F(Uploads, ThePatchIsCheckedBeforeItIsRead) {
  const std::string path = create(ann, 10);
  As as = tus(ann, {{"Upload-Offset", "0"}, {"Content-Type", "application/octet-stream"}});
  as.cookie.clear();
  as.bearer = box.token_of(box.node.state->user_by_name("ann").value(), {"write"});
  EXPECT_EQ(box.send(Method::patch, path, "bytes", as).status, 415);
  EXPECT_EQ(box.send(Method::patch, path, "bytes", tus(ann)).status, 400);
  const Reply reply = patch(path, ann, 3, "bytes");
  EXPECT_EQ(reply.status, 409);
  EXPECT_EQ(reply.code(), "upload_offset");
  EXPECT_EQ(patch(path, ann, 0, "more than ten").status, 413);
  EXPECT_EQ(patch("/api/v1/uploads/upl_none", ann, 0, "x").status, 404);
  EXPECT_EQ(box.data.held.begin()->second.bytes, "");
}

TEST_F(Uploads, AChunkedBodyIsBoundToo) {
  const std::string path = create(ann, 7);
  As as = tus(ann, {{"Upload-Offset", "0"}});
  as.chunked = true;
  const Reply reply = box.send(Method::patch, path, "more than seven", as);
  EXPECT_EQ(reply.status, 413) << reply.response.body;
  EXPECT_EQ(box.data.held.begin()->second.bytes, "more ") << "what fitted is kept";
}

TEST_F(Uploads, ErrorsOnTheWayHaveTheirWords) {
  const std::string path = create(ann, 100);
  const struct {
    Errc code;
    int status;
    const char* name;
  } cases[] = {{Errc::busy, 423, "upload_busy"},
               {Errc::no_space, 507, "disk_full"},
               {Errc::timeout, 408, "body_too_slow"},
               {Errc::conflict, 409, "upload_offset"}};
  std::uint64_t offset = 0;
  for (const auto& one : cases) {
    box.data.append_error = Error{one.code, "for a reason"};
    const Reply reply = patch(path, ann, offset, "12345");
    EXPECT_EQ(reply.status, one.status);
    EXPECT_EQ(reply.code(), one.name);
    offset += 5;
  }
}

TEST_F(Uploads, ExpiredIsGone) {
  const std::string path = create(ann, 5);
  box.advance(std::chrono::hours(24 * 8));
  const As again = box.log_in(box.node.state->user_by_name("ann").value());
  EXPECT_EQ(box.send(Method::head, path, nullptr, tus(again)).status, 410);
  EXPECT_EQ(patch(path, again, 0, "hello").code(), "upload_expired");
}

TEST_F(Uploads, AreTheirOwnersOnly) {
  const std::string path = create(ann, 5);
  const As bob = box.log_in_as(cluster::Role::analyst);
  EXPECT_EQ(box.get(path, bob).status, 404);
  EXPECT_EQ(box.send(Method::head, path, nullptr, tus(bob)).status, 404);
  EXPECT_EQ(patch(path, bob, 0, "hello").status, 404);
  EXPECT_EQ(box.send(Method::del, path, nullptr, tus(bob)).status, 404);
  EXPECT_TRUE(box.get(kUploads, bob).body["items"].empty());
  EXPECT_EQ(box.send(Method::del, path, nullptr, tus(ann)).status, 204);
  EXPECT_EQ(box.get(path, ann).status, 404);
}

TEST_F(Uploads, ABrowserNeedsTheTypeAndTheCsrfValue) {
  const std::string path = create(ann, 5);
  for (const char* type :
       {"text/plain", "application/json", "multipart/form-data", "application/octet-stream"}) {
    const Reply reply =
        box.send(Method::patch, path, "hello", tus(ann, {{"Upload-Offset", "0"}, {"Content-Type", type}}));
    EXPECT_EQ(reply.code(), "csrf") << type;
  }
  As stranger = ann;
  stranger.csrf = "no";
  EXPECT_EQ(patch(path, stranger, 0, "hello").code(), "csrf");
  EXPECT_EQ(patch(path, ann, 0, "hello").status, 204);
}

TEST_F(Uploads, PutTakesAWholeFile) {
  As curl;
  curl.bearer = box.token_of(box.node.state->user_by_name("ann").value(), {"write"});
  curl.headers["Content-Type"] = "application/octet-stream";
  Reply reply = box.send(Method::put, "/api/v1/uploads/cells.csv", "a,b\n1,2\n", curl);
  EXPECT_EQ(reply.status, 201) << reply.response.body;
  EXPECT_EQ(reply.body["sha256"], "sha-of-8");
  EXPECT_EQ(reply.body["file_name"], "cells.csv");
  reply = box.send(Method::put, "/api/v1/uploads/cells.csv?dataset=Cells", "a,b\n1,2\n", curl);
  EXPECT_EQ(reply.status, 202) << reply.response.body;
  EXPECT_EQ(reply.body["operation"]["title"], "Cells");
  EXPECT_EQ(reply.header("Location"),
            "/api/v1/operations/" + reply.body["operation"]["id"].get<std::string>());
  EXPECT_EQ(box.data.seen_request.name, "Cells");
  curl.chunked = true;
  EXPECT_EQ(box.send(Method::put, "/api/v1/uploads/cells.csv", "x", curl).status, 411);
}

TEST_F(Uploads, APutThatFailsLeavesNothing) {
  As curl;
  curl.bearer = box.token_of(box.admin, {"write"});
  box.data.append_error = Error{Errc::no_space, "full"};
  EXPECT_EQ(box.send(Method::put, "/api/v1/uploads/a.csv", "twelve bytes", curl).status, 507);
  EXPECT_TRUE(box.data.held.empty());
}

TEST_F(Uploads, InspectionTakesHintsAndTellsWhatItFound) {
  const std::string path = create(ann, 5);
  EXPECT_EQ(box.post(path + ":inspect", nlohmann::json::object(), ann).code(), "upload_unfinished");
  patch(path, ann, 0, "hello");
  Reply reply = box.post(path + ":inspect", {{"delimiter", ";"}, {"header", false}}, ann);
  EXPECT_EQ(reply.status, 200) << reply.response.body;
  EXPECT_EQ(reply.body["columns"][0]["type"], "integer");
  EXPECT_EQ(box.data.seen_hints.delimiter, ';');
  EXPECT_EQ(box.post(path + ":inspect", nullptr, ann).status, 200) << "no hints at all";
  EXPECT_EQ(box.post(path + ":inspect", {{"delimiter", "abc"}}, ann).status, 422);
  box.data.inspect_error = Error{Errc::invalid, "This is a picture, not a table."};
  reply = box.post(path + ":inspect", nullptr, ann);
  EXPECT_EQ(reply.status, 422);
  EXPECT_EQ(reply.code(), "bad_data");
}

}  // namespace
}  // namespace samovar::api::test
