#!/usr/bin/env bash
# What `./dev run` does once everything is built: starts a node, and on a fresh state sets it up, trains on the
# sample data and predicts, all with the `samovar` command and the API behind it. Stays until Ctrl-C.
#
#   dev.d/tour.sh BUILD-FOLDER STATE-FOLDER PORT [--once]      (--once ends after the tour: for tests)
#
# Beside STATE-FOLDER lie the tour's own log-in and logs. Passwords are drawn anew, printed once and kept nowhere;
# none is ever an argument of a program.
set -euo pipefail
umask 077
build=$1 state=$2 port=$3 once=${4:-}
run=$(dirname "$state")
model=readmission
node=0
export XDG_CONFIG_HOME=$run/config LC_ALL=C.UTF-8
unset SAMOVAR_SERVER SAMOVAR_CONTEXT SAMOVAR_TOKEN_FILE

say() { printf '\n\033[1m── %s\033[0m\n' "$*"; }
note() { printf '   %s\n' "$*"; }
die() { printf 'tour: %s\n' "$*" >&2; exit 1; }
samovar() { "$build/daemon/cli/samovar" --server "$url" "$@"; }
password() { head -c 15 /dev/urandom | base64 | tr '+/' 'kw'; }

stop_node() {
  trap - EXIT INT TERM
  [ "$node" = 0 ] && return 0
  kill "$node" 2>/dev/null || true
  wait "$node" 2>/dev/null || true
}
trap 'stop_node; exit 130' INT
trap 'stop_node; exit 143' TERM
trap stop_node EXIT

start_node() {
  local console=$run/console.txt
  : >"$console"
  # In a process group of its own a Ctrl-C reaches only us, and we stop it in order.
  set -m
  "$build/daemon/samovard" --state-dir "$state" --listen "127.0.0.1:$port" >"$console" 2>"$run/samovard.log" &
  node=$!
  set +m
  until grep -q '^READY ' "$console"; do
    kill -0 "$node" 2>/dev/null || { tail -n 5 "$run/samovard.log" >&2; node=0; die "samovard did not start (log: $run/samovard.log)"; }
    sleep 0.1
  done
  url=$(sed -n 's/^READY \([^ ]*\) .*/\1/p' "$console")
  phase=$(sed -n 's/^READY .* phase=//p' "$console")
  fingerprint=$(grep -oE '([0-9A-F]{2}:){31}[0-9A-F]{2}' "$console")
  code=$(sed -n 's/^ *Set-up code: *//p' "$console")
  rm -f "$console"
}

set_up() {
  admin_password=$(password) analyst_password=$(password)
  samovar init --no-input --quiet --fingerprint "$fingerprint" <<JSON
{"code":"$code","box_name":"Samovar on trial","time_zone":"UTC","unlock":{"mode":"key_file"},
 "admin":{"username":"admin","display_name":"Administrator","password":"$admin_password"}}
JSON
  samovar login --quiet -u admin --password-stdin <<<"$admin_password"
  samovar users add analyst --role analyst --display-name Analyst --quiet --password-stdin <<<"$analyst_password" >/dev/null
  samovar logout --quiet
  # Data and models belong to analysts: an administrator reads no rows.
  samovar login --quiet -u analyst --password-stdin <<<"$analyst_password"
  samovar tokens create tour --scope read --days 30 --quiet --out "$run/tour.token" >/dev/null
}

tour() {
  say "loading the sample data: 20,000 invented hospital admissions"
  samovar data sample --quiet >/dev/null
  samovar data list
  local data; data=$(samovar data list --quiet | head -n 1)

  say "training a logistic regression: who comes back within 30 days?"
  note "samovar train glm --data SAMPLE --target readmitted_30d --ignore … --name $model --wait"
  samovar train glm --data "$data" --target readmitted_30d --ignore admission_id,mrn,birth_date \
    --name "$model" --wait
  samovar models promote "$model@1"

  say "asking it about one patient"
  note "samovar predict $model --row age=81 diagnosis_group='heart failure' … --reasons"
  samovar predict "$model" --reasons --row age=81 sex=female admission_date=2023-11-05 admission_type=emergency \
    ward=cardiology diagnosis_group='heart failure' insurer=public lives_alone=1 smoking=former bmi=27.5 \
    systolic_bp=118 heart_rate=92 haemoglobin=9.4 creatinine=1.9 sodium=132 hba1c=6.1 crp=22 \
    prior_admissions_12m=3 medication_count=12 length_of_stay=12 intensive_care=0 discharge_to='nursing home' \
    follow_up_booked=0
}

look_around() {
  say "this node was set up before; ./dev run --fresh begins anew"
  [ "$phase" = ready ] || { note "It is $phase: open the address below."; return 0; }
  export SAMOVAR_TOKEN_FILE=$run/tour.token
  # A state that the tour did not set up, or an old one, has no token for it.
  [ -s "$SAMOVAR_TOKEN_FILE" ] && samovar whoami --fingerprint "$fingerprint" >/dev/null 2>&1 || return 0
  for what in data jobs models; do
    echo
    samovar "$what" list || return 0
  done
}

start_node
if [ "$phase" = new ]; then
  say "setting up a new box at $url"
  set_up
  tour
  say "the node runs until Ctrl-C"
  note "Dashboard:      $url"
  note "Log in as       analyst   password $analyst_password   (data, training, predictions)"
  note "or as           admin     password $admin_password   (users, settings, audit log)"
  note "The passwords are shown this once and kept nowhere. The certificate is the box's own, SHA-256:"
else
  look_around
  say "the node runs until Ctrl-C"
  note "Dashboard:      $url"
  note "Log in with the password that was printed at the first start. The certificate's SHA-256:"
fi
note "$fingerprint"
note "More:           SAMOVAR_TOKEN_FILE=$run/tour.token $build/daemon/cli/samovar -s $url status"
note "Log:            $run/samovard.log"
[ "$once" = --once ] && exit 0
wait "$node"
node=0
die "samovard ended by itself (log: $run/samovard.log)"
