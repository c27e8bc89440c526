// CostAnalysis: the bytes that instructions read and write.
#include "hlo_backend/analysis/cost_analysis.h"

namespace ptxla::hlo {
namespace {

// Constants up to this many elements are encoded in the instructions.
constexpr int64_t kImmediateElements = 1;

// The transposed array lies in memory as the operand does.
bool TransposeIsBitcast(const Instruction& i) {
  const Shape &from = i.operand(0)->shape(), &to = i.shape();
  const Layout from_layout =
      from.has_layout() ? from.layout() : Layout::RowMajor(from.rank());
  const Layout to_layout =
      to.has_layout() ? to.layout() : Layout::RowMajor(to.rank());
  for (int n = 0; n < to.rank(); ++n) {
    const int64_t dim = to_layout.minor_to_major[n];
    if (i.dimensions()[dim] != from_layout.minor_to_major[n]) return false;
  }
  return true;
}

}  // namespace

// What a fusion reads of one parameter (or element of a tuple parameter).
// Elementwise users share one read; slices read their part; broadcasts and
// reshapes walk over the array in their own order, and read it again.
double CostAnalysis::ParameterBytes(const Instruction& value) const {
  const double whole = static_cast<double>(SizeOf(value.shape()));
  double bytes = 0;
  bool shared_read = false;
  for (const Instruction* user : value.users()) {
    switch (user->opcode()) {
      case Opcode::kFusion:
        for (int n = 0; n < user->operand_count(); ++n) {
          if (user->operand(n) == &value) {
            bytes += ParameterBytes(*user->fused()->parameter(n));
          }
        }
        break;
      case Opcode::kGetTupleElement:
        bytes += ParameterBytes(*user);
        break;
      case Opcode::kSlice:
        bytes += static_cast<double>(SizeOf(user->shape()));
        break;
      case Opcode::kBroadcast:
      case Opcode::kReshape:
        bytes += whole;
        break;
      case Opcode::kDynamicSlice:
        if (user->operand(0) == &value) {
          bytes += static_cast<double>(SizeOf(user->shape()));
        } else {
          shared_read = true;
        }
        break;
      case Opcode::kDynamicUpdateSlice:
        // Operand 0 is updated in place.
        shared_read |= user->operand(0) != &value;
        break;
      default:
        shared_read = true;
    }
  }
  return shared_read ? bytes + whole : bytes;
}

double CostAnalysis::OutputBytes(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kGetTupleElement:
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kDomain:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
      return 0;
    case Opcode::kTranspose:
      if (TransposeIsBitcast(i)) return 0;
      break;
    case Opcode::kTuple:
      return static_cast<double>(SizeOf(i.shape()));
    case Opcode::kCholesky:  // one triangle
      return static_cast<double>(SizeOf(i.shape())) / 2;
    case Opcode::kDynamicUpdateSlice:
      return static_cast<double>(SizeOf(i.operand(1)->shape()));
    case Opcode::kScatter: {
      // Written in place where the updates go.
      double bytes = 0;
      const int n = i.operand_count() / 2;
      for (int k = 0; k < n; ++k) {
        bytes += static_cast<double>(SizeOf(i.operand(n + 1 + k)->shape()));
      }
      return bytes;
    }
    case Opcode::kFusion: {
      const Instruction* root = i.fused()->root();
      double bytes = 0;
      auto add = [&](const Instruction* value) {
        if (value->opcode() == Opcode::kDynamicUpdateSlice) {
          bytes += static_cast<double>(SizeOf(value->operand(1)->shape()));
        } else {
          bytes += static_cast<double>(LeafBytes(value->shape()));
        }
      };
      if (root->opcode() == Opcode::kTuple) {
        for (const Instruction* element : root->operands()) add(element);
      } else {
        add(root);
      }
      return bytes;
    }
    default:
      break;
  }
  return static_cast<double>(LeafBytes(i.shape()));
}

double CostAnalysis::OperandBytes(const Instruction& i, int n) {
  const Shape& shape = i.operand(n)->shape();
  switch (i.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kGetTupleElement:
    case Opcode::kDomain:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kTuple:
      return 0;
    case Opcode::kTranspose:
      if (TransposeIsBitcast(i)) return 0;
      break;
    case Opcode::kSlice:
      return static_cast<double>(SizeOf(i.shape()));
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
      if (n == 0) return static_cast<double>(SizeOf(shape)) / 2;
      break;
    case Opcode::kOutfeed:
      return static_cast<double>(LeafBytes(shape));
    // Of scalar start indices XLA counts the first.
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
      if (n == 0) return static_cast<double>(SizeOf(i.shape()));
      if (n > 1) return 0;
      break;
    case Opcode::kDynamicUpdateSlice:
      if (n == 0 || n > 2) return 0;
      break;
    case Opcode::kScatter:
      // Where an update goes, the operand is read.
      if (n < i.operand_count() / 2) {
        const int update = i.operand_count() / 2 + 1 + n;
        return static_cast<double>(SizeOf(i.operand(update)->shape()));
      }
      break;
    case Opcode::kFusion:
      return ParameterBytes(*i.fused()->parameter(n));
    default:
      break;
  }
  return static_cast<double>(SizeOf(shape));
}

double CostAnalysis::FusionConstantBytes(const Instruction& fusion) const {
  double bytes = 0;
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() == Opcode::kConstant && i->shape().IsArray() &&
        i->shape().ElementCount() > kImmediateElements) {
      bytes += static_cast<double>(SizeOf(i->shape()));
    }
  }
  return bytes;
}

}  // namespace ptxla::hlo
