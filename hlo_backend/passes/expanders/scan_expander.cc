#include "hlo_backend/passes/expanders/scan_expander.h"

#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/expanders/expand_each.h"

namespace ptxla::hlo {
namespace {

// The loop's state: index, inputs, outputs, carries.
class Scan {
 public:
  explicit Scan(Instruction* i)
      : i_(i),
        attrs_(i->attrs<ScanAttrs>()),
        carries_(attrs_.num_carries),
        inputs_(i->operand_count() - carries_),
        results_(i->shape().IsTuple() ? i->shape().element_count_of_tuple()
                                      : 1) {}

  bool IsPlain() const {
    if (inputs_ == 0 || attrs_.dimensions.size() != 1 || results_ < carries_) {
      return false;
    }
    const auto along = static_cast<int>(Along());
    for (int64_t k = 0; k < inputs_; ++k) {
      if (i_->operand(k)->shape().dim(along) != Steps()) return false;
    }
    for (int64_t k = 0; k < Outputs(); ++k) {
      if (ResultShape(k).dim(along) != Steps()) return false;
    }
    return true;
  }

  Instruction* Loop() {
    Builder b(i_->parent());
    b.set_metadata(i_->shared_metadata());
    std::vector<Instruction*> state = {Number(b, 0)};
    for (int64_t k = 0; k < inputs_; ++k) state.push_back(i_->operand(k));
    for (int64_t k = 0; k < Outputs(); ++k) {
      const Shape& shape = ResultShape(k);
      state.push_back(b.BroadcastScalar(b.Zero(shape.type()), shape.dims()));
    }
    for (int64_t k = 0; k < carries_; ++k) {
      state.push_back(i_->operand(inputs_ + k));
    }
    Instruction* loop = b.Tuple(state);
    if (Steps() > 0) {
      loop = b.While(loop, Condition(loop->shape()), Body(loop->shape()));
    }
    std::vector<Instruction*> results;
    for (int64_t k = 0; k < results_; ++k) {
      results.push_back(b.GetTupleElement(loop, 1 + inputs_ + k));
    }
    return i_->shape().IsTuple() ? b.Tuple(results) : results[0];
  }

 private:
  int64_t Outputs() const { return results_ - carries_; }
  const Shape& ResultShape(int64_t k) const {
    return i_->shape().IsTuple() ? i_->shape().element(static_cast<int>(k))
                                 : i_->shape();
  }
  int64_t Along() const { return attrs_.dimensions[0]; }
  int64_t Steps() const {
    return i_->operand(0)->shape().dim(static_cast<int>(Along()));
  }
  static Instruction* Number(Builder& b, int64_t n) {
    return b.Constant(Literal::Scalar<int32_t>(static_cast<int32_t>(n)));
  }

  Computation* Condition(const Shape& state) {
    Computation* c = i_->parent()->module()->AddComputation("scan_condition");
    Builder b(c);
    Instruction* index = b.GetTupleElement(b.Parameter(0, state), 0);
    c->SetRoot(b.Compare(index, Number(b, Steps()), CompareDirection::kLt));
    return c;
  }

  std::vector<Instruction*> Starts(Builder& b, int rank, Instruction* at) {
    std::vector<Instruction*> starts(rank, Number(b, 0));
    starts[Along()] = at;
    return starts;
  }

  Computation* Body(const Shape& state) {
    Computation* c = i_->parent()->module()->AddComputation("scan_body");
    Builder b(c);
    Instruction* given = b.Parameter(0, state);
    auto part = [&](int64_t k) { return b.GetTupleElement(given, k); };
    Instruction* index = part(0);
    Instruction* at =
        attrs_.is_reverse ? b.Subtract(Number(b, Steps() - 1), index) : index;
    std::vector<Instruction*> next = {b.Add(index, Number(b, 1))};
    std::vector<Instruction*> arguments;
    for (int64_t k = 0; k < inputs_; ++k) {
      Instruction* input = part(1 + k);
      next.push_back(input);
      DimVector sizes = input->shape().dims();
      sizes[Along()] = 1;
      Instruction* row =
          b.DynamicSlice(input, Starts(b, input->shape().rank(), at), sizes);
      sizes.erase(sizes.begin() + Along());
      arguments.push_back(b.Reshape(row, sizes));
    }
    for (int64_t k = 0; k < carries_; ++k) {
      arguments.push_back(part(1 + inputs_ + Outputs() + k));
    }
    Instruction* step = b.Call(i_->to_apply(), arguments);
    auto made = [&](int64_t k) {
      return step->shape().IsTuple() ? b.GetTupleElement(step, k) : step;
    };
    for (int64_t k = 0; k < Outputs(); ++k) {
      Instruction* whole = part(1 + inputs_ + k);
      DimVector sizes = whole->shape().dims();
      sizes[Along()] = 1;
      next.push_back(
          b.DynamicUpdateSlice(whole, b.Reshape(made(k), sizes),
                               Starts(b, whole->shape().rank(), at)));
    }
    for (int64_t k = 0; k < carries_; ++k) next.push_back(made(Outputs() + k));
    c->SetRoot(b.Tuple(next));
    return c;
  }

  Instruction* i_;
  const ScanAttrs& attrs_;
  int64_t carries_, inputs_, results_;
};

}  // namespace

absl::StatusOr<bool> ScanExpanderPass::Run(Module* module, const PassContext&) {
  return ExpandEach(module, [](Instruction* i) -> Instruction* {
    if (i->opcode() != Opcode::kScan) return nullptr;
    Scan scan(i);
    return scan.IsPlain() ? scan.Loop() : nullptr;
  });
}

}  // namespace ptxla::hlo
