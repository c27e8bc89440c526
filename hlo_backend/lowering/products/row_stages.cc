#include "hlo_backend/lowering/products/row_stages.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/lowering/products/tile_formula.h"

namespace ptxla::lowering {
namespace {

class Planner {
 public:
  Planner(const Expression& e, int along) : e_(e), along_(along) {}

  absl::StatusOr<RowStages> Run(const hlo::Instruction& fusion) {
    plan_.plane.assign(e_.nodes.size(), -1);
    plan_.reduced_in.resize(e_.stages);
    plan_.kept_in.resize(e_.stages);
    plan_.stored_in.resize(e_.stages);
    plan_.reduction_of_root.assign(e_.roots.size(), -1);
    for (size_t k = 0; k < e_.roots.size(); ++k) {
      if (e_.reduces[k] == nullptr) {
        plan_.stored_in[e_.stage[k]].push_back(static_cast<int>(k));
        continue;
      }
      RETURN_IF_ERROR(CheckReduce(*e_.reduces[k]));
      ASSIGN_OR_RETURN(Reduction r,
                       DescribeReduction(fusion, e_, static_cast<int>(k)));
      RETURN_IF_ERROR(AsNumbers(&r));
      const int number = static_cast<int>(plan_.reductions.size());
      plan_.reduction_of_root[k] = number;
      plan_.reduced_in[e_.stage[k]].push_back(number);
      plan_.reductions.push_back(std::move(r));
    }
    FindReaders();
    KeepOfStream();
    for (int stage = 1; stage < e_.stages; ++stage) KeepOf(stage);
    return std::move(plan_);
  }

 private:
  absl::Status CheckReduce(const hlo::Instruction& reduce) const {
    const bool row = reduce.dimensions().size() == 1 &&
                     e_.space.dims[along_] == reduce.dimensions()[0];
    if (row && (reduce.shape().type() == hlo::PrimitiveType::kF32 ||
                reduce.shape().type() == hlo::PrimitiveType::kPred ||
                reduce.shape().type() == hlo::PrimitiveType::kBf16)) {
      return absl::OkStatus();
    }
    return absl::UnimplementedError(
        absl::StrCat("%", reduce.name(),
                     ": only f32 reduces along the rows of a product are "
                     "lowered in its kernel"));
  }

  // Registers hold bf16 numbers as f32. Logical values are 0 and 1: all is
  // their minimum, any their maximum.
  static absl::Status AsNumbers(Reduction* r) {
    if (r->type == hlo::PrimitiveType::kBf16) {
      r->type = hlo::PrimitiveType::kF32;
    }
    if (r->type != hlo::PrimitiveType::kPred) return absl::OkStatus();
    const bool all = r->op == hlo::Opcode::kAnd;
    if (r->has_init || (!all && r->op != hlo::Opcode::kOr)) {
      return absl::UnimplementedError(absl::StrCat(
          "%", r->reduce->name(), ": a logical reduce of this form"));
    }
    r->op = all ? hlo::Opcode::kMinimum : hlo::Opcode::kMaximum;
    r->type = hlo::PrimitiveType::kF32;
    return absl::OkStatus();
  }

  bool InRow(int node) const { return e_.nodes[node].depends >> along_ & 1; }

  // Latest stage that reads a node, in passes over the block.
  void FindReaders() {
    last_read_.assign(e_.nodes.size(), -1);
    of_product_.assign(e_.nodes.size(), false);
    for (size_t n = 0; n < e_.nodes.size(); ++n) {
      const ExprNode& node = e_.nodes[n];
      of_product_[n] = node.kind == ExprNode::Kind::kProduct;
      for (int input : node.inputs) {
        of_product_[n] = of_product_[n] || of_product_[input];
        if (e_.node_stage[n] > e_.node_stage[input] || e_.node_stage[n] > 0) {
          last_read_[input] = std::max(last_read_[input], e_.node_stage[n]);
        }
      }
    }
    for (size_t k = 0; k < e_.roots.size(); ++k) {
      if (e_.reduces[k] == nullptr) continue;
      int& last = last_read_[e_.roots[k]];
      last = std::max(last, e_.stage[k]);
    }
  }

  void KeepOfStream() {
    std::vector<int> border;
    int last = -1, product = -1;
    for (size_t n = 0; n < e_.nodes.size(); ++n) {
      if (e_.nodes[n].kind == ExprNode::Kind::kProduct) {
        product = static_cast<int>(n);
      }
      if (e_.node_stage[n] > 0 || !of_product_[n] || last_read_[n] < 0) {
        continue;
      }
      border.push_back(static_cast<int>(n));
      last = std::max(last, last_read_[n]);
    }
    if (border.empty()) return;
    plan_.from_stream = border.size() == 1 ? border[0] : product;
    last_read_[plan_.from_stream] = last;
    Keep(plan_.from_stream, 0);
  }

  // What later stages read of this one. Values per row are made again.
  void KeepOf(int stage) {
    for (size_t n = 0; n < e_.nodes.size(); ++n) {
      const ExprNode& node = e_.nodes[n];
      if (e_.node_stage[n] != stage || node.kind != ExprNode::Kind::kOp ||
          last_read_[n] <= stage || !InRow(static_cast<int>(n)) ||
          node.type == hlo::PrimitiveType::kPred) {
        continue;
      }
      Keep(static_cast<int>(n), stage);
    }
  }

  void Keep(int node, int stage) {
    // A plane whose last reader runs in this pass: each tile is read before it
    // is written.
    int plane = 0;
    while (plane < static_cast<int>(busy_.size()) && busy_[plane] > stage) {
      ++plane;
    }
    if (plane == static_cast<int>(busy_.size())) busy_.push_back(0);
    busy_[plane] = last_read_[node];
    plan_.plane[node] = plane;
    plan_.planes = static_cast<int>(busy_.size());
    plan_.kept_in[stage].push_back(node);
  }

  const Expression& e_;
  const int along_;
  RowStages plan_;
  std::vector<int> last_read_;
  std::vector<bool> of_product_;
  std::vector<int> busy_;  // by plane: last stage that reads it
};

}  // namespace

absl::StatusOr<RowStages> RowStages::Of(const hlo::Instruction& fusion,
                                        const Expression& e, int along) {
  return Planner(e, along).Run(fusion);
}

double CyclesOfPasses(const RowStages& stages,
                      const std::vector<codegen::VInstr>& code,
                      int64_t combinations, int leaves, int64_t results,
                      const isa::MachineModel& model) {
  const size_t passes = stages.kept_in.size();
  auto stores = static_cast<double>(results);
  for (size_t stage = 1; stage < passes; ++stage) {
    stores += static_cast<double>(stages.kept_in[stage].size());
  }
  const auto cycles = [&](double operations, isa::Slot slot) {
    return operations / static_cast<double>(std::max(1, model.Slots(slot)));
  };
  const auto eup = static_cast<double>(FunctionOperations(code));
  return std::max(
      {cycles(static_cast<double>(VectorOperations(code) + combinations),
              isa::Slot::kVector),
       cycles(static_cast<double>(leaves) + static_cast<double>(passes),
              isa::Slot::kLoad),
       cycles(stores, isa::Slot::kStore), eup});
}

}  // namespace ptxla::lowering
