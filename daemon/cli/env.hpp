// The environment variables that are part of the CLI's contract, read in one place.
#pragma once
#include <string>

namespace samovar::cli {

struct Env {
  std::string server;      // SAMOVAR_SERVER
  std::string context;     // SAMOVAR_CONTEXT
  std::string token_file;  // SAMOVAR_TOKEN_FILE
  std::string
      config_dir;         // $XDG_CONFIG_HOME/samovar, else $HOME/.config/samovar; empty when neither is known
  bool no_color = false;  // NO_COLOR is set and not empty (no-color.org), or TERM is "dumb"
};

Env read_environment();

}  // namespace samovar::cli
