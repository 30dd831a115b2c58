#include "daemon/cluster/command.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace samovar::cluster {
namespace {

constexpr std::size_t kTypeBytesMax = 64;
constexpr std::size_t kRequestIdBytesMax = 128;
constexpr std::string_view kNoQuorum = "nothing can be changed now: ";
constexpr std::string_view kLastCopies = "this node has the only copy of ";

struct RefusalText {
  Refusal refusal;
  std::string_view message;
};
constexpr std::array kRefusals = {
    RefusalText{Refusal::stale_revision, "it was changed meanwhile: load it again, then repeat your change"},
    RefusalText{Refusal::name_taken, "this user name is taken: choose another"},
    RefusalText{Refusal::last_admin, "this is the last active administrator: make another one first"},
    RefusalText{Refusal::own_account,
                "nobody changes their own role, or disables or deletes themselves: ask another "
                "administrator"},
    RefusalText{Refusal::already_done, "this box is already set up"},
    RefusalText{Refusal::request_reused, "this request id was used for another command: use a new one"},
    RefusalText{Refusal::dataset_name_taken,
                "another data set has this name: choose another name, or rename that one first"},
    RefusalText{Refusal::dataset_busy,
                "a new version of this data set is being made: wait for it, or cancel it first"},
    RefusalText{Refusal::dataset_binned, "this data set is in the bin: restore it first"},
    RefusalText{Refusal::dataset_not_binned,
                "this data set is not in the bin: delete it first, then it can be destroyed"},
    RefusalText{Refusal::owns_datasets,
                "this user owns data sets: hand them over to another user, or destroy them, first"},
    RefusalText{Refusal::owns_models,
                "this user owns models: hand them over to another user, or delete them, first"},
    RefusalText{Refusal::dataset_needed,
                "a job that is not done, or a model in production, was made from this data set: cancel that "
                "job, or take that model out of production, first"},
    RefusalText{Refusal::job_state, "the job's state does not allow this: load it again to see where it is"},
    RefusalText{Refusal::job_protected, "this job is protected: take the protection away first"},
    RefusalText{Refusal::model_name_taken,
                "another user has a model of this name: choose another name for yours"},
    RefusalText{Refusal::model_serving,
                "this version is in production: promote another one, or take the model out of production, "
                "first"},
    RefusalText{Refusal::model_protected, "this version is protected: take the protection away first"},
    RefusalText{Refusal::no_rollback, "no other version was in production before this one"},
    RefusalText{Refusal::node_known, "a node with this id is a member, or was one"},
    RefusalText{Refusal::last_node, "the last node cannot be removed"},
    RefusalText{Refusal::last_active,
                "all other nodes are being drained, and would be left without a vote: take one of them back "
                "(resume) first"},
};

Fields encode_actor(const Actor& actor) {
  Fields out;
  out.set("user", actor.user_id).set("name", actor.username).set("auth", to_string(actor.auth));
  out.set("address", actor.address);
  if (actor.role) out.set("role", to_string(*actor.role));
  return out;
}

Result<AuthKind> parse_auth(const std::string& text) {
  for (const auto auth : {AuthKind::none, AuthKind::password, AuthKind::session, AuthKind::token,
                          AuthKind::setup, AuthKind::system})
    if (text == to_string(auth)) return auth;
  return Error{Errc::invalid, "actor.auth: is unknown"};
}

Result<Actor> decode_actor(const Fields& fields) {
  Actor actor;
  SAMOVAR_TRY(actor.user_id, fields.text("user", 64));
  SAMOVAR_TRY(actor.username, fields.text("name", 64));
  SAMOVAR_TRY(actor.address, fields.text("address", 64));
  SAMOVAR_TRY(const std::string auth, fields.text("auth", 16));
  SAMOVAR_TRY(actor.auth, parse_auth(auth));
  SAMOVAR_TRY(const auto role, fields.optional_text("role", 16));
  if (role && !(actor.role = parse_role(*role))) return Error{Errc::invalid, "actor.role: is unknown"};
  return actor;
}

constexpr std::array kCodes = {Errc::invalid,  Errc::not_found,   Errc::denied,      Errc::conflict,
                               Errc::busy,     Errc::timeout,     Errc::corrupt,     Errc::io,
                               Errc::no_space, Errc::unavailable, Errc::unsupported, Errc::internal};

}  // namespace

Bytes encode_command(const Command& command) {
  Fields out;
  out.set("v", command_level(command.type, command.body))
      .set("type", command.type)
      .set("time_us", command.time);
  out.set("actor", encode_actor(command.actor))
      .set("request_id", command.request_id)
      .set("body", command.body);
  return out.encode();
}

Result<Command> decode_command(ByteView bytes) {
  SAMOVAR_TRY(const Fields fields, Fields::decode(bytes));
  SAMOVAR_TRY(const std::int64_t version, fields.number("v", 1, INT64_MAX));
  if (version > kCommandVersion)
    return Error{Errc::unsupported,
                 fmt::format("a command of version {}: this node is too old for it", version)};
  // Exactly these: a field that is not understood must not be passed over.
  if (fields.names() != std::vector<std::string>{"actor", "body", "request_id", "time_us", "type", "v"})
    return Error{Errc::invalid, "a command has the fields v, type, time_us, actor, request_id and body"};
  Command command;
  SAMOVAR_TRY(command.type, fields.text("type", kTypeBytesMax, 1));
  SAMOVAR_TRY(command.time, fields.time("time_us"));
  SAMOVAR_TRY(command.request_id, fields.text("request_id", kRequestIdBytesMax));
  SAMOVAR_TRY(const Fields actor, fields.object("actor"));
  SAMOVAR_TRY(command.actor, decode_actor(actor));
  SAMOVAR_TRY(command.body, fields.object("body"));
  return command;
}

Bytes encode_reply(const Result<Fields>& reply) {
  Fields out;
  if (reply) {
    out = *reply;
    out.set("ok", true);
  } else {
    out.set("ok", false).set("code", to_string(reply.error().code())).set("message", reply.error().message());
  }
  return out.encode();
}

Result<Fields> decode_reply(ByteView bytes) {
  SAMOVAR_TRY(Fields fields, Fields::decode(bytes));
  SAMOVAR_TRY(const bool ok, fields.flag("ok"));
  if (ok) return fields;
  SAMOVAR_TRY(const std::string code, fields.text("code", 32));
  SAMOVAR_TRY(std::string message, fields.text("message", 4096));
  const auto known = std::find_if(kCodes.begin(), kCodes.end(), [&](Errc c) { return code == to_string(c); });
  return Error{known == kCodes.end() ? Errc::internal : *known, std::move(message)};
}

Error refuse(Refusal refusal) {
  for (const auto& entry : kRefusals)
    if (entry.refusal == refusal) return Error{Errc::conflict, std::string(entry.message)};
  return Error{Errc::internal, "no such refusal"};
}

Error refuse_without_leader(std::string_view why) {
  return Error{Errc::unavailable, fmt::format("{}{}", kNoQuorum, why)};
}

Error refuse_losses(std::string_view what) {
  return Error{
      Errc::conflict,
      fmt::format("{}{}: that would be lost. Drain it, wait until the others have copies, then remove "
                  "it; or force the removal, if it cannot give them any more",
                  kLastCopies, what)};
}

Refusal refusal_of(const Error& error) noexcept {
  if (error.code() == Errc::unavailable && error.message().starts_with(kNoQuorum)) return Refusal::no_quorum;
  if (error.code() != Errc::conflict) return Refusal::none;
  if (error.message().starts_with(kLastCopies)) return Refusal::last_copies;
  for (const auto& entry : kRefusals)
    if (error.message() == entry.message) return entry.refusal;
  return Refusal::none;
}

}  // namespace samovar::cluster
