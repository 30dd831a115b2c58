#!/usr/bin/env bash
# What `./dev run` does once everything is built: starts nodes, and on a fresh state makes a cluster of them by the
# same join as anybody's boxes, trains on the sample data and predicts, all with the `samovar` command and the API
# behind it. Stays until Ctrl-C.
#
#   dev.d/tour.sh BUILD-FOLDER RUN-FOLDER PORT NODES [--once]      (--once ends after the tour: for tests)
#
# RUN-FOLDER holds a state per node, the tour's own log-in and logs. Passwords are drawn anew, printed once and kept
# nowhere; none is ever an argument of a program.
set -euo pipefail
build=$1 run=$2 port=$3 nodes=$4 once=${5:-}
model=readmission
. "$(dirname "$(readlink -f "$0")")/nodes.sh"
samovar() { on 1 "$@"; }
password() { head -c 15 /dev/urandom | base64 | tr '+/' 'kw'; }

set_up() {
  admin_password=$(password) analyst_password=$(password)
  samovar init --no-input --quiet --fingerprint "${fingerprint[1]}" <<JSON
{"code":"${code[1]}","box_name":"Samovar on trial","time_zone":"UTC","unlock":{"mode":"key_file"},
 "admin":{"username":"admin","display_name":"Administrator","password":"$admin_password"}}
JSON
  samovar login --quiet -u admin --password-stdin <<<"$admin_password"
}

# wait_for SECONDS WHAT COMMAND…: until the command prints something, which is printed
wait_for() {
  local end=$((SECONDS + $1)) what=$2 found
  shift 2
  while :; do
    found=$("$@" 2>/dev/null) || found=
    [ -n "$found" ] && { echo "$found"; return 0; }
    [ "$SECONDS" -lt "$end" ] || die "$what: not in time (logs: $run/node*.log; samovar doctor says more)"
    sleep 0.3
  done
}
heard() { samovar peers list --quiet | grep -Fx -- "$1"; }
is_ready() { [ "$(setup_field "$1" phase)" = ready ] && echo yes; }

# All who are to vote do: an odd number of the nodes, or both of two.
all_vote() {
  local wanted=$nodes
  if [ "$nodes" -gt 2 ] && [ $((nodes % 2)) = 0 ]; then wanted=$((nodes - 1)); fi
  if [ "$wanted" -gt 7 ]; then wanted=7; fi
  [ "$(samovar nodes list --json | grep -c '"voice": "voter"')" -ge "$wanted" ] && echo yes
}
has_leader() { samovar nodes list --json | grep '"leader": true'; }

# As an administrator does it: pick the machine that is heard, give the password, type the code from its screen.
join() {
  local number=$1 id short shown
  id=$(setup_field "$number" node/id)
  short=$(setup_field "$number" join/short_id)
  wait_for 60 "node 1 hears $short" heard "$id" >/dev/null
  note "node $number is heard as $short; approving it"
  samovar peers approve "$id" --no-wait --quiet --password-stdin <<<"$admin_password" >/dev/null
  shown=$(wait_for 30 "$short shows a code" setup_field "$number" join/code)
  note "its screen shows $shown; typing that"
  samovar peers confirm "$id" "$shown" --quiet >/dev/null
  wait_for 60 "node $number has the state" is_ready "$number" >/dev/null
  phase[$number]=ready
}

form_cluster() {
  local number began=$SECONDS
  say "making one cluster of $nodes nodes: the codes are read and typed for you"
  for ((number = 2; number <= nodes; number++)); do join "$number"; done
  wait_for 60 "every node has its vote" all_vote >/dev/null
  note "one cluster after $((SECONDS - began)) s:"
  samovar nodes list
}

# Data and models belong to analysts: an administrator reads no rows.
become_analyst() {
  samovar users add analyst --role analyst --display-name Analyst --quiet --password-stdin <<<"$analyst_password" >/dev/null
  samovar logout --quiet
  samovar login --quiet -u analyst --password-stdin <<<"$analyst_password"
  samovar tokens create tour --scope read --days 30 --quiet --out "$run/tour.token" >/dev/null
}

tour() {
  say "loading the sample data: 20,000 invented hospital admissions"
  samovar data sample --quiet >/dev/null
  samovar data list
  local data; data=$(samovar data list --quiet | head -n 1)
  if [ "$nodes" -gt 1 ]; then
    say "where its copies lie: losing a node loses nothing"
    samovar data shards "$data"
  fi

  say "training a logistic regression: who comes back within 30 days?"
  note "samovar train glm --data SAMPLE --target readmitted_30d --ignore … --name $model --wait"
  samovar train glm --data "$data" --target readmitted_30d --ignore admission_id,mrn,birth_date \
    --name "$model" --wait
  if [ "$nodes" -gt 1 ]; then
    say "which nodes it trained on; any node tells the same"
    local job; job=$(samovar jobs list --quiet | head -n 1)
    samovar jobs logs "$job" | grep -E 'Trains on|takes part|lost' || die "the training did not say where it ran"
  fi
  samovar models promote "$model@1"

  local asked=$nodes
  say "asking it about one patient$([ "$nodes" -gt 1 ] && echo ", on node $asked: any node answers")"
  [ "$nodes" -gt 1 ] && on "$asked" login --quiet -u analyst --password-stdin --fingerprint "${fingerprint[$asked]}" <<<"$analyst_password"
  note "samovar predict $model --row age=81 diagnosis_group='heart failure' … --reasons"
  on "$asked" predict "$model" --reasons --row age=81 sex=female admission_date=2023-11-05 admission_type=emergency \
    ward=cardiology diagnosis_group='heart failure' insurer=public lives_alone=1 smoking=former bmi=27.5 \
    systolic_bp=118 heart_rate=92 haemoglobin=9.4 creatinine=1.9 sodium=132 hba1c=6.1 crp=22 \
    prior_admissions_12m=3 medication_count=12 length_of_stay=12 intensive_care=0 discharge_to='nursing home' \
    follow_up_booked=0
}

look_around() {
  say "this was set up before; ./dev run --fresh begins anew"
  [ "${phase[1]}" = ready ] || { note "It is ${phase[1]}: open the address below."; return 0; }
  export SAMOVAR_TOKEN_FILE=$run/tour.token
  # A state that the tour did not set up, or an old one, has no token for it.
  [ -s "$SAMOVAR_TOKEN_FILE" ] && samovar whoami --fingerprint "${fingerprint[1]}" >/dev/null 2>&1 || return 0
  [ "${#url[@]}" = 1 ] || wait_for 30 "a leader" has_leader >/dev/null
  for what in nodes data jobs models; do
    echo
    samovar "$what" list || return 0
  done
}

# Nodes that were not joined: the tour has no password to do it with.
tell_waiting() {
  local number
  for number in "${!url[@]}"; do
    [ "$number" != 1 ] && [ "${phase[$number]}" = new ] || continue
    note "Node $number waits to be added as $(setup_field "$number" join/short_id): on the dashboard, Nodes, Add a node."
  done
}

tell_addresses() {
  local number
  say "$([ ${#pid[@]} = 1 ] && echo "the node runs" || echo "the ${#pid[@]} nodes run") until Ctrl-C"
  for ((number = 1; number <= ${#url[@]}; number++)); do
    note "$([ "$number" = 1 ] && echo "Dashboard:      " || echo "or on node $number:   ")${url[$number]}"
  done
}

# Those that were there come back, too.
while [ -d "$run/node$((nodes + 1))" ]; do nodes=$((nodes + 1)); done
for ((number = 1; number <= nodes; number++)); do start_node "$number"; done
if [ "${phase[1]}" = new ]; then
  say "setting up a new box at ${url[1]}"
  set_up
  [ "$nodes" -gt 1 ] && form_cluster
  become_analyst
  tour
  tell_addresses
  note "Log in as       analyst   password $analyst_password   (data, training, predictions)"
  note "or as           admin     password $admin_password   (nodes, users, settings, audit log)"
  note "The passwords are shown this once and kept nowhere. The certificate is the box's own, SHA-256:"
else
  look_around
  tell_addresses
  note "Log in with the password that was printed at the first start. The certificate's SHA-256:"
fi
note "${fingerprint[1]}"
tell_waiting
note "More:           SAMOVAR_TOKEN_FILE=$run/tour.token $build/daemon/cli/samovar -s ${url[1]} status"
note "Add a node:     ./dev run --add   (in another terminal; it says what to type where)"
[ "$nodes" -gt 1 ] && note "Lose a node:    kill -9 ${pid[$nodes]}   (node $nodes; then watch the dashboard)"
note "Logs:           $run/node*.log"
[ "$once" = --once ] && exit 0
stay
