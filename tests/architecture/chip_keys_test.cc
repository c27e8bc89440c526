// Is every number of a chip file read by somebody? The chip loader knows the
// fixed keys; names that other layers own, "latency.NAME", are asked of those.
#include <regex>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "chips/chip_spec.h"
#include "chips/compiler_policy.h"
#include "gtest/gtest.h"
#include "isa/keys.h"
#include "tests/architecture/source_tree.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

// Names of all keys of one kind: "latency.vld".
template <class Key>
void AddNames(const char* group, std::set<std::string>* names) {
  for (int k = 0; k < static_cast<int>(Key::kCount); ++k) {
    names->insert(absl::StrCat(group, ".", isa::Name(static_cast<Key>(k))));
  }
}

TEST(ChipKeysTest, LatenciesIntervalsAndQueuesAreThoseOfTheInstructionTable) {
  std::set<std::string> known;
  AddNames<isa::LatencyKey>("latency", &known);
  AddNames<isa::IntervalKey>("interval", &known);
  AddNames<isa::Fifo>("fifo", &known);
  // Nothing waits for a store but a load, which sees it a bundle later: files
  // say so, and no instruction asks.
  known.insert("latency.vst");
  known.insert("latency.sst");
  // Between two instructions of an XLU, not of one.
  known.insert("interval.xlu_reduce_to_permute");
  known.insert("interval.xlu_permute_to_reduce");
  for (const std::string& name : chips::ChipSpec::Names()) {
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                         chips::ChipSpec::Load(name));
    for (const chips::Parameter& p : chip.parameters()) {
      const std::vector<std::string> parts = absl::StrSplit(p.key, '.');
      if (parts[0] != "latency" && parts[0] != "interval" &&
          parts[0] != "fifo") {
        continue;
      }
      // "latency.xlu_rotate.2": of one unit.
      EXPECT_EQ(known.count(absl::StrCat(parts[0], ".", parts[1])), 1u)
          << name << ": isa/keys.h has no " << p.key;
    }
  }
}

TEST(ChipKeysTest, EveryPolicyIsAskedForByTheSource) {
  std::set<std::string> policies;
  for (const std::string& name : chips::PolicyNames()) {
    policies.insert(absl::StrCat("\"", name, "\""));
  }
  EXPECT_GT(policies.size(), 10u);
  for (const SourceFile& file : ListSources()) {
    if (absl::StartsWith(file.path, "tests/")) continue;
    for (const std::string& line : file.lines) {
      if (!absl::StrContains(line, '"')) continue;
      for (auto it = policies.begin(); it != policies.end();) {
        it = absl::StrContains(line, *it) ? policies.erase(it) : std::next(it);
      }
    }
  }
  for (const std::string& policy : policies) {
    ADD_FAILURE() << "no source asks for policy " << policy;
  }
}

// "step_sync" of `chip.Policy("step_sync")`, perhaps on the next line.
TEST(ChipKeysTest, EveryPolicyThatTheSourceAsksForIsDefined) {
  const std::regex asked(R"re(Policy\(([a-z_.*]+, *)?"([a-z0-9_]+)")re");
  int found = 0;
  for (const SourceFile& file : ListSources()) {
    if (absl::StartsWith(file.path, "tests/")) continue;
    std::string text;
    for (absl::string_view line : file.lines) {
      absl::StrAppend(&text, absl::StripAsciiWhitespace(line), " ");
    }
    absl::StrReplaceAll({{"( ", "("}}, &text);
    for (std::sregex_iterator it(text.begin(), text.end(), asked), end;
         it != end; ++it, ++found) {
      EXPECT_EQ(chips::PolicyNames().count((*it)[2].str()), 1u)
          << file.path << " asks for policy " << (*it)[2];
    }
  }
  EXPECT_GT(found, 40);
}

}  // namespace
}  // namespace ptxla::testing
