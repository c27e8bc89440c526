#include "hlo_backend/passes/expanders/ragged_dot_expander.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/ragged_call.h"
#include "hlo_backend/passes/expanders/ragged_steps.h"

namespace ptxla::hlo {
namespace {

// Of packed rows.
constexpr int64_t kLeastTileRows = 16;

enum DenseForm : int { kForward = 1, kTransposed = 2, kContracted = 4 };

absl::Status Refuse(const Instruction& i, absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat("%", i.name(), ": a ragged-dot with ", what));
}

// The operand with dimension `first` before `second`; it has no others, but
// for a group dimension in front.
Instruction* Ordered(Instruction* x, const DimVector& order, Builder* b) {
  for (size_t d = 0; d < order.size(); ++d) {
    if (order[d] != static_cast<int64_t>(d)) return b->Transpose(x, order);
  }
  return x;
}

class RaggedDotExpander {
 public:
  RaggedDotExpander(Instruction* dot, const chips::ChipSpec& chip)
      : dot_(*dot),
        attrs_(dot->attrs<RaggedDotAttrs>()),
        chip_(chip),
        b_(dot->parent()) {
    b_.set_metadata(dot->shared_metadata());
  }

  absl::StatusOr<Instruction*> Expand() {
    RETURN_IF_ERROR(CheckForm());
    const DotAttrs& d = attrs_.dot;
    RaggedCall call;
    call.by_groups = d.lhs_contracting[0] == attrs_.lhs_ragged[0];
    int form = kContracted;
    Instruction *lhs = dot_.operand(0), *rhs = dot_.operand(1);
    lhs = Ordered(lhs, {attrs_.lhs_ragged[0], 1 - attrs_.lhs_ragged[0]}, &b_);
    if (call.by_groups) {
      const int64_t k = d.rhs_contracting[0];
      rhs = Ordered(rhs, {k, 1 - k}, &b_);
    } else {
      const int64_t group = attrs_.rhs_group[0], k = d.rhs_contracting[0];
      form = k == 2 ? kTransposed : kForward;
      rhs = Ordered(rhs, {group, k, 3 - group - k}, &b_);
    }
    // Arrays that take f32 rows are given them: no step unpacks.
    if (chip_.generation() < 4 || lhs->shape().type() != rhs->shape().type()) {
      lhs = ToF32(lhs);
      rhs = ToF32(rhs);
    }
    Instruction* sizes = dot_.operand(2);
    call.groups = sizes->shape().dim(0);
    call.rows = lhs->shape().dim(0);
    call.k = lhs->shape().dim(1);
    call.n = rhs->shape().dim(rhs->shape().rank() - 1);
    const int dense =
        static_cast<int>(chip_.Policy("ragged_dot_dense").value_or(0));
    call.dense = (dense & form) != 0;
    // A step of rows rounds its sums as it stores them; others add to them.
    if (!call.dense && !call.by_groups &&
        lhs->shape().type() == PrimitiveType::kBf16 &&
        dot_.shape().type() == PrimitiveType::kBf16) {
      call.result = PrimitiveType::kBf16;
    }
    return b_.Convert(Call(call, lhs, rhs, sizes), dot_.shape().type());
  }

 private:
  absl::Status CheckForm() const {
    const DotAttrs& d = attrs_.dot;
    if (!d.lhs_batch.empty()) return Refuse(dot_, "batch dimensions");
    const bool by_groups = d.lhs_contracting.size() == 1 &&
                           d.lhs_contracting[0] == attrs_.lhs_ragged[0];
    if (dot_.operand(0)->shape().rank() != 2 || d.lhs_contracting.size() != 1 ||
        dot_.operand(1)->shape().rank() != (by_groups ? 2 : 3) ||
        dot_.operand(2)->shape().rank() != 1) {
      return Refuse(dot_, "other than a matrix for each group");
    }
    if (BitWidth(dot_.operand(2)->shape().type()) != 32) {
      return Refuse(dot_, "group sizes of other than 32 bits");
    }
    for (int o = 0; o < 2; ++o) {
      const PrimitiveType type = dot_.operand(o)->shape().type();
      if (type != PrimitiveType::kBf16 && type != PrimitiveType::kF32) {
        return Refuse(dot_, "operands other than f32 and bf16");
      }
      if (type == PrimitiveType::kF32 &&
          d.precision.operand(o) != Precision::kDefault) {
        return Refuse(dot_, "a precision above default");
      }
    }
    if (dot_.operand(0)->shape().ElementCount() == 0 ||
        dot_.shape().ElementCount() == 0) {
      return Refuse(dot_, "no elements");
    }
    return absl::OkStatus();
  }

  Instruction* ToF32(Instruction* x) {
    return x->shape().type() == PrimitiveType::kF32
               ? x
               : b_.Convert(x, PrimitiveType::kF32);
  }

  Instruction* Call(RaggedCall call, Instruction* lhs, Instruction* rhs,
                    Instruction* sizes) {
    sizes = sizes->shape().type() == PrimitiveType::kS32
                ? sizes
                : b_.Convert(sizes, PrimitiveType::kS32);
    std::vector<Instruction*> operands = {lhs, rhs, sizes};
    std::string config;
    if (call.dense) {
      operands.push_back(RaggedBounds(sizes, call.rows, &b_));
    } else {
      // A row tile fills the arrays once; few rows are one. Steps shift by it
      // (ragged_steps.cc).
      call.tile_rows = std::min<int64_t>(
          chip_.core().mxu_rows,
          std::max<int64_t>(kLeastTileRows, int64_t{1} << CeilLog2(call.rows)));
      call.steps = RaggedCall::StepsFor(call.rows, call.tile_rows, call.groups);
      const RaggedSteps steps = MakeRaggedSteps(sizes, call, &b_);
      operands.insert(operands.end(), {steps.rows, steps.group, steps.tile});
      config = absl::StrCat("tile_rows=", call.tile_rows);
    }
    CustomCallAttrs attrs;
    attrs.target = call.by_groups ? kRaggedDotGroups : kRaggedDotRows;
    const Shape shape =
        call.by_groups
            ? Shape::Array(call.result, {call.groups, call.k, call.n})
            : Shape::Array(call.result, {call.rows, call.n});
    Instruction* result =
        b_.Emit(Opcode::kCustomCall, operands, attrs, {}, &shape);
    if (!config.empty()) result->set_backend_config(config, false);
    return result;
  }

  const Instruction& dot_;
  const RaggedDotAttrs attrs_;
  const chips::ChipSpec& chip_;
  Builder b_;
};

}  // namespace

absl::StatusOr<bool> RaggedDotExpanderPass::Run(Module* module,
                                                const PassContext& context) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kRaggedDot) continue;
      ASSIGN_OR_RETURN(Instruction * product,
                       RaggedDotExpander(i, *context.chip).Expand());
      c->Replace(i, product);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
