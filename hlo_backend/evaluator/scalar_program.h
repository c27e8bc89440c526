// A computation on scalars (the reducer of a reduce, the comparator of a sort,
// the body of a map) compiled to a list of elementwise loops over registers,
// so that it runs on one element or on many at once.
//
//   ASSIGN_OR_RETURN(ScalarProgram p, ScalarProgram::Compile(*add, 0));
//   p.Run({acc, x}, {false, false}, {acc}, n);   // acc[i] = acc[i] + x[i]
//
// Parameters and results may be tuples; they are flattened.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_SCALAR_PROGRAM_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_SCALAR_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/evaluator/elementwise.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

class ScalarProgram {
 public:
  // Unimplemented names the instruction that is no operation on scalars.
  static absl::StatusOr<ScalarProgram> Compile(const Computation& computation,
                                               int tpu_generation);

  // out[j][k] = the program's j-th result on in[..][k], k < n. An output may
  // be an input's array: each block is read before it is written.
  void Run(absl::Span<const void* const> in, absl::Span<const bool> splat,
           absl::Span<void* const> out, int64_t n) const;

  // The program is `p0 op p1` (or, for a commutative op, `p1 op p0`).
  std::optional<Opcode> binary_op() const { return binary_op_; }
  // The program is `p1`: what a scatter that overwrites uses.
  bool is_second() const { return is_second_; }
  // The program compares key(input a) with key(input a + 1), where the key is
  // a function of one element, often the element itself.
  struct Comparison {
    CompareDirection direction;
    bool total_order;
    int first_input;
    int key_register;
    PrimitiveType key_type;
  };
  const std::optional<Comparison>& comparison() const { return comparison_; }
  // The keys of n elements. Only if there is a comparison().
  void RunKey(const void* in, void* out, int64_t n) const;

 private:
  static constexpr int kBlock = 256;

  struct Register {
    enum class Kind { kInput, kConstant, kTemporary };
    Kind kind = Kind::kTemporary;
    int index = 0;  // of the input, or byte offset of the constant or block
    PrimitiveType type = PrimitiveType::kInvalid;
  };
  struct Step {
    ElementwiseOp op;
    std::array<int, 3> operands = {};  // registers
    int result = 0;                    // register
  };
  friend class ScalarCompiler;

  // The steps, then a copy of these registers.
  void RunRegisters(absl::Span<const int> results,
                    absl::Span<const void* const> in,
                    absl::Span<const bool> splat, absl::Span<void* const> out,
                    int64_t n) const;

  std::vector<Register> registers_;
  std::vector<Step> steps_;
  std::vector<Register> inputs_, outputs_;
  std::vector<int> output_registers_;
  std::vector<uint8_t> constants_;
  int temporary_bytes_ = 0;  // for one block
  std::optional<Opcode> binary_op_;
  std::optional<Comparison> comparison_;
  bool is_second_ = false;
  mutable std::vector<uint8_t> scratch_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_SCALAR_PROGRAM_H_
