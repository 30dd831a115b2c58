# The machine for a package of this architecture: a fresh Debian 12 under systemd-nspawn; where the kernel forbids
# that, a chroot without services. Sourced by packaging/test-deb.sh.
patience=1
tree=$work/tree
nspawn='' leader='' daemon_pid=''

make_machine() {
  mkdir -p "$tree"
  tar -C "$tree" -xf "$("$top/packaging/debian-tree.sh" "$deb")"
  furnish "$tree"
}

start_machine() {
  if boot; then mode=boot; return; fi
  mode=chroot
  skip "booting the machine" "$why"
  enter_chroot
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

# Without systemd the node is a process of ours.
enter_chroot() {
  mount -t proc proc "$tree/proc"
  mount --bind /dev "$tree/dev"
  # Maintainer scripts must not start anything in a chroot.
  printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
  chmod +x "$tree/usr/sbin/policy-rc.d"
  start_node() {
    mkdir -p "$tree/var/lib/samovar"; box chown samovar:samovar /var/lib/samovar
    box setpriv --reuid samovar --regid samovar --clear-groups /usr/sbin/samovard >>"$work/samovard.log" 2>&1 &
    daemon_pid=$!
  }
  stop_node() {
    [ -z "$daemon_pid" ] || { kill -TERM "$daemon_pid"; wait "$daemon_pid" || true; }
    daemon_pid=
  }
  node_log() { cat "$work/samovard.log"; }
}

box() {
  local env=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/opt/admin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive)
  if [ "$mode" = boot ]; then nsenter -t "$leader" -a --wdns=/ "${env[@]}" "$@"; else "${env[@]}" chroot "$tree" "$@"; fi
}
box_put() { cat >"$tree$1"; }

end_machine() {
  if [ -n "$leader" ]; then nsenter -t "$leader" -a systemctl poweroff --force --force >/dev/null 2>&1; fi
  if [ -n "$nspawn" ]; then kill -TERM "$nspawn" 2>/dev/null; wait "$nspawn" 2>/dev/null; fi
  if [ -n "$daemon_pid" ]; then kill -TERM "$daemon_pid" 2>/dev/null; wait "$daemon_pid" 2>/dev/null; fi
  umount -R "$tree" 2>/dev/null
  umount "$tree/proc" "$tree/dev" 2>/dev/null
}
