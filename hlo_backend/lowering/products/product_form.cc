// ProductForm::Of: a dot, or a fusion around one, as the problem that kernels
// of products solve.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/contracted_planes.h"
#include "hlo_backend/analysis/member_rows.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/products/operand_source.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "hlo_backend/lowering/refusals.h"

namespace ptxla::lowering {
namespace {

using hlo::DimVector;
using hlo::Instruction;
using hlo::PrimitiveType;

// Checks that the dimensions of a dot's operand, major to minor, are its
// `batch` dimensions in order, free dimensions, and K, the last two in either
// order. True if K is the minor dimension.
absl::StatusOr<bool> KIsMinor(const Instruction& dot, const hlo::Shape& shape,
                              int batch, const DimVector& of_dot,
                              int64_t contracting) {
  const auto members = hlo::MembersInRows(shape, batch);
  if (members) return contracting == members->lanes;
  ASSIGN_OR_RETURN(PhysicalArray a, PhysicalArray::Of(shape, /*fours=*/true));
  if (a.rank() < 2 || a.linear != 0) return NotLowered(dot, "a vector operand");
  const auto common = static_cast<int>(of_dot.size());
  for (int i = 0; i < batch; ++i) {
    if (a.dims[i] != (i < common ? of_dot[i] : i)) {
      return NotLowered(dot, "a batch dimension inside");
    }
  }
  const int64_t minor = a.dims[a.rank() - 1];
  const int64_t second = a.dims[a.rank() - 2];
  if (minor == contracting) return true;
  if (second == contracting) return false;
  return NotLowered(dot, "a K dimension outside the two minor ones");
}

// Of a result as it lies; planes that the product takes as rows are rows.
std::optional<hlo::ProductWindows> WindowsOf(const hlo::WindowConfig& config,
                                             const hlo::Shape& result,
                                             const PhysicalArray& out,
                                             const ProductProblem& problem) {
  std::vector<int64_t> extents;
  for (const int64_t d : out.dims) {
    extents.push_back(result.dim(static_cast<int>(d)));
  }
  auto windows = hlo::WindowsOfProduct(config, extents);
  if (!windows || problem.batch > 1 || windows->planes == 1) return windows;
  const int64_t rows = extents[extents.size() - 2];
  if (windows->rows < rows) return std::nullopt;
  windows->rows = windows->planes * rows;
  windows->planes = 1;
  return windows;
}

const Instruction& DotIn(const Instruction& instruction) {
  const Instruction* dot = &instruction;
  if (instruction.opcode() == hlo::Opcode::kFusion) {
    for (const Instruction* inner : instruction.fused()->instructions()) {
      if (inner->opcode() == hlo::Opcode::kDot) dot = inner;
    }
  }
  return *dot;
}

class FormReader {
 public:
  explicit FormReader(const Instruction& instruction)
      : instruction_(instruction),
        dot_(DotIn(instruction)),
        is_fusion_(instruction.opcode() == hlo::Opcode::kFusion) {
    f_.dot = &dot_;
  }

  absl::StatusOr<ProductForm> Read() {
    if (dot_.opcode() != hlo::Opcode::kDot) {
      return NotLowered(instruction_, "a product without a dot");
    }
    for (int o = 0; o < 2; ++o) {
      ASSIGN_OR_RETURN(of_[o], SourceOfOperand(dot_, o, is_fusion_));
    }
    if (!is_fusion_ && dot_.operand(0) == dot_.operand(1)) of_[1].arg = 0;
    RETURN_IF_ERROR(FindContraction());
    RETURN_IF_ERROR(FindViews());
    ASSIGN_OR_RETURN(const PhysicalArray out, PhysicalArray::Of(dot_.shape()));
    RETURN_IF_ERROR(FindOrder(out));
    RETURN_IF_ERROR(FoldFreeDimensions());
    RETURN_IF_ERROR(Exchange());
    StateProblem();
    RETURN_IF_ERROR(ChoosePasses());
    if (const auto config = hlo::WindowConfigOf(instruction_)) {
      f_.windows = WindowsOf(*config, dot_.shape(), out, f_.problem);
    }
    return std::move(f_);
  }

 private:
  const hlo::DotAttrs& attrs() const { return dot_.attrs<hlo::DotAttrs>(); }
  int batch() const { return hlo::ProductBatch(dot_); }
  int rhs_batch() const { return hlo::OperandBatch(dot_, 1); }
  // Of what is broadcast: the dimensions that it has itself.
  int BatchOf(int o) const {
    if (of_[o].own_batch >= 0) return of_[o].own_batch;
    return o == 0 ? batch() : rhs_batch();
  }
  int64_t contracted() const {
    return static_cast<int64_t>(attrs().lhs_contracting.size());
  }
  int64_t lhs_free() const {
    return dot_.operand(0)->shape().rank() - batch() - contracted();
  }

  // Which dimension of each operand is K, and whether it is minor.
  absl::Status FindContraction() {
    in_planes_ = hlo::MatrixContraction(dot_);
    if (contracted() != 1 && !in_planes_) {
      return NotLowered(dot_, "more than one K dimension");
    }
    const int inner = in_planes_.value_or(0);
    const auto minor_of = [&](int o, DimVector of_dot, int64_t contracting) {
      const int own = BatchOf(o);
      if (of_[o].own_batch >= 0) {
        of_dot.resize(own);
        contracting -= batch() - own;
      }
      return KIsMinor(dot_, *of_[o].shape, own, of_dot, contracting);
    };
    ASSIGN_OR_RETURN(lhs_k_minor_, minor_of(0, attrs().lhs_batch,
                                            attrs().lhs_contracting[inner]));
    ASSIGN_OR_RETURN(rhs_k_minor_, minor_of(1, attrs().rhs_batch,
                                            attrs().rhs_contracting[inner]));
    return absl::OkStatus();
  }

  absl::Status FindViews() {
    ASSIGN_OR_RETURN(f_.lhs, MatrixView::OfOperand(*of_[0].shape, BatchOf(0)),
                     _ << "%" << dot_.name());
    ASSIGN_OR_RETURN(f_.rhs, MatrixView::OfOperand(*of_[1].shape, BatchOf(1)),
                     _ << "%" << dot_.name());
    ASSIGN_OR_RETURN(f_.out, MatrixView::Of(dot_.shape()),
                     _ << "%" << dot_.name());
    for (int o = 0; o < 2; ++o) {
      const Instruction* sliced = of_[o].sliced;
      if (sliced == nullptr) continue;
      const hlo::Shape& from = sliced->operand(0)->shape();
      MatrixView& view = o == 0 ? f_.lhs : f_.rhs;
      view.first_byte = sliced->attrs<hlo::SliceAttrs>().starts[0] *
                        (view.planes / of_[o].shape->dim(0)) *
                        view.plane_stride;
      view.resident =
          from.has_layout() && from.layout().memory_space == hlo::kMemoryVmem;
    }
    f_.rhs.shared_by = hlo::SharingMembers(dot_);
    for (int o = 0; o < 2; ++o) {
      if (of_[o].own_batch < 0) continue;
      int64_t& sharing = (o == 0 ? f_.lhs : f_.rhs).shared_by;
      sharing = 1;
      for (int d = of_[o].own_batch; d < batch(); ++d) {
        sharing *= dot_.shape().dim(d);
      }
    }
    f_.lhs_arg = of_[0].arg;
    f_.rhs_arg = of_[1].arg;
    f_.lhs_value = of_[0].value;
    f_.rhs_value = of_[1].value;
    return absl::OkStatus();
  }

  // The result is [batch, lhs free, rhs free]; its layout says which of the
  // two is minor.
  absl::Status FindOrder(const PhysicalArray& out) {
    const int nb = batch();
    const int64_t rhs_free =
        dot_.operand(1)->shape().rank() - rhs_batch() - contracted();
    if (rhs_free != 1 || lhs_free() < 1 || out.rank() != nb + lhs_free() + 1) {
      return NotLowered(dot_, "free dimensions of this number");
    }
    for (int64_t d = 0; d < nb; ++d) {
      if (out.dims[d] != d) {
        return NotLowered(dot_, "a result with batch inside");
      }
    }
    const int64_t minor = out.dims[out.rank() - 1];
    f_.swapped = lhs_free() == 1 && minor == nb;
    if (!f_.swapped && minor != nb + lhs_free()) {
      return NotLowered(dot_, "a result with this order of dimensions");
    }
    return absl::OkStatus();
  }

  // Several free dimensions of the left operand are rows of one matrix.
  absl::Status FoldFreeDimensions() {
    for (int o = 0; o < 2; ++o) {
      const MatrixView& view = o == 0 ? f_.lhs : f_.rhs;
      if (view.members > 0 && of_[o].value != nullptr) {
        return NotLowered(dot_, "a computed operand whose members lie in rows");
      }
    }
    if (lhs_free() > 1 && (batch() > 0 || !lhs_k_minor_ ||
                           !f_.lhs.FoldPlanes() || !f_.out.FoldPlanes())) {
      return NotLowered(dot_,
                        "several free dimensions with padding between them");
    }
    return absl::OkStatus();
  }

  // Operands of a result whose rows are the right one's.
  absl::Status Exchange() {
    if (f_.rhs.shared_by > 1 && of_[1].value != nullptr) {
      return NotLowered(dot_, "a computed operand that members share");
    }
    if (f_.swapped) {
      std::swap(f_.lhs, f_.rhs);
      std::swap(f_.lhs_arg, f_.rhs_arg);
      std::swap(f_.lhs_value, f_.rhs_value);
      std::swap(lhs_k_minor_, rhs_k_minor_);
    }
    // A tile of weights, or one that is turned, would be waited for in each
    // plane.
    if (in_planes_ && (f_.rhs_value != nullptr ||
                       (f_.lhs_value != nullptr && !lhs_k_minor_))) {
      return NotLowered(dot_,
                        "a computed operand that planes of K do not stream");
    }
    return absl::OkStatus();
  }

  // Planes of K whose rows fill their tiles are rows of one matrix.
  bool FoldContraction() {
    if (lhs_k_minor_ || rhs_k_minor_ || f_.lhs_value != nullptr ||
        f_.rhs_value != nullptr || f_.lhs.rows != f_.rhs.rows) {
      return false;
    }
    MatrixView lhs = f_.lhs, rhs = f_.rhs;
    if (!lhs.FoldPlanes() || !rhs.FoldPlanes()) return false;
    f_.lhs = lhs;
    f_.rhs = rhs;
    return true;
  }

  void StateProblem() {
    ProductProblem& p = f_.problem;
    p.batch = f_.out.planes;
    p.m = f_.out.rows;
    p.n = f_.out.columns;
    const bool in_planes = in_planes_.has_value() && !FoldContraction();
    p.k = lhs_k_minor_ ? f_.lhs.columns : f_.lhs.rows;
    if (in_planes) {
      f_.lhs.planes_of_k = f_.rhs.planes_of_k = f_.lhs.planes > 1;
      p.k_planes = f_.lhs.planes;
    }
    p.lhs = {f_.lhs.type, !lhs_k_minor_, f_.lhs.resident};
    p.rhs = {f_.rhs.type, rhs_k_minor_, f_.rhs.resident};
    p.lhs.computed = f_.lhs_value != nullptr;
    p.rhs.computed = f_.rhs_value != nullptr;
    // Rows of narrow types are loaded a register at a time.
    const int lhs_bits = hlo::BitWidth(p.lhs.type);
    if (lhs_bits <= 8 && !p.lhs.transposed) {
      p.row_unit = std::max<int64_t>(p.row_unit, 256 / lhs_bits);
    }
    p.members = std::max(f_.lhs.members * f_.lhs.shared_by,
                         f_.rhs.members * f_.rhs.shared_by);
    for (auto [view, operand] :
         {std::pair(&f_.lhs, &p.lhs), {&f_.rhs, &p.rhs}}) {
      operand->gathered = view->members > 0;
      operand->shared_by = view->shared_by;
      if (view->shared_by == 1) continue;
      p.shared_members.push_back({view->shared_by, p.batch / view->shared_by});
      if (view->members > 0) p.member_unit *= view->shared_by;
    }
  }

  absl::Status ChoosePasses() {
    ProductProblem& p = f_.problem;
    // Rounded on the way, or never f32: one part.
    const auto parts_of = [&](int o) {
      const PrimitiveType type = dot_.operand(o)->shape().type();
      return type == PrimitiveType::kF32 ? of_[o].shape->type() : type;
    };
    p.passes = PassesOf(attrs(), parts_of(0), parts_of(1));
    if (p.passes.size() > 1 && (p.lhs.computed || p.rhs.computed)) {
      return NotLowered(dot_, "a computed operand above default precision");
    }
    if (f_.swapped) {
      for (ProductPass& pass : p.passes) std::swap(pass.lhs, pass.rhs);
    }
    return absl::OkStatus();
  }

  const Instruction& instruction_;
  const Instruction& dot_;
  const bool is_fusion_;
  ProductForm f_;
  std::array<OperandSource, 2> of_;  // before an exchange
  std::optional<int> in_planes_;     // K in several planes: the inner one
  bool lhs_k_minor_ = false, rhs_k_minor_ = false;
};

}  // namespace

absl::StatusOr<ProductForm> ProductForm::Of(const Instruction& instruction) {
  return FormReader(instruction).Read();
}

}  // namespace ptxla::lowering
