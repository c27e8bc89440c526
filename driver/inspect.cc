#include "driver/inspect.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "driver/hlo_warnings.h"
#include "driver/module_support.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/analysis/trip_count.h"
#include "hlo_backend/ir/opcode.h"

namespace ptxla::driver {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Opcode;

struct RooflineTime {
  double seconds = 0;
  const char* bound = "hbm";
};

RooflineTime RooflineOf(const hlo::Cost& cost, const chips::ChipSpec& chip) {
  const double per_chip = chip.devices_per_chip();
  const double matrix =
      cost.matmul_flops /
      (chip.PeakMatmul(chips::MatmulType::kBf16).count() / per_chip);
  const double vector =
      (cost.flops - cost.matmul_flops + cost.transcendentals) /
      (chip.PeakVpu().count() / per_chip);
  const double memory =
      cost.bytes_accessed / chip.hbm_bandwidth_per_device().count();
  if (matrix >= vector && matrix >= memory && matrix > 0) {
    return {matrix, "mxu"};
  }
  if (vector >= memory && vector > 0) return {vector, "vpu"};
  return {memory, "hbm"};
}

void Add(const InspectedCost& cost, InspectedCost* to) {
  to->flops += cost.flops;
  to->transcendentals += cost.transcendentals;
  to->bytes += cost.bytes;
  to->roofline_s += cost.roofline_s;
  to->unknown_cost |= cost.unknown_cost;
}

std::string SourceOf(const Instruction& i) {
  const hlo::Metadata& m = i.metadata();
  std::string file = m.source_file;
  int64_t line = m.source_line;
  const hlo::StackFrameTables& tables = i.module()->stack_frames();
  const auto at = [](const auto& list, int64_t number) {
    return number > 0 && number <= static_cast<int64_t>(list.size())
               ? &list[number - 1]
               : nullptr;
  };
  if (file.empty()) {
    const auto* frame = at(tables.frames, m.stack_frame_id);
    const auto* location =
        frame == nullptr ? nullptr : at(tables.locations, frame->location);
    const auto* name =
        location == nullptr ? nullptr : at(tables.files, location->file);
    if (name != nullptr) {
      file = *name;
      line = location->line;
    }
  }
  if (file.empty()) return "";
  file = file.substr(file.rfind('/') + 1);
  return line > 0 ? absl::StrCat(file, ":", line) : file;
}

class Inspector {
 public:
  Inspector(const hlo::Module& module, const chips::ChipSpec& chip,
            const InspectOptions& options, const ModuleSupport* support,
            Inspection* out)
      : chip_(chip),
        options_(options),
        costs_(options.like_xla ? hlo::CostOptions::LikeXla()
                                : hlo::CostOptions()),
        support_(support),
        out_(out) {
    Walk(*module.entry(), 1);
    for (auto& [key, row] : rows_) {
      std::tie(row.opcode, row.target) = key;
      Sum(row, &out->total);
      out->rows.push_back(row);
    }
    // Branches: any may run, so that their sum is not what the module costs.
    const hlo::Cost all = costs_.Of(module);
    out->total.flops = all.flops;
    out->total.transcendentals = all.transcendentals;
    out->total.bytes = all.bytes_accessed;
    const auto by_time = [](const auto& a, const auto& b) {
      return a.roofline_s > b.roofline_s;
    };
    std::stable_sort(out->rows.begin(), out->rows.end(), by_time);
    std::stable_sort(out->instructions.begin(), out->instructions.end(),
                     by_time);
  }

 private:
  static void Sum(const InspectedOp& row, InspectedOp* to) {
    Add(row, to);
    to->count += row.count;
    to->kernels += row.kernels;
    to->scheduled += row.scheduled;
    to->refused += row.refused;
    to->free += row.free;
  }

  void Walk(const Computation& c, double times) {
    for (const Instruction* i : c.instructions()) {
      switch (i->opcode()) {
        case Opcode::kParameter:
          continue;
        case Opcode::kCall:
          Walk(*i->to_apply(), times);
          continue;
        case Opcode::kWhile: {
          const auto trips = hlo::TripCountOf(*i);
          const double inside = trips && !options_.like_xla
                                    ? times * static_cast<double>(trips->count)
                                    : times;
          Walk(*i->while_condition(), inside);
          Walk(*i->while_body(), inside);
          continue;
        }
        case Opcode::kConditional:
          Walk(*Costliest(*i), times);
          continue;
        default:
          Visit(*i, times);
      }
    }
  }

  const Computation* Costliest(const Instruction& conditional) {
    const Computation* best = conditional.called().front();
    for (const Computation* c : conditional.called()) {
      if (RooflineOf(costs_.Of(*c), chip_).seconds >
          RooflineOf(costs_.Of(*best), chip_).seconds) {
        best = c;
      }
    }
    return best;
  }

  void Visit(const Instruction& i, double times) {
    const hlo::Cost cost = costs_.Of(i);
    const RooflineTime roofline = RooflineOf(cost, chip_);
    InspectedInstruction item;
    item.flops = cost.flops * times;
    item.transcendentals = cost.transcendentals * times;
    item.bytes = cost.bytes_accessed * times;
    item.roofline_s = roofline.seconds * times;
    item.unknown_cost = cost.unknown_ops > 0;
    item.opcode = std::string(hlo::OpcodeName(i.opcode()));
    item.times = times;
    const auto* call = i.attrs_if<hlo::CustomCallAttrs>();
    InspectedOp& row =
        rows_[{item.opcode, call == nullptr ? "" : call->target}];
    Add(item, &row);
    ++row.count;
    if (support_ != nullptr) item.support = support_->Of(i);
    if (item.support == OpSupport::kKernel) ++row.kernels;
    if (item.support == OpSupport::kSchedule) ++row.scheduled;
    if (item.support == OpSupport::kEstimate) ++row.refused;
    if (item.support == OpSupport::kFree) ++row.free;
    if (item.roofline_s <= 0 && !item.unknown_cost) return;
    item.name = i.name();
    item.shape = i.shape().ToString();
    item.line = i.source_line();
    item.layer = i.metadata().op_name;
    item.source = SourceOf(i);
    item.bound = roofline.bound;
    out_->instructions.push_back(std::move(item));
  }

  const chips::ChipSpec& chip_;
  const InspectOptions& options_;
  hlo::CostAnalysis costs_;
  const ModuleSupport* support_;
  Inspection* out_;
  std::map<std::pair<std::string, std::string>, InspectedOp> rows_;
};

// "%dot.3 (dot) is not lowered" and "%dot.3: no such block" without the name,
// which is the kernel's or that of an instruction inside.
std::string Unnamed(const RefusedKernel& kernel) {
  absl::string_view reason = kernel.reason;
  if (!absl::ConsumePrefix(&reason, "%")) return kernel.reason;
  const size_t end = reason.find_first_of(" :");
  if (end == absl::string_view::npos) return kernel.reason;
  reason.remove_prefix(end);
  absl::ConsumePrefix(&reason, absl::StrCat(" (", kernel.opcode, ")"));
  if (!absl::ConsumePrefix(&reason, ": ")) absl::ConsumePrefix(&reason, " ");
  return std::string(reason);
}

void Tell(const ModuleSupport& support, Inspection* out) {
  out->compiled = true;
  out->kernels = support.kernels;
  out->distinct_kernels = support.distinct_kernels;
  out->elided_constants = support.elided_constants;
  out->blocked = std::string(support.blocked.message());
  for (const RefusedKernel& r : support.refused) {
    RefusedOp op{r.name, r.opcode, Unnamed(r), "", 0, r.calls};
    if (r.instruction != nullptr) {
      op.instruction = r.instruction->name();
      op.line = r.instruction->source_line();
    }
    out->refused.push_back(std::move(op));
  }
  for (const Instruction* i : support.unknown_loops) {
    out->unknown_loops.push_back(
        i->source_line() > 0
            ? absl::StrCat("line ", i->source_line(), ": ", i->name())
            : i->name());
  }
}

}  // namespace

absl::StatusOr<chips::Slice> SmallestSlice(const chips::ChipSpec& chip,
                                           int64_t devices) {
  std::string name = chip.name();  // one chip
  if (devices > chip.devices_per_chip()) {
    for (const std::vector<int>& shape : chips::NamedShapes(chip)) {
      int64_t have = chip.devices_per_chip();
      for (int extent : shape) have *= extent;
      name = chips::SliceName(chip, shape);
      if (have >= devices) break;
    }
  }
  return chips::ParseSlice(name);
}

absl::StatusOr<Inspection> Inspect(const std::string& path,
                                   const chips::ChipSpec& chip,
                                   const InspectOptions& options) {
  ASSIGN_OR_RETURN(const HloInput input, ReadHlo(path, options.input));
  const hlo::Module& module = *input.module;
  Inspection result;
  result.path = input.path;
  result.sizes = options.input.sizes;
  result.format = hlo::FormatName(input.format);
  result.module = module.name();
  result.entry = module.entry()->name();
  result.computations = static_cast<int64_t>(module.computations().size());
  result.instruction_count = module.instruction_count();
  result.devices = module.DeviceCount();
  result.scheduled = module.config().is_scheduled;
  record::RunRecord warned;
  WarnOfInput(
      input, options.input.elided == hlo::ElidedValues::kZero ? "zero" : "iota",
      &warned);
  result.warnings.assign(warned.warnings().begin(), warned.warnings().end());
  for (const Instruction* p : module.entry()->parameters()) {
    ++result.parameters;
    result.parameter_bytes += p->shape().ByteSize();
  }
  result.output_bytes = module.entry()->root()->shape().ByteSize();
  ModuleSupport support;
  if (options.compile) {
    ASSIGN_OR_RETURN(const chips::Slice slice,
                     SmallestSlice(chip, result.devices));
    result.slice = slice.topology.name();
    support = SupportOf(module, slice);
    Tell(support, &result);
  }
  const bool known = options.compile && support.blocked.ok();
  const Inspector inspector(module, chip, options, known ? &support : nullptr,
                            &result);
  return result;
}

}  // namespace ptxla::driver
