# Test programs on the machine, from a build folder for its architecture. Sourced by packaging/test-deb.sh.
#
# They lie on a disk of their own, with the worker if it is built, mounted where they lie here: some know the path of
# the tree and of the worker.

program_file() { find "$build" -type f -name "$1" -perm -u+x | head -n 1; }

make_programs_disk() {
  local stage=$work/stage name file
  for name in "${programs[@]}" samovar-worker; do
    file=$(program_file "$name")
    if [ -z "$file" ]; then
      [ "$name" != samovar-worker ] || continue
      say "no program $name in $build: build it first"; exit 1
    fi
    mkdir -p "$stage/$(dirname "${file#"$top"/}")"
    aarch64-linux-gnu-strip -o "$stage/${file#"$top"/}" "$file"
  done
  (cd "$top" && git ls-files -z -- tests/unit docs | tar -c --null -T -) | tar -x -C "$stage"
  make_disk "$stage" "$(($(du -sm "$stage" | cut -f1) * 5 / 4 + 64))M"
}

run_programs() {
  local name
  box mkdir -p "$top"
  check "the disk of test programs is mounted" box mount -o ro /dev/vdb "$top"
  for name in "${programs[@]}"; do run_program "$name" "$(program_file "$name")"; done
}

# Google's summary counts tests; ours counts programs, and shows both.
run_program() {
  local name=$1 log=$work/$1.log began=$SECONDS
  if box timeout 2400 "$2" --gtest_brief=1 --gtest_color=no >"$log" 2>&1; then
    passed=$((passed + 1)); printf '  ok      %s: %s, %d s\n' "$name" "$(sed -n 's/^\[  PASSED  \] //p' "$log" | tr -d .)" $((SECONDS - began))
  else
    failed=$((failed + 1)); printf '  FAILED  %s\n' "$name"
    grep -E '^\[  (FAILED|SKIPPED|PASSED) ' "$log" | sort -u | head -n 40 | sed 's/^/          /'
    tail -n 40 "$log" | sed 's/^/          /'
  fi
}
