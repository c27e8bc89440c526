// erfc, bessel_i1e, next_after.
#include "hlo_backend/stablehlo/special_functions.h"

#include "hlo_backend/stablehlo/math_emitter.h"

namespace ptxla::hlo::mlir {
namespace {

using I = Instruction*;
using Dir = CompareDirection;
using Wide = std::vector<Instruction*>;

// erfc(x) = exp(-x^2) P(x) / Q(x) for 1 <= x < 8, R(x) / S(x) beyond; f64.
constexpr double kErfcP[] = {
    2.46196981473530512524e-10, 5.64189564831068821977e-1,
    7.46321056442269912687e0,   4.86371970985681366614e1,
    1.96520832956077098242e2,   5.26445194995477358631e2,
    9.34528527171957607540e2,   1.02755188689515710272e3,
    5.57535335369399327526e2};
constexpr double kErfcQ[] = {1,
                             1.32281951154744992508e1,
                             8.67072140885989742329e1,
                             3.54937778887819891062e2,
                             9.75708501743205489753e2,
                             1.82390916687909736289e3,
                             2.24633760818710981792e3,
                             1.65666309194161350182e3,
                             5.57535340817727675546e2};
constexpr double kErfcR[] = {
    5.64189583547755073984e-1, 1.27536670759978104416e0,
    5.01905042251180477414e0,  6.16021097993053585195e0,
    7.40974269950448939160e0,  2.97886665372100240670e0};
constexpr double kErfcS[] = {1,
                             2.26052863220117276590e0,
                             9.39603524938001434673e0,
                             1.20489539808096656605e1,
                             1.70814450747565897222e1,
                             9.60896809063285878198e0,
                             3.36907645100081516050e0};
// erf(x) = x P(x^2) for x <= 1; f32.
constexpr double kErfNear32[] = {7.853861353153693e-5, -8.010193625184903e-4,
                                 5.188327685732524e-3, -2.685381193529856e-2,
                                 1.128358514861418e-1, -3.761262582423300e-1,
                                 1.128379165726710e+0};
// exp(-x^2) P(1 / x^2) / x for 1 <= x < 2, and from 2 on; f32.
constexpr double kErfcNear32[] = {
    2.326819970068386e-2,  -1.387039388740657e-1, 3.687424674597105e-1,
    -5.824733027278666e-1, 6.210004621745983e-1,  -4.944515323274145e-1,
    3.404879937665872e-1,  -2.741127028184656e-1, 5.638259427386472e-1};
constexpr double kErfcFar32[] = {-1.047766399936249e+1, 1.297719955372516e+1,
                                 -7.495518717768503e+0, 2.921019019210786e+0,
                                 -1.015265279202700e+0, 4.218463358204948e-1,
                                 -2.820767439740514e-1, 5.641895067754075e-1};

// Below, exp is zero: -log of the largest number.
constexpr double kLeastExponent32 = -88.72283905206835;
constexpr double kLeastExponent64 = -709.782712893384;

// Chebyshev coefficients of exp(-x) I1(x) / x in x / 2 - 2 on [0, 8], and of
// exp(-x) sqrt(x) I1(x) in 32 / x - 2 beyond; highest order first.
constexpr double kI1Near[] = {
    2.77791411276104639959e-18, -2.11142121435816608115e-17,
    1.55363195773620046921e-16, -1.10559694773538630805e-15,
    7.60068429473540693410e-15, -5.04218550472791168711e-14,
    3.22379336594557470981e-13, -1.98397439776494371520e-12,
    1.17361862988909016308e-11, -6.66348972350202774223e-11,
    3.62559028155211703701e-10, -1.88724975172282928790e-9,
    9.38153738649577178388e-9,  -4.44505912879632808065e-8,
    2.00329475355213526229e-7,  -8.56872026469545474066e-7,
    3.47025130813767847674e-6,  -1.32731636560394358279e-5,
    4.78156510755005422638e-5,  -1.61760815825896745588e-4,
    5.12285956168575772895e-4,  -1.51357245063125314899e-3,
    4.15642294431288815669e-3,  -1.05640848946261981558e-2,
    2.47264490306265168283e-2,  -5.29459812080949914269e-2,
    1.02643658689847095384e-1,  -1.76416518357834055153e-1,
    2.52587186443633654823e-1};
constexpr double kI1Far[] = {
    7.51729631084210481353e-18,  4.41434832307170791151e-18,
    -4.65030536848935832153e-17, -3.20952592199342395980e-17,
    2.96262899764595013876e-16,  3.30820231092092828324e-16,
    -1.88035477551078244854e-15, -3.81440307243700780478e-15,
    1.04202769841288027642e-14,  4.27244001671195135429e-14,
    -2.10154184277266431302e-14, -4.08355111109219731823e-13,
    -7.19855177624590851209e-13, 2.03562854414708950722e-12,
    1.41258074366137813316e-11,  3.25260358301548823856e-11,
    -1.89749581235054123450e-11, -5.58974346219658380687e-10,
    -3.83538038596423702205e-9,  -2.63146884688951950684e-8,
    -2.51223623787020892529e-7,  -3.88256480887769039346e-6,
    -1.10588938762623716291e-4,  -9.76109749136146840777e-3,
    7.78576235018280120474e-1};

// Half the sum of the series, by Clenshaw's recurrence.
I Chebyshev(MathEmitter& m, absl::Span<const double> coefficients, I x) {
  I now = m.Value(0), before = m.Value(0), last = m.Value(0);
  for (const double c : coefficients) {
    last = before;
    before = now;
    now = m.Add(m.Sub(m.Mul(x, before), last), c);
  }
  return m.Mul(0.5, m.Sub(now, last));
}

I BesselI1e(MathEmitter& m, I x) {
  Builder& b = m.builder();
  I size = b.Abs(x);
  I near =
      m.Mul(size, Chebyshev(m, kI1Near, m.Sub(m.Mul(0.5, size), m.Value(2))));
  I far =
      m.Div(Chebyshev(m, kI1Far, m.Sub(m.Div(m.Value(32), size), m.Value(2))),
            b.Sqrt(size));
  return m.Mul(b.Sign(x), m.Either(m.Is(Dir::kLe, size, 8), near, far));
}

// Operation by operation as XLA writes it for every backend, so that it costs
// what it costs there.
I Erfc(MathEmitter& m, I x) {
  Builder& b = m.builder();
  I size = b.Abs(x);
  I square = m.Mul(x, x);
  I exponent = b.Negate(square);
  I scale = b.Exp(exponent);
  I tail, near_one;
  if (m.is_f64()) {
    I near = m.Div(m.Polynomial(kErfcP, size), m.Polynomial(kErfcQ, size));
    I far = m.Div(m.Polynomial(kErfcR, size), m.Polynomial(kErfcS, size));
    tail = m.Mul(scale, m.Either(m.Is(Dir::kLt, size, 8), near, far));
    near_one = b.Erf(x);
  } else {
    I inverse = m.Div(m.Value(1), square);
    I p = m.Either(m.Is(Dir::kLt, size, 2), m.Polynomial(kErfcNear32, inverse),
                   m.Polynomial(kErfcFar32, inverse));
    tail = m.Mul(m.Mul(scale, m.Div(m.Value(1), size)), p);
    near_one = m.Mul(x, m.Polynomial(kErfNear32, square));
  }
  // Zero times infinity where exp is zero.
  const double least = m.is_f64() ? kLeastExponent64 : kLeastExponent32;
  tail = m.Either(m.Is(Dir::kLt, exponent, least), m.Value(0), tail);
  I large = m.Either(m.Is(Dir::kLt, x, 0.0), m.Sub(m.Value(2), tail), tail);
  return m.Either(m.Is(Dir::kGt, size, 1), large, m.Sub(m.Value(1), near_one));
}

PrimitiveType BitsOf(PrimitiveType type) {
  switch (BitWidth(type)) {
    case 8:
      return PrimitiveType::kU8;
    case 16:
      return PrimitiveType::kU16;
    case 32:
      return PrimitiveType::kU32;
    default:
      return PrimitiveType::kU64;
  }
}

}  // namespace

absl::StatusOr<Instruction*> EmitBesselI1e(Builder* b, Instruction* x) {
  return InWideType(
      b, {x}, [](MathEmitter& m, const Wide& v) { return BesselI1e(m, v[0]); });
}

absl::StatusOr<Instruction*> EmitErfc(Builder* b, Instruction* x) {
  return InWideType(
      b, {x}, [](MathEmitter& m, const Wide& v) { return Erfc(m, v[0]); });
}

// Of the bits as a number: one more is one step away from zero.
absl::StatusOr<Instruction*> EmitNextAfter(Builder* b, Instruction* x,
                                           Instruction* y) {
  const PrimitiveType type = x->shape().type();
  if (!IsFloat(type) || BitWidth(type) < 8 ||
      !x->shape().SameDimsAndType(y->shape())) {
    return absl::InvalidArgumentError(
        "it takes floating point tensors of one shape");
  }
  const int width = BitWidth(type);
  const Shape shape = Shape::Array(BitsOf(type), x->shape().dims());
  auto value = [&](uint64_t bits) {
    I scalar = b->Constant(Literal::SplatInt(Shape::Scalar(shape.type()),
                                             static_cast<int64_t>(bits)));
    return shape.IsScalar() ? scalar : b->BroadcastScalar(scalar, shape.dims());
  };
  const uint64_t sign_bit = uint64_t{1} << (width - 1);
  I sign = value(sign_bit), size = value(sign_bit - 1), one = value(1);
  I x_bits = b->BitcastConvert(x, shape), y_bits = b->BitcastConvert(y, shape);
  I x_size = b->And(x_bits, size), y_size = b->And(y_bits, size);
  I x_sign = b->And(x_bits, sign), y_sign = b->And(y_bits, sign);
  I towards_zero = b->Or(b->Compare(x_sign, y_sign, Dir::kNe),
                         b->Compare(x_size, y_size, Dir::kGt));
  I step =
      b->Select(towards_zero, b->Subtract(x_bits, one), b->Add(x_bits, one));
  I from_zero = b->Or(y_sign, one);
  I zero = value(0);
  I moved = b->Select(b->Compare(x_size, zero, Dir::kEq), from_zero, step);
  I result = b->BitcastConvert(moved, x->shape());
  // Equal numbers, zeros of either sign among them; NaN stays.
  result = b->Select(b->Compare(x, y, Dir::kEq), y, result);
  I is_nan = b->Or(b->Compare(x, x, Dir::kNe), b->Compare(y, y, Dir::kNe));
  return b->Select(is_nan, b->Add(x, y), result);
}

}  // namespace ptxla::hlo::mlir
