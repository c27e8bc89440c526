#include "hlo_backend/lowering/lowering.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/trip_count.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/kernel_jobs.h"
#include "hlo_backend/lowering/physical_array.h"
#include "isa/from_chip_spec.h"

namespace ptxla::lowering {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

// "line 12: %x = f32[2] foo(...)": what a message says about an instruction.
std::string Describe(const Instruction& i) {
  return absl::StrCat(i.source_line() > 0
                          ? absl::StrCat("line ", i.source_line(), ": ")
                          : std::string(),
                      i.name(), " (", hlo::OpcodeName(i.opcode()), ")");
}

bool IsPlumbing(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kOptimizationBarrier:
      return true;
    default:
      return false;
  }
}

class Lowerer {
 public:
  Lowerer(const hlo::Module& module, const Placement& placement,
          const chips::ChipSpec& chip, const LoweringOptions& options)
      : module_(module),
        placement_(placement),
        chip_(chip),
        options_(options),
        model_(isa::FromChipSpec(chip)) {
    for (const isa::Program* program : options.earlier) {
      for (const isa::Kernel& kernel : program->kernels) {
        earlier_.emplace(kernel.fingerprint, &kernel);
      }
    }
  }

  absl::StatusOr<isa::Program> Run(LoweringStats* stats) {
    program_.name = module_.name();
    program_.chip = chip_.name();
    program_.buffers = placement_.buffers;
    const absl::Status walked =
        LowerComputation(*module_.entry(), &program_.schedule);
    // A kernel that cannot be made comes before what stopped the walk.
    RETURN_IF_ERROR(MakeAllKernels());
    RETURN_IF_ERROR(walked);
    SetCores(&program_.schedule);
    RETURN_IF_ERROR(Leaves());
    for (const isa::Kernel& k : program_.kernels) {
      program_.scoped_vmem_bytes =
          std::max(program_.scoped_vmem_bytes, k.vmem_bytes);
    }
    if (stats != nullptr) {
      stats_.kernels = static_cast<int64_t>(program_.kernels.size());
      *stats = std::move(stats_);
    }
    return std::move(program_);
  }

 private:
  absl::StatusOr<isa::BufferSlice> PlaceOf(const Instruction* i,
                                           int leaf) const {
    if (const isa::BufferSlice* slice = placement_.Find(i, leaf)) {
      return *slice;
    }
    return absl::InternalError(
        absl::StrCat(i->name(), ": leaf ", leaf, " has no place in memory"));
  }

  // Places of all array leaves of a value.
  absl::Status AppendPlaces(const Instruction* i,
                            std::vector<isa::BufferSlice>* places) const {
    int leaf = 0;
    absl::Status status;
    hlo::ForEachLeaf(i->shape(), [&](const Shape& s, const hlo::ShapeIndex&) {
      const int number = leaf++;
      if (!s.IsArray() || !status.ok()) return;
      auto place = PlaceOf(i, number);
      if (!place.ok()) {
        status = place.status();
        return;
      }
      places->push_back(*place);
    });
    return status;
  }

  isa::OpInfo InfoOf(const Instruction& i) {
    isa::OpInfo info;
    info.name = i.name();
    info.opcode = std::string(hlo::OpcodeName(i.opcode()));
    const hlo::Metadata& m = i.metadata();
    info.layer = m.op_name;
    info.source_file = m.source_file;
    info.source_line = static_cast<int>(m.source_line);
    const hlo::Cost cost = costs_.Of(i);
    info.flops = static_cast<int64_t>(cost.flops);
    info.bytes = static_cast<int64_t>(cost.bytes_accessed);
    return info;
  }

  absl::Status LowerComputation(const Computation& c, isa::Schedule* schedule) {
    for (const Instruction* i : c.PostOrder()) {
      RETURN_IF_ERROR(LowerInstruction(*i, schedule));
    }
    return absl::OkStatus();
  }

  absl::Status LowerInstruction(const Instruction& i, isa::Schedule* schedule) {
    if (i.opcode() == Opcode::kConstant) return Constant(i);
    if (IsPlumbing(i)) return absl::OkStatus();
    switch (i.opcode()) {
      case Opcode::kCall:
        return LowerComputation(*i.to_apply(), schedule);
      case Opcode::kWhile:
        return While(i, schedule);
      case Opcode::kConditional:
        return Conditional(i, schedule);
      case Opcode::kCopyStart:
        return CopyStart(i, schedule);
      case Opcode::kAsyncStart:
        return AsyncStart(i, schedule);
      case Opcode::kAsyncDone:
      case Opcode::kCopyDone:
        schedule->push_back({InfoOf(i), isa::CopyDone{started_[i.operand(0)]}});
        return absl::OkStatus();
      case Opcode::kCopy:
        if (i.shape().layout().minor_to_major ==
                i.operand(0)->shape().layout().minor_to_major &&
            i.shape().layout().tiles == i.operand(0)->shape().layout().tiles) {
          return WholeCopy(i, schedule);
        }
        break;
      case Opcode::kAllReduceDone:
      case Opcode::kAllGatherDone:
      case Opcode::kCollectivePermuteDone:
        schedule->push_back(
            {InfoOf(i), isa::CollectiveDone{started_[i.operand(0)]}});
        return absl::OkStatus();
      case Opcode::kAllReduce:
      case Opcode::kAllReduceStart:
      case Opcode::kAllGather:
      case Opcode::kAllGatherStart:
      case Opcode::kReduceScatter:
      case Opcode::kAllToAll:
      case Opcode::kCollectivePermute:
      case Opcode::kCollectivePermuteStart:
        return Collective(i, schedule);
      case Opcode::kCustomCall:
        return CustomCall(i, schedule);
      default:
        break;
    }
    return Call(i, schedule);
  }

  absl::Status Call(const Instruction& i, isa::Schedule* schedule) {
    isa::Call call;
    call.kernel = KernelFor(i);
    for (const Instruction* operand : i.operands()) {
      RETURN_IF_ERROR(AppendPlaces(operand, &call.args));
    }
    RETURN_IF_ERROR(AppendPlaces(&i, &call.args));
    schedule->push_back({InfoOf(i), std::move(call)});
    ++stats_.instructions;
    return absl::OkStatus();
  }

  // The number of its kernel, which is made later.
  int KernelFor(const Instruction& i) {
    const uint64_t key = hlo::KernelFingerprint(i);
    const auto [it, fresh] =
        kernels_.try_emplace(key, static_cast<int>(jobs_.size()));
    if (fresh) {
      const auto known = earlier_.find(key);
      const bool taken = known != earlier_.end() && !IsEstimate(*known->second);
      jobs_.push_back({&i, key, taken ? known->second : nullptr});
    }
    return it->second;
  }

  absl::Status MakeAllKernels() {
    std::vector<MadeKernel> made =
        MakeKernels(jobs_, chip_, model_, options_, &stats_);
    for (size_t k = 0; k < jobs_.size(); ++k) {
      const Instruction& i = *jobs_[k].instruction;
      if (made[k].estimated) stats_.estimated.push_back(i.name());
      ASSIGN_OR_RETURN(isa::Kernel kernel, std::move(made[k].kernel),
                       _ << Describe(i));
      kernel.name = i.name();
      kernel.fingerprint = jobs_[k].fingerprint;
      const hlo::Cost cost = costs_.Of(i);
      kernel.work.flops = static_cast<int64_t>(cost.flops);
      kernel.work.mxu_flops = static_cast<int64_t>(cost.matmul_flops);
      kernel.work.transcendentals = static_cast<int64_t>(cost.transcendentals);
      kernel.work.hbm_bytes = 0;
      for (const isa::KernelArg& arg : kernel.args) {
        if (arg.space == isa::Space::kHbm) kernel.work.hbm_bytes += arg.bytes;
      }
      program_.kernels.push_back(std::move(kernel));
    }
    return absl::OkStatus();
  }

  // Calls of kernels that the cores of a chip share run on all of them.
  void SetCores(isa::Schedule* schedule) {
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

  absl::Status Constant(const Instruction& i) {
    const isa::BufferSlice* place = placement_.Find(&i, 0);
    if (place == nullptr || !i.shape().IsArray()) return absl::OkStatus();
    if (i.literal().IsElided()) {
      return absl::UnimplementedError(
          absl::StrCat(Describe(i), ": the constant's value was elided; ",
                       "--elided=iota or zero gives it one"));
    }
    hlo::Literal literal = i.literal();
    program_.constants.push_back(
        {*place, TiledLayoutOf(i.shape()).Pack(literal.mutable_bytes())});
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> BytesOf(const Instruction& i) const {
    int64_t total = 0;
    absl::Status status;
    hlo::ForEachLeaf(i.shape(), [&](const Shape& s, const hlo::ShapeIndex&) {
      if (s.IsArray()) total += TiledLayoutOf(s).ByteSize();
    });
    return total;
  }

  absl::Status CopyStart(const Instruction& i, isa::Schedule* schedule) {
    // (destination, source, context)
    ASSIGN_OR_RETURN(const isa::BufferSlice from, PlaceOf(i.operand(0), 0));
    ASSIGN_OR_RETURN(const isa::BufferSlice to, PlaceOf(&i, 0));
    ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(*i.operand(0)));
    started_[&i] = next_id_;
    schedule->push_back(
        {InfoOf(i), isa::CopyStart{next_id_++, from, to, bytes}});
    return absl::OkStatus();
  }

  // A slice of one piece of memory, brought elsewhere.
  absl::Status AsyncStart(const Instruction& i, isa::Schedule* schedule) {
    const Instruction& slice = *i.to_apply()->root();
    const auto* attrs = slice.attrs_if<hlo::SliceAttrs>();
    if (attrs == nullptr || i.operand_count() != 1) {
      return absl::UnimplementedError(
          absl::StrCat(Describe(i), ": an asynchronous ",
                       hlo::OpcodeName(slice.opcode()), " is not lowered"));
    }
    const isa::TiledLayout whole = TiledLayoutOf(i.operand(0)->shape());
    const std::vector<int64_t> first(attrs->starts.begin(),
                                     attrs->starts.end());
    std::vector<int64_t> last(attrs->limits.begin(), attrs->limits.end());
    for (int64_t& index : last) --index;
    const isa::TiledLayout part = TiledLayoutOf(slice.shape());
    const int64_t offset = whole.ElementOffset(first);
    if (whole.ElementOffset(last) - offset + 1 !=
            slice.shape().ElementCount() ||
        part.PaddedElements() != slice.shape().ElementCount()) {
      return absl::UnimplementedError(absl::StrCat(
          Describe(i), ": a slice of several pieces of memory is not lowered"));
    }
    ASSIGN_OR_RETURN(isa::BufferSlice from, PlaceOf(i.operand(0), 0));
    from.offset += offset * whole.bits / 8;
    // ((operand), result, context)
    ASSIGN_OR_RETURN(const isa::BufferSlice to, PlaceOf(&i, 1));
    started_[&i] = next_id_;
    schedule->push_back(
        {InfoOf(i), isa::CopyStart{next_id_++, from, to, part.ByteSize()}});
    return absl::OkStatus();
  }

  // Parts that lie elsewhere are copied beside one another.
  absl::Status ConcatBitcast(const Instruction& i, isa::Schedule* schedule) {
    ASSIGN_OR_RETURN(const isa::BufferSlice to, PlaceOf(&i, 0));
    int64_t offset = 0;
    for (const Instruction* part : i.operands()) {
      ASSIGN_OR_RETURN(const isa::BufferSlice from, PlaceOf(part, 0));
      ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(*part));
      const isa::BufferSlice place{to.buffer, to.offset + offset};
      if (!(from == place)) CopyBytes(i, from, place, bytes, schedule);
      offset += bytes;
    }
    return absl::OkStatus();
  }

  // Same bytes at another place: the DMA engine's work, and a wait for it.
  absl::Status WholeCopy(const Instruction& i, isa::Schedule* schedule) {
    ASSIGN_OR_RETURN(const isa::BufferSlice from, PlaceOf(i.operand(0), 0));
    ASSIGN_OR_RETURN(const isa::BufferSlice to, PlaceOf(&i, 0));
    if (from == to) return absl::OkStatus();
    ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(i));
    CopyBytes(i, from, to, bytes, schedule);
    return absl::OkStatus();
  }

  void CopyBytes(const Instruction& i, const isa::BufferSlice& from,
                 const isa::BufferSlice& to, int64_t bytes,
                 isa::Schedule* schedule) {
    const int id = next_id_++;
    schedule->push_back({InfoOf(i), isa::CopyStart{id, from, to, bytes}});
    schedule->push_back({InfoOf(i), isa::CopyDone{id}});
  }

  absl::Status Collective(const Instruction& i, isa::Schedule* schedule) {
    isa::CollectiveStart start;
    start.id = next_id_++;
    switch (i.opcode()) {
      case Opcode::kAllGather:
      case Opcode::kAllGatherStart:
        start.kind = isa::CollectiveKind::kAllGather;
        break;
      case Opcode::kReduceScatter:
        start.kind = isa::CollectiveKind::kReduceScatter;
        break;
      case Opcode::kAllToAll:
        start.kind = isa::CollectiveKind::kAllToAll;
        break;
      case Opcode::kCollectivePermute:
      case Opcode::kCollectivePermuteStart:
        start.kind = isa::CollectiveKind::kPermute;
        break;
      default:
        start.kind = isa::CollectiveKind::kAllReduce;
        break;
    }
    if (const auto* attrs = i.attrs_if<hlo::PermuteAttrs>()) {
      start.pairs = attrs->source_target_pairs;
    } else {
      start.groups = i.attrs<hlo::CollectiveAttrs>().groups.Expand();
    }
    if (!i.called().empty()) {
      const auto monoid = hlo::MonoidOf(*i.to_apply());
      if (!monoid) {
        return absl::UnimplementedError(
            absl::StrCat(Describe(i), ": its reduction is not one operation"));
      }
      start.reduction = *monoid == Opcode::kAdd ? isa::Reduction::kSum
                        : *monoid == Opcode::kMultiply
                            ? isa::Reduction::kProduct
                        : *monoid == Opcode::kMinimum ? isa::Reduction::kMin
                                                      : isa::Reduction::kMax;
    }
    for (const Instruction* operand : i.operands()) {
      if (!operand->shape().IsArray()) continue;
      if (start.dtype.empty()) {
        start.dtype =
            std::string(hlo::PrimitiveTypeName(operand->shape().type()));
      }
      ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(*operand));
      start.bytes += bytes;
      RETURN_IF_ERROR(AppendPlaces(operand, &start.from));
    }
    RETURN_IF_ERROR(AppendPlaces(&i, &start.to));
    // Some -start shapes are (operands, results): the results come last.
    while (start.to.size() > start.from.size()) {
      start.to.erase(start.to.begin());
    }
    const bool async = hlo::IsAsyncStart(i.opcode());
    const int id = start.id;
    started_[&i] = id;
    schedule->push_back({InfoOf(i), std::move(start)});
    if (!async) schedule->push_back({InfoOf(i), isa::CollectiveDone{id}});
    return absl::OkStatus();
  }

  absl::Status While(const Instruction& i, isa::Schedule* schedule) {
    isa::While loop;
    if (const auto count = hlo::TripCountOf(i)) {
      loop.trips = count->count;
      loop.reason = count->reason;
      loop.basis = count->induction_index >= 0 ? isa::TripCount::kDerived
                                               : isa::TripCount::kStatic;
    } else if (options_.assumed_trip_count > 0) {
      loop.trips = options_.assumed_trip_count;
      loop.basis = isa::TripCount::kAssumed;
      loop.reason = "assumed: --trip-count";
    } else {
      return absl::UnimplementedError(
          absl::StrCat(Describe(i), ": how often it runs depends on data"));
    }
    ASSIGN_OR_RETURN(loop.predicate, PlaceOf(i.while_condition()->root(), 0));
    RETURN_IF_ERROR(LowerComputation(*i.while_condition(), &loop.condition));
    RETURN_IF_ERROR(LowerComputation(*i.while_body(), &loop.body));
    schedule->push_back({InfoOf(i), std::move(loop)});
    return absl::OkStatus();
  }

  absl::Status Conditional(const Instruction& i, isa::Schedule* schedule) {
    isa::Conditional branch;
    ASSIGN_OR_RETURN(branch.selector, PlaceOf(i.operand(0), 0));
    branch.reason = "first branch";
    for (const Computation* c : i.called()) {
      branch.branches.emplace_back();
      RETURN_IF_ERROR(LowerComputation(*c, &branch.branches.back()));
    }
    schedule->push_back({InfoOf(i), std::move(branch)});
    return absl::OkStatus();
  }

  // 64-bit values are two planes of 32-bit words: taking one out, or putting
  // two together where they lie in place already, costs nothing.
  absl::Status CustomCall(const Instruction& i, isa::Schedule* schedule) {
    const std::string& target = i.attrs<hlo::CustomCallAttrs>().target;
    if (target == "X64SplitLow" || target == "X64SplitHigh") {
      return absl::OkStatus();
    }
    if (target == "ConcatBitcast") return ConcatBitcast(i, schedule);
    if (target == "X64Combine") {
      ASSIGN_OR_RETURN(const isa::BufferSlice to, PlaceOf(&i, 0));
      int64_t offset = 0;
      for (const Instruction* half : i.operands()) {
        ASSIGN_OR_RETURN(const isa::BufferSlice from, PlaceOf(half, 0));
        ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(*half));
        const isa::BufferSlice plane{to.buffer, to.offset + offset};
        if (!(from == plane)) CopyBytes(i, from, plane, bytes, schedule);
        offset += bytes;
      }
      return absl::OkStatus();
    }
    if (options_.unknown_ops == LoweringOptions::UnknownOps::kEstimate) {
      return Call(i, schedule);
    }
    return absl::UnimplementedError(
        absl::StrCat(Describe(i), ": custom call \"", target,
                     "\" is not lowered", kEstimateAdvice));
  }

  absl::Status Leaves() {
    const Computation& entry = *module_.entry();
    const auto add = [&](const Instruction& i, const std::string& prefix,
                         std::vector<isa::Leaf>* leaves) -> absl::Status {
      int number = 0;
      absl::Status status;
      hlo::ForEachLeaf(i.shape(),
                       [&](const Shape& s, const hlo::ShapeIndex& index) {
                         const int leaf = number++;
                         if (!s.IsArray() || !status.ok()) return;
                         isa::Leaf l;
                         l.name = prefix;
                         if (!index.empty() || prefix.empty()) {
                           absl::StrAppend(&l.name, "{");
                           for (size_t k = 0; k < index.size(); ++k) {
                             absl::StrAppend(&l.name, k ? "," : "", index[k]);
                           }
                           absl::StrAppend(&l.name, "}");
                         }
                         l.shape = s.ToStringWithLayout();
                         l.layout = TiledLayoutOf(s);
                         auto place = PlaceOf(&i, leaf);
                         if (!place.ok()) {
                           status = place.status();
                           return;
                         }
                         l.where = *place;
                         leaves->push_back(std::move(l));
                       });
      return status;
    };
    for (const Instruction* p : entry.parameters()) {
      RETURN_IF_ERROR(add(*p, p->name(), &program_.parameters));
    }
    return add(*entry.root(), "", &program_.outputs);
  }

  const hlo::Module& module_;
  const Placement& placement_;
  const chips::ChipSpec& chip_;
  const LoweringOptions& options_;
  const isa::MachineModel model_;
  hlo::CostAnalysis costs_;
  isa::Program program_;
  LoweringStats stats_;
  absl::flat_hash_map<uint64_t, int> kernels_;
  std::vector<KernelJob> jobs_;  // by kernel number
  absl::flat_hash_map<uint64_t, const isa::Kernel*> earlier_;
  absl::flat_hash_map<const Instruction*, int> started_;
  int next_id_ = 0;
};

}  // namespace

isa::TiledLayout TiledLayoutOf(const Shape& shape) {
  isa::TiledLayout l;
  l.dims.assign(shape.dims().begin(), shape.dims().end());
  if (shape.has_layout()) {
    const hlo::Layout& layout = shape.layout();
    l.minor_to_major.assign(layout.minor_to_major.begin(),
                            layout.minor_to_major.end());
    for (const hlo::Tile& t : layout.tiles) {
      l.tiles.emplace_back(t.dimensions.begin(), t.dimensions.end());
    }
  }
  l.bits = hlo::BitWidth(shape.type());
  return l;
}

absl::StatusOr<isa::Program> Lower(const hlo::Module& module,
                                   const Placement& placement,
                                   const chips::ChipSpec& chip,
                                   const LoweringOptions& options,
                                   LoweringStats* stats) {
  return Lowerer(module, placement, chip, options).Run(stats);
}

}  // namespace ptxla::lowering
