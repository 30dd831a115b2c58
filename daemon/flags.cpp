#include "daemon/flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "base/disk.hpp"
#include "base/failpoint.hpp"

namespace samovar::daemon {
namespace {

constexpr const char* kConfigPath = "/etc/samovar/samovar.toml";
constexpr std::size_t kConfigBytesMax = 256 * 1024;

struct Flags {
  std::string config_path;
  std::string state_dir, log_format, log_level, sysfs_root, failpoints, device_plugin;
  std::vector<std::string> listen, mesh_listen, seeds, discovery_interfaces;
  std::optional<std::uint32_t> discovery_port;
  std::string wipe_id, alone_id;
  std::uint64_t checkpoint_steps = 0;
  std::uint64_t worker_memory_mib = 0;
  std::uint32_t repair_grace_s = 0;
  bool check = false, reference = false, version = false, list_failpoints = false, plant_early_ack = false;
  bool discovery_loopback = false, factory_reset = false, recover_alone = false;
};

void declare(CLI::App& app, Flags& flags) {
  app.set_help_flag("-h,--help", "Print this and exit");
  app.add_flag("--version", flags.version, "Print the version and exit");
  app.add_option("--config", flags.config_path,
                 fmt::format("Configuration file (default {}, if there)", kConfigPath));
  app.add_option("--state-dir", flags.state_dir, "Directory of everything the node keeps");
  app.add_option("--listen", flags.listen, "address:port, comma separated or repeated; port 0: any free one")
      ->delimiter(',');
  app.add_option("--mesh-listen", flags.mesh_listen,
                 "address:port for the other nodes of the cluster, comma separated or repeated")
      ->delimiter(',');
  app.add_option("--seeds", flags.seeds, "Addresses of other nodes, comma separated or repeated")
      ->delimiter(',');
  app.add_option("--discovery-interfaces", flags.discovery_interfaces,
                 "Interfaces to look for other nodes on, comma separated or repeated")
      ->delimiter(',');
  app.add_option("--discovery-port", flags.discovery_port, "UDP port of the beacons; 0: no beacons");
  app.add_flag("--discovery-loopback", flags.discovery_loopback,
               "Look for other nodes on this machine, too (several nodes on one machine)");
  app.add_flag(
      "--factory-reset", flags.factory_reset,
      "Make this a new node again: destroys its keys, its copy of the state and of all data, and exits");
  app.add_option("--yes-wipe", flags.wipe_id,
                 "With --factory-reset, without a question: the first characters of the node's id")
      ->needs("--factory-reset");
  app.add_flag(
         "--recover-alone", flags.recover_alone,
         "When most nodes are lost for good: make this node the only member of its cluster's state, and exit")
      ->excludes("--factory-reset");
  app.add_option("--yes-alone", flags.alone_id,
                 "With --recover-alone, without a question: the first characters of the node's id")
      ->needs("--recover-alone");
  app.add_option("--log-format", flags.log_format, "auto, text, journal or json");
  app.add_option("--log-level", flags.log_level, "debug, info, warn or error");
  app.add_option("--sysfs-root", flags.sysfs_root, "Read sensors under this tree instead of / (tests)");
  app.add_flag("--check-config", flags.check, "Check the configuration and exit");
  app.add_flag("--print-config-reference", flags.reference, "Print docs/reference/config.md and exit");
#if SAMOVAR_FAILPOINTS
  app.add_option("--failpoints", flags.failpoints, "Arm failpoints: name=action[:argument][@hit],… (tests)");
  app.add_option("--checkpoint-steps", flags.checkpoint_steps,
                 "Keep a checkpoint of a training after so many updates (tests)");
  app.add_option("--worker-memory-mib", flags.worker_memory_mib, "Memory of a training or scoring (tests)");
  app.add_option("--device-plugin", flags.device_plugin,
                 "Of a GPU, instead of /usr/lib/samovar/libsamovar-cuda.so (tests)");
  app.add_option("--repair-grace", flags.repair_grace_s,
                 "Seconds before the copies of a lost node are made anew (tests)");
  app.add_flag("--plant-early-ack", flags.plant_early_ack,
               "Acknowledge before the disk does: a bug for tests to catch");
  app.add_flag("--list-failpoints", flags.list_failpoints, "Print the failpoints of this build and exit");
#endif
}

Result<Config> read_config(const Flags& flags) {
  const bool named = !flags.config_path.empty();
  const std::string path = named ? flags.config_path : kConfigPath;
  if (!named && !real_disk().exists(path)) return Config{};
  auto bytes = real_disk().read_file(path, kConfigBytesMax);
  if (!bytes) return std::move(bytes).error().within("configuration file " + path);
  return parse_config(as_text(*bytes), path, Config{});
}

void overlay(Config& config, const Flags& flags) {
  const auto take = [](std::string& into, const std::string& from) {
    if (!from.empty()) into = from;
  };
  take(config.state_dir, flags.state_dir);
  take(config.log_format, flags.log_format);
  take(config.log_level, flags.log_level);
  take(config.sysfs_root, flags.sysfs_root);
  take(config.failpoints, flags.failpoints);
  take(config.device_plugin, flags.device_plugin);
  config.checkpoint_steps = flags.checkpoint_steps;
  config.worker_memory_mib = flags.worker_memory_mib;
  config.repair_grace_s = flags.repair_grace_s;
  config.plant_early_ack = flags.plant_early_ack;
  config.discovery_loopback = flags.discovery_loopback;
  const auto take_list = [](std::vector<std::string>& into, const std::vector<std::string>& from) {
    if (!from.empty()) into = from;
  };
  take_list(config.listen, flags.listen);
  take_list(config.mesh_listen, flags.mesh_listen);
  take_list(config.seeds, flags.seeds);
  take_list(config.discovery_interfaces, flags.discovery_interfaces);
  if (flags.discovery_port) config.discovery_port = *flags.discovery_port;
}

std::string failpoint_list() {
  std::string text;
#if SAMOVAR_FAILPOINTS
  for (const auto& name : failpoint::names()) text += name + "\n";
#endif
  return text;
}

}  // namespace

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  Flags flags;
  CLI::App app{"The Samovar node daemon", "samovard"};
  try {
    declare(app, flags);
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return CommandLine{Act::print_and_exit, app.help(), {}, {}};
  } catch (const CLI::Error& e) {
    return Error{Errc::invalid, std::string(e.what()) + "; see samovard --help"};
  }
  if (flags.version) return CommandLine{Act::print_and_exit, "samovard " SAMOVAR_VERSION "\n", {}, {}};
  if (flags.reference) return CommandLine{Act::print_and_exit, config_reference(), {}, {}};
  if (flags.list_failpoints) return CommandLine{Act::print_and_exit, failpoint_list(), {}, {}};
  CommandLine line;
  SAMOVAR_TRY(line.config, read_config(flags));
  overlay(line.config, flags);
  SAMOVAR_CHECK(validate(line.config));
  if (flags.check) return CommandLine{Act::print_and_exit, "the configuration is good\n", {}, {}};
  if (flags.factory_reset) line.act = Act::factory_reset;
  if (flags.recover_alone) line.act = Act::recover_alone;
  line.named_id = flags.recover_alone ? flags.alone_id : flags.wipe_id;
  return line;
}

}  // namespace samovar::daemon
