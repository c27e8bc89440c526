#include "tools/command_line.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/suggest.h"
#include "driver/stage.h"
#include "reports/json_report.h"

namespace ptxla::tools {
namespace {

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

// The first word that no option takes.
std::string UnknownWord(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining();
  return rest.empty() ? std::string() : rest.front();
}

absl::Status UnknownOption(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (name == "--batch" || name == "-b") {
    return absl::InvalidArgumentError(
        "--batch is ambiguous: give --global-batch N (samples per step over "
        "all chips) or --batch-per-chip N");
  }
  if (!absl::StartsWith(word, "-")) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument \"", word, "\""));
  }
  const std::string near = NearestName(name, OptionNames(app));
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown option ", name,
      near.empty() ? "" : absl::StrCat("; did you mean ", near, "?"), " (",
      app.get_name(), " --help lists them)"));
}

// CLI11 says "--seq: 12x is not a number"-like things; keep to one line.
std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

bool WantsJson(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "--json") != words.end();
}

int Fail(const absl::Status& status, bool json, absl::string_view where) {
  std::string stage = driver::StageOf(status);
  if (stage.empty()) stage = std::string(where);
  if (json) {
    std::fputs(reports::ErrorJson(status, stage).c_str(), stdout);
  } else {
    const std::string line = absl::StrCat("error: ", status.message(), "\n");
    std::fputs(line.c_str(), stderr);
  }
  return driver::ExitCode(status);
}

std::optional<int> ParseCommandLine(CLI::App* app,
                                    const std::vector<std::string>& words) {
  app->allow_extras();
  app->get_formatter()->column_width(34);
  // CLI11 takes the words from the back.
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app->help().c_str(), stdout);
    return driver::kExitDone;
  } catch (const CLI::ParseError& e) {
    return Fail(absl::InvalidArgumentError(OneLine(e.what())), WantsJson(words),
                "arguments");
  }
  const std::string unknown = UnknownWord(*app);
  if (!unknown.empty()) {
    return Fail(UnknownOption(*app, unknown), WantsJson(words), "arguments");
  }
  return std::nullopt;
}

CLI::Validator AtLeastOne() {
  return CLI::Validator(
      [](const std::string& word) -> std::string {
        // CLI11 takes what is too large for the largest number.
        const absl::string_view digits = absl::StripPrefix(word, "+");
        int64_t whole = 0;
        if (!digits.empty() && !absl::SimpleAtoi(digits, &whole) &&
            absl::c_all_of(digits, absl::ascii_isdigit)) {
          return "must be below 2^63";
        }
        int64_t number = 0;
        const bool is_number = CLI::detail::lexical_cast(word, number);
        return is_number && number < 1 ? "must be at least 1" : "";
      },
      "");
}

CLI::Validator NotEmpty() {
  return CLI::Validator(
      [](const std::string& word) -> std::string {
        return word.empty() ? "must not be empty" : "";
      },
      "");
}

std::string CompilerCacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::string base = cache != nullptr && *cache != '\0' ? cache
                           : home != nullptr ? absl::StrCat(home, "/.cache")
                                             : ".";
  return absl::StrCat(base, "/ptxla-sim/libtpu");
}

}  // namespace ptxla::tools
