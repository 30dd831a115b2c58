#include "daemon/power_control.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "daemon/power/ups.hpp"

namespace samovar::daemon {
namespace {

constexpr unsigned kBatteryEvery = 5;  // seconds

}  // namespace

PowerControl::PowerControl(Loop& loop, Disk& disk, net::Exchange& exchange, std::string root,
                           std::string keep_path, PowerHooks hooks)
    : loop_(loop),
      exchange_(exchange),
      hooks_(std::move(hooks)),
      sys_(std::move(root)),
      actuator_(sys_, disk, std::move(keep_path)),
      regulator_(std::in_place, actuator_.levels()) {
  status_.levels = static_cast<std::uint32_t>(actuator_.levels());
  status_.clocks = actuator_.describe();
  exchange_.on_ask(kPowerTopic,
                   [this](std::string from, Bytes body) { return answer(std::move(from), std::move(body)); });
}

PowerControl::~PowerControl() {
  *alive_ = false;
  exchange_.on_ask(kPowerTopic, nullptr);
}

void PowerControl::start() { running_ = true; }

void PowerControl::stop() {
  running_ = false;
  dial_->duty.store(1);
  actuator_.restore();
}

bool PowerControl::leads() const { return running_ && hooks_.leader() == exchange_.self(); }

void PowerControl::on_sample(const power::Sample& sample) {
  if (!running_) return;
  const power::Settings settings = hooks_.settings();
  regulate(sample, settings);
  if (leads())
    lead(settings);
  else
    keeper_.reset();
  spawn(report());
}

void PowerControl::regulate(const power::Sample& sample, const power::Settings& settings) {
  if (until_battery_ == 0) {
    status_.on_battery = power::on_battery(sys_).value_or(false);
    until_battery_ = kBatteryEvery;
  }
  --until_battery_;
  const jobs::PowerWork work = hooks_.work();
  const std::uint64_t rows = dial_->rows.load();
  const MonoTime now = loop_.clock().mono();
  const auto budget = power::budget_at(settings, hooks_.local_time(), status_.on_battery);
  // A limit that a training here asked for holds without a leader, too.
  cap_ = lease_.cap(now, budget.watts ? budget.watts : work.job_watts);
  if (sample.covers_s > 0) {
    power::RegulatorInput input;
    input.seconds = sample.covers_s;
    input.watts = sample.watts;
    input.rate = static_cast<double>(rows - rows_) / sample.covers_s;
    input.working = dial_->running.load() > 0;
    input.kind = work.kind;
    input.cap_watts = cap_;
    input.heat_share = guard_.step(sample.covers_s, sample.temp_max_c, settings.limit_celsius);
    drive(regulator_->step(input));
  }
  rows_ = rows;
  status_.working = dial_->running.load() > 0;
  status_.watts = sample.watts;
  status_.estimated = sample.watts_estimated;
  status_.idle_watts = regulator_->idle_watts();
  status_.watts_max = regulator_->watts_max();
  status_.celsius = sample.temp_max_c;
  status_.hot = guard_.limits();
  status_.probing = regulator_->probing();
  status_.job_watts = work.job_watts;
  status_.job_id = work.job_id;
  status_.jobs = work.jobs;
  // Files that are read in and rows that are scored wait for nobody's deadline.
  if (status_.working && dial_->running.load() > work.workers) status_.jobs.emplace_back();
  status_.curve.clear();
  if (const auto curve = regulator_->curve(); curve && !regulator_->probing())
    status_.curve.assign(curve->points().begin() + 1, curve->points().end());
}

void PowerControl::drive(const power::Drive& wanted) {
  dial_->duty.store(wanted.duty);
  if (auto set = actuator_.set(wanted.level); !set) {
    SAMOVAR_LOG(warn, power, "clocks cannot be capped after all; workers are paced by duty cycle alone",
                kv("error", set.error().message()));
    regulator_.emplace(actuator_.levels());
    status_.clocks.clear();
  }
  status_.duty = wanted.duty;
  status_.levels = static_cast<std::uint32_t>(actuator_.levels());
  status_.level = actuator_.levels() > 1 ? static_cast<std::uint32_t>(wanted.level) : 0;
}

bool PowerControl::rests() const {
  if (status_.working || status_.hot || status_.probing || status_.job_watts || cap_) return false;
  if (!status_.jobs.empty()) return false;
  return !power::budget_at(hooks_.settings(), hooks_.local_time(), status_.on_battery).watts;
}

void PowerControl::lead(const power::Settings& settings) {
  const MonoTime now = loop_.clock().mono();
  if (!keeper_) keeper_.emplace(now);
  keeper_->heard(exchange_.self(), status_, now);
  keeper_->step(now, settings, hooks_.local_time(), hooks_.members());
}

Task<void> PowerControl::report() {
  if (reporting_) co_return;
  const std::string leader = hooks_.leader();
  if (leader.empty()) co_return;
  if (leader == exchange_.self()) {
    if (keeper_) lease_.told(loop_.clock().mono(), keeper_->answer(leader));
    co_return;
  }
  if (!pace_.due(loop_.clock().mono(), leader, rests())) co_return;
  const auto alive = alive_;
  reporting_ = true;
  power::PowerQuestion question;
  question.status = status_;
  net::AskOptions options;
  options.deadline = kAnswerMax;
  auto answered = co_await exchange_.ask(leader, kPowerTopic, power::encode_question(question), options);
  if (!*alive) co_return;
  reporting_ = false;
  const MonoTime now = loop_.clock().mono();
  if (!answered) {
    pace_.failed();
    if (answered.error().code() != Errc::unsupported || !running_) co_return;
    const auto budget = power::budget_at(hooks_.settings(), hooks_.local_time(), status_.on_battery);
    lease_.told_nothing(now, budget.watts, hooks_.members().size());
    co_return;
  }
  if (const auto reply = power::decode_reply(*answered)) lease_.told(now, reply->cap);
}

Task<Result<Bytes>> PowerControl::answer(std::string from, Bytes body) {
  SAMOVAR_CO_TRY(auto question, power::decode_question(body));
  // Who asks may know of a leader that is gone: it goes on with what it was told.
  if (!leads() || !keeper_) co_return Error{Errc::unavailable, "this node does not lead"};
  const MonoTime now = loop_.clock().mono();
  if (question.status) keeper_->heard(from, std::move(*question.status), now);
  power::PowerReply reply;
  reply.cap = keeper_->answer(from);
  if (question.look) reply.all = led();
  co_return power::encode_reply(reply);
}

const power::CapAnswer* PowerControl::told() const { return lease_.answer(loop_.clock().mono()); }

std::optional<power::ClusterPower> PowerControl::led() const {
  if (!leads() || !keeper_) return std::nullopt;
  power::ClusterPower all = keeper_->view(loop_.clock().mono());
  all.leader_id = exchange_.self();
  return all;
}

Task<power::ClusterPower> PowerControl::look() {
  if (auto own = led()) co_return std::move(*own);
  const std::string leader = running_ ? hooks_.leader() : "";
  const auto alive = alive_;
  if (!leader.empty() && leader != exchange_.self()) {
    power::PowerQuestion question;
    question.look = true;
    net::AskOptions options;
    options.deadline = kAnswerMax;
    auto answered = co_await exchange_.ask(leader, kPowerTopic, power::encode_question(question), options);
    if (!*alive) co_return power::ClusterPower{};
    if (answered)
      if (auto reply = power::decode_reply(*answered); reply && reply->all) co_return std::move(*reply->all);
  }
  // Nobody to ask: what this node goes by.
  power::ClusterPower alone;
  if (running_) {
    const auto budget = power::budget_at(hooks_.settings(), hooks_.local_time(), status_.on_battery);
    alone.budget_watts = budget.watts;
    alone.reason = budget.reason;
    for (const std::string& id : hooks_.members()) {
      const bool own = id == exchange_.self();
      alone.nodes.push_back({id, own ? "silent" : "unknown", own ? std::optional(status_) : std::nullopt,
                             own ? cap_ : std::nullopt});
    }
  }
  alone.idle_watts = status_.idle_watts;
  alone.mean_watts = status_.watts;
  co_return alone;
}

}  // namespace samovar::daemon
