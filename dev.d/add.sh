#!/usr/bin/env bash
# `./dev run --add`: one more node on this machine, new and waiting, beside those of `./dev run`. Shows its id, and the
# code when a cluster asks for it, as the screen of a real box does. Stays until Ctrl-C.
#
#   dev.d/add.sh BUILD-FOLDER RUN-FOLDER PORT
set -euo pipefail
build=$1 run=$2 port=$3
. "$(dirname "$(readlink -f "$0")")/nodes.sh"

number=1
while [ -d "$run/node$number" ]; do number=$((number + 1)); done
start_node "$number"
short=$(setup_field "$number" join/short_id)
read -r first _ <<<"$(ports_of 1)"
member=https://127.0.0.1:$first
say "node $number is new, at ${url[$number]}, and waits to be added. Its id is $short"
note "On the dashboard $member: Nodes, Add a node, choose $short."
note "Or from a terminal:"
note "  $build/daemon/cli/samovar -s $member login -u admin"
note "  $build/daemon/cli/samovar -s $member peers approve $short"
note "Both ask for the administrator's password, then for the code that appears here."

shown=
while [ "$(setup_field "$number" phase)" = new ]; do
  now=$(setup_field "$number" join/code)
  if [ -n "$now" ] && [ "$now" != "$shown" ]; then
    say "\"$(setup_field "$number" join/cluster_name)\" wants to add this node. Its code: $now"
  fi
  shown=$now
  sleep 1
done
say "node $number belongs to a cluster now; ./dev run starts it with the others from now on. Ctrl-C stops it."
stay
