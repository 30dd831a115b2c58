#include "daemon/cli/uploader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/encoding.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/text_table.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr std::uint64_t kPartBytes = 64ULL << 20;  // a session must not end while one part is on its way
constexpr unsigned kFailuresMax = 12;              // about five minutes of waiting
constexpr long kPauseMsMax = 30'000;

std::string base64(std::string_view text) {
  std::string out = base64url_encode(as_bytes(text));
  for (char& c : out) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  while (out.size() % 4 != 0) out += '=';
  return out;
}

Error file_error(const std::string& path) {
  return Error{errno == ENOENT ? Errc::not_found : Errc::invalid,
               fmt::format("cannot read {}: {}", path, std::strerror(errno))};
}

std::int64_t mtime_ns(const struct stat& info) {
  return static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
}

}  // namespace

Uploader::Uploader(App& app, Resume resume) : app_(app), resume_(resume) {}

Uploader::~Uploader() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> Uploader::open(const std::string& path) {
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) return file_error(path);
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return file_error(path);
  if (!S_ISREG(info.st_mode))
    return Error{Errc::invalid, fmt::format("{} is no file: its length must be known beforehand", path)};
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return file_error(path);
  file_.path = real;
  std::free(real);  // realpath's
  file_.name = file_.path.substr(file_.path.rfind('/') + 1);
  file_.size = static_cast<std::uint64_t>(info.st_size);
  file_.mtime_ns = mtime_ns(info);
  memory_ = std::make_unique<UploadMemory>(app_, file_);
  hash_ = std::make_unique<Sha256>();
  ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  return {};
}

void Uploader::forget() {
  if (memory_) memory_->forget();
}

bool Uploader::gone() const { return app_.problem_status() == 404 || app_.problem_status() == 410; }

Result<json> Uploader::ask() { return app_.get("/uploads/" + url_encode(id_)); }

Result<void> Uploader::begin() {
  const auto known = resume_ == Resume::never ? std::nullopt : memory_->recall();
  if (known) {
    id_ = *known;
    auto found = find_offset();
    if (found) {
      if (offset_ > 0)
        app_.note(fmt::format("Going on with {} at {} of {}.", printable(file_.name),
                              human_bytes(static_cast<double>(offset_)),
                              human_bytes(static_cast<double>(file_.size))));
      return {};
    }
    if (!gone()) return found;
    forget();
  }
  if (resume_ == Resume::only)
    return Error{Errc::not_found,
                 fmt::format("there is no unfinished upload of {}: leave --resume out", file_.path)};
  return create();
}

Result<void> Uploader::create() {
  Call call;
  call.method = "POST";
  call.path = "/uploads";
  call.headers = {{"Tus-Resumable", "1.0.0"},
                  {"Upload-Length", std::to_string(file_.size)},
                  {"Upload-Metadata", "filename " + base64(file_.name)}};
  SAMOVAR_TRY(HttpReply reply, app_.call(std::move(call)));
  const std::string_view location = reply.header("location");
  id_ = std::string(location.substr(location.rfind('/') + 1));
  if (id_.empty()) return Error{Errc::corrupt, "the box gave no address for the upload"};
  offset_ = 0;
  auto kept = memory_->remember(id_);
  if (!kept) app_.warn("a later run could not go on with this upload: " + kept.error().message());
  return {};
}

Result<void> Uploader::find_offset() {
  SAMOVAR_TRY(const json upload, ask());
  const auto offset = upload.value("offset", std::uint64_t{0});
  if (upload.value("length", std::uint64_t{0}) != file_.size || offset > file_.size)
    return Error{Errc::conflict, fmt::format("the upload {} is of another file: use --restart", id_)};
  offset_ = offset;
  return {};
}

// The bytes that the box has already, read here only to know their hash.
Result<void> Uploader::hash_up_to(std::uint64_t offset) {
  std::string buffer(1 << 20, '\0');
  while (hashed_ < offset) {
    const std::size_t room =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), offset - hashed_));
    const ssize_t count = ::pread(fd_, buffer.data(), room, static_cast<off_t>(hashed_));
    if (count < 0 && errno == EINTR && app_.io().pause_ms(0)) continue;
    if (count <= 0 || !app_.io().pause_ms(0)) return Error{Errc::io, "interrupted"};
    hash_->update(std::string_view(buffer).substr(0, static_cast<std::size_t>(count)));
    hashed_ += static_cast<std::uint64_t>(count);
  }
  return {};
}

std::size_t Uploader::read_some(char* out, std::size_t room) {
  if (!app_.io().pause_ms(0)) return kReadStop;
  room = static_cast<std::size_t>(std::min<std::uint64_t>(room, read_end_ - read_at_));
  if (room == 0) return 0;
  ssize_t count = 0;
  do {
    count = ::pread(fd_, out, room, static_cast<off_t>(read_at_));
  } while (count < 0 && errno == EINTR && app_.io().pause_ms(0));
  if (count <= 0) {
    read_failure_ = count == 0 ? "it became shorter while it was read" : std::strerror(errno);
    return kReadStop;
  }
  const auto got = static_cast<std::uint64_t>(count);
  // After a break bytes are sent again, but they enter the hash once.
  if (read_at_ + got > hashed_) {
    const std::uint64_t skip = hashed_ - read_at_;
    hash_->update(std::string_view(out + skip, static_cast<std::size_t>(got - skip)));
    hashed_ = read_at_ + got;
  }
  read_at_ += got;
  return static_cast<std::size_t>(count);
}

// The new offset. An error of the transfer leaves offset_ as it was known last.
Result<std::uint64_t> Uploader::send_part(Progress& progress) {
  SAMOVAR_CHECK(hash_up_to(offset_));
  read_at_ = offset_;
  read_end_ = std::min(file_.size, offset_ + kPartBytes);
  Call call;
  call.method = "PATCH";
  call.path = "/uploads/" + url_encode(id_);
  call.headers = {{"Tus-Resumable", "1.0.0"},
                  {"Upload-Offset", std::to_string(offset_)},
                  {"Content-Type", "application/offset+octet-stream"}};
  call.read_bytes = read_end_ - offset_;
  call.read_body = [this, &progress](char* out, std::size_t room) {
    const std::size_t count = read_some(out, room);
    progress.update(read_at_, file_.size);
    return count;
  };
  call.go_on = [this] { return app_.io().pause_ms(0); };
  SAMOVAR_TRY(HttpReply reply, app_.call(std::move(call)));
  const std::string_view text = reply.header("upload-offset");
  std::uint64_t offset = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offset);
  if (error != std::errc() || end != text.data() + text.size() || offset > file_.size)
    return Error{Errc::corrupt, "the box did not say how much it has: is the CLI as new as the box?"};
  return offset;
}

bool Uploader::worth_another_try(const Error& error) const {
  switch (app_.problem_status()) {
    case 0:
      return error.code() == Errc::io || error.code() == Errc::timeout;
    case 409:
      return app_.problem_code() == "upload_offset";
    case 423:  // another writer is being noticed as gone, or the box waits for its passphrase
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return true;
    default:
      return false;
  }
}

Error Uploader::interrupted() const {
  return Error{
      Errc::io,
      fmt::format("interrupted; {} of {} are safe in the box. The same command goes on from there",
                  human_bytes(static_cast<double>(offset_)), human_bytes(static_cast<double>(file_.size)))};
}

// Pauses longer each time; gives the error back when it was the last straw.
Result<void> Uploader::wait_after(const Error& error, Progress& progress) {
  if (!read_failure_.empty())
    return Error{Errc::invalid, fmt::format("cannot read {}: {}", file_.path, read_failure_)};
  if (!app_.io().pause_ms(0)) return interrupted();
  if (!worth_another_try(error)) return error;
  if (++failures_ > kFailuresMax)
    return Error{
        error.code(),
        fmt::format("{}; {} of {} are safe in the box: run the same command again to go on", error.message(),
                    human_bytes(static_cast<double>(offset_)), human_bytes(static_cast<double>(file_.size)))};
  const long pause = std::min(kPauseMsMax, 500L << std::min(failures_, 10U));
  progress.say(fmt::format("{}; trying again in {} s", printable(error.message()), (pause + 999) / 1000));
  if (!app_.io().pause_ms(pause)) return interrupted();
  return {};
}

Result<void> Uploader::send_all(Progress& progress) {
  progress.update(offset_, file_.size);
  bool sure = true;  // offset_ is what the box said last
  while (offset_ < file_.size || !sure) {
    if (!sure) {
      auto found = find_offset();
      if (!found && gone() && !std::exchange(begun_anew_, true)) {
        progress.say("The box has thrown the unfinished upload away; beginning again.");
        found = create();
      }
      if (!found) {
        SAMOVAR_CHECK(wait_after(found.error(), progress));
        continue;
      }
      sure = true;
      continue;
    }
    auto sent = send_part(progress);
    if (sent) {
      offset_ = *sent;
      failures_ = 0;
      progress.update(offset_, file_.size);
      continue;
    }
    const std::uint64_t before = offset_;
    if (gone()) {
      sure = false;
      continue;
    }
    SAMOVAR_CHECK(wait_after(sent.error(), progress));
    auto found = find_offset();
    sure = static_cast<bool>(found);
    if (offset_ > before) failures_ = 0;
  }
  progress.flush();
  return {};
}

Result<json> Uploader::send(const std::string& path) {
  SAMOVAR_CHECK(open(path));
  SAMOVAR_CHECK(begin());
  {
    Progress progress(app_, "sending", file_.name);
    SAMOVAR_CHECK(send_all(progress));
  }
  if (!hash_up_to(file_.size)) return interrupted();
  struct stat now {};
  if (::fstat(fd_, &now) != 0 || static_cast<std::uint64_t>(now.st_size) != file_.size ||
      mtime_ns(now) != file_.mtime_ns) {
    forget();
    return Error{Errc::conflict,
                 fmt::format("{} was changed while it was sent: run the command again", path)};
  }
  SAMOVAR_TRY(json upload, ask());
  const std::string here = hash_->finish();
  const std::string there = upload.contains("sha256") && upload["sha256"].is_string()
                                ? upload["sha256"].get<std::string>()
                                : std::string();
  if (here != there) {
    forget();
    return Error{
        Errc::corrupt,
        fmt::format("what arrived differs from {}: SHA-256 here {}, in the box {}. Run the command again",
                    path, here, there.empty() ? "none" : there)};
  }
  return upload;
}

}  // namespace samovar::cli
