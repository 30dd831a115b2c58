// A data set in a box's state, without any bytes behind it.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/daemon/api/box.hpp"

namespace samovar::api::test {

inline cluster::Dataset add_dataset(Box& box, const std::string& name, const cluster::User& owner) {
  cluster::NewDataset made;
  made.dataset.name = name;
  made.dataset.owner_id = owner.id;
  cluster::DatasetVersion& version = made.version;
  version.created_by = owner.id;
  version.schema_json =
      R"({"columns":[{"name":"age","type":"integer","sensitive":false},{"name":"name","type":"text","sensitive":true}]})";
  version.options_json = R"({"format":"csv","delimiter":","})";
  version.rows = 30;
  version.bad_rows = 2;
  version.source_name = "ward.csv";
  version.source_sha256 = std::string(64, 'a');
  version.source_bytes = 500;
  version.notes = {"a note"};
  version.wrapped_key = Bytes(72, 7);
  version.shards = {{0, 10, 1, 4000, 900, Bytes(32, 1), {"node1"}, false},
                    {1, 20, 1, 4000, 800, Bytes(32, 2), {"node1"}, false}};
  version.objects = {{"profile", 60, Bytes(32, 3)}};
  made.wrapped_source_key = Bytes(72, 8);
  cluster::Call call;
  call.actor = cluster::Actor::system();
  auto done = box.run(box.node.state->commit_dataset(call, made));
  if (!done) ADD_FAILURE() << done.error().message();
  return done.value();
}

}  // namespace samovar::api::test
