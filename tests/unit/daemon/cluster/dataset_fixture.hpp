// Bodies of commands on data sets.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "daemon/cluster/dataset_types.hpp"
#include "daemon/cluster/rows_datasets.hpp"
#include "tests/unit/daemon/cluster/machine_fixture.hpp"

namespace samovar::cluster::testing {

inline Fields shard_body(std::uint32_t number, std::uint64_t rows) {
  Fields shard;
  shard.set("number", std::int64_t{number}).set("rows", rows).set("blocks", std::int64_t{2});
  shard.set("plain", std::int64_t{4000}).set("stored", std::int64_t{1000});
  shard.set("hash", hash_of(static_cast<std::uint8_t>(number + 1)));
  shard.set("nodes", std::vector<std::string>{"nod_1"});
  return shard;
}

// A new version when `name` is empty.
inline Fields manifest_body(const std::string& id, const std::string& name, const std::string& operation = {},
                            const std::string& owner = "usr_admin") {
  Fields body;
  body.set("id", id).set("name", name).set("description", to_bytes("two\nlines"));
  body.set("owner_id", owner).set("operation_id", operation);
  body.set("wrapped_source_key", name.empty() ? Bytes() : Bytes(72, 8)).set("wrapped_key", Bytes(72, 7));
  body.set("key_commitment", Bytes(16, 6)).set("version", std::int64_t{0}).set("created_by", owner);
  body.set("schema", to_bytes("{\"columns\":[{\"name\":\"age\",\"type\":\"integer\",\"sensitive\":false},"
                              "{\"name\":\"ward\",\"type\":\"category\",\"sensitive\":false}]}"));
  body.set("options", to_bytes("{\"format\":\"csv\"}")).set("rows", std::int64_t{30});
  body.set("bad_rows", std::int64_t{2}).set("seed", std::int64_t{-5});
  body.set("source_name", "ward.csv").set("source_sha256", std::string(64, 'a'));
  body.set("source_bytes", std::int64_t{500}).set("notes", std::vector<std::string>{"a note"});
  body.set("shards", std::vector<Fields>{shard_body(0, 10), shard_body(1, 20)});
  body.set("objects",
           std::vector<Fields>{
               Fields().set("name", "bad-rows").set("stored", std::int64_t{50}).set("hash", hash_of(11)),
               Fields().set("name", "profile").set("stored", std::int64_t{60}).set("hash", hash_of(12))});
  return body;
}

inline Fields operation_body(const std::string& id, const std::string& kind = "ingest",
                             const std::string& dataset = {}, const std::string& owner = "usr_admin") {
  Fields body;
  body.set("id", id).set("kind", kind).set("owner_id", owner).set("title", "Ward").set("dataset_id", dataset);
  body.set("spec", to_bytes("{\"upload\":\"upl_1\"}"));
  return body;
}

}  // namespace samovar::cluster::testing
