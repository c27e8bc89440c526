#include "hlo_backend/passes/scheduled/fusion_splitter.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "hlo_backend/analysis/product_chain.h"
#include "hlo_backend/analysis/stages.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/loops/planes_in_place.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/products/convolution_canonicalizer.h"
#include "hlo_backend/passes/products/member_planes.h"
#include "hlo_backend/passes/scheduled/body_compiler.h"
#include "hlo_backend/passes/scheduled/padded_operands.h"
#include "hlo_backend/passes/scheduled/part_fusions.h"
#include "hlo_backend/passes/scheduled/part_names.h"
#include "hlo_backend/passes/scheduled/part_places.h"
#include "hlo_backend/passes/scheduled/shared_parts.h"
#include "hlo_backend/passes/scheduled/stored_types.h"
#include "hlo_backend/passes/simplify/tuple_simplifier.h"

namespace ptxla::hlo {
namespace {

// Images with a small batch in the lanes: with another order of dimensions
// their tiles are full.
bool ConvolvesPadding(const Instruction& fusion, int generation) {
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() == Opcode::kConvolution) {
      return ReadsPadded(fusion, generation);
    }
  }
  return false;
}

// A reduce of several arrays: what it is (an argmax) shows only while the
// positions that it counts stand beside it.
bool ReducesSeveral(const Instruction& fusion) {
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() == Opcode::kReduce && i->operand_count() > 2) return true;
  }
  return false;
}

// The body as the entry of a module that nobody has scheduled. Inside of a
// fusion not all values have layouts.
void TakeOut(const Computation& body, const Module& from, int generation,
             Module* apart) {
  *apart->mutable_config() = from.config();
  apart->mutable_config()->is_scheduled = false;
  apart->mutable_config()->entry_layout.reset();
  apart->mutable_config()->input_output_alias.clear();
  Module::ComputationMap there;
  apart->SetEntry(apart->CloneComputation(body, body.name(), &there));
  for (Instruction* i : apart->entry()->instructions()) {
    if (!i->shape().IsArray() || i->shape().has_layout()) continue;
    *i->mutable_shape() = WithTpuLayout(i->shape(), generation);
  }
}

// A lone instruction as a body. Scalar constants come with it: a reduce is
// nothing without its start value.
Computation* BodyOf(const Instruction& i) {
  Computation* body = i.parent()->module()->AddComputation(i.name());
  std::vector<Instruction*> operands;
  for (const Instruction* o : i.operands()) {
    Instruction* parameter =
        body->AddParameter(static_cast<int64_t>(operands.size()), o->shape());
    const bool inside =
        o->opcode() == Opcode::kConstant && o->shape().IsScalar();
    operands.push_back(inside ? body->AddLike(*o, o->shape(), {}) : parameter);
  }
  body->SetRoot(body->AddLike(i, i.shape(), operands));
  return body;
}

// The one instruction of the body is the same kernel again.
bool IsOnly(const Computation& body, uint64_t kernel) {
  const Instruction* only = nullptr;
  for (const Instruction* i : body.instructions()) {
    if (i->opcode() == Opcode::kParameter) continue;
    if (only != nullptr) return false;
    only = i;
  }
  return only != nullptr && KernelFingerprint(*only) == kernel;
}

std::vector<Instruction*> InOrder(const Computation& c) {
  std::vector<Instruction*> all;
  for (Instruction* i : c.instructions()) all.push_back(i);
  return all;
}

}  // namespace

bool HasIdleGradient(const Instruction& i) {
  if (i.opcode() == Opcode::kConvolution) return ContractsFewLanes(i);
  if (i.opcode() != Opcode::kFusion) return false;
  for (const Instruction* x : i.fused()->instructions()) {
    if (x->opcode() == Opcode::kConvolution && ContractsFewLanes(*x)) {
      return true;
    }
  }
  return false;
}

bool IsCompiledFirst(const Instruction& i, const PassContext& context) {
  return HasIdleGradient(i) ||
         (i.opcode() == Opcode::kFusion && !IsPartKernel(i) &&
          ConvolvesPadding(i, GenerationOf(context)));
}

// What to try, one after the other. Dimensions of a product become those of
// matrices when it is compiled; windows keep their dimensions when they are
// not.
std::vector<FusionSplitter::Way> FusionSplitter::WaysOf(
    const Instruction& i) const {
  if (i.opcode() != Opcode::kFusion) {
    return {Way::kPlanes, Way::kCompiled, Way::kFromHbm, Way::kConverted};
  }
  if (IsChainFusion(i) || IsStagedFusion(i)) return {Way::kSingle};
  // Its product has another form when it is compiled.
  if (HasIdleGradient(i) || ConvolvesPadding(i, GenerationOf(context_))) {
    return {Way::kCompiled, Way::kWhole, Way::kFused, Way::kSingle};
  }
  for (const Instruction* inside : i.fused()->instructions()) {
    if (inside->opcode() == Opcode::kDot) {
      std::vector<Way> ways = {Way::kPlanes, Way::kWhole,  Way::kAroundReduced,
                               Way::kAround, Way::kBehind, Way::kCompiled,
                               Way::kFused,  Way::kSingle};
      if (ContractsPlanes(*inside)) {
        ways.insert(std::find(ways.begin(), ways.end(), Way::kCompiled),
                    Way::kAroundPlain);
      }
      return ways;
    }
  }
  if (ReducesSeveral(i)) return {Way::kCompiled, Way::kFused, Way::kSingle};
  return {Way::kWhole, Way::kFused, Way::kCompiled, Way::kSingle};
}

absl::StatusOr<Computation*> FusionSplitter::Parts(Instruction* i, Way* way) {
  Module* module = i->parent()->module();
  const bool fused = i->opcode() == Opcode::kFusion;
  const auto tried = tried_.find(i->id());
  const Way last = tried == tried_.end() ? Way::kNone : tried->second;
  const uint64_t kernel = KernelFingerprint(*i);
  const std::vector<Way> ways = WaysOf(*i);
  bool after = std::find(ways.begin(), ways.end(), last) == ways.end();
  for (const Way next : ways) {
    if (!after) {
      after = next == last;
      continue;
    }
    const bool compiled = next == Way::kCompiled || next == Way::kFromHbm;
    if (compiled && anew_ == nullptr) continue;
    if (next == Way::kPlanes && !ReadsMembersInRows(*i)) continue;
    if (compiled && fused) ReadUnpadded(i, GenerationOf(context_), &unread_);
    Computation* lone = fused ? nullptr : BodyOf(*i);
    Module apart(module->name());
    const auto take_out = [&](Module* to) {
      TakeOut(fused ? *i->fused() : *lone, *module, GenerationOf(context_), to);
    };
    const bool around = next == Way::kAround || next == Way::kAroundReduced ||
                        next == Way::kAroundPlain;
    if (!around) take_out(&apart);
    if (lone != nullptr) module->RemoveComputation(lone);
    absl::Status done = absl::OkStatus();
    if (next == Way::kPlanes) done = FusePlanes(&apart, context_);
    if (next == Way::kWhole) done = FuseWhole(&apart, context_);
    if (next == Way::kBehind) done = FuseBehind(&apart, context_);
    if (around) {
      // As much of the operands as there may be is inside, or nothing.
      const std::vector<int> tries = next == Way::kAroundPlain
                                         ? std::vector<int>{3, 1, 2}
                                         : std::vector<int>{0, 1, 2, 3};
      done = FuseAround(take_out, next == Way::kAroundReduced, tries, context_,
                        &apart);
    }
    if (next == Way::kFused) done = FuseAnew(&apart, context_);
    if (compiled) done = CompileBody(&apart, context_, *anew_);
    if (done.ok() && next == Way::kFromHbm) TakeFromHbm(apart.entry());
    if (next == Way::kConverted &&
        i->opcode() == Opcode::kDot) {  // no change: the same kernel again
      ConvertSmallFloats(apart.entry()->root(), GenerationOf(context_));
    }
    // What the pipeline refuses may still be done one by one.
    if (!done.ok() || IsOnly(*apart.entry(), kernel)) continue;
    // Kernels that were one: each by itself has all ways yet.
    *way = IsChainFusion(*i) || IsStagedFusion(*i) ? Way::kNone : next;
    Module::ComputationMap back;
    return module->CloneComputation(*apart.entry(), i->name(), &back);
  }
  return nullptr;
}

namespace {

bool HasProduct(const Instruction& i) {
  if (i.opcode() != Opcode::kFusion) return i.opcode() == Opcode::kDot;
  for (const Instruction* x : i.fused()->instructions()) {
    if (x->opcode() == Opcode::kDot) return true;
  }
  return false;
}

// The windows of a fusion around one product are those of the part that has
// the product. Parts have the ids from `begin` on.
void GiveWindows(const Computation& c, int begin, const std::string& config) {
  if (config.empty()) return;
  Instruction* product = nullptr;
  for (Instruction* i : c.instructions()) {
    if (i->id() < begin || !HasProduct(*i)) continue;
    if (product != nullptr) return;
    product = i;
  }
  if (product != nullptr) product->set_backend_config(config);
}

}  // namespace

absl::StatusOr<bool> FusionSplitter::Split(
    Computation* c, absl::FunctionRef<bool(const Instruction&)> refused) {
  // The order as it will be; null: what an instruction became, whose ids begin
  // at the next of `begins`.
  Module* module = c->module();
  std::vector<Instruction*> slots = InOrder(*c);
  std::vector<int> begins;
  std::vector<std::array<std::string, 2>> names;    // of parts, of results
  absl::flat_hash_set<const Instruction*> results;  // never iterated
  for (Instruction*& i : slots) {
    if (!refused(*i)) continue;
    Way way = Way::kNone;
    ASSIGN_OR_RETURN(Computation * body, Parts(i, &way), _ << "%" << i->name());
    if (body == nullptr) continue;
    CopyScalars(*i, body);
    // A result keeps the layout and memory space that the fusion gave it.
    GiveShape(body->root(), i->shape());
    begins.push_back(module->NextInstructionId());
    names.push_back({NameOfParts(*i, false), NameOfParts(*i, true)});
    const std::string config = i->backend_config();
    const auto uses = UsesOf(*i);
    const bool inner = IsInnerPart(*i);
    PutInPlace(i, body);
    if (!inner) {
      for (const Instruction* maker : MakersOf(uses)) {
        if (maker->id() >= begins.back()) results.insert(maker);
      }
    }
    GiveOperandShapes(*c, begins.back());
    const int end = module->NextInstructionId();
    GiveWindows(*c, begins.back(), config);
    for (int id = begins.back(); id < end; ++id) tried_[id] = way;
    i = nullptr;
  }
  if (begins.empty()) return false;
  // What was added stands at the end.
  const std::vector<Instruction*> all = InOrder(*c);
  size_t added = slots.size() - begins.size(), split = 0;
  std::vector<Instruction*> order;
  for (Instruction* i : slots) {
    if (i != nullptr) {
      order.push_back(i);
      continue;
    }
    const bool last = ++split == begins.size();
    while (added < all.size() && (last || all[added]->id() < begins[split])) {
      all[added]->set_name(module->UniqueName(
          names[split - 1][results.contains(all[added]) ? 1 : 0]));
      order.push_back(all[added++]);
    }
  }
  c->Reorder(order);
  RemoveUnread(c, std::exchange(unread_, {}));
  ShareParts(c);
  return true;
}

absl::StatusOr<bool> FusionSplitter::Run(
    Module* module, absl::FunctionRef<bool(const Instruction&)> refused) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    ASSIGN_OR_RETURN(const bool here, Split(c, refused));
    changed |= here;
  }
  if (!changed) return false;
  RETURN_IF_ERROR(TupleSimplifierPass().Run(module, context_).status());
  // What a fusion took of a stack for itself, or stored there, is no kernel.
  PutPlanesInPlace(module, [](const Instruction& i) {
    return IsPart(i) && (i.opcode() == Opcode::kDynamicUpdateSlice ||
                         IsReadWithin(i, WholeName(i.name())));
  });
  module->RemoveUnusedComputations();
  return true;
}

absl::StatusOr<bool> FusionSplitterPass::Run(Module* module,
                                             const PassContext& context) {
  return FusionSplitter(context).Run(module, [&](const Instruction& i) {
    return i.opcode() == Opcode::kFusion && !IsPartKernel(i) &&
           !ReducesSeveral(i) && !IsCompiledFirst(i, context);
  });
}

}  // namespace ptxla::hlo
