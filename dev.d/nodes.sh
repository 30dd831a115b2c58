# What the scripts of dev.d share: nodes of one cluster on this machine, each with its own folder and ports. Sourced.
#
# The caller sets `build` (programs), `run` (folder of the states, one per node: node1, node2, …) and `port`: the first
# node's web pages; the others follow, mesh ports are 1000 below. 0 draws free ports and remembers them.
umask 077
export XDG_CONFIG_HOME=$run/config LC_ALL=C.UTF-8
unset SAMOVAR_SERVER SAMOVAR_CONTEXT SAMOVAR_TOKEN_FILE
declare -A pid url phase fingerprint code  # by node number

say() { printf '\n\033[1m── %s\033[0m\n' "$*"; }
note() { printf '   %s\n' "$*"; }
die() { printf 'dev: %s\n' "$*" >&2; exit 1; }
# on NUMBER WORDS…: the command line, talking to that node
on() { "$build/daemon/cli/samovar" --server "${url[$1]}" "${@:2}"; }
# field POINTER: of the JSON on stdin; nothing when it is null or not there
field() {
  python3 -c 'import json,sys
value = json.load(sys.stdin)
for key in sys.argv[1].split("/"): value = value.get(key) if isinstance(value, dict) else None
print("" if value is None else value)' "$1"
}
# setup_field NUMBER POINTER: what a node tells everybody
setup_field() { on "$1" api GET /setup --fingerprint "${fingerprint[$1]}" | field "$2"; }

# ports_of NUMBER: "web mesh beacons"
ports_of() {
  local file=$run/node$1.ports
  if [ "$port" != 0 ]; then echo $((port + $1 - 1)) $((port - 1000 + $1 - 1)) $((port - 1000 + 3)); return; fi
  [ -s "$run/beacons.port" ] || free_ports 1 >"$run/beacons.port"
  [ -s "$file" ] || free_ports 2 >"$file"
  echo "$(cat "$file")" "$(cat "$run/beacons.port")"
}
free_ports() {
  # Below those that the system takes for outgoing connections: they are still free when the node starts.
  python3 -c 'import random,socket,sys
made = []
while len(made) < int(sys.argv[1]):
    s = socket.socket()
    try: s.bind(("127.0.0.1", random.randrange(12000, 32000)))
    except OSError: continue
    made.append(s)
print(*[s.getsockname()[1] for s in made])' "$1"
}

# node_command NUMBER: fills the array `command`
node_command() {
  local web mesh beacons
  read -r web mesh beacons <<<"$(ports_of "$1")"
  command=("$build/daemon/samovard" --state-dir "$run/node$1" --listen "127.0.0.1:$web" --mesh-listen "127.0.0.1:$mesh"
    --discovery-loopback --discovery-port "$beacons")
}

start_node() {
  local number=$1 console=$run/console$1.txt log=$run/node$1.log command
  mkdir -p "$run/node$number"
  chmod 700 "$run/node$number"
  : >"$console"
  node_command "$number"
  # In a process group of its own a Ctrl-C reaches only us, and we stop it in order.
  set -m
  "${command[@]}" >"$console" 2>"$log" &
  pid[$number]=$!
  set +m
  until grep -q '^READY ' "$console"; do
    kill -0 "${pid[$number]}" 2>/dev/null || { tail -n 5 "$log" >&2; unset "pid[$number]"; die "node $number did not start (log: $log)"; }
    sleep 0.1
  done
  url[$number]=$(sed -n 's/^READY \([^ ]*\) .*/\1/p' "$console")
  phase[$number]=$(sed -n 's/^READY .* phase=//p' "$console")
  fingerprint[$number]=$(grep -oE '([0-9A-F]{2}:){31}[0-9A-F]{2}' "$console" | head -n 1)
  code[$number]=$(sed -n 's/^ *Set-up code: *//p' "$console")
  rm -f "$console"
}

stop_nodes() {
  trap - EXIT INT TERM
  [ ${#pid[@]} = 0 ] && return 0
  kill "${pid[@]}" 2>/dev/null || true
  wait "${pid[@]}" 2>/dev/null || true
}
trap 'stop_nodes; exit 130' INT
trap 'stop_nodes; exit 143' TERM
trap stop_nodes EXIT

# One that is killed to see what happens is told of; the rest goes on.
stay() {
  local number
  while [ ${#pid[@]} -gt 0 ]; do
    wait -n "${pid[@]}" 2>/dev/null || true
    for number in "${!pid[@]}"; do
      kill -0 "${pid[$number]}" 2>/dev/null && continue
      unset "pid[$number]"
      [ ${#pid[@]} = 0 ] && continue
      say "node $number ended; the others go on. It comes back with:"
      node_command "$number"
      note "${command[*]}"
    done
  done
  die "no node is left (logs: $run/node*.log)"
}
