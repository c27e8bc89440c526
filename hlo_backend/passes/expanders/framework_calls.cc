#include "hlo_backend/passes/expanders/framework_calls.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

class FrameworkCallExpander {
 public:
  explicit FrameworkCallExpander(Instruction* i)
      : i_(i), b_(i->parent()), target_(i->attrs<CustomCallAttrs>().target) {
    b_.set_metadata(i->shared_metadata());
  }

  Instruction* Expand() {
    if (i_->operand_count() == 0 || !i_->operand(0)->shape().IsArray()) {
      return nullptr;
    }
    Instruction* x = i_->operand(0);
    const PrimitiveType type = x->shape().type();
    if (!IsFloat(type) || BitWidth(type) > 32) return nullptr;
    if (target_ == "byteir.layer_norm") return LayerNorm();
    if (target_ == "byteir.nll_loss_forward") return NllLoss();
    if (!i_->shape().IsArray() || !x->shape().SameDimsAndType(i_->shape())) {
      return nullptr;
    }
    Instruction* y = OfOneArray(x);
    return y == nullptr ? nullptr : To(y, type);
  }

 private:
  Instruction* To(Instruction* x, PrimitiveType type) {
    return x->shape().type() == type ? x : b_.Convert(x, type);
  }
  Instruction* Spread(Instruction* scalar, const Shape& shape) {
    return shape.IsScalar() ? scalar : b_.BroadcastScalar(scalar, shape.dims());
  }
  Instruction* F32(float value, const Shape& shape) {
    return Spread(b_.Constant(Literal::Scalar<float>(value)), shape);
  }
  Instruction* Reduced(Instruction* x, const DimVector& dims, Opcode op) {
    Instruction* start = op == Opcode::kAdd ? b_.Zero(kF32) : b_.MinValue(kF32);
    return b_.Reduce(x, start, dims, b_.Scalar2(op, kF32));
  }
  // A value per row along the reduced dimensions.
  Instruction* Along(Instruction* x, const Shape& shape,
                     const DimVector& reduced) {
    return b_.Broadcast(x, shape.dims(), Others(shape.rank(), reduced));
  }

  std::string Parameter(const std::string& name) const {
    const auto& all = i_->frontend_attributes();
    const auto it = all.find(name);
    return it == all.end() ? "" : it->second;
  }
  // "[1, 2]" or "3 : i64": dimensions of x. Empty: none.
  DimVector Dimensions(const std::string& name, int rank) const {
    std::string text = Parameter(name);
    const size_t type = text.rfind(" : ");
    if (type != std::string::npos) text.resize(type);
    DimVector dims;
    for (absl::string_view word :
         absl::StrSplit(text, absl::ByAnyChar("[], "), absl::SkipEmpty())) {
      int64_t d;
      if (!absl::SimpleAtoi(word, &d) || d < -rank || d >= rank) return {};
      dims.push_back(d < 0 ? d + rank : d);
    }
    std::sort(dims.begin(), dims.end());
    return dims;
  }

  Instruction* OfOneArray(Instruction* x) {
    const int rank = x->shape().rank();
    if (target_ == "AwsNeuronRmsNorm") return RmsNorm(x);
    if (i_->operand_count() != 1) return nullptr;
    const auto f32 = [&] { return To(x, kF32); };
    if (target_ == "AwsNeuronGelu") return Gelu(f32());
    if (target_ == "AwsNeuronGeluApprxTanh") return TanhGelu(f32());
    if (target_ == "AwsNeuronGeluBackward") return GeluGradient(f32());
    if (target_ == "byteir.gelu") {
      return Parameter("approximate") == "tanh" ? TanhGelu(f32()) : Gelu(f32());
    }
    const bool log = target_ == "byteir.log_softmax";
    const DimVector dims = Dimensions("axis", rank);
    if ((!log && target_ != "byteir.softmax") || dims.size() != 1) {
      return nullptr;
    }
    x = f32();
    const Shape& shape = x->shape();
    x = b_.Subtract(x, Along(Reduced(x, dims, Opcode::kMaximum), shape, dims));
    Instruction* e = b_.Exp(x);
    Instruction* sum = Reduced(e, dims, Opcode::kAdd);
    return log ? b_.Subtract(x, Along(b_.Log(sum), shape, dims))
               : b_.Divide(e, Along(sum, shape, dims));
  }

  Instruction* TanhGelu(Instruction* x) {
    const Shape& shape = x->shape();
    Instruction* cube = b_.Multiply(b_.Multiply(x, x), x);
    Instruction* inner =
        b_.Multiply(F32(0.7978845608f, shape),
                    b_.Add(x, b_.Multiply(F32(0.044715f, shape), cube)));
    return b_.Multiply(b_.Multiply(F32(0.5f, shape), x),
                       b_.Add(F32(1, shape), b_.Tanh(inner)));
  }
  // The part of a normal distribution below x.
  Instruction* Below(Instruction* x) {
    const Shape& shape = x->shape();
    Instruction* erf = b_.Erf(b_.Multiply(x, F32(0.7071067812f, shape)));
    return b_.Multiply(F32(0.5f, shape), b_.Add(F32(1, shape), erf));
  }
  Instruction* Gelu(Instruction* x) { return b_.Multiply(x, Below(x)); }
  Instruction* GeluGradient(Instruction* x) {
    const Shape& shape = x->shape();
    Instruction* density =
        b_.Multiply(F32(0.3989422804f, shape),
                    b_.Exp(b_.Multiply(F32(-0.5f, shape), b_.Multiply(x, x))));
    return b_.Add(Below(x), b_.Multiply(x, density));
  }

  // The mean over dimensions.
  Instruction* Mean(Instruction* x, const DimVector& dims) {
    Instruction* sum = Reduced(x, dims, Opcode::kAdd);
    const auto count = static_cast<float>(x->shape().ElementCount() /
                                          sum->shape().ElementCount());
    return b_.Multiply(sum, F32(1 / count, sum->shape()));
  }

  Instruction* RmsNorm(Instruction* x) {
    const Shape& shape = x->shape();
    int64_t dim;
    if (i_->operand_count() != 3 ||
        !absl::SimpleAtoi(i_->backend_config(), &dim) || dim < 0 ||
        dim >= shape.rank() || i_->operand(1)->shape().rank() != 1 ||
        !i_->operand(2)->shape().IsScalar()) {
      return nullptr;
    }
    x = To(x, kF32);
    Instruction* mean = Mean(b_.Multiply(x, x), {dim});
    Instruction* epsilon = Spread(To(i_->operand(2), kF32), mean->shape());
    Instruction* factor = b_.Rsqrt(b_.Add(mean, epsilon));
    return b_.Multiply(
        b_.Multiply(x, Along(factor, shape, {dim})),
        b_.Broadcast(To(i_->operand(1), kF32), shape.dims(), {dim}));
  }

  Instruction* LayerNorm() {
    const Shape& shape = i_->operand(0)->shape();
    const DimVector dims = Dimensions("axis", shape.rank());
    const int results =
        i_->shape().IsTuple() ? i_->shape().element_count_of_tuple() : 1;
    double epsilon;
    const std::string text = Parameter("epsilon");
    if (i_->operand_count() != 3 || dims.empty() ||
        !absl::SimpleAtod(text.substr(0, text.find(' ')), &epsilon) ||
        (results != 1 && results != 3)) {
      return nullptr;
    }
    for (int k = 1; k < 3; ++k) {
      const Shape& s = i_->operand(k)->shape();
      if (s.rank() != static_cast<int>(dims.size())) return nullptr;
      for (int d = 0; d < s.rank(); ++d) {
        if (s.dim(d) != shape.dim(static_cast<int>(dims[d]))) return nullptr;
      }
    }
    Instruction* x = To(i_->operand(0), kF32);
    Instruction* mean = Mean(x, dims);
    Instruction* off = b_.Subtract(x, Along(mean, shape, dims));
    Instruction* variance = Mean(b_.Multiply(off, off), dims);
    Instruction* factor = b_.Rsqrt(
        b_.Add(variance, F32(static_cast<float>(epsilon), variance->shape())));
    Instruction* y = b_.Multiply(off, Along(factor, shape, dims));
    const auto weight = [&](int k) {
      return b_.Broadcast(To(i_->operand(k), kF32), shape.dims(), dims);
    };
    y = To(b_.Add(b_.Multiply(y, weight(1)), weight(2)), shape.type());
    if (results == 1) return y;
    const auto shaped = [&](Instruction* v, int k) {
      const Shape& to = i_->shape().element(k);
      return To(b_.Reshape(v, to.dims()), to.type());
    };
    return b_.Tuple({y, shaped(mean, 1), shaped(factor, 2)});
  }

  Instruction* NllLoss() {
    const Shape& shape = i_->operand(0)->shape();
    int64_t ignored, reduction;
    const auto number = [&](const char* name, int64_t* value) {
      const std::string text = Parameter(name);
      return absl::SimpleAtoi(text.substr(0, text.find(' ')), value);
    };
    if (i_->operand_count() != 2 || shape.rank() != 2 ||
        i_->operand(1)->shape().rank() != 1 ||
        !IsInteger(i_->operand(1)->shape().type()) ||
        !number("ignore_index", &ignored) || !number("reduction", &reduction) ||
        (reduction != 1 && reduction != 2) || !i_->shape().IsTuple()) {
      return nullptr;
    }
    const PrimitiveType s32 = PrimitiveType::kS32;
    Instruction* labels = To(i_->operand(1), s32);
    Instruction* counts =
        b_.Compare(labels,
                   b_.BroadcastScalar(b_.Constant(Literal::Scalar<int32_t>(
                                          static_cast<int32_t>(ignored))),
                                      labels->shape().dims()),
                   CompareDirection::kNe);
    Instruction* hit = b_.Compare(b_.Iota(Shape::Array(s32, shape.dims()), 1),
                                  b_.Broadcast(labels, shape.dims(), {0}),
                                  CompareDirection::kEq);
    hit = b_.And(hit, b_.Broadcast(counts, shape.dims(), {0}));
    Instruction* chosen =
        b_.Select(hit, b_.Negate(To(i_->operand(0), kF32)), F32(0, shape));
    Instruction* loss = Reduced(chosen, {0, 1}, Opcode::kAdd);
    Instruction* total = Reduced(b_.Convert(counts, kF32), {0}, Opcode::kAdd);
    if (reduction == 1) loss = b_.Divide(loss, total);
    return b_.Tuple({To(loss, i_->shape().element(0).type()),
                     To(total, i_->shape().element(1).type())});
  }

  Instruction* i_;
  Builder b_;
  std::string target_;
};

}  // namespace

Instruction* ExpandFrameworkCall(Instruction* call) {
  return FrameworkCallExpander(call).Expand();
}

}  // namespace ptxla::hlo
