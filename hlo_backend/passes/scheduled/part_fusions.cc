#include "hlo_backend/passes/scheduled/part_fusions.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/analysis/turned_input.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/fusion/fusion.h"
#include "hlo_backend/passes/fusion/movement_fusion.h"
#include "hlo_backend/passes/fusion/row_fusion.h"
#include "hlo_backend/passes/products/bf16_propagation.h"
#include "hlo_backend/passes/products/member_planes.h"
#include "hlo_backend/passes/scheduled/product_core.h"
#include "hlo_backend/passes/scheduled/product_dims.h"
#include "hlo_backend/passes/scheduled/row_major.h"
#include "hlo_backend/passes/simplify/cse.h"

namespace ptxla::hlo {
namespace {

bool IsWindowed(const Instruction& fusion) {
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() != Opcode::kConvolution) continue;
    const Instruction* weights = i->operand(1);
    while (weights->opcode() == Opcode::kConvert) weights = weights->operand(0);
    if (InputSource(*i).value->opcode() != Opcode::kParameter ||
        weights->opcode() != Opcode::kParameter) {
      return true;
    }
  }
  return false;
}

FusionKind KindOf(const std::vector<Instruction*>& group) {
  FusionKind kind = FusionKind::kLoop;
  for (const Instruction* i : group) {
    if (IsProduct(*i)) return FusionKind::kOutput;
    if (i->opcode() == Opcode::kReduce) kind = FusionKind::kInput;
  }
  return kind;
}

// A reduce that is a kernel of its own, as a fusion: it has windows of one.
void FuseLoneReduces(Computation* entry) {
  for (Instruction* i : entry->PostOrder()) {
    if (!IsFusibleReduce(*i) || i->operand(1)->user_count() != 1) continue;
    entry->CreateFusion({i->operand(1), i}, FusionKind::kInput);
  }
}

// f32 operands that only products read are rounded by the kernels that make
// them.
absl::Status RoundOperands(Module* apart, const PassContext& context) {
  RETURN_IF_ERROR(Bf16PropagationPass().Run(apart, context).status());
  for (Instruction* i : apart->entry()->instructions()) {
    const Shape& shape = i->shape();
    if (!shape.IsArray() || shape.type() != PrimitiveType::kBf16 ||
        i->opcode() == Opcode::kParameter ||
        (shape.has_layout() && !shape.layout().IsRowMajor())) {
      continue;
    }
    const int space = shape.memory_space();
    *i->mutable_shape() = WithTpuLayout(shape, GenerationOf(context));
    i->mutable_shape()->mutable_layout()->memory_space = space;
  }
  return absl::OkStatus();
}

int ProductsOf(const Computation& c) {
  int products = 0;
  for (const Instruction* i : c.instructions()) products += IsProduct(*i);
  return products;
}

// A product that the TPU compiler makes once for what its rows reduce to and
// once for what reads that again: one, whose rows are finished in its kernel.
bool UnifyProducts(Module* apart, const PassContext& context) {
  const int before = ProductsOf(*apart->entry());
  if (before < 2 || !CsePass().Run(apart, context).ok()) return false;
  apart->entry()->RemoveDead();
  return ProductsOf(*apart->entry()) < before;
}

bool IsRootTuple(const Instruction& i) {
  return i.opcode() == Opcode::kTuple && i.IsRoot();
}

// What stands in the entry, but for its borders, as one fusion.
absl::Status FuseGroup(Computation* entry,
                       const std::vector<Instruction*>& group) {
  if (group.size() < 2) return absl::UnimplementedError("it is no fusion");
  const Instruction* fusion = entry->CreateFusion(group, KindOf(group));
  RETURN_IF_ERROR(CheckFusion(*fusion));
  return IsWindowed(*fusion) ? absl::UnimplementedError("windows")
                             : absl::OkStatus();
}

// A view of a parameter, or the result as the fusion gave it.
bool IsBorder(const Instruction& i) {
  if (i.opcode() == Opcode::kParameter || IsRootTuple(i)) return true;
  const bool last =
      i.IsRoot() || (i.user_count() == 1 && IsRootTuple(**i.users().begin()));
  return i.opcode() == Opcode::kBitcast &&
         (i.operand(0)->opcode() == Opcode::kParameter || last);
}

// What `product` is computed from, but for borders.
absl::flat_hash_set<const Instruction*> InFrontOf(const Instruction& product) {
  absl::flat_hash_set<const Instruction*> in_front;
  std::vector<const Instruction*> open = {&product};
  while (!open.empty()) {
    const Instruction* i = open.back();
    open.pop_back();
    for (const Instruction* o : i->operands()) {
      if (!IsBorder(*o) && in_front.insert(o).second) open.push_back(o);
    }
  }
  return in_front;
}

}  // namespace

bool IsPartKernel(const Instruction& fusion) {
  return CheckFusion(fusion).ok() && !IsWindowed(fusion);
}

absl::Status FuseWhole(Module* apart, const PassContext& context) {
  Computation* entry = apart->entry();
  const bool alike = UnifyProducts(apart, context);
  if (!MakeRowMajor(entry, GenerationOf(context), /*shares=*/true) && !alike) {
    return absl::UnimplementedError("it is row-major");
  }
  TakeProductDims(entry, GenerationOf(context));
  std::vector<Instruction*> group;
  for (Instruction* i : entry->PostOrder()) {
    if (!IsBorder(*i)) group.push_back(i);
  }
  return FuseGroup(entry, group);
}

absl::Status FuseBehind(Module* apart, const PassContext& context) {
  Computation* entry = apart->entry();
  UnifyProducts(apart, context);
  MakeRowMajor(entry, GenerationOf(context), /*shares=*/true);
  TakeProductDims(entry, GenerationOf(context));
  RETURN_IF_ERROR(RoundOperands(apart, context));
  const Instruction* product = nullptr;
  for (const Instruction* i : entry->instructions()) {
    if (!IsProduct(*i)) continue;
    if (product != nullptr) return absl::UnimplementedError("two products");
    product = i;
  }
  if (product == nullptr) return absl::UnimplementedError("no product");
  const auto in_front = InFrontOf(*product);
  if (in_front.empty()) {
    return absl::UnimplementedError("nothing stands in front of its product");
  }
  std::vector<Instruction*> group;
  for (Instruction* i : entry->PostOrder()) {
    if (IsBorder(*i) || in_front.contains(i)) continue;
    // A constant that work in front reads, too.
    for (int k = 0; k < i->operand_count(); ++k) {
      Instruction* o = i->operand(k);
      if (!o->IsConstant() || !in_front.contains(o)) continue;
      i->ReplaceOperand(k, entry->AddLike(*o, o->shape(), {}));
      group.push_back(i->operand(k));
    }
    group.push_back(i);
  }
  RETURN_IF_ERROR(FuseGroup(entry, group));
  RETURN_IF_ERROR(
      FusionPass(/*of_one_kernel=*/true).Run(apart, context).status());
  RETURN_IF_ERROR(MovementFusionPass().Run(apart, context).status());
  entry->RemoveDead();
  return absl::OkStatus();
}

absl::Status FusePlanes(Module* apart, const PassContext& context) {
  Computation* entry = apart->entry();
  std::vector<Instruction*> group;
  for (Instruction* i : entry->PostOrder()) {
    if (!IsRootTuple(*i) && i->opcode() != Opcode::kParameter)
      group.push_back(i);
  }
  if (!MakeMemberPlanes(entry, GenerationOf(context))) {
    return absl::UnimplementedError("it reads planes");
  }
  return group.size() == 1 ? absl::OkStatus() : FuseGroup(entry, group);
}

absl::Status FuseAround(const std::function<void(Module*)>& take_out,
                        bool reduces, absl::Span<const int> tries,
                        const PassContext& context, Module* apart) {
  absl::Status done;
  for (const int outside : tries) {
    Module attempt(apart->name());
    take_out(&attempt);
    const int generation = GenerationOf(context);
    UnifyProducts(&attempt, context);
    const bool sums = PrepareProductCore(attempt.entry(), reduces, generation);
    // What its operands need outside is stored as the arrays take it.
    RETURN_IF_ERROR(RoundOperands(&attempt, context));
    done = FuseProductCore(attempt.entry(), outside, reduces, sums, generation);
    if (!done.ok()) continue;
    RETURN_IF_ERROR(
        FusionPass(/*of_one_kernel=*/true).Run(&attempt, context).status());
    RETURN_IF_ERROR(MovementFusionPass().Run(&attempt, context).status());
    attempt.entry()->RemoveDead();
    FuseLoneReduces(attempt.entry());
    Module::ComputationMap there;
    apart->SetEntry(apart->CloneComputation(*attempt.entry(),
                                            attempt.entry()->name(), &there));
    return done;
  }
  return done;
}

absl::Status FuseAnew(Module* apart, const PassContext& context) {
  if (MakeRowMajor(apart->entry(), GenerationOf(context))) {
    RETURN_IF_ERROR(RoundOperands(apart, context));
  }
  RETURN_IF_ERROR(RowFusionPass().Run(apart, context).status());
  RETURN_IF_ERROR(
      FusionPass(/*of_one_kernel=*/true).Run(apart, context).status());
  RETURN_IF_ERROR(MovementFusionPass().Run(apart, context).status());
  apart->entry()->RemoveDead();
  return absl::OkStatus();
}

}  // namespace ptxla::hlo
