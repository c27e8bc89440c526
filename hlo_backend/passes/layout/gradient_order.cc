#include "hlo_backend/passes/layout/gradient_order.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/products/convolution_canonicalizer.h"

namespace ptxla::hlo {
namespace {

// A gradient of weights in a kernel's form, its batch in the rows of both.
bool IsGradient(const Instruction& i) {
  if (i.opcode() != Opcode::kConvolution || i.shape().has_layout()) {
    return false;
  }
  const auto& a = i.attrs<ConvAttrs>();
  const auto spatial = static_cast<int64_t>(a.dims.input_spatial.size());
  return a.feature_group_count == 1 && a.batch_group_count == 1 &&
         a.dims.input_feature == spatial &&
         a.dims.kernel_input_feature == spatial &&
         HasMoreTapsThanResults(a, i.shape().dims());
}

bool HasOutputsInRows(const Instruction& gradient) {
  const ConvDims& d = gradient.attrs<ConvAttrs>().dims;
  const auto spatial = static_cast<int64_t>(d.output_spatial.size());
  return d.output_feature == spatial && d.output_batch == spatial + 1;
}

// Without steps: the kernel would multiply planes that results do not meet.
bool MayTurn(const Instruction& gradient) {
  const auto& dims = gradient.attrs<ConvAttrs>().window.dims;
  return std::all_of(dims.begin(), dims.end(), [](const WindowDim& w) {
    return w.stride == 1 && w.base_dilation == 1 && w.window_dilation == 1 &&
           !w.reversal;
  });
}

// A result of the program, in whatever order it lies.
bool IsReturned(const Instruction& i) {
  return std::all_of(
      i.users().begin(), i.users().end(), [](const Instruction* user) {
        return user->opcode() == Opcode::kTuple && user->IsRoot();
      });
}

// Elementwise work reads it transposed; it may be returned besides.
bool IsForUpdates(const Instruction& gradient) {
  bool read = false;
  for (const Instruction* user : gradient.users()) {
    if (user->opcode() == Opcode::kBitcast && IsReturned(*user)) continue;
    if (user->opcode() != Opcode::kTranspose) return false;
    for (const Instruction* u : user->users()) {
      read |= u->IsElementwise();
      if (!u->IsElementwise() && u->opcode() != Opcode::kTuple &&
          !(u->opcode() == Opcode::kBitcast && IsReturned(*u))) {
        return false;
      }
    }
  }
  return read;
}

// Those whose order may change. Found first: what reads one goes with it.
std::vector<Instruction*> Gradients(Computation* c) {
  std::vector<Instruction*> gradients;
  for (Instruction* i : c->PostOrder()) {
    if (IsGradient(*i) && HasOutputsInRows(*i) && MayTurn(*i) &&
        IsForUpdates(*i)) {
      gradients.push_back(i);
    }
  }
  return gradients;
}

}  // namespace

bool OrderGradients(Computation* c, int generation) {
  if (!c->IsEntry()) return false;
  bool changed = false;
  for (Instruction* i : Gradients(c)) {
    const DimVector swap = LastTwoSwapped(i->shape().rank());
    const Shape shape =
        Shape::Array(i->shape().type(), Permuted(i->shape().dims(), swap));
    if (TpuBytes(shape, generation) > TpuBytes(i->shape(), generation)) {
      continue;
    }
    ConvAttrs attrs = i->attrs<ConvAttrs>();
    std::swap(attrs.dims.output_batch, attrs.dims.output_feature);
    Builder b(c);
    b.set_metadata(i->shared_metadata());
    Instruction* gradient = c->AddLike(*i, shape, i->operands());
    gradient->set_attributes(attrs);
    const std::vector<Instruction*> users(i->users().begin(), i->users().end());
    for (Instruction* user : users) {
      if (user->opcode() != Opcode::kTranspose) {
        user->ReplaceOperand(0, b.Transpose(gradient, swap));
        continue;
      }
      const DimVector order = Permuted(swap, user->dimensions());
      c->Replace(user, IsIdentityMapping(order) ? gradient
                                                : b.Transpose(gradient, order));
    }
    changed = true;
  }
  if (changed) c->RemoveDead();
  return changed;
}

bool IsOrderedGradient(const Instruction& value) {
  return IsGradient(value) && !HasOutputsInRows(value);
}

}  // namespace ptxla::hlo
