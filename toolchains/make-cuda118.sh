#!/usr/bin/env bash
# toolchains/make-cuda118.sh DIR: a CUDA 11.8 toolkit for the older boards (sm_53, 62, 72), which CUDA 13 no longer
# knows. Taken out of Debian's own packages (non-free), from the archive this machine's apt uses already: nothing is
# installed, apt's configuration is not touched. 1.5 GB to download, 312 MB on disk; only its compiler is used.
set -euo pipefail
target=${1:?usage: make-cuda118.sh DIR}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,debs}

archive=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)
[ -n "$archive" ] || archive=$(sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' /etc/apt/sources.list 2>/dev/null | head -n 1)
[ -n "$archive" ] || { echo "make-cuda118: no Debian archive in apt's sources" >&2; exit 1; }
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive bookworm main contrib non-free" >"$work/sources.list"
cat >"$work/apt.conf" <<CONF
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
CONF
export APT_CONFIG=$work/apt.conf
apt-get -qq update
(cd "$work/debs" && apt-get -qq download nvidia-cuda-toolkit libnvvm4 nvidia-cuda-dev libcudart11.0 libcub-dev libthrust-dev libcu++-dev)

unpack() {  # PACKAGE INTO [tar arguments]
  local package=$1 into=$2; shift 2
  mkdir -p "$into"
  dpkg-deb --fsys-tarfile "$work"/debs/"${package}"_*.deb | tar -x -C "$into" "$@"
}
# The static libraries are most of the bulk, and not needed: cuBLAS is linked by its stub.
unpack nvidia-cuda-dev "$work/dev" --exclude='*cublas*_static.a' --exclude='*cus*_static.a' --exclude='*cufft*' \
  --exclude='*npp*' --exclude='*curand*_static.a' --exclude='*nvrtc*static.a'
for package in libcudart11.0 libcub-dev libthrust-dev libcu++-dev; do unpack "$package" "$work/dev"; done
for package in nvidia-cuda-toolkit libnvvm4; do unpack "$package" "$work/kit"; done

rm -rf "$target"
mkdir -p "$target"/{bin,nvvm/bin,nvvm/libdevice,targets/x86_64-linux}
cp -a "$work"/kit/usr/bin/{__nvcc_device_query,bin2c,cudafe++,cuobjdump,fatbinary,nvlink,ptxas} "$target/bin/"
inner=$work/kit/usr/lib/nvidia-cuda-toolkit
cp -aL "$inner/bin/nvcc" "$inner/bin/crt" "$target/bin/"
cp -a "$inner/bin/cicc" "$target/nvvm/bin/"
cp -a "$inner"/libdevice/* "$target/nvvm/libdevice/"
cp -a "$work/dev/usr/include" "$target/targets/x86_64-linux/include"
cp -a "$work/dev/usr/lib/x86_64-linux-gnu" "$target/targets/x86_64-linux/lib"
ln -s lib "$target/targets/x86_64-linux/lib64"
ln -s targets/x86_64-linux/include "$target/include"
ln -s targets/x86_64-linux/lib "$target/lib64"
# Debian's nvcc is a script with fixed paths around this one; its profile says where things are instead.
cat >"$target/bin/nvcc.profile" <<'PROFILE'
TOP              = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
LD_LIBRARY_PATH += $(TOP)/lib64:
PATH            += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES        +=  "-I$(TOP)/$(_TARGET_DIR_)/include" $(_SPACE_)
LIBRARIES       =+ $(_SPACE_) "-L$(TOP)/$(_TARGET_DIR_)/lib$(_TARGET_SIZE_)/stubs" "-L$(TOP)/$(_TARGET_DIR_)/lib$(_TARGET_SIZE_)"
CUDAFE_FLAGS    +=
PTXAS_FLAGS     +=
PROFILE
"$target/bin/nvcc" --version | tail -n 2
