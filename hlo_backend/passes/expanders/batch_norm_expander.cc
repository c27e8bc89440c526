#include "hlo_backend/passes/expanders/batch_norm_expander.h"

#include <vector>

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

// Makes the pieces that the three forms share.
class BatchNormExpander {
 public:
  explicit BatchNormExpander(Instruction* bn)
      : bn_(bn),
        attrs_(bn->attrs<BatchNormAttrs>()),
        b_(bn->parent()),
        x_(bn->operand(0)),
        type_(x_->shape().type()) {
    b_.set_metadata(bn->shared_metadata());
    for (int64_t d = 0; d < x_->shape().rank(); ++d) {
      if (d == attrs_.feature_index) continue;
      reduced_.push_back(d);
      count_ *= x_->shape().dim(static_cast<int>(d));
    }
  }

  Instruction* Expand() {
    switch (bn_->opcode()) {
      case Opcode::kBatchNormTraining:
        return Training();
      case Opcode::kBatchNormInference:
        return Normalised(bn_->operand(3), bn_->operand(4));
      default:
        return Grad();
    }
  }

 private:
  // A value per feature, over all of x's shape.
  Instruction* Wide(Instruction* per_feature) {
    return b_.Broadcast(per_feature, x_->shape().dims(),
                        {attrs_.feature_index});
  }
  Instruction* Const(double value, const Shape& like) {
    return b_.BroadcastScalar(b_.ConstantScalar(type_, value), like.dims());
  }
  Instruction* Sum(Instruction* value) {
    return b_.Reduce(value, b_.Zero(type_), reduced_,
                     b_.Scalar2(Opcode::kAdd, type_));
  }
  Instruction* DivideByCount(Instruction* per_feature) {
    return b_.Multiply(per_feature, Const(1.0 / count_, per_feature->shape()));
  }
  Instruction* WithEpsilon(Instruction* variance) {
    return b_.Add(variance, Const(attrs_.epsilon, variance->shape()));
  }

  // (x - mean) * (rsqrt(var + eps) * scale) + offset
  Instruction* Normalised(Instruction* mean, Instruction* variance) {
    Instruction* factor =
        b_.Multiply(b_.Rsqrt(WithEpsilon(variance)), bn_->operand(1));
    Instruction* centred = b_.Subtract(x_, Wide(mean));
    return b_.Add(b_.Multiply(centred, Wide(factor)), Wide(bn_->operand(2)));
  }

  Instruction* Training() {
    Instruction* mean = DivideByCount(Sum(x_));
    Instruction* mean_square = DivideByCount(Sum(b_.Multiply(x_, x_)));
    Instruction* variance = b_.Subtract(mean_square, b_.Multiply(mean, mean));
    // Rounding may leave a tiny negative variance.
    variance = b_.Maximum(variance, Const(0, variance->shape()));
    return b_.Tuple({Normalised(mean, variance), mean, variance});
  }

  Instruction* Grad() {
    Instruction *scale = bn_->operand(1), *mean = bn_->operand(2),
                *variance = bn_->operand(3), *dy = bn_->operand(4);
    Instruction* var_eps = WithEpsilon(variance);
    Instruction* rsqrt = b_.Rsqrt(var_eps);
    Instruction* centred = b_.Subtract(x_, Wide(mean));
    Instruction* dot = Sum(b_.Multiply(dy, centred));
    Instruction* doffset = Sum(dy);
    Instruction* dscale = b_.Multiply(dot, rsqrt);
    Instruction* factor = DivideByCount(b_.Multiply(scale, rsqrt));
    Instruction* inner = b_.Multiply(dy, Const(count_, dy->shape()));
    inner = b_.Subtract(inner, Wide(doffset));
    inner =
        b_.Subtract(inner, b_.Multiply(centred, Wide(b_.Divide(dot, var_eps))));
    Instruction* dx = b_.Multiply(Wide(factor), inner);
    return b_.Tuple({dx, dscale, doffset});
  }

  Instruction* bn_;
  const BatchNormAttrs attrs_;
  Builder b_;
  Instruction* x_;
  PrimitiveType type_;
  DimVector reduced_;
  double count_ = 1;
};

}  // namespace

absl::StatusOr<bool> BatchNormExpanderPass::Run(Module* module,
                                                const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kBatchNormTraining &&
          i->opcode() != Opcode::kBatchNormInference &&
          i->opcode() != Opcode::kBatchNormGrad) {
        continue;
      }
      c->Replace(i, BatchNormExpander(i).Expand());
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
