#!/usr/bin/env bash
# kernels/cuda/figures.sh NVCC ARCHITECTURE OUT [nvcc arguments]: compiles every .cu for one kind of GPU into OUT, and
# prints registers, spilled bytes and shared memory of each kernel as lines of a table, the largest of a template's
# instances for each kernel.
set -euo pipefail
nvcc=$1 architecture=$2 out=$3; shift 3
cd "$(dirname "$(readlink -f "$0")")/../.."
mkdir -p "$out"
for source in kernels/cuda/*.cu; do
  name=$(basename "$source" .cu)
  "$nvcc" -std=c++17 -O3 -arch="sm_$architecture" -I. -Xcompiler -fPIC --ptxas-options=-v "$@" -c "$source" -o "$out/$name.o" \
    2>"$out/$name.log" || { cat "$out/$name.log" >&2; exit 1; }
  c++filt <"$out/$name.log" >"$out/$name.txt"
done
cat "$out"/*.txt | python3 -c '
import re, sys
kernels = {}
name = None
for line in sys.stdin:
    found = re.search(r"Compiling entry function .*?(\w+)(<.*)?\(", line.replace("(anonymous namespace)::", ""))
    if found:
        name = found[1]
        spill = 0
        continue
    found = re.search(r"(\d+) bytes spill stores", line)
    if found: spill = int(found[1])
    found = re.search(r"Used (\d+) registers", line)
    if found and name:
        shared = re.search(r"(\d+) bytes smem", line)
        mine = kernels.setdefault(name, [0, 0, 0, 0])
        mine[0] = max(mine[0], int(found[1])); mine[1] = max(mine[1], spill)
        mine[2] = max(mine[2], int(shared[1]) if shared else 0); mine[3] += 1
        name = None
for name in sorted(kernels):
    registers, spill, shared, count = kernels[name]
    print(f"| `{name}` | {count} | {registers} | {spill} | {shared} |")
'
