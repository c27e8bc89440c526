#include "hlo_backend/lowering/movement/transpose_problem.h"

#include "isa/kernel.h"

namespace ptxla::lowering {
namespace {

// Major dimensions that follow one another on both sides are one: windows have
// few dimensions.
void JoinMajors(TransposeProblem* p) {
  const int rank = p->in.rank(), majors = rank - 2;
  hlo::DimVector in, out;
  std::vector<int> from, first;  // of the joined ones; their first before
  for (int q = 0; q < majors; ++q) {
    if (q > 0 && p->from[q] == p->from[q - 1] + 1) {
      out.back() *= p->out.sizes[q];
    } else {
      out.push_back(p->out.sizes[q]);
      first.push_back(p->from[q]);
    }
  }
  in.resize(out.size());
  for (size_t g = 0; g < first.size(); ++g) {
    int before = 0;
    for (const int other : first) before += other < first[g];
    from.push_back(before);
    in[before] = out[g];
  }
  const int joined = static_cast<int>(out.size());
  for (int q = majors; q < rank; ++q) {
    in.push_back(p->in.sizes[q]);
    out.push_back(p->out.sizes[q]);
    from.push_back(p->from[q] - majors + joined);
  }
  p->in.sizes = p->in.dims = in;
  p->out.sizes = p->out.dims = out;
  for (int d = 0; d < joined + 2; ++d) p->in.dims[d] = p->out.dims[d] = d;
  p->from = std::move(from);
}

}  // namespace

int TransposeProblem::PlaneDim() const {
  for (int q = out.rank() - 3; q >= 0; --q) {
    if (out.sizes[q] > 1) return q;
  }
  return -1;
}

std::optional<TransposeProblem> DescribeMinorTranspose(
    const hlo::Instruction& i) {
  const bool copy = i.opcode() == hlo::Opcode::kCopy;
  if (!copy && i.opcode() != hlo::Opcode::kTranspose) return std::nullopt;
  auto in = PhysicalArray::Of(i.operand(0)->shape());
  auto out = PhysicalArray::Of(i.shape());
  if (!in.ok() || !out.ok() || in->rank() < 2 || out->rank() != in->rank() ||
      out->type != in->type) {
    return std::nullopt;
  }
  TransposeProblem p{*in, *out, {}};
  const int rank = p.in.rank();
  for (int q = 0; q < rank; ++q) {
    const int64_t logical =
        copy ? p.out.dims[q] : i.dimensions()[p.out.dims[q]];
    for (int k = 0; k < rank; ++k) {
      if (p.in.dims[k] == logical) p.from.push_back(k);
    }
  }
  const bool word = p.in.bits == 32;
  const bool narrow = p.in.type == hlo::PrimitiveType::kBf16;
  if (p.from[rank - 1] != rank - 2 || p.from[rank - 2] != rank - 1 ||
      !(word || narrow) || !p.in.HasHighTiles() || !p.out.HasHighTiles()) {
    return std::nullopt;
  }
  JoinMajors(&p);
  if (p.in.rank() > isa::kMaxWindowDims) return std::nullopt;
  return p;
}

}  // namespace ptxla::lowering
