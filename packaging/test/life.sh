# The life of an installation: what is checked of a package, on whichever machine. Sourced by packaging/test-deb.sh.
#
# The machine (nspawn.sh, qemu.sh) offers box COMMAND…, which runs there as root; box_put FILE, which writes its
# input there; and says in $mode whether systemd runs: boot or chroot.

box_sh() { box sh -c "$1"; }
start_node() { box systemctl start samovard; }
stop_node() { box systemctl stop samovard; }
node_log() { box journalctl -u samovard --no-pager -o cat; }

# --- the package itself ------------------------------------------------------------------------

package_checks() {
  local unpacked=$work/unpacked unit=$work/samovard.service
  dpkg-deb -x "$deb" "$unpacked"
  # verify wants to see the program, so the unit is shown the unpacked one.
  sed "s|^ExecStart=/usr/sbin/samovard|ExecStart=$unpacked/usr/sbin/samovard|" "$unpacked/lib/systemd/system/samovard.service" >"$unit"
  check "systemd-analyze verify accepts the unit" systemd-analyze verify --man=no "$unit"
  check "systemd-analyze security is at most 1.5" systemd-analyze security --offline=yes --threshold=15 "$unit"
  mkdir -p "$work/samovard.service.d"
  cp "$unpacked/usr/share/doc/samovar/examples/clock-caps.service.conf" "$work/samovard.service.d/clock-caps.conf"
  check "systemd-analyze verify accepts it with clock caps" systemd-analyze verify --man=no "$unit"
  check "systemd-analyze security is at most 1.5 with clock caps" systemd-analyze security --offline=yes --threshold=15 "$unit"
  check "clock caps take nothing else back" not grep -Eq '^(Protect|Private|System|Capab|NoNew)' "$work/samovard.service.d/clock-caps.conf"
  rm "$work/samovard.service.d/clock-caps.conf"
  cp "$unpacked/usr/share/doc/samovar/examples/gpu.service.conf" "$work/samovard.service.d/gpu.conf"
  check "systemd-analyze verify accepts it with a GPU" systemd-analyze verify --man=no "$unit"
  check "systemd-analyze security is at most 1.5 with a GPU" systemd-analyze security --offline=yes --threshold=15 "$unit"
  check "a GPU takes back private devices and nothing else" test "$(grep -Ec '^(Protect|Private|System|Capab|NoNew|Restrict)' "$work/samovard.service.d/gpu.conf")" = 1
  rm -r "$work/samovard.service.d"
  check "the configuration is a conffile" grep -qx /etc/samovar/samovar.toml <(dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./conffiles)
  local file
  for file in usr/share/man/man1/samovar.1.gz usr/share/man/man1/samovar-users.1.gz usr/share/man/man8/samovard.8.gz \
    usr/share/man/man5/samovar.toml.5.gz usr/share/bash-completion/completions/samovar \
    usr/share/zsh/vendor-completions/_samovar usr/share/fish/vendor_completions.d/samovar.fish; do
    check "has /$file" test -s "$unpacked/$file"
  done
}

# furnish TREE: a fresh Debian becomes the machine of an administrator who has the package and the next one.
furnish() {
  local tree=$1
  mkdir -p "$tree/opt/admin" "$tree/opt/analyst"
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

# --- what an administrator and an analyst do ---------------------------------------------------

in_phase() { [ "$(box samovar api GET /setup --yes 2>/dev/null | tr -d ' ",' | sed -n 's/^phase://p')" = "$1" ]; }
wait_phase() {  # PHASE
  within 90 in_phase "$1" && return 0
  box samovar status --yes || true
  node_log | tail -n 20
  return 1
}

set_up() {
  local code
  code=$(node_log | sed -n 's/.*code[=: ]*\([0-9A-Za-z]\{2,\}\(-[0-9A-Za-z]\+\)\+\).*/\1/p' | tail -n 1)
  [ -n "$code" ] || { echo "no set-up code in the log:"; node_log | tail -n 20; return 1; }
  box_put /opt/admin/setup.json <<JSON
{"code":"$code","box_name":"Test box","time_zone":"UTC","unlock":{"mode":"key_file"},
 "admin":{"username":"ada","display_name":"Ada","password":"correct-horse-battery"}}
JSON
  box_sh 'samovar init --no-input --yes < /opt/admin/setup.json'
}
log_in() { box_sh 'printf "correct-horse-battery\n" | samovar login -u ada --password-stdin --yes'; }
has_user() { box samovar users list --quiet | grep -qx "$1"; }
every_default() {  # each default shown in the configuration, switched on, must be a value the daemon takes
  box_sh 'sed "s/^#\([a-z_]* = \)/\1/" /etc/samovar/samovar.toml > /tmp/all.toml && samovard --config /tmp/all.toml --check-config'
}

analyst() { box env HOME=/opt/analyst samovar "$@"; }
hire_analyst() {
  box_sh 'printf "a-third-long-password\n" | samovar users add nils --role analyst --password-stdin &&
    printf "a-third-long-password\n" | HOME=/opt/analyst samovar login -u nils --password-stdin --yes'
}
# The worker must run within the fences of the unit, which narrow what it may do to narrow itself.
trains() {
  local data; data=$(analyst data list --quiet | head -n 1)
  analyst train glm --data "$data" --target readmitted_30d --ignore admission_id,mrn,birth_date --name readmission --wait --progress none
}
predicts() {
  analyst predict readmission@1 --row age=81 sex=female admission_type=emergency ward=cardiology \
    diagnosis_group='heart failure' prior_admissions_12m=3 haemoglobin=9.4 creatinine=1.9 length_of_stay=12
}
predicts_first() { predicts | tee "$work/first-prediction" && grep -q '^Prediction: ' "$work/first-prediction"; }
predicts_again() { predicts | diff "$work/first-prediction" -; }

# --- from the first installation to the purge ---------------------------------------------------

life() {
  check "installs" box dpkg -i /opt/admin/samovar.deb
  check "no failpoints in the released program" box_sh '! samovard --help | grep -q -- --failpoints'
  check "the packaged configuration is accepted" box samovard --check-config
  check "its commented defaults are accepted" every_default
  [ "$mode" = boot ] || start_node
  check "starts and waits for its set-up" wait_phase new
  check "runs as its own user" box_sh '[ "$(stat -c %U /proc/$(pidof samovard))" = samovar ]'
  check "its state is for itself only" box_sh '[ "$(stat -c "%U %a" /var/lib/samovar)" = "samovar 700" ]'
  if [ "$mode" = boot ]; then service_checks; else skip "service checks" "$why"; fi
  check "is set up with the code from its log" set_up
  check "is ready" wait_phase ready
  check "lets the administrator in" log_in
  check "makes an account" box_sh 'printf "another-long-password\n" | samovar users add mara --role viewer --password-stdin'
  # The first figures of the processor are the difference of two looks, a second apart.
  check "shows its vital signs" box_sh 'for i in $(seq 40); do samovar nodes list --json | grep -q "\"cpu\": [0-9]" && exit 0; sleep 0.5; done; exit 1'
  check "an analyst gets an account and logs in" hire_analyst
  check "reads data in, in the worker's sandbox" analyst data sample --progress none
  check "trains a model on it" trains
  check "predicts with it" predicts_first
  check "its audit chain holds" box samovar audit verify
  stop_node
  start_node
  check "unlocks by itself after a restart" wait_phase ready
  check "has kept its accounts" has_user mara
  [ "$mode" != boot ] || service_remarks
  check "predicts the same after the restart" predicts_again

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
  if box prlimit --memlock=67108864:67108864 true 2>/dev/null; then
    check "locked memory is allowed" box_sh 'grep "Max locked memory" /proc/$(pidof samovard)/limits | tee /dev/stderr | grep -q "memory *67108864 "'
  else
    skip "locked memory is allowed" "this machine may not raise the limit of $(ulimit -Hl) KiB"
  fi
  check "no core dumps" box_sh 'grep -q "Max core file size *0 " /proc/$(pidof samovard)/limits'
  # Seen from inside the sandbox: the state is writable, the rest of the system is not, /srv is not there.
  check "the system is read-only for it" box_sh \
    'p=$(pidof samovard); nsenter -t $p -m -- sh -c "! touch /etc/x 2>/dev/null && ! touch /usr/x 2>/dev/null && ! ls /srv/secret 2>/dev/null && touch /var/lib/samovar/.probe && rm /var/lib/samovar/.probe"'
  check "starts anew when it is killed" starts_anew
  check "waits for its set-up again" wait_phase new
  check "restarting it leaves nothing failed" box_sh 'systemctl restart samovard && systemctl is-active samovard'
  check "waits for its set-up once more" wait_phase new
}
starts_anew() {
  local old; old=$(box pidof samovard)
  box_sh "kill -9 $old"
  within 30 box_sh "new=\$(pidof samovard) && [ \"\$new\" != $old ] && systemctl is-active -q samovard"
}

# Figures for people; nothing is demanded of them.
service_remarks() {
  remark "$(box uname -mr): samovard idle, $(box_sh 'grep -E "VmRSS|RssAnon" /proc/$(pidof samovard)/status | tr -s "\t\n " " "')"
  remark "ready $(box_sh 'began=$(date +%s%N); systemctl restart samovard
    for i in $(seq 1 600); do samovar api GET /readyz >/dev/null 2>&1 && break; done
    echo $((($(date +%s%N) - began) / 1000000))') ms after its restart was ordered"
  remark "systemd-analyze security: $(box systemd-analyze security --no-pager samovard | sed -n 's/.*Overall exposure level[^:]*: *\([0-9.]*\).*/\1/p')"
}
