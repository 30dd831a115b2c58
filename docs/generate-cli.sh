#!/bin/sh
# Writes what the command table makes: man pages, completions and the reference.
# docs/generate-cli.sh PATH-TO-SAMOVAR [OUT-FOLDER]; a test compares the committed files with the program's.
set -eu
samovar=$1
docs=${2:-$(dirname "$0")}
mkdir -p "$docs/man" "$docs/completions" "$docs/reference"
for page in $("$samovar" __man); do "$samovar" __man "$page" >"$docs/man/$page.1"; done
"$samovar" completion bash >"$docs/completions/samovar"
"$samovar" completion zsh >"$docs/completions/_samovar"
"$samovar" completion fish >"$docs/completions/samovar.fish"
"$samovar" __reference >"$docs/reference/cli.md"
