// Transfers to and from the host and between devices, asynchronous pairs, and
// what XLA writes in its own dialect mhlo of an optimised module.
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/stablehlo/converter.h"

namespace ptxla::hlo::mlir {
namespace {

using Result = absl::StatusOr<Instruction*>;

absl::Status NeedsToken(const std::vector<Instruction*>& operands) {
  if (!operands.empty() && operands.back()->shape().IsToken()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("its last operand is a token");
}

// The types of its results without the token behind them.
absl::StatusOr<std::vector<Shape>> DataShapes(const Op& op, Converter& c) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < op.result_types.size(); ++i) {
    ASSIGN_OR_RETURN(Shape shape, c.ResultShape(op, static_cast<int>(i)));
    shapes.push_back(std::move(shape));
  }
  if (shapes.empty() || !shapes.back().IsToken()) {
    return absl::InvalidArgumentError("its last result is a token");
  }
  shapes.pop_back();
  return shapes;
}

// (data..., token) of ((data...), token).
Instruction* Flat(Builder* b, Instruction* pair) {
  std::vector<Instruction*> all;
  Instruction* data = b->GetTupleElement(pair, 0);
  if (data->shape().IsTuple()) {
    for (int i = 0; i < data->shape().element_count_of_tuple(); ++i) {
      all.push_back(b->GetTupleElement(data, i));
    }
  } else {
    all.push_back(data);
  }
  all.push_back(b->GetTupleElement(pair, 1));
  return all.size() == 1 ? all[0] : b->Tuple(all);
}

// Frontend attributes belong to the transfer and to its end; so do pairs of
// devices, which HLO has no other word for.
absl::Status SetFrontend(const Op& op, Instruction* transfer) {
  FrontendAttributes& to = transfer->mutable_extras()->frontend_attributes;
  RETURN_IF_ERROR(AddFrontendAttributes(op.attributes, &to));
  if (op.Find("source_target_pairs") == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const DimVector pairs,
                   Ints(op.attributes, {"source_target_pairs"}));
  std::string text;
  for (size_t k = 0; k + 1 < pairs.size(); k += 2) {
    absl::StrAppend(&text, k == 0 ? "" : ",", "{", pairs[k], ",", pairs[k + 1],
                    "}");
  }
  if (!text.empty()) {
    to["_xla_send_recv_source_target_pairs"] = absl::StrCat("{", text, "}");
  }
  return absl::OkStatus();
}

// layout = [[0, 1], []]: minor to major, one for each array.
absl::Status SetLayouts(const Op& op, std::vector<Shape>* shapes) {
  const Attr* layouts = op.Find("layout");
  if (layouts == nullptr) return absl::OkStatus();
  if (layouts->list.size() != shapes->size()) {
    return absl::InvalidArgumentError("one layout for each tensor");
  }
  for (size_t i = 0; i < shapes->size(); ++i) {
    const AttrDict one = {{"layout", layouts->list[i]}};
    ASSIGN_OR_RETURN(const DimVector order, Ints(one, {"layout"}));
    Shape& shape = (*shapes)[i];
    bool seen[64] = {};
    bool is_row_major = true;
    for (size_t d = 0; d < order.size(); ++d) {
      if (static_cast<int>(order.size()) != shape.rank() || order[d] < 0 ||
          order[d] >= shape.rank() || seen[order[d]]) {
        return absl::InvalidArgumentError("a layout does not fit its tensor");
      }
      seen[order[d]] = true;
      is_row_major &= order[d] == shape.rank() - 1 - static_cast<int>(d);
    }
    if (!is_row_major) shape.mutable_layout()->minor_to_major = order;
  }
  return absl::OkStatus();
}

Result Infeed(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  RETURN_IF_ERROR(NeedsToken(operands));
  ASSIGN_OR_RETURN(std::vector<Shape> data, DataShapes(op, c));
  RETURN_IF_ERROR(SetLayouts(op, &data));
  InfeedAttrs attrs;
  attrs.config = EnumWord(op.attributes, {"infeed_config"});
  const Shape shape =
      Shape::Tuple({Shape::Tuple(std::move(data)), Shape::Token()});
  Builder& b = scope->builder;
  ASSIGN_OR_RETURN(Instruction * infeed,
                   b.Make(Opcode::kInfeed, operands, attrs, {}, &shape));
  RETURN_IF_ERROR(SetFrontend(op, infeed));
  return Flat(&b, infeed);
}

// The operands before the token, as one value.
Instruction* Data(Builder* b, const std::vector<Instruction*>& operands) {
  if (operands.size() == 2) return operands[0];
  return b->Tuple(absl::MakeSpan(operands).first(operands.size() - 1));
}

Result Outfeed(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  RETURN_IF_ERROR(NeedsToken(operands));
  Builder& b = scope->builder;
  Instruction* data = Data(&b, operands);
  OutfeedAttrs attrs;
  attrs.config = EnumWord(op.attributes, {"outfeed_config"});
  attrs.outfeed_shape = data->shape();
  const Shape token = Shape::Token();
  return b.Make(Opcode::kOutfeed, {data, operands.back()},
                Boxed<OutfeedAttrs>(attrs), {}, &token);
}

absl::StatusOr<SendRecvAttrs> Channel(const Op& op) {
  SendRecvAttrs attrs;
  ASSIGN_OR_RETURN(const AttrDict f, Fields(op.attributes, {"channel_handle"}));
  ASSIGN_OR_RETURN(const int64_t handle, Int(f, {"handle"}));
  if (handle != 0) attrs.channel_id = handle;
  attrs.is_host_transfer = BoolOr(op.attributes, {"is_host_transfer"}, false);
  return attrs;
}

Result Send(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  RETURN_IF_ERROR(NeedsToken(operands));
  ASSIGN_OR_RETURN(const SendRecvAttrs attrs, Channel(op));
  Builder& b = scope->builder;
  Instruction* data = Data(&b, operands);
  const Shape shape = Shape::Tuple(
      {data->shape(), Shape::Scalar(PrimitiveType::kU32), Shape::Token()});
  ASSIGN_OR_RETURN(
      Instruction * send,
      b.Make(Opcode::kSend, {data, operands.back()}, attrs, {}, &shape));
  RETURN_IF_ERROR(SetFrontend(op, send));
  ASSIGN_OR_RETURN(Instruction * done,
                   b.Make(Opcode::kSendDone, {send}, attrs));
  RETURN_IF_ERROR(SetFrontend(op, done));
  return done;
}

Result Recv(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  RETURN_IF_ERROR(NeedsToken(operands));
  ASSIGN_OR_RETURN(const SendRecvAttrs attrs, Channel(op));
  ASSIGN_OR_RETURN(std::vector<Shape> data, DataShapes(op, c));
  Shape one = data.size() == 1 ? data[0] : Shape::Tuple(std::move(data));
  const Shape shape = Shape::Tuple(
      {std::move(one), Shape::Scalar(PrimitiveType::kU32), Shape::Token()});
  Builder& b = scope->builder;
  ASSIGN_OR_RETURN(Instruction * recv,
                   b.Make(Opcode::kRecv, operands, attrs, {}, &shape));
  ASSIGN_OR_RETURN(Instruction * done,
                   b.Make(Opcode::kRecvDone, {recv}, attrs));
  RETURN_IF_ERROR(SetFrontend(op, recv));
  RETURN_IF_ERROR(SetFrontend(op, done));
  return Flat(&b, done);
}

// The region holds one collective: HLO has pairs of its own for some, for
// others the pair calls a computation.
Result AsyncStart(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(Computation * wrapped,
                   c.RegionOf(op, 0, scope, "async_computation"));
  Instruction* inner = wrapped->root();
  Builder& b = scope->builder;
  std::vector<Shape> before;
  for (const Instruction* o : operands) before.push_back(o->shape());
  const bool is_alone =
      wrapped->instruction_count() == wrapped->parameter_count() + 1 &&
      inner->operand_count() == static_cast<int>(operands.size());
  Opcode opcode = Opcode::kAsyncStart;
  Shape shape = inner->shape();
  if (is_alone && inner->opcode() == Opcode::kAllReduce) {
    opcode = Opcode::kAllReduceStart;
  } else if (is_alone && inner->opcode() == Opcode::kAllGather) {
    opcode = Opcode::kAllGatherStart;
    shape =
        Shape::Tuple({operands.size() == 1 ? before[0] : Shape::Tuple(before),
                      inner->shape()});
  } else if (is_alone && inner->opcode() == Opcode::kCollectivePermute &&
             operands.size() == 1) {
    opcode = Opcode::kCollectivePermuteStart;
    const Shape context = Shape::Scalar(PrimitiveType::kU32);
    shape = Shape::Tuple({before[0], inner->shape(), context, context});
  } else {
    shape = Shape::Tuple({Shape::Tuple(before), inner->shape(),
                          Shape::Scalar(PrimitiveType::kS32)});
    return b.Make(opcode, operands, DefaultAttributes(opcode), {wrapped},
                  &shape);
  }
  const std::vector<Computation*> called(inner->called().begin(),
                                         inner->called().end());
  ASSIGN_OR_RETURN(
      Instruction * start,
      b.Make(opcode, operands, inner->attributes(), called, &shape));
  if (inner->has_extras()) {
    *start->mutable_extras() = inner->extras();
  }
  start->set_metadata(inner->shared_metadata());
  c.module()->RemoveComputation(wrapped);
  return start;
}

Result AsyncDone(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * start, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.AllResults(op));
  Opcode opcode = Opcode::kAsyncDone;
  switch (start->opcode()) {
    case Opcode::kAllReduceStart:
      opcode = Opcode::kAllReduceDone;
      break;
    case Opcode::kAllGatherStart:
      opcode = Opcode::kAllGatherDone;
      break;
    case Opcode::kCollectivePermuteStart:
      opcode = Opcode::kCollectivePermuteDone;
      break;
    case Opcode::kAsyncStart:
      break;
    default:
      return absl::InvalidArgumentError("its operand is no async_start");
  }
  return scope->builder.Make(opcode, {start}, DefaultAttributes(opcode), {},
                             &shape);
}

Result Fusion(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(Computation * fused,
                   c.RegionOf(op, 0, scope, "fused_computation"));
  FusionAttrs attrs;
  const int kind =
      IndexOf(kFusionKinds, EnumWord(op.attributes, {"fusion_kind"}));
  if (kind >= 0) attrs.kind = static_cast<FusionKind>(kind);
  return scope->builder.Make(Opcode::kFusion, operands, attrs, {fused});
}

Result AddDependency(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  return scope->builder.Make(Opcode::kAddDependency, operands);
}

Result Bitcast(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  for (const char* key : {"source_layout", "result_layout"}) {
    ASSIGN_OR_RETURN(const DimVector order, IntsOr(op.attributes, {key}, {}));
    for (size_t d = 0; d < order.size(); ++d) {
      if (order[d] != static_cast<int64_t>(order.size() - 1 - d)) {
        return absl::UnimplementedError(absl::StrCat(key, " is not row-major"));
      }
    }
  }
  return scope->builder.Make(Opcode::kBitcast, {x},
                             DefaultAttributes(Opcode::kBitcast), {}, &shape);
}

Result RngState(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  RngStateAttrs attrs;
  ASSIGN_OR_RETURN(attrs.delta, Int(op.attributes, {"delta"}));
  return scope->builder.Make(Opcode::kRngGetAndUpdateState, {}, attrs, {},
                             &shape);
}

constexpr HandlerRow kTransfersHandlers[] = {
    {"stablehlo.add_dependency", AddDependency},
    {"stablehlo.async_done", AsyncDone},
    {"stablehlo.async_start", AsyncStart},
    {"stablehlo.bitcast", Bitcast},
    {"stablehlo.fusion", Fusion},
    {"stablehlo.infeed", Infeed},
    {"stablehlo.outfeed", Outfeed},
    {"stablehlo.recv", Recv},
    {"stablehlo.send", Send},
    {"stablehlo.xla.rng_get_and_update_state", RngState},
};

}  // namespace

absl::Span<const HandlerRow> TransferHandlers() { return kTransfersHandlers; }

}  // namespace ptxla::hlo::mlir
