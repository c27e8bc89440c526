#include "driver/verification/inputs.h"

#include "base/numerics/random.h"
#include "driver/verification/parameter_roles.h"

namespace ptxla::driver {
namespace {

using hlo::Literal;
using hlo::Shape;

// A sum of twelve even numbers: mean 0, variance 1, no libm.
class Normal {
 public:
  Normal(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}

  double Unit() {  // in [0, 1)
    if (next_ == kBlock) Refill();
    return words_[next_++] * 0x1p-32;
  }
  double operator()() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += Unit();
    return sum;
  }

 private:
  static constexpr int kBlock = 3072;
  void Refill() {
    numerics::HardwareRandomFill(seed_, stream_, position_,
                                 absl::MakeSpan(words_));
    position_ += kBlock;
    next_ = 0;
  }
  const uint64_t seed_, stream_;
  uint64_t position_ = 0;
  std::vector<uint32_t> words_ = std::vector<uint32_t>(kBlock);
  int next_ = kBlock;
};

double FloatValue(const ParameterRole& role, Normal* normal) {
  switch (role.kind) {
    case ParameterRole::kScalar:
      return 0.5 + normal->Unit() / 2;
    case ParameterRole::kWeight:
    case ParameterRole::kBias:
      return 0.02 * (*normal)();
    case ParameterRole::kScale:
      return 1 + 0.02 * (*normal)();
    case ParameterRole::kPositive: {
      const double n = (*normal)();
      return 0.01 + n * n;
    }
    default:
      return (*normal)();
  }
}

int64_t IntegerValue(const ParameterRole& role, Normal* normal) {
  switch (role.kind) {
    case ParameterRole::kIndex:
      return static_cast<int64_t>(normal->Unit() *
                                  static_cast<double>(role.bound));
    case ParameterRole::kScalar:
      return 1 + static_cast<int64_t>(normal->Unit() * 999);
    default:
      return normal->Unit() < 0.5 ? 0 : 1;
  }
}

Literal Make(const Shape& shape, const ParameterRole& role, Normal* normal) {
  if (!shape.IsArray()) {
    if (!shape.IsTuple()) return Literal(shape);
    std::vector<Literal> elements;
    for (const Shape& s : shape.elements()) {
      elements.push_back(Make(s, role, normal));
    }
    return Literal::Tuple(std::move(elements));
  }
  Literal literal(shape);
  literal.mutable_bytes();
  for (int64_t i = 0; i < shape.ElementCount(); ++i) {
    if (hlo::IsComplex(shape.type())) {
      const double real = FloatValue(role, normal);
      literal.SetComplex(i, {real, FloatValue(role, normal)});
    } else if (hlo::IsFloat(shape.type())) {
      literal.SetDouble(i, FloatValue(role, normal));
    } else {
      literal.SetInt(i, IntegerValue(role, normal));
    }
  }
  return literal;
}

}  // namespace

std::vector<Literal> MakeInputs(const hlo::Module& module, uint64_t seed) {
  const std::vector<ParameterRole> roles = RolesOf(module);
  std::vector<Literal> arguments;
  for (size_t k = 0; k < roles.size(); ++k) {
    Normal normal(seed, k);
    arguments.push_back(
        Make(module.entry()->parameter(static_cast<int>(k))->shape(), roles[k],
             &normal));
  }
  return arguments;
}

}  // namespace ptxla::driver
