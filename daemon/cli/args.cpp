#include "daemon/cli/args.hpp"

#include <fmt/format.h>

#include <charconv>

#include "daemon/cli/suggest.hpp"

namespace samovar::cli {
namespace {

class Parser {
 public:
  Parser(const Table& table, const std::vector<std::string>& words) : table_(table), words_(words) {}

  Result<Invocation> run() {
    bool only_words = false;
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (only_words || word.size() < 2 || word[0] != '-') {
        SAMOVAR_CHECK(plain(word));
      } else if (word == "--") {
        only_words = true;
      } else if (word.starts_with("--")) {
        SAMOVAR_CHECK(long_flag(word));
      } else {
        SAMOVAR_CHECK(short_flag(word));
      }
    }
    return finish();
  }

 private:
  Error unknown_command(const std::string& word) const {
    std::vector<std::string_view> known;
    if (noun_.empty()) {
      for (const Noun& noun : table_.nouns) known.push_back(noun.name);
    }
    for (const Command& command : table_.commands) {
      if (command.noun == noun_ && !command.hidden) known.push_back(command.name);
    }
    const std::string place = noun_.empty() ? "samovar" : "samovar " + noun_;
    return Error{Errc::invalid, fmt::format("unknown command \"{}\" for \"{}\"{}; see \"{} --help\"", word,
                                            place, did_you_mean(word, known), place)};
  }

  Result<void> plain(const std::string& word) {
    if (out_.command != nullptr) {
      out_.arguments.push_back(word);
      return {};
    }
    if (noun_.empty() && table_.find_noun(word) != nullptr) {
      noun_ = word;
      return {};
    }
    out_.command = table_.find(noun_, word);
    if (out_.command == nullptr) return unknown_command(word);
    return {};
  }

  const Flag* find_flag(std::string_view name, char letter) const {
    const auto matches = [&](const Flag& flag) {
      return letter != 0 ? flag.letter == letter : flag.name == name;
    };
    if (out_.command != nullptr) {
      for (const Flag& flag : out_.command->flags) {
        if (matches(flag)) return &flag;
      }
    }
    for (const Flag& flag : table_.global_flags) {
      if (matches(flag)) return &flag;
    }
    return nullptr;
  }

  Error unknown_flag(const std::string& given, std::string_view name) const {
    std::vector<std::string_view> known;
    if (out_.command != nullptr) {
      for (const Flag& flag : out_.command->flags) known.push_back(flag.name);
    }
    for (const Flag& flag : table_.global_flags) known.push_back(flag.name);
    return Error{Errc::invalid, fmt::format("unknown flag {}{}", given, did_you_mean(name, known, "--"))};
  }

  Result<void> long_flag(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    const Flag* flag = find_flag(name, 0);
    if (flag == nullptr) return unknown_flag("--" + name, name);
    if (equals != std::string::npos) {
      if (flag->value.empty()) return Error{Errc::invalid, fmt::format("--{} takes no value", name)};
      return take(*flag, word.substr(equals + 1));
    }
    if (flag->value.empty() || flag->value_optional) return take(*flag, "");
    return take_next(*flag);
  }

  Result<void> short_flag(const std::string& word) {
    for (std::size_t at = 1; at < word.size(); ++at) {
      const Flag* flag = find_flag({}, word[at]);
      if (flag == nullptr) return unknown_flag(fmt::format("-{}", word[at]), {});
      if (flag->value.empty()) {
        SAMOVAR_CHECK(take(*flag, ""));
        continue;
      }
      if (at + 1 < word.size()) return take(*flag, word.substr(at + 1));
      return take_next(*flag);
    }
    return {};
  }

  Result<void> take_next(const Flag& flag) {
    if (next_ == words_.size()) {
      return Error{Errc::invalid,
                   fmt::format("--{} needs a value: --{} {}", flag.name, flag.name, flag.value)};
    }
    return take(flag, words_[next_++]);
  }

  Result<void> take(const Flag& flag, std::string value) {
    if (flag.name == "help") out_.help = true;
    if (!flag.words.empty() && !(flag.value_optional && value.empty())) {
      const std::vector<std::string_view> words = split_words(flag.words);
      bool known = false;
      for (const std::string_view word : words) known = known || word == value;
      if (!known) {
        return Error{Errc::invalid, fmt::format("--{} is one of {}, not \"{}\"{}", flag.name, flag.words,
                                                value, did_you_mean(value, words))};
      }
    }
    out_.flags.emplace_back(std::string(flag.name), std::move(value));
    return {};
  }

  Result<Invocation> finish() {
    if (out_.command == nullptr) {
      out_.help_topic = noun_;
      if (!out_.help && !noun_.empty()) {
        return Error{Errc::invalid,
                     fmt::format("\"samovar {}\" needs a command; see \"samovar {} --help\"", noun_, noun_)};
      }
      out_.help = true;
      return std::move(out_);
    }
    const Command& command = *out_.command;
    if (out_.help) {
      out_.help_topic = noun_.empty() ? std::string(command.name) : noun_ + " " + std::string(command.name);
      return std::move(out_);
    }
    std::size_t most = 0;
    for (std::size_t i = 0; i < command.arguments.size(); ++i) {
      const Argument& argument = command.arguments[i];
      most = argument.many ? static_cast<std::size_t>(-1) : most + 1;
      if (argument.required && out_.arguments.size() <= i) {
        return Error{Errc::invalid,
                     fmt::format("{} is missing; usage: {}", argument.name, synopsis(command))};
      }
    }
    if (out_.arguments.size() > most) {
      return Error{Errc::invalid, fmt::format("\"{}\" is one word too many; usage: {}", out_.arguments[most],
                                              synopsis(command))};
    }
    return std::move(out_);
  }

  const Table& table_;
  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  std::string noun_;
  Invocation out_;
};

}  // namespace

bool Invocation::has(std::string_view name) const noexcept {
  for (const auto& entry : flags) {
    if (entry.first == name) return true;
  }
  return false;
}

std::string_view Invocation::flag(std::string_view name, std::string_view otherwise) const noexcept {
  for (auto entry = flags.rbegin(); entry != flags.rend(); ++entry) {
    if (entry->first == name) return entry->second;
  }
  return otherwise;
}

std::vector<std::string> Invocation::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& entry : flags) {
    if (entry.first == name) values.push_back(entry.second);
  }
  return values;
}

std::string_view Invocation::argument(std::size_t index) const noexcept {
  return index < arguments.size() ? std::string_view(arguments[index]) : std::string_view();
}

Result<Invocation> parse(const Table& table, const std::vector<std::string>& words) {
  return Parser(table, words).run();
}

Result<long> number_flag(const Invocation& invocation, std::string_view name, long otherwise, long low,
                         long high) {
  if (!invocation.has(name)) return otherwise;
  const std::string_view text = invocation.flag(name);
  long value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    return Error{Errc::invalid,
                 fmt::format("--{} is a whole number from {} to {}, not \"{}\"", name, low, high, text)};
  }
  return value;
}

}  // namespace samovar::cli
