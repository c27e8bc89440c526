#include "hlo_backend/passes/scheduled/body_compiler.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/expanders/wide_reduces.h"
#include "hlo_backend/passes/scheduled/row_major.h"

namespace ptxla::hlo {
namespace {

bool LieAlike(const Shape& a, const Shape& b) {
  return a.layout().minor_to_major == b.layout().minor_to_major &&
         a.layout().tiles == b.layout().tiles;
}

// Do dimensions of `shape` lie next to each other?
bool LieTogether(const Shape& shape, const DimVector& dims) {
  if (!shape.has_layout() || dims.size() < 2) return true;
  const DimVector& order = shape.layout().minor_to_major;
  int64_t first = shape.rank(), last = -1;
  for (int64_t k = 0; k < static_cast<int64_t>(order.size()); ++k) {
    if (std::find(dims.begin(), dims.end(), order[k]) == dims.end()) continue;
    first = std::min(first, k);
    last = k;
  }
  return last - first + 1 == static_cast<int64_t>(dims.size());
}

bool AreNeighbours(const DimVector& dims) {
  for (size_t k = 1; k < dims.size(); ++k) {
    if (dims[k] != dims[k - 1] + 1) return false;
  }
  return true;
}

// A product over dimensions that do not lie next to each other: one for each
// index of the first of them, and their sum.
void SumOverFirst(Instruction* dot, DotAttrs attrs, int generation) {
  Computation* c = dot->parent();
  attrs.lhs_batch.insert(attrs.lhs_batch.begin(), attrs.lhs_contracting[0]);
  attrs.rhs_batch.insert(attrs.rhs_batch.begin(), attrs.rhs_contracting[0]);
  attrs.lhs_contracting.erase(attrs.lhs_contracting.begin());
  attrs.rhs_contracting.erase(attrs.rhs_contracting.begin());
  const int64_t count =
      dot->operand(0)->shape().dim(static_cast<int>(attrs.lhs_batch[0]));
  const Shape& shape = dot->shape();
  DimVector dims = {count};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  const PrimitiveType wide = PrimitiveType::kF32;
  const Shape one = Shape::Array(wide, {});
  Builder body(c->module()->AddComputation("sum"));
  Instruction* x = body.Parameter(0, one);
  body.Add(x, body.Parameter(1, one));
  Instruction* parts =
      c->Add(Opcode::kDot, WithTpuLayout(Shape::Array(wide, dims), generation),
             {dot->operand(0), dot->operand(1)}, attrs);
  Instruction* zero = c->AddConstant(Literal::Scalar<float>(0));
  *zero->mutable_shape() = WithTpuLayout(zero->shape(), generation);
  Shape sum = shape;
  sum.set_type(wide);
  sum = WithTpuLayout(sum, generation);
  Instruction* whole =
      c->Add(Opcode::kReduce, sum, {parts, zero}, DimensionsAttrs{DimVector{0}},
             {body.computation()});
  c->Replace(dot, shape.type() == wide
                      ? whole
                      : c->Add(Opcode::kConvert, shape, {whole}));
}

// Contracted dimensions in the order of the left operand's: next to each other
// where they lie next to each other.
void SortContracted(Computation* c, int generation) {
  for (Instruction* i : c->PostOrder()) {
    if (i->opcode() != Opcode::kDot) continue;
    DotAttrs attrs = i->attrs<DotAttrs>();
    const DimVector lhs = attrs.lhs_contracting, rhs = attrs.rhs_contracting;
    std::vector<int> order(lhs.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return lhs[a] < lhs[b]; });
    for (size_t k = 0; k < order.size(); ++k) {
      attrs.lhs_contracting[k] = lhs[order[k]];
      attrs.rhs_contracting[k] = rhs[order[k]];
    }
    if (attrs.lhs_batch.empty() && IsFloat(i->shape().type()) &&
        !(AreNeighbours(attrs.lhs_contracting) &&
          AreNeighbours(attrs.rhs_contracting))) {
      SumOverFirst(i, attrs, generation);
      continue;
    }
    if (attrs.lhs_contracting == lhs) continue;
    const std::vector<Instruction*> operands(i->operands().begin(),
                                             i->operands().end());
    c->Replace(i, c->Add(Opcode::kDot, i->shape(), operands, attrs));
  }
}

// Bitcasts between the borders and what is row-major inside are dropped: the
// borders are row-major then. False: there are others.
bool DropBorders(Computation* entry) {
  for (Instruction* p : entry->parameters()) {
    if (p->user_count() == 0) continue;
    const std::vector<Instruction*> users(p->users().begin(), p->users().end());
    if (users.size() != 1 || users[0]->opcode() != Opcode::kBitcast ||
        users[0]->IsRoot() || p->shape().layout().IsRowMajor()) {
      continue;
    }
    *p->mutable_shape() = users[0]->shape();
    entry->Replace(users[0], p);
  }
  Instruction* root = entry->root();
  const auto drop = [](const Instruction* value) {
    return value->opcode() == Opcode::kBitcast &&
           !value->shape().layout().IsRowMajor();
  };
  if (root->opcode() == Opcode::kTuple) {
    for (int k = 0; k < root->operand_count(); ++k) {
      Instruction* value = root->operand(k);
      if (!drop(value)) continue;
      root->ReplaceOperand(k, value->operand(0));
      *root->mutable_shape()->mutable_element(k) = value->operand(0)->shape();
    }
  } else if (drop(root)) {
    entry->SetRoot(root->operand(0));
  }
  entry->RemoveDead();
  for (const Instruction* i : entry->instructions()) {
    if (i->shape().IsArray() && i->shape().has_layout() &&
        !i->shape().layout().IsRowMajor()) {
      return false;
    }
  }
  return true;
}

// The same array: a view where only the order of dimensions differs, as
// DropBorders() had it, or a copy.
Instruction* Bordered(Instruction* value, const Shape& shape, bool view) {
  return value->parent()->Add(view ? Opcode::kBitcast : Opcode::kCopy, shape,
                              {value});
}

// `was`: the borders of the pipeline's input; `wanted`: those outside.
void MakeBorders(Computation* entry, const ProgramShape& was,
                 const ProgramShape& wanted) {
  for (Instruction* p : entry->parameters()) {
    const Shape made = p->shape();
    const Shape& inside = was.parameters[p->parameter_number()];
    const Shape& outside = wanted.parameters[p->parameter_number()];
    *p->mutable_shape() = outside;
    if (p->user_count() == 0) continue;
    const std::vector<Instruction*> users(p->users().begin(), p->users().end());
    Instruction* value = p;
    if (!(inside == outside)) value = Bordered(value, inside, true);
    if (!LieAlike(made, inside)) value = Bordered(value, made, false);
    for (Instruction* user : users) {
      if (value != p && user != value) p->ReplaceUseIn(user, value);
    }
  }
  const auto result = [&](Instruction* value, const Shape& inside,
                          const Shape& outside) {
    if (!LieAlike(value->shape(), inside)) {
      value = Bordered(value, inside, false);
    }
    return inside == outside ? value : Bordered(value, outside, true);
  };
  Instruction* root = entry->root();
  if (root->shape().IsArray()) {
    entry->SetRoot(result(root, was.result, wanted.result));
    return;
  }
  // One instruction of several results that stayed as it was.
  if (root->opcode() != Opcode::kTuple) return;
  for (int k = 0; k < root->operand_count(); ++k) {
    root->ReplaceOperand(k, result(root->operand(k), was.result.element(k),
                                   wanted.result.element(k)));
  }
  *root->mutable_shape() = wanted.result;
}

}  // namespace

bool ContractsPlanes(const Instruction& dot) {
  const auto& a = dot.attrs<DotAttrs>();
  return !LieTogether(dot.operand(0)->shape(), a.lhs_contracting) ||
         !LieTogether(dot.operand(1)->shape(), a.rhs_contracting);
}

absl::Status CompileBody(Module* apart, const PassContext& context,
                         const Pipeline& pipeline) {
  const ProgramShape wanted = apart->entry()->program_shape();
  const int generation = GenerationOf(context);
  WidenReduces(apart->entry(), generation);
  const std::unique_ptr<Module> spare = apart->Clone();
  if (MakeRowMajor(apart->entry(), generation) &&
      !DropBorders(apart->entry())) {
    Module::ComputationMap there;
    apart->SetEntry(apart->CloneComputation(*spare->entry(),
                                            spare->entry()->name(), &there));
    apart->RemoveUnusedComputations();
  }
  SortContracted(apart->entry(), generation);
  const ProgramShape was = apart->entry()->program_shape();
  RETURN_IF_ERROR(pipeline.Run(apart, context).status());
  MakeBorders(apart->entry(), was, wanted);
  return absl::OkStatus();
}

void TakeFromHbm(Computation* entry) {
  const auto in_hbm = [](Shape shape) {
    shape.mutable_layout()->memory_space = kMemoryHbm;
    return shape;
  };
  for (Instruction* p : entry->parameters()) {
    if (!p->shape().IsArray() || p->shape().memory_space() != kMemoryVmem ||
        p->user_count() == 0) {
      continue;
    }
    const std::vector<Instruction*> users(p->users().begin(), p->users().end());
    Instruction* copy = entry->Add(Opcode::kCopy, in_hbm(p->shape()), {p});
    for (Instruction* user : users) {
      p->ReplaceUseIn(user, copy);
      if (user->opcode() == Opcode::kBitcast) {
        *user->mutable_shape() = in_hbm(user->shape());
      }
    }
  }
}

}  // namespace ptxla::hlo
