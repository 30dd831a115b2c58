# Checks with their count. Sourced by packaging/test-deb.sh.
passed=0 failed=0 skipped=0

check() {  # WHAT COMMAND…
  local what=$1; shift
  if "$@" >"$work/check.log" 2>&1; then
    passed=$((passed + 1)); printf '  ok      %s\n' "$what"
  else
    failed=$((failed + 1)); printf '  FAILED  %s\n' "$what"; sed 's/^/          /' "$work/check.log" | tail -n 20
  fi
}
skip() { skipped=$((skipped + 1)); printf '  skipped %s: %s\n' "$1" "$2"; }
remark() { printf '  remark  %s\n' "$*"; }
not() { ! "$@"; }

# within SECONDS COMMAND…: again and again until it succeeds. A slow machine has more patience.
within() {
  local end=$((SECONDS + $1 * patience)); shift
  until "$@"; do [ "$SECONDS" -lt "$end" ] || return 1; sleep 0.2; done
}
