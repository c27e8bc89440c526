#include "hlo_backend/lowering/fusion/reduce_terms.h"

#include "base/status.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"

namespace ptxla::lowering {

using codegen::Mask;
using codegen::Vec;
using isa::Opcode;

absl::StatusOr<Vec> ReduceTerms::Words(NestCode& n, const Region& region,
                                       const Reduction& r, int row,
                                       int column) {
  const int node = e_.roots[r.root];
  ASSIGN_OR_RETURN(Value v, n.Eval(node, row, column));
  const Vec words = n.AsWords(node, v);
  const auto inside = Inside(region, row, column);
  if (!inside) return words;
  return b_.SelectImm(*inside, words, MonoidIdentity(r.op, r.type));
}

absl::StatusOr<Vec> ReduceTerms::WordsOfColumns(NestCode& n,
                                                const Region& region,
                                                const Reduction& r, int row,
                                                int column) {
  const int node = e_.roots[r.root];
  ASSIGN_OR_RETURN(Value v, n.Eval(node, row, column));
  const Vec words = n.AsWords(node, v);
  int64_t sublanes = g_.base_rows;
  if (region.row_end && row + 1 == region.rows) {
    const int64_t rest = g_.axes[g_.row_axis].elements % g_.base_rows;
    if (rest != 0) sublanes = rest;
  }
  if (sublanes == isa::kSublanes) return words;
  return b_.SelectImm(b_.Range(0, isa::kLanes, 0, static_cast<int>(sublanes)),
                      words, MonoidIdentity(r.op, r.type));
}

std::optional<Mask> ReduceTerms::Inside(const Region& region, int row,
                                        int column) {
  int lanes = 128, sublanes = 8;
  if (g_.linear) {
    const Axis& a = g_.axes[g_.column_axis];
    const int64_t rest = a.elements % 1024;
    if (!region.column_end || column + 1 < region.columns || rest == 0) {
      return std::nullopt;
    }
    return b_.CompareImm(Opcode::kVcmpLtS32, b_.LaneSequence(),
                         static_cast<uint32_t>(rest));
  }
  if (!KeepsColumns(g_) && region.column_end && column + 1 == region.columns) {
    const int64_t rest = g_.axes[g_.column_axis].elements % 128;
    if (rest != 0) lanes = static_cast<int>(rest);
  }
  if (g_.row_axis >= 0 && !KeepsRows(g_)) {
    sublanes = g_.base_rows;
    if (region.row_end && row + 1 == region.rows) {
      const int64_t rest = g_.axes[g_.row_axis].elements % g_.base_rows;
      if (rest != 0) sublanes = static_cast<int>(rest);
    }
  }
  if (lanes == 128 && sublanes == 8) return std::nullopt;
  return b_.Range(0, lanes, 0, sublanes);
}

absl::StatusOr<Vec> ReduceTerms::Positions(NestCode& n, const Reduction& r,
                                           int row, int column) {
  const int node = e_.roots[r.root];
  const int axis = g_.axis_of_dim[e_.nodes[node].iota_dim];
  const bool rows = axis >= 0 && axis == g_.row_axis;
  const bool columns = axis >= 0 && axis == g_.column_axis;
  ASSIGN_OR_RETURN(const Value first,
                   n.Eval(node, rows ? 0 : row, columns ? 0 : column));
  const int beyond = rows      ? row * g_.base_rows
                     : columns ? column * (g_.linear ? 1024 : 128)
                               : 0;
  return beyond == 0 ? first.vec
                     : b_.BinaryImm(Opcode::kVaddS32, first.vec, beyond);
}

bool ReduceTerms::AreOfBf16(const Reduction& r) const {
  const ExprNode* v = &e_.nodes[e_.roots[r.root]];
  while (v->kind == ExprNode::Kind::kOp &&
         v->instr->opcode() == hlo::Opcode::kConvert &&
         v->type == hlo::PrimitiveType::kF32) {
    v = &e_.nodes[v->inputs[0]];
  }
  return v->kind == ExprNode::Kind::kLeaf &&
         v->argument < Expression::kReduced &&
         v->type == hlo::PrimitiveType::kBf16;
}

}  // namespace ptxla::lowering
