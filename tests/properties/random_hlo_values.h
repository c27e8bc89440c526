// The pieces that random_hlo.cc builds modules of: values with their types, and
// a writer of instructions.
#ifndef PTXLA_TESTS_PROPERTIES_RANDOM_HLO_VALUES_H_
#define PTXLA_TESTS_PROPERTIES_RANDOM_HLO_VALUES_H_

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ptxla::testing {

using Dims = std::vector<int64_t>;

int64_t ElementsOf(const Dims& dims);
std::string DimsText(const Dims& dims);  // "{1,0}"

struct Value {
  std::string name, type;
  Dims dims;
  // Two correct machines have the same bits: only then may a comparison or a
  // conversion to an integer look at it.
  bool exact = true;
  bool is_float() const { return type == "f32" || type == "bf16"; }
  bool is_integer() const { return !is_float() && type != "pred"; }
};

class HloWriter {
 public:
  explicit HloWriter(uint64_t seed)
      : random_(static_cast<std::mt19937::result_type>(seed)) {}

  int Below(int n) { return static_cast<int>(random_() % n); }
  bool OneIn(int n) { return Below(n) == 0; }
  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(static_cast<int>(from.size()))];
  }

  // One of the odd and round sizes, at most `limit`.
  int64_t Size(int64_t limit);
  // An array of `rank` dimensions and at most `elements` elements.
  Dims RandomDims(int rank, int64_t elements);

  Value Parameter(const std::string& type, const Dims& dims);
  Value Scalar(const std::string& type, const std::string& value);
  // "%name = TYPE[DIMS] `op`(operands)`attributes`".
  Value Op(const std::string& type, const Dims& dims, absl::string_view op,
           const std::vector<Value>& operands,
           const std::string& attributes = "");
  Value Convert(const Value& x, const std::string& type);
  // A scalar, or an array whose dimensions are `at` of `dims`.
  Value Broadcast(const Value& x, const Dims& dims, const Dims& at);
  // A parameter of some type that fits `like`: of its shape, or a row, a
  // column, a scalar or a constant broadcast to it.
  Value Companion(const Value& like);
  // The name of a reducer, which is added to the module.
  std::string Reducer(const std::string& op, const std::string& type);
  Value Reduce(const Value& x, const Dims& over, const std::string& op);

  // One elementwise operation on `x`, of its dimensions.
  Value Step(const Value& x);
  // `n` of them; types may change on the way.
  Value Chain(Value x, int n);

  void MarkCoarse() { coarse_ = true; }
  bool coarse() const { return coarse_; }
  // The module whose root is `results`.
  std::string Module(const std::string& name,
                     const std::vector<Value>& results) const;

 private:
  Value FloatStep(const Value& x);
  Value IntegerStep(const Value& x);

  std::mt19937 random_;
  int next_ = 0, parameters_ = 0;
  bool coarse_ = false;
  std::string body_, computations_;
  std::set<std::string> reducers_;
};

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_PROPERTIES_RANDOM_HLO_VALUES_H_
