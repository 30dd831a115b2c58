#!/usr/bin/env bash
# A fresh Debian 12 with systemd and what the package depends on, as a tar file; prints its path. Needs root.
# packaging/debian-tree.sh DEB [--kernel]      --kernel: with Debian's kernel and SSH, to boot as a machine of its own
#
# Made once with mmdebstrap and kept in build/cache under a name that changes with the dependencies.
set -euo pipefail
top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
say() { printf 'debian-tree: %s\n' "$*" >&2; }

# Maintainer scripts of another architecture run under qemu-user, and the kernel must know how. What others on this
# machine may run is as before when they are done.
allow_foreign_programs() {
  local registry=/proc/sys/fs/binfmt_misc
  mountpoint -q "$registry" || mount -t binfmt_misc none "$registry" || {
    say "this kernel runs no programs of other architectures (binfmt_misc): a Debian for $arch cannot be made here"; exit 1; }
  [ ! -e "$registry/qemu-aarch64" ] || return 0
  cat /usr/lib/binfmt.d/qemu-aarch64.conf >"$registry/register"
  trap "echo -1 >$registry/qemu-aarch64" EXIT
}

deb=$1
arch=$(dpkg-deb -f "$deb" Architecture)
depends=$(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g' | sort -u | paste -sd, -)
include=systemd,systemd-sysv,dbus,$depends
options=()
if [ "${2:-}" = --kernel ]; then
  include+=,udev,openssh-server,linux-image-cloud-$arch
  # The first file system needs the modules of the disk and no others, each of which takes its time under qemu-user.
  options+=(--essential-hook='mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/modules.d"'
    --essential-hook='echo MODULES=list >"$1/etc/initramfs-tools/conf.d/machine"'
    --essential-hook='printf "virtio_pci\nvirtio_blk\n" >"$1/usr/share/initramfs-tools/modules.d/machine"')
fi
cache=$top/build/cache/debian12-$arch-$(printf %s "$include" | sha256sum | cut -c1-12).tar
if [ ! -s "$cache" ]; then
  say "making a fresh Debian 12 (once; kept as ${cache#"$top"/})"
  mkdir -p "$top/build/cache"
  [ "$arch" = "$(dpkg --print-architecture)" ] || allow_foreign_programs
  mmdebstrap --quiet --architectures="$arch" --format=tar --variant=minbase --include="$include" "${options[@]}" \
    bookworm "$cache.new" >"$cache.log" 2>&1 || {
    tail -n 20 "$cache.log" >&2; rm -f "$cache.new"; say "mmdebstrap failed: is the Debian mirror reachable?"; exit 1; }
  mv "$cache.new" "$cache"
fi
printf '%s\n' "$cache"
