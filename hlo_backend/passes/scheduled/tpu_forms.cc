#include "hlo_backend/passes/scheduled/tpu_forms.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/product_chain.h"
#include "hlo_backend/analysis/stages.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/layout/linear_copies.h"
#include "hlo_backend/passes/scheduled/convolution_to_dot.h"
#include "hlo_backend/passes/scheduled/scalar_unit.h"
#include "hlo_backend/passes/scheduled/stored_types.h"
#include "hlo_backend/passes/scheduled/tall_tiles.h"
#include "hlo_backend/passes/scheduled/whole_windows.h"
#include "hlo_backend/passes/simplify/annotations.h"

namespace ptxla::hlo {
namespace {

// The same array in the same place order: only its memory space may differ.
bool IsIdentity(const Instruction& i) {
  const Shape &from = i.operand(0)->shape(), &to = i.shape();
  return from.SameDimsAndType(to) && from.has_layout() && to.has_layout() &&
         from.layout().minor_to_major == to.layout().minor_to_major &&
         from.layout().tiles == to.layout().tiles;
}

// Of what the fusion computes: it is written once, where the copy lies.
bool IsCopyOfValue(const Instruction& i) {
  return i.opcode() == Opcode::kCopy && IsIdentity(i) &&
         i.operand(0)->opcode() != Opcode::kParameter;
}

// Both kernels of a chain stay, and the stages of one.
bool InlineNested(Computation* c) {
  for (const Instruction* caller : c->callers()) {
    if (IsChainFusion(*caller) || IsStagedFusion(*caller)) return false;
  }
  bool changed = false;
  for (bool found = true; found;) {
    found = false;
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kFusion || i->shape().IsTuple()) continue;
      InlineCall(i);
      changed = found = true;
    }
  }
  return changed;
}

// Values whose layout nobody wrote.
bool AddLayouts(Computation* c, int generation) {
  bool changed = false;
  for (Instruction* i : c->instructions()) {
    if (!i->shape().IsArray() || i->shape().has_layout()) continue;
    *i->mutable_shape() = WithTpuLayout(i->shape(), generation);
    changed = true;
  }
  return changed;
}

// A reshape to the same dimensions, or a transpose that changes none, behind a
// gather alone: libtpu writes the gather's own layout there.
bool NamesLayoutOfGather(const Instruction& i) {
  const Instruction* x = i.operand_count() == 1 ? i.operand(0) : nullptr;
  if (x == nullptr || x->opcode() != Opcode::kGather || x->user_count() != 1 ||
      !i.shape().IsArray() || !x->shape().SameDimsAndType(i.shape())) {
    return false;
  }
  if (i.opcode() == Opcode::kReshape) return true;
  if (i.opcode() != Opcode::kTranspose) return false;
  for (size_t d = 0; d < i.dimensions().size(); ++d) {
    if (i.dimensions()[d] != static_cast<int64_t>(d)) return false;
  }
  return true;
}

bool ReplaceForms(Computation* c, const PassContext& context) {
  const int generation = GenerationOf(context);
  bool changed = false;
  for (Instruction* i : c->PostOrder()) {
    if (i->opcode() == Opcode::kConvolution) {
      changed |= ConvertPreds(i, generation);
      changed |= ReplaceByDot(i);
    } else if (i->opcode() == Opcode::kCopy && !c->IsFusionComputation() &&
               ReplaceLinearCopy(i, generation)) {
      changed = true;
    } else if (i->opcode() == Opcode::kReduceWindow) {
      changed |= ReplaceByReduce(i, generation);
    } else if (ConvertsToo(*i)) {
      ConvertBefore(i, generation);
      changed = true;
    } else if (c->IsFusionComputation() && RoundsResult(*i)) {
      ConvertBehind(i, generation);
      changed = true;
    } else if (c->IsFusionComputation() && NamesLayoutOfGather(*i)) {
      *i->operand(0)->mutable_shape() = i->shape();
      c->Replace(i, i->operand(0));
      changed = true;
    } else if (i->opcode() == Opcode::kReshape && i->shape().IsArray() &&
               i->shape().dims() == i->operand(0)->shape().dims() &&
               i->shape().has_layout()) {
      // Only the order in memory changes.
      c->Replace(i, c->Add(Opcode::kCopy, i->shape(), {i->operand(0)}));
      changed = true;
    } else if (c->IsFusionComputation() &&
               (IsAnnotation(*i) || IsCopyOfValue(*i))) {
      c->Replace(i, i->operand(0));
      changed = true;
    }
  }
  return changed;
}

// What a scatter or a reduce applies to two numbers: which operation it is
// shows once nothing stands between it and them.
bool DropScalarBitcasts(Computation* applied) {
  bool changed = false;
  for (Instruction* i : applied->PostOrder()) {
    if (i->opcode() != Opcode::kBitcast || !i->shape().IsScalar() ||
        i->shape().type() != i->operand(0)->shape().type()) {
      continue;
    }
    applied->Replace(i, i->operand(0));
    changed = true;
  }
  return changed;
}

// An operand in other tiles and the same order of dimensions: how the kernel
// there addresses what it loads (int8 in T(32,128)(4,1) as T(8,128)(4,1)).
bool NamesTiles(const Instruction& i) {
  if (i.opcode() != Opcode::kCopy || i.IsRoot() ||
      i.operand(0)->opcode() != Opcode::kParameter) {
    return false;
  }
  const Shape &from = i.operand(0)->shape(), &to = i.shape();
  return from.SameDimsAndType(to) && from.has_layout() && to.has_layout() &&
         from.layout().minor_to_major == to.layout().minor_to_major &&
         std::none_of(i.users().begin(), i.users().end(),
                      [](const Instruction* user) {
                        return user->opcode() == Opcode::kBitcast;
                      });
}

// Inside of a fusion nothing has a memory space or tiles of its own.
void DropIdentities(Computation* body) {
  for (Instruction* i : body->PostOrder()) {
    if (i->opcode() == Opcode::kBitcast && IsIdentity(*i) && !i->IsRoot()) {
      body->Replace(i, i->operand(0));
    }
  }
  for (Instruction* i : body->PostOrder()) {
    if (NamesTiles(*i)) body->Replace(i, i->operand(0));
  }
}

// Whole rows that are reduced and read again are of kind kOutput there.
void NameKind(Instruction* fusion) {
  if (fusion->fusion_kind() != FusionKind::kOutput) return;
  bool reduces = false;
  for (const Instruction* i : fusion->fused()->instructions()) {
    if (IsProduct(*i)) return;
    reduces |= i->opcode() == Opcode::kReduce;
  }
  fusion->mutable_attrs<FusionAttrs>()->kind =
      reduces ? FusionKind::kInput : FusionKind::kLoop;
}

// The layout of `shape` in the memory space of `like`.
Shape In(Shape shape, const Shape& like) {
  if (shape.has_layout() && like.has_layout()) {
    shape.mutable_layout()->memory_space = like.layout().memory_space;
  }
  return shape;
}

// Bitcasts at the borders of a fusion move out of it.
bool MoveBitcastsOut(Instruction* fusion) {
  bool changed = false;
  Computation* body = fusion->fused();
  Computation* outside = fusion->parent();
  for (int n = 0; n < body->parameter_count(); ++n) {
    Instruction* p = body->parameter(n);
    if (p->user_count() != 1 || !p->shape().IsArray()) continue;
    Instruction* bitcast = *p->users().begin();
    if (bitcast->opcode() != Opcode::kBitcast || bitcast->IsRoot() ||
        bitcast->shape().ByteSize() != p->shape().ByteSize()) {
      continue;
    }
    const Shape shape = In(bitcast->shape(), p->shape());
    Instruction* before =
        outside->Add(Opcode::kBitcast, shape, {fusion->operand(n)});
    *p->mutable_shape() = shape;
    body->Replace(bitcast, p);
    fusion->ReplaceOperand(n, before);
    changed = true;
  }
  Instruction* root = body->root();
  if (root->opcode() == Opcode::kBitcast && root->user_count() == 0 &&
      root->operand(0)->opcode() == Opcode::kDot) {
    Instruction* value = root->operand(0);
    const Shape after = fusion->shape();
    body->SetRoot(value);
    body->Remove(root);
    const std::vector<Instruction*> users(fusion->users().begin(),
                                          fusion->users().end());
    const bool is_root = fusion->IsRoot();
    *fusion->mutable_shape() = In(value->shape(), after);
    Instruction* bitcast = outside->Add(Opcode::kBitcast, after, {fusion});
    for (Instruction* user : users) fusion->ReplaceUseIn(user, bitcast);
    if (is_root) outside->SetRoot(bitcast);
    changed = true;
  }
  return changed;
}

const Instruction* BehindBitcasts(const Instruction* i) {
  while (i->opcode() == Opcode::kBitcast) i = i->operand(0);
  return i;
}

// The slice or copy that a fusion is, but for bitcasts; null: it is more.
const Instruction* OnlyMovement(const Instruction& i) {
  if (i.opcode() != Opcode::kFusion) return nullptr;
  const Computation& body = *i.fused();
  const Instruction* moved = BehindBitcasts(body.root());
  const bool alone =
      (moved->opcode() == Opcode::kSlice || moved->opcode() == Opcode::kCopy) &&
      body.parameter_count() == 1 &&
      BehindBitcasts(moved->operand(0)) == body.parameter(0);
  return alone ? moved : nullptr;
}

// As a movement it goes by what lies in one piece, whatever its dimensions are
// called. It stands where the fusion stood.
bool UnwrapMovements(Computation* c) {
  std::vector<Instruction*> order;
  const auto bitcast = [&](const Shape& shape, Instruction* of) {
    if (of->shape() == shape) return of;
    order.push_back(c->Add(Opcode::kBitcast, shape, {of}));
    return order.back();
  };
  bool changed = false;
  std::vector<Instruction*> before;
  for (Instruction* i : c->instructions()) before.push_back(i);
  for (Instruction* i : before) {
    const Instruction* moved = OnlyMovement(*i);
    if (moved == nullptr) {
      order.push_back(i);
      continue;
    }
    Instruction* from = i->operand(0);
    from = bitcast(In(moved->operand(0)->shape(), from->shape()), from);
    Instruction* alone =
        c->AddLike(*moved, In(moved->shape(), i->shape()), {from});
    alone->set_metadata(i->shared_metadata());
    order.push_back(alone);
    c->Replace(i, bitcast(i->shape(), alone));
    changed = true;
  }
  if (changed) c->Reorder(order);
  return changed;
}

// Kernels load what lies in CMEM, and store to it, as they do with VMEM; not
// those that are timed on parameters there, which copy them (A-EW).
bool CmemBehindVmem(Shape* shape) {
  bool changed = false;
  for (int k = 0; k < shape->element_count_of_tuple(); ++k) {
    changed |= CmemBehindVmem(shape->mutable_element(k));
  }
  if (!shape->IsArray() || shape->memory_space() != kMemoryCmem) {
    return changed;
  }
  shape->mutable_layout()->memory_space = kMemoryVmem;
  return true;
}

bool CmemBehindVmem(Module* module) {
  for (const Instruction* p : module->entry()->parameters()) {
    if (p->shape().memory_space() == kMemoryCmem) return false;
  }
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      changed |= CmemBehindVmem(i->mutable_shape());
    }
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> TpuFormsPass::Run(Module* module,
                                       const PassContext& context) {
  const int generation = GenerationOf(context);
  bool changed =
      PlaceScalars(module, context.chip == nullptr ||
                               context.chip->core().cores_in_use == 1);
  if (context.chip != nullptr && context.chip->cmem().count() > 0) {
    changed |= CmemBehindVmem(module);
  }
  changed |= HalveTallTiles(module);
  absl::flat_hash_set<const Computation*> control;
  for (Computation* c : ControlComputations(*module)) {
    changed |= AddLayouts(c, generation);
    control.insert(c);
  }
  absl::flat_hash_set<const Computation*> touched;  // bodies of fusions
  for (Computation* c : module->ComputationPostOrder()) {
    bool here = c->IsFusionComputation() && InlineNested(c);
    here |= ReplaceForms(c, context);
    if (!c->IsFusionComputation() && !control.contains(c)) {
      here |= DropScalarBitcasts(c);
    }
    if (!c->IsFusionComputation()) {
      here |= UnwrapMovements(c);
      for (Instruction* i : c->PostOrder()) {
        if (i->opcode() == Opcode::kFusion && touched.contains(i->fused())) {
          here |= MoveBitcastsOut(i);
          NameKind(i);
        }
      }
    } else if (here) {
      DropIdentities(c);
      c->RemoveDead();
      touched.insert(c);
    }
    // What was added stands at the end of the list.
    if (here) c->Reorder(c->PostOrder());
    changed |= here;
  }
  if (changed) module->RemoveUnusedComputations();
  return changed;
}

}  // namespace ptxla::hlo
