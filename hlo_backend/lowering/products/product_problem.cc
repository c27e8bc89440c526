#include "hlo_backend/lowering/products/product_problem.h"

#include <algorithm>

namespace ptxla::lowering {

ArrayShape ArrayShapeOf(const isa::MachineModel& model, bool rhs_transposed,
                        ArrayNumbers numbers) {
  ArrayShape a;
  a.size = model.mxu_cols;
  a.mxus = model.mxus;
  a.bf16 = isa::Supports(model, isa::Opcode::kVmatmulBf16);
  const isa::Opcode matmul = MatmulOf(numbers, a.bf16, 0);
  const isa::Opcode push = PushOf(numbers, a.bf16, 0, rhs_transposed);
  a.rows = isa::MxuRows(matmul);
  a.interval = model.Interval(isa::Info(matmul).interval);
  a.latency = model.Latency(isa::Info(matmul).latency);
  a.push_rows = a.rows;
  a.push_interval = model.Interval(isa::Info(push).interval);
  a.unit = std::max(16, a.rows);
  return a;
}

void ChooseNumbers(const isa::MachineModel& model, hlo::PrimitiveType result,
                   ProductProblem* problem) {
  ProductProblem& p = *problem;
  p.integers = hlo::IsInteger(result);
  p.numbers =
      p.lhs.computed || p.rhs.computed
          ? ArrayNumbers::kBf16
          : NumbersOf(model, p.lhs.type, p.rhs.type, result, p.lhs.transposed);
  for (ProductOperand* operand : {&p.lhs, &p.rhs}) {
    if (operand->computed) continue;
    operand->conversion = p.numbers == ArrayNumbers::kBf16
                              ? ConversionOperations(model, operand->type)
                              : 0;
    // While one register of rows goes through all arrays: its conversion, and
    // the sums of its results. Without packing instructions nothing is kept.
    const ArrayShape a = ArrayShapeOf(model, p.rhs.transposed, p.numbers);
    const int halves = a.size / 128;
    const int work =
        (2 * operand->conversion + 1) * halves + 2 * halves * a.mxus;
    operand->slow =
        a.bf16 && operand->conversion > 0 &&
        work > a.unit / a.rows * a.interval * model.Slots(isa::Slot::kVector);
  }
}

}  // namespace ptxla::lowering
