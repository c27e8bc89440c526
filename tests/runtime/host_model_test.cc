// docs/host_model.md says what the host model gives for what was published and
// measured; here its numbers are computed again.
#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "runtime/host_costs.h"
#include "tests/runtime/counting_executor.h"
#include "tests/support/status_matchers.h"
#include "workloads/catalog.h"

namespace ptxla::runtime {
namespace {

using Counts = PerHostWork<int64_t>;

int64_t Of(const Counts& counts, HostWork work) {
  return counts[static_cast<size_t>(work)];
}

// The third step of a workload: nothing is new in it.
Counts SteadyCounts(const char* name) {
  const workloads::WorkloadSpec spec = workloads::FindWorkload(name).value();
  testing::CountingExecutor executor;
  lazy::Device device(&executor);
  const auto workload =
      workloads::MakeWorkload(spec, &device, {/*data=*/1}).value();
  for (int step = 0; step < 3; ++step) {
    executor.TakeAll();
    EXPECT_OK(workload->Step());
  }
  return executor.TakeAll();
}

// "12,345.6" -> 12345.6; NaN if it is no number.
double Number(absl::string_view text) {
  double value;
  const std::string plain = absl::StrReplaceAll(text, {{",", ""}});
  return absl::SimpleAtod(plain, &value) ? value : std::nan("");
}

// First column of every table of the page -> the other columns.
std::map<std::string, std::vector<std::string>> Tables() {
  std::map<std::string, std::vector<std::string>> rows;
  const std::string text =
      ReadFile(PTXLA_SOURCE_DIR "/docs/host_model.md").value();
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty() || line[0] != '|') continue;
    std::vector<std::string> cells =
        absl::StrSplit(line.substr(1, line.size() - 2), '|');
    for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
    rows[cells[0]] = {cells.begin() + 1, cells.end()};
  }
  return rows;
}

class HostModelTest : public ::testing::Test {
 protected:
  double Us(HostWork work) const { return ToSeconds(costs_.work(work)) * 1e6; }
  // What the page says of `row`, in column `column`.
  double Page(const std::string& row, int column) const {
    const auto it = page_.find(row);
    if (it == page_.end()) return std::nan("");
    return Number(it->second[column]);
  }
  void ExpectOnPage(const std::string& row, int column, double value) const {
    EXPECT_NEAR(Page(row, column), value, 0.006 * value + 0.006) << row;
  }

  const HostCosts costs_ =
      HostCosts::For(chips::ChipSpec::Load("v5e").value()).value();
  const std::map<std::string, std::vector<std::string>> page_ = Tables();
};

TEST_F(HostModelTest, TheCountsOfABertStepAreOnThePage) {
  const Counts bert = SteadyCounts("bert");
  double total = 0;
  for (const auto& [row, work] :
       {std::pair{"recorded call", HostWork::kRecordedCall},
        {"engine call", HostWork::kEngineCall},
        {"call", HostWork::kCall},
        {"scalar", HostWork::kScalar},
        {"in place", HostWork::kInPlace},
        {"python meta", HostWork::kPythonMeta},
        {"infer shape", HostWork::kInferShape}}) {
    const double ms = static_cast<double>(Of(bert, work)) * Us(work) / 1e3;
    EXPECT_EQ(Page(row, 0), static_cast<double>(Of(bert, work))) << row;
    ExpectOnPage(row, 1, Us(work));
    ExpectOnPage(row, 2, ms);
    total += ms;
  }
  ExpectOnPage("all tracing", 2, total);
}

TEST_F(HostModelTest, PublishedRowsArePredictedAsThePageSays) {
  // 6,912 kernel calls, of which 301 have a Python number for an operand.
  ExpectOnPage(
      "assume_pure, 100-layer decoder, ms", 1,
      (6912 * Us(HostWork::kRecordedCall) + 301 * Us(HostWork::kScalar)) / 1e3);
  ExpectOnPage("issue 2937, CollectSyncTensors, ms", 1,
               439 * Us(HostWork::kCollectTensor) / 1e3);
  ExpectOnPage("issue 2937, post-order and hash, ms", 1,
               2273 * Us(HostWork::kWalkNode) / 1e3);
  ExpectOnPage("issue 2247, device lock, us", 1,
               ToSeconds(costs_.barrier) * 1e6);
  ExpectOnPage("issue 2783, device lock, us", 1,
               ToSeconds(costs_.barrier) * 1e6);
  const auto compile = [&](int graphs, double instructions) {
    return graphs * ToSeconds(costs_.compile_fixed) +
           instructions * ToSeconds(costs_.compile_instruction);
  };
  ExpectOnPage("BERT-Large on v5e, compile, s", 1, compile(2, 31865 + 28681));
  ExpectOnPage("BERT-Large on v4, compile, s", 1, compile(2, 31865 + 28681));
  ExpectOnPage("scan.md, 50 layers unrolled, compile, s", 1, compile(1, 33542));
}

// Processor time that torch_xla 2.9.0 took, against the constants without the
// factor for a slower host.
TEST_F(HostModelTest, WhatWasMeasuredIsComparedAsThePageSays) {
  const Counts bert = SteadyCounts("bert");
  const double fast = 1e3 * costs_.slowness;
  const auto ms = [&](HostWork work, double count) {
    return count * Us(work) / fast;
  };
  const double scalar = Us(HostWork::kScalar), call = Us(HostWork::kCall),
               in_place = Us(HostWork::kInPlace),
               meta = Us(HostWork::kPythonMeta);
  ExpectOnPage("decoder forward, ms", 1,
               ms(HostWork::kRecordedCall, 6912) + ms(HostWork::kScalar, 301));
  ExpectOnPage("decoder forward without gradients, ms", 1,
               ms(HostWork::kCall, 6912) + ms(HostWork::kScalar, 301));
  ExpectOnPage("BERT-Large forward, ms", 1,
               ms(HostWork::kRecordedCall,
                  static_cast<double>(Of(bert, HostWork::kRecordedCall))));
  ExpectOnPage("BERT-Large backward, ms", 1,
               ms(HostWork::kEngineCall,
                  static_cast<double>(Of(bert, HostWork::kEngineCall))));
  ExpectOnPage(
      "AdamW, per parameter, us", 1,
      (8 * call + 7 * scalar + 5 * in_place + 3 * meta) / costs_.slowness);
  ExpectOnPage("SGD with momentum, per parameter, us", 1,
               (4 * call + 3 * scalar + 3 * in_place) / costs_.slowness);
}

}  // namespace
}  // namespace ptxla::runtime
