#!/usr/bin/env bash
# Installs the package in a fresh Debian 12, boots it, sets it up, trains, upgrades, removes and purges it.
# packaging/test-deb.sh [DEB]      default: the newest dist/samovar_*.deb of this architecture; needs root
# packaging/test-deb.sh --programs BUILD-FOLDER NAME… -- DEB      and runs test programs on the same machine,
#                                                                 --only-programs: nothing but them
#
# The machine is packaging/test/nspawn.sh for a package of this architecture, packaging/test/qemu.sh for arm64
# elsewhere; what is checked is the same, packaging/test/life.sh. It is made once with mmdebstrap and kept in
# build/cache. All happens in a mount namespace of its own, which takes all mounts away with it.
set -euo pipefail
top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
say() { printf 'test-deb: %s\n' "$*" >&2; }

if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { say "needs root: run it through sudo"; exit 1; }
  exec sudo -- "$0" "$@"
fi
# Own mount namespace: whatever is mounted below ends with this process, however it ends.
if [ -z "${SAMOVAR_TEST_DEB_INSIDE:-}" ]; then
  if unshare --mount --propagation private true 2>/dev/null; then
    exec env SAMOVAR_TEST_DEB_INSIDE=1 unshare --mount --propagation private "$0" "$@"
  fi
  say "this kernel gives no mount namespace: nothing can be tested"; exit 1
fi

programs=() build='' life=1
case ${1:-} in
  --programs | --only-programs)
    [ "$1" = --programs ] || life=0
    build=$(readlink -f "$2"); shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do programs+=("$1"); shift; done
    [ $# = 0 ] || shift ;;
esac
native=$(dpkg --print-architecture)
deb=${1:-$(find "$top/dist" -maxdepth 1 -name "samovar_*_$native.deb" -printf '%T@ %p\n' 2>/dev/null | sort -n | tail -n 1 | cut -d' ' -f2-)}
[ -n "$deb" ] && [ -f "$deb" ] || { say "no package: run packaging/build-deb.sh first"; exit 1; }
deb=$(readlink -f "$deb")
arch=$(dpkg-deb -f "$deb" Architecture)
case $arch in
  "$native") machine=nspawn ;;
  arm64) machine=qemu ;;
  *) say "no machine for $arch here"; exit 1 ;;
esac
[ ${#programs[@]} = 0 ] || [ "$machine" = qemu ] || { say "--programs is for another architecture; here ctest runs them"; exit 1; }

work=$(mktemp -d /var/tmp/samovar-test-deb.XXXXXX)
mode='' why=''
. "$top/packaging/test/checks.sh"
. "$top/packaging/test/life.sh"
. "$top/packaging/test/$machine.sh"
. "$top/packaging/test/programs.sh"

cleanup() {
  set +e
  end_machine
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say "testing $(basename "$deb")"
[ "$life" = 0 ] || package_checks
make_machine
[ ${#programs[@]} = 0 ] || make_programs_disk
start_machine
[ "$life" = 0 ] || life
if [ "$failed" != 0 ]; then
  say "the node's log ends with:"
  node_log 2>/dev/null | tail -n 30 >&2 || true
fi
[ ${#programs[@]} = 0 ] || run_programs
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
