// The work of x64-elimination on one computation. Values are in
// x64_eliminator.cc, floats in x64_floats.cc, complex numbers in
// x64_complex_values.cc, what calls a computation (reduces, scatters, sorts) in
// x64_callers.cc.
//
//   ASSIGN_OR_RETURN(bool changed, X64Eliminator(computation).Run());
#ifndef PTXLA_HLO_BACKEND_PASSES_X64_X64_ELIMINATOR_H_
#define PTXLA_HLO_BACKEND_PASSES_X64_X64_ELIMINATOR_H_

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/x64/x64_complex.h"
#include "hlo_backend/passes/x64/x64_elimination.h"
#include "hlo_backend/passes/x64/x64_functions.h"
#include "hlo_backend/passes/x64/x64_pairs.h"

namespace ptxla::hlo {

bool HasX64(const Shape& shape);  // some leaf is of a 64-bit type

// One computation at a time. Every 64-bit value has a pair, every pair that
// someone needs whole is combined; both on demand.
class X64Eliminator {
 public:
  explicit X64Eliminator(Computation* c)
      : c_(c), b_(c), math_(&b_), more_(&b_), complex_(&b_) {}

  absl::StatusOr<bool> Run();

 private:
  absl::Status Refuse(const Instruction& i) {
    return absl::UnimplementedError(
        absl::StrCat(Describe(i), ": no 32-bit form of this 64-bit operation"));
  }

  Instruction* Split(Instruction* whole, const char* target) {
    return b_.CustomCall(target, {whole},
                         Shape::Array(X64HalfType(whole->shape().type()),
                                      whole->shape().dims()));
  }

  X64Pair PairOf(Instruction* i) {
    auto it = pairs_.find(i);
    if (it != pairs_.end()) return it->second;
    const X64Pair pair = {Split(i, kX64SplitLow), Split(i, kX64SplitHigh)};
    pairs_[i] = pair;
    whole_[i] = i;
    return pair;
  }

  Instruction* Combined(Instruction* i) {
    auto [it, inserted] = whole_.emplace(i, nullptr);
    if (inserted) {
      const X64Pair pair = pairs_.at(i);
      it->second =
          b_.CustomCall(kX64Combine, {pair.low, pair.high}, i->shape());
    }
    return it->second;
  }

  // An index as its low word, as the TPU compiler takes it: a u64 of 2^31 and
  // more remains beyond an array's end, where a signed word were before it.
  Instruction* Index(Instruction* i) {
    if (!IsX64(i->shape())) return i;
    const bool is_signed = IsSigned(i->shape().type());
    return math_.ToNarrow(PairOf(i),
                          is_signed ? PrimitiveType::kS32 : PrimitiveType::kU32,
                          is_signed);
  }

  // The same instruction on one of the halves.
  Instruction* Like(const Instruction& i, absl::Span<Instruction* const> ops) {
    return c_->AddLike(
        i, Shape::Array(X64HalfType(i.shape().type()), i.shape().dims()), ops);
  }

  // Instructions that move 64-bit elements about: `values` operands are split,
  // the others are indices.
  X64Pair Move(const Instruction& i, int values) {
    std::vector<Instruction*> low, high;
    for (int k = 0; k < i.operand_count(); ++k) {
      if (k < values) {
        const X64Pair pair = PairOf(i.operand(k));
        low.push_back(pair.low);
        high.push_back(pair.high);
      } else {
        Instruction* index = Index(i.operand(k));
        low.push_back(index);
        high.push_back(index);
      }
    }
    return {Like(i, low), Like(i, high)};
  }

  // i takes the whole arrays: tuples, loops, foreign calls, random state.
  bool TakeWhole(Instruction* i) {
    bool changed = false;
    for (int k = 0; k < i->operand_count(); ++k) {
      Instruction* o = i->operand(k);
      if (!IsX64(o->shape()) || !pairs_.contains(o)) continue;
      Instruction* whole = Combined(o);
      if (whole == o) continue;
      i->ReplaceOperand(k, whole);
      changed = true;
    }
    return changed;
  }

  // Indices become words of 32 bits, the rest stays.
  bool NarrowIndices(Instruction* i, int first, int count) {
    bool changed = false;
    for (int k = first; k < first + count; ++k) {
      if (!IsX64(i->operand(k)->shape())) continue;
      i->ReplaceOperand(k, Index(i->operand(k)));
      changed = true;
    }
    return changed;
  }

  void SetPair(Instruction* i, X64Pair pair) { pairs_[i] = pair; }

  absl::StatusOr<bool> Visit(Instruction* i);
  absl::StatusOr<X64Pair> Value(Instruction* i);
  absl::StatusOr<X64Pair> FloatValue(Instruction* i);
  absl::StatusOr<Instruction*> OfComplex(Instruction* i);
  absl::StatusOr<X64Pair> ComplexValue(Instruction* i);
  absl::StatusOr<X64Pair> Reduced(Instruction* i);
  absl::StatusOr<X64Pair> ReducedComplex(Instruction* i, Opcode op);
  std::optional<X64Pair> ReducedWords(Instruction* i, Opcode op);
  absl::StatusOr<X64Pair> Scattered(Instruction* i);
  absl::StatusOr<bool> Sorted(Instruction* i);
  absl::StatusOr<bool> Words(Instruction* i);
  // A scalar for an array's operation.
  X64Pair Spread(X64Pair x, const Instruction& like) {
    if (!x.low->shape().IsScalar() || like.shape().IsScalar()) return x;
    return {b_.BroadcastScalar(x.low, like.shape().dims()),
            b_.BroadcastScalar(x.high, like.shape().dims())};
  }

  Computation* c_;
  Builder b_;
  X64Math math_;
  X64Functions more_;
  X64Complex complex_;
  absl::flat_hash_map<Instruction*, X64Pair> pairs_;
  absl::flat_hash_map<Instruction*, Instruction*> whole_;
};
}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_X64_X64_ELIMINATOR_H_
