#include "tests/hlo_backend/passes/random_module.h"

#include <vector>

#include "base/hash.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

class Maker {
 public:
  explicit Maker(uint64_t seed)
      : state_(seed),
        module_(std::make_unique<Module>("random")),
        b_(module_->AddComputation("main")) {
    module_->SetEntry(b_.computation());
  }

  std::unique_ptr<Module> Make() {
    const std::vector<std::vector<int64_t>> shapes = {
        {16, 8, 8}, {128, 8}, {16, 64}, {8}, {128}, {1, 128, 8}, {8, 8}};
    for (size_t k = 0; k < shapes.size(); ++k) {
      values_.push_back(
          b_.Parameter(static_cast<int64_t>(k), Shape::Array(kF32, shapes[k])));
    }
    values_.push_back(
        b_.Parameter(static_cast<int64_t>(shapes.size()), Shape::Scalar(kF32)));
    for (int k = 0; k < 40; ++k) Step();
    std::vector<Instruction*> results;
    for (int k = 0; k < 6; ++k) {
      results.push_back(values_[values_.size() - 1 - Below(20)]);
    }
    b_.computation()->SetRoot(b_.Tuple(results));
    return std::move(module_);
  }

 private:
  int Below(int n) {
    state_ = HashCombine(state_, 1);
    return static_cast<int>(state_ % n);
  }
  Instruction* Any() {
    // Later values more often.
    const int n = static_cast<int>(values_.size());
    return values_[std::max(Below(n), Below(n))];
  }
  // An earlier value of this shape, or one that is broadcast to it.
  Instruction* Like(Instruction* x) {
    for (int tries = 0; tries < 8; ++tries) {
      Instruction* y = Any();
      if (y->shape().SameDims(x->shape())) return y;
      if (y->shape().IsScalar()) {
        return b_.BroadcastScalar(y, x->shape().dims());
      }
      for (int d = x->shape().rank(); d-- > 0;) {
        if (y->shape().rank() == 1 && y->shape().dim(0) == x->shape().dim(d)) {
          return b_.Broadcast(y, x->shape().dims(), {d});
        }
      }
    }
    if (x->shape().IsScalar()) return b_.ConstantScalar(kF32, 0.75);
    return b_.BroadcastScalar(b_.ConstantScalar(kF32, 0.75), x->shape().dims());
  }

  void Step() {
    Instruction* x = Any();
    const Shape& shape = x->shape();
    switch (Below(12)) {
      case 0:
        Keep(b_.Add(x, Like(x)));
        break;
      case 1:
        Keep(b_.Multiply(b_.Tanh(x), Like(x)));
        break;
      case 2:
        Keep(b_.Subtract(x, Like(x)));
        break;
      case 3:
        Keep(b_.Tanh(x));
        break;
      case 4:
        Keep(b_.Exp(b_.Negate(b_.Abs(x))));
        break;
      case 5:
        Keep(b_.Select(b_.Compare(x, Like(x), CompareDirection::kGt), x,
                       Like(x)));
        break;
      case 6:
        Keep(b_.Divide(x, b_.Add(b_.Abs(Like(x)), Like1(x))));
        break;
      case 7:
        Reshape(x);
        break;
      case 8:
        if (shape.rank() >= 2) {
          std::vector<int64_t> permutation(shape.rank());
          for (int d = 0; d < shape.rank(); ++d) permutation[d] = d;
          std::swap(permutation[Below(shape.rank())],
                    permutation[Below(shape.rank())]);
          Keep(b_.Transpose(x, permutation));
        }
        break;
      case 9:
        if (shape.rank() >= 1) {
          const int64_t d = Below(shape.rank());
          // Scaled, so that values stay near 1.
          Instruction* sum =
              b_.Reduce(x, b_.Zero(kF32), {d}, b_.Scalar2(Opcode::kAdd, kF32));
          Keep(b_.Tanh(sum));
        }
        break;
      case 10:
        if (shape.rank() >= 1) {
          Keep(b_.Reduce(x, b_.MinValue(kF32), {shape.rank() - 1},
                         b_.Scalar2(Opcode::kMaximum, kF32)));
        }
        break;
      default:
        Dot(x);
    }
  }

  Instruction* Like1(Instruction* x) {
    Instruction* one = b_.One(kF32);
    return x->shape().IsScalar() ? one
                                 : b_.BroadcastScalar(one, x->shape().dims());
  }

  void Reshape(Instruction* x) {
    const int64_t n = x->shape().ElementCount();
    const std::vector<std::vector<int64_t>> choices = {
        {16, 8, 8}, {128, 8}, {16, 64}, {1024}, {1, 128, 8},
        {128},      {16, 8},  {8, 16},  {8},    {1, 8}};
    const auto& dims = choices[Below(static_cast<int>(choices.size()))];
    int64_t product = 1;
    for (int64_t d : dims) product *= d;
    if (product == n) Keep(b_.Reshape(x, dims));
  }

  void Dot(Instruction* x) {
    if (x->shape().rank() != 2) return;
    for (Instruction* y : values_) {
      if (y->shape().rank() != 2) continue;
      for (int a = 0; a < 2; ++a) {
        for (int c = 0; c < 2; ++c) {
          if (x->shape().dim(a) != y->shape().dim(c) || Below(3) != 0) continue;
          DotAttrs attrs;
          attrs.lhs_contracting = {a};
          attrs.rhs_contracting = {c};
          Keep(b_.Tanh(b_.Dot(x, y, attrs)));
          return;
        }
      }
    }
  }

  void Keep(Instruction* value) { values_.push_back(value); }

  uint64_t state_;
  std::unique_ptr<Module> module_;
  Builder b_;
  std::vector<Instruction*> values_;
};

}  // namespace

std::unique_ptr<Module> RandomModule(uint64_t seed) {
  return Maker(seed).Make();
}

}  // namespace ptxla::hlo
