#!/usr/bin/env bash
# Installs the package in a fresh Debian 12, boots it, sets it up, upgrades, removes and purges it.
# packaging/test-deb.sh [DEB]      default: the newest dist/samovar_*.deb of this architecture; needs root
#
# The tree is made once with mmdebstrap and kept in build/cache. It boots under systemd-nspawn in a mount
# namespace of its own, which takes all mounts away with it. Where the kernel forbids that, the service
# parts are skipped with the reason, and the rest runs in a chroot.
set -euo pipefail
top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
say() { printf 'test-deb: %s\n' "$*" >&2; }

if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { say "needs root: run it through sudo"; exit 1; }
  exec sudo -- "$0" "$@"
fi
arch=$(dpkg --print-architecture)
deb=${1:-$(find "$top/dist" -maxdepth 1 -name "samovar_*_$arch.deb" -printf '%T@ %p\n' 2>/dev/null | sort -n | tail -n 1 | cut -d' ' -f2-)}
[ -n "$deb" ] && [ -f "$deb" ] || { say "no package: run packaging/build-deb.sh first"; exit 1; }
deb=$(readlink -f "$deb")

# Own mount namespace: whatever is mounted below ends with this process, however it ends.
if [ -z "${SAMOVAR_TEST_DEB_INSIDE:-}" ]; then
  if unshare --mount --propagation private true 2>/dev/null; then
    exec env SAMOVAR_TEST_DEB_INSIDE=1 unshare --mount --propagation private "$0" "$deb"
  fi
  say "this kernel gives no mount namespace: nothing can be tested"; exit 1
fi

work=$(mktemp -d /var/tmp/samovar-test-deb.XXXXXX)
tree=$work/tree
nspawn='' leader='' daemon_pid='' mode=''
passed=0 failed=0 skipped=0

cleanup() {
  set +e
  if [ -n "$leader" ]; then nsenter -t "$leader" -a systemctl poweroff --force --force >/dev/null 2>&1; fi
  if [ -n "$nspawn" ]; then kill -TERM "$nspawn" 2>/dev/null; wait "$nspawn" 2>/dev/null; fi
  if [ -n "$daemon_pid" ]; then kill -TERM "$daemon_pid" 2>/dev/null; wait "$daemon_pid" 2>/dev/null; fi
  umount -R "$tree" 2>/dev/null
  umount "$tree/proc" "$tree/dev" 2>/dev/null
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

check() {  # WHAT COMMAND…
  local what=$1; shift
  if "$@" >"$work/check.log" 2>&1; then
    passed=$((passed + 1)); printf '  ok      %s\n' "$what"
  else
    failed=$((failed + 1)); printf '  FAILED  %s\n' "$what"; sed 's/^/          /' "$work/check.log" | tail -n 20
  fi
}
skip() { skipped=$((skipped + 1)); printf '  skipped %s: %s\n' "$1" "$2"; }
not() { ! "$@"; }

# --- the package itself ------------------------------------------------------------------------

unit_checks() {
  local unpacked=$work/unpacked unit=$work/samovard.service
  dpkg-deb -x "$deb" "$unpacked"
  # verify wants to see the program, so the unit is shown the unpacked one.
  sed "s|^ExecStart=/usr/sbin/samovard|ExecStart=$unpacked/usr/sbin/samovard|" "$unpacked/lib/systemd/system/samovard.service" >"$unit"
  check "systemd-analyze verify accepts the unit" systemd-analyze verify --man=no "$unit"
  check "systemd-analyze security is at most 1.5" systemd-analyze security --offline=yes --threshold=15 "$unit"
  check "the configuration is a conffile" grep -qx /etc/samovar/samovar.toml <(dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./conffiles)
  local file
  for file in usr/share/man/man1/samovar.1.gz usr/share/man/man1/samovar-users.1.gz usr/share/man/man8/samovard.8.gz \
    usr/share/man/man5/samovar.toml.5.gz usr/share/bash-completion/completions/samovar \
    usr/share/zsh/vendor-completions/_samovar usr/share/fish/vendor_completions.d/samovar.fish; do
    check "has /$file" test -s "$unpacked/$file"
  done
  check "no failpoints in the released program" not grep -q -- --failpoints <("$unpacked/usr/sbin/samovard" --help)
  check "the packaged configuration is accepted" "$unpacked/usr/sbin/samovard" --config "$unpacked/etc/samovar/samovar.toml" --check-config
  # Every default shown in it, switched on, must be a value the daemon takes.
  sed 's/^#\([a-z_]* = \)/\1/' "$unpacked/etc/samovar/samovar.toml" >"$work/all.toml"
  check "its commented defaults are accepted" "$unpacked/usr/sbin/samovard" --config "$work/all.toml" --check-config
}

# --- a fresh Debian ----------------------------------------------------------------------------

make_tree() {
  local depends include cache
  depends=$(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g' | sort -u | paste -sd, -)
  include=systemd,systemd-sysv,dbus,$depends
  cache=$top/build/cache/debian12-$arch-$(printf %s "$include" | sha256sum | cut -c1-12).tar
  if [ ! -s "$cache" ]; then
    say "making a fresh Debian 12 (once; kept as ${cache#"$top"/})"
    mkdir -p "$top/build/cache"
    mmdebstrap --quiet --format=tar --variant=minbase --include="$include" bookworm "$cache.new" >"$work/mmdebstrap.log" 2>&1 || {
      tail -n 20 "$work/mmdebstrap.log" >&2; rm -f "$cache.new"; say "mmdebstrap failed: is the Debian mirror reachable?"; exit 1; }
    mv "$cache.new" "$cache"
  fi
  mkdir -p "$tree"
  tar -C "$tree" -xf "$cache"
  mkdir -p "$tree/opt/admin"
  touch "$tree/srv/secret"
  echo box >"$tree/etc/hostname"
  printf '127.0.0.1 localhost\n::1 localhost\n127.0.1.1 box\n' >"$tree/etc/hosts"
  cp "$deb" "$tree/opt/admin/samovar.deb"
  # The same package under a higher version is what an upgrade brings.
  dpkg-deb -R "$deb" "$work/repack"
  version=$(dpkg-deb -f "$deb" Version)
  sed -i "s/^Version:.*/Version: $version+next1/" "$work/repack/DEBIAN/control"
  dpkg-deb --root-owner-group -Znone -b "$work/repack" "$tree/opt/admin/next.deb" >/dev/null
}

boot() {
  umount -R /sys/fs/cgroup 2>/dev/null || true
  if ! mount -t cgroup2 none /sys/fs/cgroup 2>"$work/boot.err"; then why="no cgroup2: $(cat "$work/boot.err")"; return 1; fi
  # bpf is what IPAddressDeny needs; the capabilities and the locked memory are those of a real machine's systemd,
  # where nspawn would otherwise cap what units may ask for.
  systemd-nspawn --quiet --directory="$tree" --machine="samovar-test-$$" --register=no --keep-unit --boot --private-network \
    --system-call-filter=bpf --capability=all --rlimit=MEMLOCK=infinity --console=pipe </dev/null >"$work/nspawn.log" 2>&1 &
  nspawn=$!
  local state
  for _ in $(seq 1 300); do
    kill -0 "$nspawn" 2>/dev/null || { why="systemd-nspawn ended: $(tail -n 2 "$work/nspawn.log")"; nspawn=; leader=; return 1; }
    leader=$(pgrep -P "$nspawn" | head -n 1 || true)
    state=$([ -n "$leader" ] && nsenter -t "$leader" -a systemctl is-system-running 2>/dev/null || true)
    case $state in running | degraded) return 0 ;; esac
    sleep 0.2
  done
  why="systemd did not come up within 60 s"
  return 1
}

enter_chroot() {
  mount -t proc proc "$tree/proc"
  mount --bind /dev "$tree/dev"
  # Maintainer scripts must not start anything in a chroot.
  printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
  chmod +x "$tree/usr/sbin/policy-rc.d"
}

box() {  # runs a command on the test machine
  local env=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/opt/admin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive)
  if [ "$mode" = boot ]; then nsenter -t "$leader" -a --wdns=/ "${env[@]}" "$@"; else "${env[@]}" chroot "$tree" "$@"; fi
}
box_sh() { box sh -c "$1"; }

start_node() {
  if [ "$mode" = boot ]; then box systemctl start samovard; return; fi
  mkdir -p "$tree/var/lib/samovar"; box chown samovar:samovar /var/lib/samovar
  box setpriv --reuid samovar --regid samovar --clear-groups /usr/sbin/samovard >>"$work/samovard.log" 2>&1 &
  daemon_pid=$!
}
stop_node() {
  if [ "$mode" = boot ]; then box systemctl stop samovard; return; fi
  [ -z "$daemon_pid" ] || { kill -TERM "$daemon_pid"; wait "$daemon_pid" || true; }
  daemon_pid=
}
node_log() { if [ "$mode" = boot ]; then box journalctl -u samovard --no-pager -o cat; else cat "$work/samovard.log"; fi; }

wait_phase() {  # PHASE
  for _ in $(seq 1 150); do
    if [ "$(box samovar api GET /setup --yes 2>/dev/null | tr -d ' ",' | sed -n 's/^phase://p')" = "$1" ]; then return 0; fi
    sleep 0.2
  done
  box samovar status --yes || true
  node_log | tail -n 20
  return 1
}

set_up() {
  local code
  code=$(node_log | sed -n 's/.*code[=: ]*\([0-9A-Za-z]\{2,\}\(-[0-9A-Za-z]\+\)\+\).*/\1/p' | tail -n 1)
  [ -n "$code" ] || { echo "no set-up code in the log:"; node_log | tail -n 20; return 1; }
  cat >"$tree/opt/admin/setup.json" <<JSON
{"code":"$code","box_name":"Test box","time_zone":"UTC","unlock":{"mode":"key_file"},
 "admin":{"username":"ada","display_name":"Ada","password":"correct-horse-battery"}}
JSON
  box_sh 'samovar init --no-input --yes < /opt/admin/setup.json'
}
log_in() { box_sh 'printf "correct-horse-battery\n" | samovar login -u ada --password-stdin --yes'; }
users() { box samovar users list --quiet; }
has_user() { users | grep -qx "$1"; }
# The worker must run within the fences of the unit, which narrow what it may do to narrow itself.
reads_data_in() {
  box_sh 'value() { tr -d " \"," | sed -n "s/^$1://p" | head -n 1; }
    id=$(samovar api POST /datasets:sample | value id)
    for i in $(seq 1 300); do
      case $(samovar api GET /operations/$id | value state) in
        done) exit 0 ;;
        failed) samovar api GET /operations/$id; exit 1 ;;
      esac
      sleep 0.2
    done
    exit 1'
}

# --- the life of an installation ---------------------------------------------------------------

life() {
  check "installs" box dpkg -i /opt/admin/samovar.deb
  [ "$mode" = boot ] || start_node
  check "starts and waits for its set-up" wait_phase new
  check "runs as its own user" box_sh '[ "$(stat -c %U /proc/$(pidof samovard))" = samovar ]'
  check "its state is for itself only" box_sh '[ "$(stat -c "%U %a" /var/lib/samovar)" = "samovar 700" ]'
  if [ "$mode" = boot ]; then service_checks; else skip "service checks" "$why"; fi
  check "is set up with the code from its log" set_up
  check "is ready" wait_phase ready
  check "lets the administrator in" log_in
  check "makes an account" box_sh 'printf "another-long-password\n" | samovar users add mara --role viewer --password-stdin'
  check "shows its vital signs" box_sh 'samovar nodes list --json | grep -q "\"cpu\": [0-9]"'
  check "reads data in, in the worker's sandbox" reads_data_in
  check "its audit chain holds" box samovar audit verify
  stop_node
  start_node
  check "unlocks by itself after a restart" wait_phase ready
  check "has kept its accounts" has_user mara

  box_sh 'echo "# kept by the administrator" >> /etc/samovar/samovar.toml'
  [ "$mode" = boot ] || stop_node
  check "upgrades in place" box dpkg -i /opt/admin/next.deb
  [ "$mode" = boot ] || start_node
  check "the new version is installed" box_sh "[ \"\$(dpkg-query -W -f '\${Version}' samovar)\" = '$version+next1' ]"
  check "is ready after the upgrade" wait_phase ready
  check "data survived the upgrade" has_user mara
  check "the audit chain survived the upgrade" box samovar audit verify
  check "the edited configuration survived" box grep -q "kept by the administrator" /etc/samovar/samovar.toml

  [ "$mode" = boot ] || stop_node
  check "is removed" box dpkg -r samovar
  check "no process is left" not box pidof samovard
  check "no program is left" not box test -e /usr/sbin/samovard
  check "the data is kept" box test -s /var/lib/samovar/keyring
  check "the configuration is kept" box test -s /etc/samovar/samovar.toml
  check "installs again over kept data" box dpkg -i /opt/admin/next.deb
  [ "$mode" = boot ] || start_node
  check "finds its data again" wait_phase ready
  check "finds its accounts again" has_user mara

  [ "$mode" = boot ] || stop_node
  check "is purged, and says that the data goes" box_sh 'dpkg -P samovar | grep -q "deleting all data in /var/lib/samovar"'
  check "the data is gone" not box test -e /var/lib/samovar
  check "the configuration is gone" not box test -e /etc/samovar
  check "the user is gone" not box getent passwd samovar
  check "nothing else is left" box_sh '! find / -xdev \( -path /proc -o -path /sys -o -path /opt -o -path /run -o -path /var/log -o -path /var/cache -o -path /var/lib/dpkg \) -prune -o -name "*samovar*" -print | grep .'
}

service_checks() {
  check "the service is enabled" box systemctl is-enabled samovard
  check "the service is active" box systemctl is-active samovard
  check "no capability, no new privilege, system calls filtered" box_sh \
    's=/proc/$(pidof samovard)/status; grep -q "^CapEff:.*0000000000000000" $s && grep -q "^NoNewPrivs:.1" $s && grep -q "^Seccomp:.2" $s'
  # A machine that may not raise its own limit cannot grant a higher one to the unit in it.
  if prlimit --memlock=67108864:67108864 true 2>/dev/null; then
    check "locked memory is allowed" box_sh 'grep "Max locked memory" /proc/$(pidof samovard)/limits | tee /dev/stderr | grep -q "memory *67108864 "'
  else
    skip "locked memory is allowed" "this machine may not raise the limit of $(ulimit -Hl) KiB"
  fi
  check "no core dumps" box_sh 'grep -q "Max core file size *0 " /proc/$(pidof samovard)/limits'
  # Seen from inside the sandbox: the state is writable, the rest of the system is not, /srv is not there.
  check "the system is read-only for it" box_sh \
    'p=$(pidof samovard); nsenter -t $p -m -- sh -c "! touch /etc/x 2>/dev/null && ! touch /usr/x 2>/dev/null && ! ls /srv/secret 2>/dev/null && touch /var/lib/samovar/.probe && rm /var/lib/samovar/.probe"'
  check "starts anew when it is killed" box_sh \
    'old=$(pidof samovard); kill -9 $old; for i in $(seq 1 50); do new=$(pidof samovard) && [ "$new" != "$old" ] && systemctl is-active -q samovard && exit 0; sleep 0.2; done; exit 1'
  check "waits for its set-up again" wait_phase new
  check "restarting it leaves nothing failed" box_sh 'systemctl restart samovard && systemctl is-active samovard'
  check "waits for its set-up once more" wait_phase new
}

say "testing $(basename "$deb")"
unit_checks
make_tree
if boot; then mode=boot; else
  mode=chroot
  skip "booting the machine" "$why"
  enter_chroot
fi
life
if [ "$failed" != 0 ]; then
  say "the node's log ends with:"
  node_log 2>/dev/null | tail -n 30 >&2 || true
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
