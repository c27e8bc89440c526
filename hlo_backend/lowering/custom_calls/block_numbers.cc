#include "hlo_backend/lowering/custom_calls/block_numbers.h"

#include <optional>
#include <string>

#include "absl/strings/ascii.h"

namespace ptxla::lowering {
namespace {

using hlo::PrimitiveType;

// Integers of Mosaic have no sign of their own; products take them as signed.
PrimitiveType ElementOf(const mosaic::Type& type) {
  const std::string& name =
      type.element == nullptr ? type.name : type.element->name;
  std::string hlo_name = absl::AsciiStrToLower(name);
  if (!hlo_name.empty() && hlo_name[0] == 'i') hlo_name[0] = 's';
  return hlo::PrimitiveTypeFromName(hlo_name).value_or(PrimitiveType::kF32);
}

}  // namespace

BlockNumbers NumbersOfBlock(const isa::MachineModel& model,
                            const mosaic::Type& lhs, const mosaic::Type& rhs,
                            const mosaic::Type& result, bool rhs_transposed) {
  const PrimitiveType a = ElementOf(lhs), b = ElementOf(rhs);
  const PrimitiveType out = ElementOf(result);
  const auto has = [&](ArrayNumbers numbers) {
    return isa::Supports(model, MatmulOf(numbers, true, 0));
  };
  ArrayNumbers numbers = NumbersOf(model, a, b, out, /*lhs_transposed=*/false);
  BlockNumbers n;
  const bool fours = a == PrimitiveType::kS4 && b == PrimitiveType::kS4;
  if (numbers == ArrayNumbers::kBf16) {
    if (a == PrimitiveType::kF8E4M3Fn && b == a &&
        has(ArrayNumbers::kF8E4M3B11)) {
      numbers = ArrayNumbers::kF8E4M3B11;
      // The scale of both sides, one multiplication; assumed.
      n.result_operations = 1;
    } else if (fours && has(ArrayNumbers::kF8E4M3Fn)) {
      numbers = ArrayNumbers::kF8E4M3Fn;
    } else {
      n.lhs_operations = ConversionOperations(model, a);
      n.rhs_operations = ConversionOperations(model, b);
    }
    // f32 sums to integers: cut, then converted, an instruction each; assumed.
    if (hlo::IsInteger(out)) n.result_operations = 2;
  }
  n.arrays = ArrayShapeOf(model, rhs_transposed, numbers);
  if (fours && numbers == ArrayNumbers::kS8) {
    n.arrays.rows *= 2;
    n.arrays.push_rows *= 2;
  }
  return n;
}

}  // namespace ptxla::lowering
