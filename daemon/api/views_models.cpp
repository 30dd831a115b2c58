#include "daemon/api/views_models.hpp"

#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/cluster/dataset_rights.hpp"
#include "daemon/cluster/model_rights.hpp"

namespace samovar::api {
namespace {

// Of a model with many versions the older ones are shown without their longest documents.
constexpr std::size_t kWholeVersions = 20;
constexpr std::size_t kDifferencesMax = 1000;

View text_or_null(const std::string& text) { return text.empty() ? View(nullptr) : View(text); }
View number_or_null(std::uint32_t number) { return number == 0 ? View(nullptr) : View(number); }

std::string username_of(Services& services, const std::string& user_id) {
  const auto user = services.cluster().user(user_id);
  return user ? user->username : std::string();
}

View granted_view(Services& services, const cluster::Actor& actor, const cluster::Model& model) {
  const bool all = cluster::may_manage_model(actor, model) || actor.role == cluster::Role::auditor;
  View granted = View::array();
  for (const std::string& id : model.granted_ids)
    if (all || id == actor.user_id)
      granted.push_back({{"user_id", id}, {"username", username_of(services, id)}});
  return granted;
}

std::string step_into(const std::string& path, std::string_view name) {
  std::string out = path + "/";
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

void compare(const nlohmann::json& a, const nlohmann::json& b, const std::string& path, View& out) {
  if (a == b || out.size() >= kDifferencesMax) return;
  if (!a.is_object() || !b.is_object()) {
    out.push_back({{"path", path}, {"a", View(a)}, {"b", View(b)}});
    return;
  }
  static const nlohmann::json kAbsent;
  for (const auto& [name, value] : a.items())
    compare(value, b.contains(name) ? b[name] : kAbsent, step_into(path, name), out);
  for (const auto& [name, value] : b.items())
    if (!a.contains(name)) compare(kAbsent, value, step_into(path, name), out);
}

}  // namespace

View document_view(const std::string& json) {
  View value = View::parse(json, nullptr, false);
  return value.is_object() ? value : View::object();
}

View model_view(Services& services, const cluster::Actor& actor, const cluster::Model& model) {
  const auto shown = services.cluster().model_version(model.name);
  return {{"name", model.name},
          {"description", model.description},
          {"kind", model.kind},
          {"owner_id", model.owner_id},
          {"owner", username_of(services, model.owner_id)},
          {"version", model.version},
          {"serving", number_or_null(model.serving)},
          {"served_before", number_or_null(model.served_before)},
          {"granted", granted_view(services, actor, model)},
          {"created_at", format_time(model.created_at)},
          {"may_use", cluster::may_use_model(actor, model)},
          {"may_export", cluster::may_export_model(actor, model)},
          {"may_manage", cluster::may_manage_model(actor, model)},
          {"headline", document_view(shown ? shown->headline_json : "{}")},
          {"target", document_view(shown ? shown->spec_json : "{}").value("target", "")},
          {"revision", model.revision}};
}

View model_detail_view(Services& services, const cluster::Actor& actor, const cluster::Model& model) {
  View view = model_view(services, actor, model);
  View versions = View::array();
  for (const cluster::ModelVersion& version : services.cluster().model_versions(model.name)) {
    View one = model_version_view(services, actor, version);
    if (versions.size() >= kWholeVersions && version.version != model.serving)
      one["spec"] = one["signature"] = nullptr;
    versions.push_back(std::move(one));
  }
  view["versions"] = std::move(versions);
  return view;
}

View model_version_view(Services& services, const cluster::Actor& actor,
                        const cluster::ModelVersion& version) {
  const auto dataset = services.cluster().dataset(version.dataset_id);
  const bool named = dataset && cluster::may_see(actor, *dataset);
  return {{"version", version.version},
          {"stage", cluster::to_string(version.stage)},
          {"protected", version.protect},
          {"created_at", format_time(version.created_at)},
          {"created_by", version.created_by},
          {"job_id", text_or_null(version.job_id)},
          {"dataset_id", text_or_null(version.dataset_id)},
          {"dataset", named ? View(dataset->name) : View(nullptr)},
          {"dataset_version", number_or_null(version.dataset_version)},
          {"dataset_hash", version.dataset_hash},
          {"code_version", version.code_version},
          {"headline", document_view(version.headline_json)},
          {"stored_bytes", version.stored_bytes},
          {"spec", document_view(version.spec_json)},
          {"signature", document_view(version.signature_json)}};
}

View warnings_view(const std::vector<trainer::InputWarning>& warnings) {
  View items = View::array();
  for (const trainer::InputWarning& warning : warnings)
    items.push_back({{"code", warning.code},
                     {"input", warning.input},
                     {"row", warning.row ? View(*warning.row) : View(nullptr)},
                     {"detail", warning.detail}});
  return items;
}

View prediction_view(const jobs::PredictAnswer& answer, bool reasons) {
  View predictions = View::array();
  for (const trainer::Prediction& prediction : answer.predictions) {
    View one = {{"value", prediction.value}};
    if (!answer.classes.empty()) {
      one["label"] = prediction.label;
      one["probabilities"] = prediction.probabilities;
    }
    if (reasons) {
      one["reasons"] = View::array();
      for (const trainer::Reason& reason : prediction.reasons)
        one["reasons"].push_back(
            {{"input", reason.input}, {"value", reason.value}, {"contribution", reason.contribution}});
    }
    predictions.push_back(std::move(one));
  }
  return {{"model", answer.model},
          {"version", answer.version},
          {"classes", answer.classes.empty() ? View(nullptr) : View(answer.classes)},
          {"predictions", std::move(predictions)},
          {"warnings", warnings_view(answer.warnings)}};
}

View differences(const nlohmann::json& a, const nlohmann::json& b) {
  View out = View::array();
  compare(a, b, "", out);
  return out;
}

}  // namespace samovar::api
