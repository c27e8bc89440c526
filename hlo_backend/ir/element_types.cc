#include "hlo_backend/ir/element_types.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ptxla::hlo {
namespace {

enum : uint8_t {
  kPred = 1,
  kSigned = 2,
  kUnsigned = 4,
  kFloat = 8,
  kComplex = 16
};
constexpr uint8_t kIntegers = kSigned | kUnsigned;
constexpr uint8_t kBits = kPred | kIntegers;
constexpr uint8_t kInexact = kFloat | kComplex;
constexpr uint8_t kNumbers = kIntegers | kInexact;
constexpr uint8_t kAll = kPred | kNumbers;

uint8_t Taken(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAnd:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kXor:
      return kBits;
    case Opcode::kClz:
    case Opcode::kMulhi:
    case Opcode::kPopulationCount:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      return kIntegers;
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
    case Opcode::kCbrt:
    case Opcode::kCeil:
    case Opcode::kErf:
    case Opcode::kFloor:
    case Opcode::kIsFinite:
    case Opcode::kReducePrecision:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
      return kFloat;
    case Opcode::kAbs:
    case Opcode::kSign:
      return kSigned | kInexact;
    case Opcode::kIota:
    case Opcode::kDivide:
    case Opcode::kNegate:
    case Opcode::kPower:
    case Opcode::kRemainder:
    case Opcode::kSubtract:
      return kNumbers;
    case Opcode::kCholesky:
    case Opcode::kImag:
    case Opcode::kReal:
    case Opcode::kTriangularSolve:
      return kInexact;
    default:
      // Powers are above; the other functions are of real or complex numbers.
      return IsTranscendental(opcode) ? kInexact : kAll;
  }
}

uint8_t Bit(PrimitiveType type) {
  switch (ClassOf(type)) {
    case TypeClass::Pred:
      return kPred;
    case TypeClass::Signed:
      return kSigned;
    case TypeClass::Unsigned:
      return kUnsigned;
    case TypeClass::Float:
      return kFloat;
    case TypeClass::Complex:
      return kComplex;
    case TypeClass::Other:
      break;
  }
  return 0;
}

// "integers or pred".
std::string Words(uint8_t taken) {
  std::vector<const char*> words;
  if ((taken & kIntegers) == kIntegers) words.push_back("integers");
  if ((taken & kIntegers) == kSigned) words.push_back("signed integers");
  if (taken & kFloat) words.push_back("floats");
  if (taken & kComplex) words.push_back("complex numbers");
  if (taken & kPred) words.push_back("pred");
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    absl::StrAppend(&text,
                    i == 0                  ? ""
                    : i + 1 == words.size() ? " or "
                                            : ", ",
                    words[i]);
  }
  return text;
}

}  // namespace

absl::Status CheckElementType(Opcode opcode, const Shape& operand) {
  const uint8_t taken = Taken(opcode);
  if (taken & Bit(operand.type())) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(OpcodeName(opcode), " takes ",
                                                 Words(taken), ", not ",
                                                 operand.ToString()));
}

}  // namespace ptxla::hlo
