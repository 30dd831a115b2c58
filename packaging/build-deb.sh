#!/usr/bin/env bash
# Builds the Debian package from the working tree: packaging/build-deb.sh [ARCH] [OUT-FOLDER]
#
# dpkg insists on ./debian, and ours lies in packaging/deb: the tree (committed and not yet committed files,
# nothing built) is copied aside and built there. The copy's path is the same each time, so that ccache
# serves the second build. The web pages are built before, because debian/rules may not use the network.
set -euo pipefail
top=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
native=$(dpkg --print-architecture)
arch=${1:-$native}
out=${2:-$top/dist}
say() { printf 'build-deb: %s\n' "$*" >&2; }

changelog=$top/packaging/deb/changelog
version=$(dpkg-parsechangelog -l"$changelog" -SVersion)
wanted=$(sed -n 's/^project(samovar VERSION \([0-9.]*\).*/\1/p' "$top/CMakeLists.txt")
if [ "${version%%[-+~]*}" != "$wanted" ]; then
  say "packaging/deb/changelog says $version, CMakeLists.txt says $wanted: make them agree"
  exit 1
fi

if [ ! -f "$top/webui/dist/index.html" ]; then
  say "building the web pages"
  (cd "$top/webui" && { [ -d node_modules ] || npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; } && npm run --silent build)
fi

work=$top/build/deb-$arch
mkdir -p "$work" "$out"
exec 9>"$work.lock"
flock 9
rm -rf "$work"
tree=$work/samovar-$version
mkdir -p "$tree"
say "copying the tree"
(cd "$top" && git ls-files -co --exclude-standard -z -- . ':!packaging/deb' |
  tar -c --null -T - --ignore-failed-read 2>/dev/null) | tar -x -C "$tree"
mkdir -p "$tree/webui"
cp -a "$top/webui/dist" "$tree/webui/"
cp -a "$top/packaging/deb" "$tree/debian"

options=(-us -uc -b)
DEB_BUILD_OPTIONS="nocheck parallel=$(nproc) ${DEB_BUILD_OPTIONS:-}"
export DEB_BUILD_OPTIONS
if [ "$arch" != "$native" ]; then options+=("-a$arch" "-Pcross,nocheck"); fi
# debhelper gives the build another HOME; the cache stays where it is.
export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}

say "building samovar $version for $arch"
if ! (cd "$tree" && dpkg-buildpackage "${options[@]}") >"$work/build.log" 2>&1; then
  tail -n 60 "$work/build.log" >&2
  say "the build failed; the whole log is in ${work#"$top"/}/build.log"
  exit 1
fi
rm -f "$out"/samovar_*_"$arch".* "$out"/samovar-dbgsym_*_"$arch".*
cp "$work"/*.deb "$work"/*.buildinfo "$work"/*.changes "$out/"
rm -rf "$tree"
say "made $(ls "$out"/samovar_*_"$arch".deb)"
