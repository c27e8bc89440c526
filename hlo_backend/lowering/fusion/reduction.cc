#include "hlo_backend/lowering/fusion/reduction.h"

#include "base/numerics/bits.h"
#include "base/status.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/lowering/refusals.h"

namespace ptxla::lowering {
namespace {

// The value that the reduce starts from.
absl::Status ReadStart(Reduction* r) {
  const hlo::Instruction* init = r->reduce->operand(1);
  if (init->opcode() != hlo::Opcode::kConstant) {
    return Unsupported(*r->reduce, "its start value is not a constant");
  }
  r->init = hlo::IsFloat(r->type)
                ? numerics::FloatBits(
                      static_cast<float>(init->literal().GetDouble(0)))
                : static_cast<uint32_t>(init->literal().GetInt(0));
  const uint32_t identity = MonoidIdentity(r->op, r->type);
  r->has_init = r->init != identity &&
                !(r->op == hlo::Opcode::kAdd && r->init == 0x80000000u);
  return absl::OkStatus();
}

const hlo::Shape& ResultShape(const hlo::Instruction& fusion, int result) {
  return fusion.shape().IsTuple() ? fusion.shape().element(result)
                                  : fusion.shape();
}

}  // namespace

uint32_t ReducedDims(const Expression& e) {
  uint32_t reduced = 0;
  for (const hlo::Instruction* r : e.reduces) {
    if (r == nullptr) continue;
    for (int64_t d : r->dimensions()) {
      for (int p = 0; p < e.space.rank(); ++p) {
        if (e.space.dims[p] == d) reduced |= 1u << p;
      }
    }
  }
  return reduced;
}

absl::StatusOr<Reduction> DescribeReduction(const hlo::Instruction& fusion,
                                            const Expression& e, int root) {
  Reduction r;
  r.reduce = e.reduces[root];
  r.root = root;
  const auto monoid = hlo::MonoidOf(*r.reduce->to_apply());
  if (!monoid) return Unsupported(*r.reduce, "its body is not one operation");
  r.op = *monoid;
  r.type = r.reduce->shape().type();
  // Kept dimensions in the order in which they are walked.
  const uint32_t reduced = ReducedDims(e);
  hlo::DimVector number(e.space.rank(), -1), kept, sizes;
  int64_t logical = 0;
  for (int d = 0; d < e.space.rank(); ++d) {
    for (int p = 0; p < e.space.rank(); ++p) {
      if (e.space.dims[p] == d && !(reduced >> p & 1)) number[d] = logical++;
    }
  }
  for (int p = 0; p < e.space.rank(); ++p) {
    if (reduced >> p & 1) continue;
    kept.push_back(number[e.space.dims[p]]);
    sizes.push_back(e.space.sizes[p]);
  }
  RETURN_IF_ERROR(ReadStart(&r));
  if (e.results[root] < 0) {
    r.dense = !e.epilogue.empty();
    r.result = PhysicalArray::Words(kept, sizes);
    return r;
  }
  ASSIGN_OR_RETURN(r.result,
                   PhysicalArray::Of(ResultShape(fusion, e.results[root])));
  if (hlo::IsFloat(r.type) && r.result.bits != 32 &&
      r.result.type != hlo::PrimitiveType::kBf16) {
    return Unsupported(*r.reduce, "result type");
  }
  if (kept != r.result.dims) {
    return Unsupported(*r.reduce, "result layout in another order");
  }
  return r;
}

absl::StatusOr<Reduction> DescribeColumns(const hlo::Instruction& fusion,
                                          const Expression& e, int root) {
  Reduction r;
  r.reduce = e.of_columns[root];
  r.root = root;
  const auto monoid = hlo::MonoidOf(*r.reduce->to_apply());
  if (!monoid) return Unsupported(*r.reduce, "its body is not one operation");
  r.op = *monoid;
  r.type = r.reduce->shape().type();
  RETURN_IF_ERROR(ReadStart(&r));
  ASSIGN_OR_RETURN(r.result,
                   PhysicalArray::Of(ResultShape(fusion, e.results[root])));
  return r;
}

void ResultAddress(const Reduction& r, codegen::Sca at,
                   codegen::CodeBuilder& b) {
  if (r.window < 0) {
    b.ScratchAddress(at, static_cast<int32_t>(r.result_scratch));
  } else if (r.shared.cores == 1) {
    b.WindowAddress(at, r.window);
    for (const Reduction::StepBytes& step : r.before) {
      codegen::Sca g = b.NewSca();
      b.GridIndex(g, step.grid_dim);
      if (step.shift > 0) {
        g = b.SBinaryImm(isa::Opcode::kSshrl, g, step.shift);
      }
      b.SBinaryTo(at, isa::Opcode::kSadd, at,
                  b.SMulImm(g, static_cast<int32_t>(-step.bytes)));
    }
  } else {
    const codegen::Sca slot = b.NewSca();
    b.WindowAddress(slot, r.window);
    b.SMove(at, WholeBase(slot, r.part, r.shared, b));
  }
}

}  // namespace ptxla::lowering
