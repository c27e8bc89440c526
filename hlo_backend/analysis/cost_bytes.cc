// CostAnalysis: the bytes that instructions read and write.
#include <algorithm>
#include <cmath>

#include "hlo_backend/analysis/cost_analysis.h"

namespace ptxla::hlo {
namespace {

// Constants up to this many elements are encoded in the instructions.
constexpr int64_t kImmediateElements = 8;

double Ratio(const Shape& part, const Shape& whole) {
  const double n = static_cast<double>(whole.ElementCount());
  return n == 0 ? 0 : static_cast<double>(part.ElementCount()) / n;
}

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

// The part of operand n that one evaluation of the instruction needs.
double OperandUse(const Instruction& i, int n) {
  switch (i.opcode()) {
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
      return n == 0 ? Ratio(i.shape(), i.operand(0)->shape()) : 1;
    case Opcode::kDynamicUpdateSlice:
      return n == 0 ? 0 : 1;
    default:
      return 1;
  }
}

}  // namespace

const CostAnalysis::Utilization& CostAnalysis::UtilizationOf(
    const Computation& fused) {
  auto found = utilizations_.find(&fused);
  if (found != utilizations_.end()) return found->second;
  Utilization use;
  const std::vector<Instruction*> order = fused.PostOrder();
  use[fused.root()] = 1;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Instruction* i = *it;
    const double own = use[i];
    if (own == 0) continue;
    for (int n = 0; n < i->operand_count(); ++n) {
      double& of = use[i->operand(n)];
      if (i->opcode() == Opcode::kGetTupleElement) {
        // Elements are counted one by one.
        of = std::max(of, own);
        continue;
      }
      of += own * OperandUse(*i, n);
    }
  }
  return utilizations_.emplace(&fused, std::move(use)).first->second;
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
    case Opcode::kFusion: {
      const Utilization& use = UtilizationOf(*i.fused());
      const Instruction* parameter = i.fused()->parameter(n);
      auto read = [&](const Instruction* value) {
        auto it = use.find(value);
        const double part = it == use.end() ? 0 : std::min(1.0, it->second);
        return static_cast<double>(
            std::llround(static_cast<double>(SizeOf(value->shape())) * part));
      };
      if (!shape.IsTuple()) return read(parameter);
      double bytes = 0;
      for (const Instruction* user : parameter->users()) {
        if (user->opcode() == Opcode::kGetTupleElement) bytes += read(user);
      }
      return bytes;
    }
    default:
      break;
  }
  return static_cast<double>(SizeOf(shape));
}

double CostAnalysis::FusionConstantBytes(const Instruction& fusion) {
  double bytes = 0;
  const Utilization& use = UtilizationOf(*fusion.fused());
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() != Opcode::kConstant || !i->shape().IsArray() ||
        i->shape().ElementCount() <= kImmediateElements) {
      continue;
    }
    auto it = use.find(i);
    if (it == use.end()) continue;
    bytes +=
        static_cast<double>(SizeOf(i->shape())) * std::min(1.0, it->second);
  }
  return bytes;
}

}  // namespace ptxla::hlo
