// samovar: the command line. Composition root; everything else is behind run().
#include <sys/prctl.h>
#include <sys/resource.h>

#include "daemon/cli/run.hpp"

int main(int argc, char** argv) {
  // A crash must not leave a typed password in a core file, nor may another process of the user read it.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  samovar::cli::ProcessIo io;
  const auto http = samovar::cli::make_http_client();
  return samovar::cli::run(words, io, *http, samovar::cli::read_environment());
}
