#include "driver/validation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "chips/topology.h"
#include "driver/hlo_input.h"
#include "driver/timed_program.h"
#include "hlo_backend/analysis/cost_analysis.h"

namespace ptxla::driver {
namespace {

using hlo::Instruction;
using hlo::Opcode;

// The only dot of a module without loops.
std::optional<ProductShape> ProductOf(const hlo::Module& module) {
  const Instruction* dot = nullptr;
  for (const Instruction* i : module.entry()->instructions()) {
    if (i->opcode() != Opcode::kDot) continue;
    if (dot != nullptr) return std::nullopt;
    dot = i;
  }
  if (dot == nullptr) return std::nullopt;
  const auto& attrs = dot->attrs<hlo::DotAttrs>();
  if (!attrs.lhs_batch.empty() || attrs.lhs_contracting.size() != 1) {
    return std::nullopt;
  }
  const hlo::Shape &lhs = dot->operand(0)->shape(),
                   &rhs = dot->operand(1)->shape();
  ProductShape p;
  p.k =
      static_cast<double>(lhs.dim(static_cast<int>(attrs.lhs_contracting[0])));
  p.m = static_cast<double>(lhs.ElementCount()) / p.k;
  p.n = static_cast<double>(rhs.ElementCount()) / p.k;
  p.lhs_bytes = static_cast<double>(lhs.ByteSize());
  p.rhs_bytes = static_cast<double>(rhs.ByteSize());
  p.out_bytes = static_cast<double>(module.entry()->root()->shape().ByteSize());
  return p;
}

// FLOPs and the bytes that must move: of a chain, those of one iteration.
void CountWork(const hlo::Module& module, Timing timing, ValidatedRow* row) {
  hlo::CostAnalysis costs;
  const hlo::Computation* entry = module.entry();
  if (timing == Timing::kChainSlope) {
    for (const Instruction* i : entry->instructions()) {
      if (i->opcode() != Opcode::kWhile) continue;
      const hlo::Cost cost = costs.Of(*i->while_body());
      row->flops = cost.flops;
      row->bytes = cost.bytes_accessed;
      return;
    }
  }
  row->flops = costs.Of(*entry).flops;
  for (const Instruction* p : entry->parameters()) {
    row->bytes += static_cast<double>(p->shape().ByteSize());
  }
  row->bytes += static_cast<double>(entry->root()->shape().ByteSize());
}

// The keys that the chip has of "latency.*", or of one name.
std::vector<std::string> KeysLike(const chips::ChipSpec& chip,
                                  const std::string& pattern) {
  std::vector<std::string> keys;
  const bool all = absl::EndsWith(pattern, ".*");
  const absl::string_view prefix =
      absl::string_view(pattern).substr(0, pattern.size() - (all ? 1 : 0));
  for (const chips::Parameter& p : chip.parameters()) {
    if (all ? absl::StartsWith(p.key, prefix) : p.key == pattern) {
      keys.push_back(p.key);
    }
  }
  return keys;
}

absl::StatusOr<TimedProgram> CompileFor(const MeasuredRow& row,
                                        const chips::Slice& slice,
                                        const ValidationOptions& options,
                                        std::unique_ptr<hlo::Module> module) {
  if (options.libtpu != nullptr) {
    if (row.residency != Residency::kHbm) {
      return absl::UnimplementedError(
          "--compiler=libtpu: operands in other memory than HBM");
    }
    ASSIGN_OR_RETURN(module, options.libtpu->Compile(*module, slice));
  }
  return TimedProgram::Compile(slice, std::move(module), row.residency,
                               options.disable_passes, options.verify);
}

// Rows of one program on one slice.
struct Job {
  std::vector<int> rows;
};

void Run(const std::vector<MeasuredRow>& rows, const Job& job,
         const ValidationOptions& options, std::vector<ValidatedRow>* out) {
  const MeasuredRow& first = rows[job.rows.front()];
  const auto compile =
      [&](const chips::Slice& slice) -> absl::StatusOr<TimedProgram> {
    ASSIGN_OR_RETURN(HloInput input, ReadHlo(first.program));
    for (const int r : job.rows) {
      ValidatedRow& row = (*out)[r];
      CountWork(*input.module, row.row.timing, &row);
      row.product = ProductOf(*input.module);
      row.peak_flops = slice.chip.PeakMatmul(chips::MatmulType::kBf16).count() /
                       slice.chip.core().cores_per_chip *
                       slice.topology.cores_per_device();
      row.array_size = slice.chip.core().mxu_cols;
    }
    return CompileFor(first, slice, options, std::move(input.module));
  };
  const auto slice = SliceOfRow(first, options);
  absl::StatusOr<TimedProgram> program =
      slice.ok() ? compile(*slice) : slice.status();
  for (const int r : job.rows) {
    ValidatedRow& row = (*out)[r];
    const absl::StatusOr<Picoseconds> time =
        program.ok() ? program->Time(row.row.timing)
                     : absl::StatusOr<Picoseconds>(program.status());
    if (time.ok()) {
      row.predicted_us = static_cast<double>(time->count()) / 1e6;
    } else {
      row.note = absl::StrCat("failed: ", time.status().message());
    }
  }
}

}  // namespace

absl::StatusOr<chips::Slice> SliceOfRow(const MeasuredRow& row,
                                        const ValidationOptions& options) {
  chips::SliceOptions slice_options;
  slice_options.cores_per_chip = row.cores;
  ASSIGN_OR_RETURN(chips::Slice slice,
                   chips::ParseSlice(row.target, slice_options));
  for (const auto& [key, value] : options.chip_numbers) {
    for (const std::string& k : KeysLike(slice.chip, key)) {
      ASSIGN_OR_RETURN(slice.chip, slice.chip.WithValue(k, value));
    }
  }
  return slice;
}

absl::StatusOr<TimedProgram> CompileRow(const MeasuredRow& row,
                                        const chips::Slice& slice,
                                        const ValidationOptions& options) {
  ASSIGN_OR_RETURN(HloInput input, ReadHlo(row.program));
  return CompileFor(row, slice, options, std::move(input.module));
}

Validation Validate(const std::vector<MeasuredRow>& rows,
                    const ValidationOptions& options) {
  Validation v;
  v.rows.reserve(rows.size());
  std::map<std::string, Job> by_key;
  for (int r = 0; r < static_cast<int>(rows.size()); ++r) {
    v.rows.emplace_back();
    v.rows.back().row = rows[r];
    if (rows[r].timing == Timing::kNotRunnable) {
      v.rows.back().note = "not_runnable";
      continue;
    }
    if (!rows[r].runnable()) {
      v.rows.back().note = "failed: no program or no time_us";
      continue;
    }
    by_key[absl::StrCat(rows[r].program, "|", rows[r].target, "|",
                        rows[r].cores, "|",
                        static_cast<int>(rows[r].residency))]
        .rows.push_back(r);
  }
  std::vector<Job> jobs;
  jobs.reserve(by_key.size());
  for (auto& [key, job] : by_key) jobs.push_back(std::move(job));
  const int n = static_cast<int>(jobs.size());
  Activity validating("running measured programs");
  ParallelFor(n, std::max(1, options.threads), [&](int, int k) {
    validating.OneMore(n, rows[jobs[k].rows[0]].id);
    Run(rows, jobs[k], options, &v.rows);
  });
  return v;
}

}  // namespace ptxla::driver
