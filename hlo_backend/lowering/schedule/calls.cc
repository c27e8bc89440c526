#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/known_instructions.h"
#include "hlo_backend/lowering/lowering_cache.h"
#include "hlo_backend/lowering/schedule/lowerer.h"

namespace ptxla::lowering {

using hlo::Instruction;

namespace {

size_t ArraysIn(const hlo::Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() ? 1 : 0;
  size_t count = 0;
  for (const hlo::Shape& s : shape.elements()) count += ArraysIn(s);
  return count;
}

// Why kernel `i` was refused, behind its place. Lowering names the instruction
// that it stumbles over; where that is the kernel itself, once is enough.
absl::Status Refusal(const Instruction& i, const absl::Status& why) {
  absl::string_view message = why.message();
  const std::string own = absl::StrCat("%", i.name());
  if (!absl::ConsumePrefix(&message, absl::StrCat(own, ": "))) {
    absl::ConsumePrefix(&message,
                        absl::StrCat(own, " (", OpcodeName(i.opcode()), "): "));
  }
  return AddContext(absl::Status(why.code(), message), hlo::Describe(i));
}

}  // namespace

absl::Status Lowerer::Call(const Instruction& i, isa::Schedule* schedule) {
  isa::Call call;
  call.kernel = KernelFor(i);
  for (const Instruction* operand : i.operands()) {
    RETURN_IF_ERROR(AppendMoving(*operand, &call));
    RETURN_IF_ERROR(AppendPlaces(operand, &call.args));
  }
  RETURN_IF_ERROR(AppendMovingResults(i, &call));
  RETURN_IF_ERROR(AppendPlaces(&i, &call.args));
  schedule->push_back({InfoOf(i), std::move(call)});
  ++stats_.instructions;
  return absl::OkStatus();
}

int Lowerer::KernelFor(const Instruction& i) {
  const uint64_t key = options_.known != nullptr
                           ? options_.known->FingerprintOf(i)
                           : hlo::KernelFingerprint(i);
  const auto [it, fresh] =
      kernels_.try_emplace(key, static_cast<int>(jobs_.size()));
  if (fresh) jobs_.push_back({&i, key});
  return it->second;
}

absl::Status Lowerer::FindKnownKernels() {
  Programs programs;
  if (options_.earlier) {
    ASSIGN_OR_RETURN(programs, options_.earlier());
  }
  absl::flat_hash_map<uint64_t, const isa::Kernel*> earlier;
  for (const isa::Program* program : programs) {
    for (const isa::Kernel& kernel : program->kernels) {
      earlier.emplace(kernel.fingerprint, &kernel);
    }
  }
  for (KernelJob& job : jobs_) {
    // What an earlier round had, perhaps from an earlier program, is moved;
    // from there it would be copied again.
    if (options_.cache != nullptr) {
      job.kept = options_.cache->Take(job.fingerprint);
      if (job.kept.has_value() && IsEstimate(*job.kept)) job.kept.reset();
    }
    if (job.kept.has_value()) continue;
    const auto known = earlier.find(job.fingerprint);
    if (known != earlier.end() && !IsEstimate(*known->second)) {
      job.earlier = known->second;
    }
  }
  return absl::OkStatus();
}

absl::Status Lowerer::MakeAllKernels() {
  RETURN_IF_ERROR(FindKnownKernels());
  std::optional<codegen::BlockCache> mine;
  codegen::BlockCache* blocks = options_.cache != nullptr
                                    ? options_.cache->blocks()
                                    : &mine.emplace(model_);
  std::vector<MadeKernel> made = MakeKernels(absl::MakeSpan(jobs_), chip_,
                                             model_, options_, blocks, &stats_);
  absl::Status first = absl::OkStatus();
  for (size_t k = 0; k < jobs_.size(); ++k) {
    const Instruction& i = *jobs_[k].instruction;
    if (made[k].estimated) stats_.estimated.push_back(i.name());
    if (!made[k].kernel.ok()) {
      const absl::Status& why = made[k].kernel.status();
      if (!absl::IsUnimplemented(why) && !absl::IsResourceExhausted(why)) {
        return Refusal(i, why);
      }
      if (first.ok()) first = Refusal(i, why);
      stats_.refused.push_back(jobs_[k].fingerprint);
      continue;
    }
    isa::Kernel kernel = *std::move(made[k].kernel);
    kernel.name = i.name();
    kernel.fingerprint = jobs_[k].fingerprint;
    const hlo::Cost cost = costs_.Of(i);
    kernel.work.flops = static_cast<int64_t>(cost.flops);
    kernel.work.mxu_flops = static_cast<int64_t>(cost.matmul_flops);
    kernel.work.transcendentals = static_cast<int64_t>(cost.transcendentals);
    kernel.work.hbm_bytes = LeastHbmBytes(i, kernel.args);
    program_.kernels.push_back(std::move(kernel));
  }
  return first;
}

// What a kernel has to move: of its arrays in HBM, no more than it reads or
// writes of them (rows of a table, a slice, an update in place).
int64_t Lowerer::LeastHbmBytes(const Instruction& i,
                               absl::Span<const isa::KernelArg> args) {
  int64_t bytes = 0;
  const auto add = [&](size_t leaves, double needed) {
    int64_t there = 0;
    for (const isa::KernelArg& arg : args.subspan(0, leaves)) {
      if (arg.space == isa::Space::kHbm) there += arg.bytes;
    }
    args.remove_prefix(std::min(leaves, args.size()));
    bytes += std::min(there, static_cast<int64_t>(needed));
  };
  for (int n = 0; n < i.operand_count(); ++n) {
    add(ArraysIn(i.operand(n)->shape()), costs_.OperandBytes(i, n));
  }
  add(args.size(), costs_.OutputBytes(i));
  return bytes;
}

void Lowerer::SetCores(isa::Schedule* schedule) {
  for (isa::Op& op : *schedule) {
    if (auto* call = std::get_if<isa::Call>(&op.action)) {
      if (program_.kernels[call->kernel].megacore_dim >= 0) {
        call->cores = model_.cores;
      }
    } else if (auto* loop = std::get_if<isa::While>(&op.action)) {
      SetCores(&loop->condition);
      SetCores(&loop->body);
    } else if (auto* branch = std::get_if<isa::Conditional>(&op.action)) {
      for (isa::Schedule& s : branch->branches) SetCores(&s);
    }
  }
}

}  // namespace ptxla::lowering
