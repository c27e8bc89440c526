// Whether a pass changes what a program computes.
//
//   EXPECT_OK(SameAfterPass("HloModule m ...", "gather-canonicalizer"));
#ifndef PTXLA_TESTS_HLO_BACKEND_PASSES_SAME_AFTER_PASS_H_
#define PTXLA_TESTS_HLO_BACKEND_PASSES_SAME_AFTER_PASS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/passes/all_passes.h"
#include "hlo_backend/passes/pipeline.h"

namespace ptxla::hlo {

// Whole numbers of a few units: exact in every type, some indices outside.
inline Literal Numbers(const Shape& shape, uint64_t seed) {
  Literal literal(shape);
  const bool negative = shape.type() != PrimitiveType::kU32 &&
                        shape.type() != PrimitiveType::kU8 &&
                        shape.type() != PrimitiveType::kPred;
  for (int64_t i = 0; i < literal.ElementCount(); ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const auto value = static_cast<int64_t>(seed >> 33) % 13;
    literal.SetDouble(i, static_cast<double>(negative ? value - 3 : value));
  }
  return literal;
}

// What a pass does to a program; of forms taken in turn it may leave some.
enum class Passed { kChanged, kMayStay };

// On three sets of such arguments. Internal names the element that differs;
// FailedPrecondition: the pass leaves the program as it is, and must not.
inline absl::Status SameAfterPass(const std::string& text,
                                  const std::string& pass,
                                  Passed passed = Passed::kChanged) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    ASSIGN_OR_RETURN(auto module, ParseModule(text, "m"));
    std::vector<Literal> inputs;
    const Computation* entry = module->entry();
    inputs.reserve(entry->parameter_count());
    for (int p = 0; p < entry->parameter_count(); ++p) {
      inputs.push_back(Numbers(entry->parameter(p)->shape(), seed * 100 + p));
    }
    ASSIGN_OR_RETURN(const Literal expected, Evaluate(*module, inputs));
    ASSIGN_OR_RETURN(Pipeline p, Pipeline::FromNames(pass));
    PipelineOptions options;
    options.verify = true;
    const std::string before = Print(*module);
    RETURN_IF_ERROR(p.Run(module.get(), PassContext(), options).status());
    if (passed == Passed::kChanged && Print(*module) == before) {
      return absl::FailedPreconditionError(
          absl::StrCat(pass, " does nothing to\n", text));
    }
    ASSIGN_OR_RETURN(const Literal actual, Evaluate(*module, inputs));
    if (expected.ElementCount() != actual.ElementCount()) {
      return absl::InternalError("another number of elements");
    }
    for (int64_t i = 0; i < expected.ElementCount(); ++i) {
      if (expected.GetDouble(i) == actual.GetDouble(i)) continue;
      return absl::InternalError(
          absl::StrCat("element ", i, " is ", actual.GetDouble(i), ", not ",
                       expected.GetDouble(i), ", of\n", text, Print(*module)));
    }
  }
  return absl::OkStatus();
}

}  // namespace ptxla::hlo

#endif  // PTXLA_TESTS_HLO_BACKEND_PASSES_SAME_AFTER_PASS_H_
