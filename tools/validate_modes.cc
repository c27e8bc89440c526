#include "tools/validate_modes.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "driver/explain/explain_row.h"
#include "driver/parity/parity_text.h"
#include "driver/parity/schedule_counts.h"
#include "driver/stage.h"
#include "reports/explanation.h"
#include "reports/json_report.h"
#include "tools/command_line.h"

namespace ptxla::tools {
namespace {

using Json = nlohmann::ordered_json;
using driver::KernelPair;
using driver::ParitySummary;
using driver::ProgramParity;

constexpr size_t kNamed = 6;

std::string Dump(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json Ratio(int64_t part, int64_t whole) {
  return whole == 0
             ? Json()
             : Json(static_cast<double>(part) / static_cast<double>(whole));
}

Json SummaryJson(const ParitySummary& s) {
  return Json{{"block", s.block},
              {"programs", s.programs},
              {"failed", s.failed},
              {"same_kernels", Ratio(s.same_kernels, s.programs)},
              {"kernels_found", Ratio(s.matched, s.kernels)},
              {"operand_bytes", s.operand_bytes},
              {"matched_bytes", s.matched_bytes},
              {"same_space", Ratio(s.same_space_bytes, s.matched_bytes)},
              {"same_prefetch", Ratio(s.same_prefetch, s.programs)},
              {"same_steps", Ratio(s.same_steps, s.steps_known)},
              {"as_good_steps", Ratio(s.as_good_steps, s.steps_known)},
              {"bundles_compared", s.bundles_known},
              {"bundles_median",
               s.bundles_median < 0 ? Json() : Json(s.bundles_median)},
              {"bundles_p90", s.bundles_p90 < 0 ? Json() : Json(s.bundles_p90)},
              {"all_bundles_median",
               s.all_bundles_median < 0 ? Json() : Json(s.all_bundles_median)}};
}

Json PairJson(const KernelPair& k) {
  return Json{
      {"theirs", k.theirs},
      {"ours", k.ours},
      {"operand_bytes", k.operand_bytes},
      {"same_space_bytes", k.same_space_bytes},
      {"spaces", k.spaces},
      {"their_steps", k.their_steps == 0 ? Json() : Json(k.their_steps)},
      {"our_steps", k.our_steps},
      {"cost_of_their_steps",
       k.cost_of_their_steps ? Json(*k.cost_of_their_steps) : Json()},
      {"their_bundles", k.their_bundles == 0 ? Json() : Json(k.their_bundles)},
      {"our_bundles", k.our_bundles}};
}

Json ProgramJson(const ProgramParity& p) {
  Json pairs = Json::array();
  for (const KernelPair& k : p.pairs) pairs.push_back(PairJson(k));
  return Json{{"program", p.program},
              {"block", p.block},
              {"failed", p.failed.empty() ? Json() : Json(p.failed)},
              {"same_kernels", p.SameKernels()},
              {"only_theirs", p.only_theirs},
              {"only_ours", p.only_ours},
              {"their_prefetched_bytes", p.their_prefetched},
              {"our_prefetched_bytes", p.our_prefetched},
              {"kernels", std::move(pairs)}};
}

std::string ParityJson(const driver::Parity& parity) {
  Json programs = Json::array(), blocks = Json::array();
  for (const ProgramParity& p : parity.programs) {
    programs.push_back(ProgramJson(p));
  }
  for (const ParitySummary& s : parity.blocks) blocks.push_back(SummaryJson(s));
  return Dump(Json{
      {"schema_version", reports::kJsonSchemaVersion},
      {"chip", parity.chip},
      {"programs", std::move(programs)},
      {"summary",
       {{"all", SummaryJson(parity.total)}, {"blocks", std::move(blocks)}}}});
}

}  // namespace

int ExplainValidatedRow(const std::vector<driver::MeasuredRow>& rows,
                        const std::string& id,
                        const driver::ValidationOptions& options, bool json) {
  const driver::MeasuredRow* row = rows.size() == 1 ? &rows[0] : nullptr;
  for (const driver::MeasuredRow& r : rows) {
    if (r.id == id) row = &r;
  }
  if (row == nullptr) {
    std::string names;
    for (size_t k = 0; k < rows.size() && k < kNamed; ++k) {
      absl::StrAppend(&names, k == 0 ? "" : ", ", rows[k].id);
    }
    return Fail(absl::InvalidArgumentError(absl::StrCat(
                    "--explain is for one row; ", id, " begins ", rows.size(),
                    ": ", names, rows.size() > kNamed ? ", ..." : "")),
                json, "arguments");
  }
  const auto explained =
      WithProgress([&] { return driver::ExplainRow(*row, options); });
  if (!explained.ok()) return Fail(explained.status(), json, "explain");
  if (!json) {
    std::fputs(driver::ExplainedRowText(*explained).c_str(), stdout);
    return driver::kExitDone;
  }
  Json ops = Json::array();
  for (const record::OpRecord& op : explained->program.ops()) {
    ops.push_back(Json{{"name", op.name()},
                       {"count", op.count()},
                       {"time_us", static_cast<double>(op.time_ps()) / 1e6},
                       {"bound", op.bound()}});
  }
  std::fputs(
      Dump(Json{{"schema_version", reports::kJsonSchemaVersion},
                {"id", row->id},
                {"measured", *row->time_us},
                {"predicted", explained->predicted_us},
                {"unit", "us"},
                {"timing", driver::TimingName(row->timing)},
                {"clock", driver::TimingSentence(row->timing)},
                {"ops", std::move(ops)},
                {"longest",
                 Json::parse(reports::ExplanationJson(explained->longest))}})
          .c_str(),
      stdout);
  return driver::kExitDone;
}

int CompareWithCompiler(const std::string& csv,
                        const driver::ParityOptions& options, ParityForm form) {
  const auto parity =
      WithProgress([&] { return driver::CompareCompilers(csv, options); });
  if (!parity.ok()) {
    return Fail(parity.status(), form == ParityForm::kJson, "input");
  }
  const std::string out =
      form == ParityForm::kJson       ? ParityJson(*parity)
      : form == ParityForm::kMarkdown ? driver::ParityMarkdown(*parity)
      : form == ParityForm::kMemory   ? driver::MemoryMarkdown(*parity)
                                      : driver::ParityText(*parity, true);
  std::fputs(out.c_str(), stdout);
  return driver::kExitDone;
}

int CompareWithSchedules(const std::string& csv, const std::string& prefix,
                         int threads, bool rows) {
  driver::ScheduleCountOptions options;
  options.prefix = prefix;
  options.threads = threads;
  const auto counts =
      WithProgress([&] { return driver::CompareSchedules(csv, options); });
  if (!counts.ok()) return Fail(counts.status(), false, "input");
  std::fputs(driver::ScheduleCountsMarkdown(*counts, rows).c_str(), stdout);
  if (!rows) return driver::kExitDone;
  std::string last;
  for (const driver::ScheduleCount& r : counts->rows) {
    if (r.refused.empty() || r.name + r.chip == last) continue;
    last = r.name + r.chip;
    std::printf("\n%s on %s: %s", r.name.c_str(), r.chip.c_str(),
                r.refused.c_str());
  }
  std::puts("");
  return driver::kExitDone;
}

}  // namespace ptxla::tools
