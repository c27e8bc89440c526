#include "chips/compiler_policy.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "base/status.h"
#include "base/suggest.h"
#include "base/text_proto.h"
#include "chips/number_file.h"
#include "embed/compiler_file.h"

namespace ptxla::chips {
namespace {

constexpr absl::string_view kGroup = "policy.";

absl::StatusOr<std::vector<Parameter>> ReadFile() {
  const EmbeddedFile& file = kCompilerFile[0];
  ChipProto proto;
  RETURN_IF_ERROR(ParseTextProto(file.text, file.name, &proto));
  return ReadNumbers(proto, file.text, file.name);
}

// By name, without "policy.".
const std::map<std::string, double, std::less<>>& Values() {
  static const auto& values = *[] {
    auto* map = new std::map<std::string, double, std::less<>>;
    for (const Parameter& p : CompilerPolicies()) {
      map->emplace(p.key.substr(kGroup.size()), p.value);
    }
    return map;
  }();
  return values;
}

}  // namespace

const std::vector<Parameter>& CompilerPolicies() {
  static const auto& numbers = *[] {
    auto read = ReadFile();
    CHECK(read.ok()) << read.status();
    for (const Parameter& p : *read) {
      CHECK(absl::StartsWith(p.key, kGroup)) << p.key;
    }
    return new std::vector<Parameter>(*std::move(read));
  }();
  return numbers;
}

double CompilerPolicy(absl::string_view name) {
  const auto found = Values().find(name);
  CHECK(found != Values().end()) << "no policy " << name;
  return found->second;
}

double CompilerPolicy(const ChipSpec& chip, absl::string_view name) {
  const auto own = chip.Policy(name);
  return own.has_value() ? *own : CompilerPolicy(name);
}

const std::set<std::string, std::less<>>& PolicyNames() {
  static const auto& names = *[] {
    auto* set = new std::set<std::string, std::less<>>;
    for (const auto& [name, value] : Values()) set->insert(name);
    for (const std::string& chip : ChipSpec::Names()) {
      const auto loaded = ChipSpec::Load(chip);
      if (!loaded.ok()) continue;
      for (const Parameter& p : loaded->parameters()) {
        absl::string_view name = p.key;
        if (absl::ConsumePrefix(&name, kGroup)) set->emplace(name);
      }
    }
    return set;
  }();
  return names;
}

absl::Status CheckPolicyNames(const ChipSpec& chip) {
  const auto& known = PolicyNames();
  for (const Parameter& p : chip.parameters()) {
    absl::string_view name = p.key;
    if (!absl::ConsumePrefix(&name, kGroup) || known.count(name) > 0) continue;
    const std::string near =
        NearestName(name, std::vector<std::string>(known.begin(), known.end()));
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown number \"", p.key, "\"",
        near.empty() ? ""
                     : absl::StrCat("; did you mean \"", kGroup, near, "\"?")));
  }
  return absl::OkStatus();
}

}  // namespace ptxla::chips
