# The machine for an arm64 package elsewhere: Debian 12 with Debian's kernel under qemu-system-aarch64, two cores of
# the kind the oldest board has, 2 GB of memory, a disk with ext4. Sourced by packaging/test-deb.sh.
#
# It is a whole machine, not translated programs as under qemu-user: its kernel has filters of system calls,
# asynchronous I/O, namespaces and control groups. It is about thirty times slower than this one. Its network reaches
# nothing; commands go in through SSH on a port of the loopback.
patience=10
qemu='' disks=()

make_machine() {
  local tree=$work/tree
  mkdir -p "$tree"
  tar -C "$tree" -xf "$("$top/packaging/debian-tree.sh" "$deb" --kernel)"
  furnish "$tree"
  printf '[Match]\nName=eth0\n[Network]\nDHCP=ipv4\n' >"$tree/etc/systemd/network/eth0.network"
  ln -sf /lib/systemd/system/systemd-networkd.service "$tree/etc/systemd/system/multi-user.target.wants/"
  ssh-keygen -q -t ed25519 -N '' -C test -f "$work/key"
  install -D -m 600 "$work/key.pub" "$tree/root/.ssh/authorized_keys"
  cp -L "$tree"/boot/vmlinuz-* "$work/kernel"
  cp -L "$tree"/boot/initrd.img-* "$work/initrd"
  make_disk "$tree" 4G
  rm -rf --one-file-system "$tree"
}

# make_disk FOLDER SIZE: its content becomes the machine's next disk.
make_disk() {
  local file=$work/disk${#disks[@]}
  mke2fs -q -t ext4 -d "$1" "$file" "$2" >/dev/null
  disks+=("$file")
}

start_machine() {
  local port file drives=()
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  # The disks are thrown away: nothing needs to reach this machine's own.
  for file in "${disks[@]}"; do drives+=(-drive "if=virtio,format=raw,cache=unsafe,file=$file"); done
  qemu-system-aarch64 -M virt -cpu cortex-a57 -smp 2 -m 2048 -accel tcg,thread=multi -nodefaults -display none -no-reboot \
    -kernel "$work/kernel" -initrd "$work/initrd" -append "root=/dev/vda rw console=ttyAMA0 net.ifnames=0 panic=-1" \
    "${drives[@]}" -device virtio-rng-pci -serial "file:$work/console.log" \
    -netdev "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22" -device virtio-net-pci,netdev=net,romfile= </dev/null >"$work/qemu.log" 2>&1 &
  qemu=$!
  cat >"$work/ssh_config" <<CONFIG
Host box
  HostName 127.0.0.1
  Port $port
  User root
  IdentityFile $work/key
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
  ConnectTimeout 60
  ServerAliveInterval 60
  ServerAliveCountMax 10
  ControlMaster auto
  ControlPath $work/ssh
  ControlPersist yes
CONFIG
  mode=boot
  local began=$SECONDS
  say "booting it (its console: $work/console.log)"
  if ! within 180 is_up; then
    say "the machine does not come up; its console ends with:"
    tail -n 30 "$work/console.log" "$work/qemu.log" >&2
    exit 1
  fi
  remark "the machine was up after $((SECONDS - began)) s"
}
is_up() {
  kill -0 "$qemu" 2>/dev/null || { say "qemu ended"; tail -n 5 "$work/qemu.log" "$work/console.log" >&2; exit 1; }
  case $(box systemctl is-system-running 2>/dev/null) in running | degraded) return 0 ;; esac
  return 1
}

on_box() {
  ssh -F "$work/ssh_config" box -- "$(printf '%q ' env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/opt/admin LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@")"
}
box() { on_box "$@" </dev/null; }
box_put() { on_box sh -c "cat > $1"; }

end_machine() {
  [ -n "$qemu" ] || return 0
  box systemctl poweroff --force --force >/dev/null 2>&1
  ssh -F "$work/ssh_config" -O exit box 2>/dev/null
  kill -TERM "$qemu" 2>/dev/null; wait "$qemu" 2>/dev/null
}
