// What Replicas must know, of the replicated state.
#include "daemon/cluster/cluster.hpp"
#include "daemon/jobs/ingest_spec.hpp"
#include "daemon/jobs/replicas.hpp"

namespace samovar::jobs {

ReplicaWorld world_of(cluster::Cluster& cluster, std::function<std::vector<cluster::StorageNode>()> nodes) {
  ReplicaWorld world;
  world.nodes = std::move(nodes);
  world.files = [&cluster] { return cluster.stored_files(); };
  world.file = [&cluster](const std::string& key) { return cluster.stored_file(key); };
  world.change_copies = [&cluster](std::vector<cluster::CopyChange> changes) -> Task<Result<void>> {
    cluster::Call call;
    call.actor = cluster::Actor::system();
    return cluster.change_copies(std::move(call), std::move(changes));
  };
  world.catch_up = [&cluster]() -> Task<Result<void>> {
    // A command that changes nothing: once it is applied here, so is all before it.
    std::vector<cluster::CopyChange> nothing(1);
    nothing[0].key = "none";
    nothing[0].node_id = "none";
    nothing[0].there = false;
    cluster::Call call;
    call.actor = cluster::Actor::system();
    return cluster.change_copies(std::move(call), std::move(nothing));
  };
  world.leads = [&cluster] { return cluster.status().leader; };
  world.in_making = [&cluster](const std::string& id) {
    if (id.starts_with("mdl_")) {
      const auto job = cluster.job("job_" + id.substr(4));
      return job && job->state == "queued";
    }
    if (id.starts_with("job_")) {
      const auto job = cluster.job(id);
      return job && (job->state == "queued" || job->state == "paused");
    }
    for (const auto& record : cluster.operations()) {
      if (record.state != "queued") continue;
      const auto spec = decode_spec(record.spec_json);
      if (spec && spec->dataset_id == id) return true;
    }
    return false;
  };
  world.training = [&cluster] {
    cluster::JobFilter queued;
    queued.state = "queued";
    return !cluster.jobs(queued).empty();
  };
  return world;
}

}  // namespace samovar::jobs
