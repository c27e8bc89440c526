#include "hlo_backend/lowering/pooling/pool_values.h"

#include "base/check.h"
#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/lowering/fusion/vector_math.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

namespace {

constexpr uint32_t kHighHalf = 0xFFFF0000u;

// The instruction that combines both halves at once, without rounding.
bool PackedOpcode(hlo::Opcode op, Opcode* packed) {
  if (op == hlo::Opcode::kMaximum) {
    *packed = Opcode::kVmaxBf16;
  } else if (op == hlo::Opcode::kMinimum) {
    *packed = Opcode::kVminBf16;
  } else {
    return false;
  }
  return true;
}

// f32 to bf16 in the upper half, nearest even.
Vec Rounded(CodeBuilder& b, Vec v) {
  const Vec odd =
      b.BinaryImm(Opcode::kVand, b.BinaryImm(Opcode::kVshrl, v, 16), 1);
  return b.Binary(Opcode::kVaddS32, v,
                  b.BinaryImm(Opcode::kVaddS32, odd, 0x7FFF));
}

}  // namespace

PoolValues::PoolValues(hlo::Opcode op, PrimitiveType type,
                       const isa::MachineModel& model, bool apart)
    : op_(op), type_(type) {
  Opcode packed;
  if (type == PrimitiveType::kBf16) {
    const bool together = !apart && PackedOpcode(op, &packed);
    parts_ = together && isa::Supports(model, packed) ? 1 : 2;
  }
  identity_ = *hlo::WindowIdentity(op, type);
  if (type == PrimitiveType::kBf16 && parts_ == 1) {
    identity_ = packed_identity();
  }
}

uint32_t PoolValues::packed_identity() const {
  const uint32_t word = *hlo::WindowIdentity(op_, type_);
  if (type_ != PrimitiveType::kBf16) return word;
  return (word & kHighHalf) | word >> 16;
}

std::vector<Vec> PoolValues::Take(CodeBuilder& b, Vec v) const {
  if (parts_ == 1) return {v};
  if (isa::Supports(b.model(), Opcode::kVunpackILBf16)) {
    return {b.Unary(Opcode::kVunpackILBf16, v),
            b.Unary(Opcode::kVunpackIHBf16, v)};
  }
  return {b.BinaryImm(Opcode::kVshll, v, 16),
          b.BinaryImm(Opcode::kVand, v, kHighHalf)};
}

Vec PoolValues::Put(CodeBuilder& b, const std::vector<Vec>& parts) const {
  if (parts_ == 1) return parts[0];
  if (isa::Supports(b.model(), Opcode::kVpackIBf16)) {
    return b.Binary(Opcode::kVpackIBf16, parts[0], parts[1]);
  }
  const Vec low = b.BinaryImm(Opcode::kVshrl, Rounded(b, parts[0]), 16);
  const Vec high = b.BinaryImm(Opcode::kVand, Rounded(b, parts[1]), kHighHalf);
  return b.Binary(Opcode::kVor, low, high);
}

std::vector<Vec> PoolValues::Combine(CodeBuilder& b, const std::vector<Vec>& x,
                                     const std::vector<Vec>& y) const {
  Opcode packed;
  if (type_ == PrimitiveType::kBf16 && parts_ == 1) {
    CHECK(PackedOpcode(op_, &packed));
    return {b.Binary(packed, x[0], y[0])};
  }
  const PrimitiveType type =
      type_ == PrimitiveType::kBf16 ? PrimitiveType::kF32 : type_;
  std::vector<Vec> result;
  result.reserve(parts_);
  for (int p = 0; p < parts_; ++p) {
    // Types and operations were looked at when the form was made.
    result.push_back(
        EmitMonoid(b, op_, type, Value::Of(x[p]), Value::Of(y[p])).value().vec);
  }
  return result;
}

std::vector<Vec> PoolValues::Identity(CodeBuilder& b) const {
  return std::vector<Vec>(parts_, b.Imm(identity_));
}

}  // namespace ptxla::lowering
