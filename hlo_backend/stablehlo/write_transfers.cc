// Asynchronous pairs without collectives, and transfers to and from the host.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/writer.h"

namespace ptxla::hlo::mlir {
namespace {

// A copy is the value itself.
absl::Status CopyStart(const Instruction& i, Writer& w) {
  w.DefinePending(i, Values(w.ValuesOf(i.operand(0))));
  return absl::OkStatus();
}

// [[0], []]: one layout for each array.
std::string LayoutsEntry(const Shape& data) {
  std::vector<std::string> list;
  for (const Shape* leaf : LeavesOf(data)) {
    DimVector order;
    for (int d = leaf->rank() - 1; d >= 0; --d) order.push_back(d);
    if (leaf->has_layout()) {
      order.assign(leaf->layout().minor_to_major.begin(),
                   leaf->layout().minor_to_major.end());
    }
    list.push_back(ListText(order));
  }
  return absl::StrCat("layout = [", absl::StrJoin(list, ", "), "]");
}

absl::Status Infeed(const Instruction& i, Writer& w) {
  return EmitSame(
      i, w, "stablehlo.infeed",
      {absl::StrCat("infeed_config = ", Quoted(i.attrs<InfeedAttrs>().config)),
       LayoutsEntry(i.shape().element(0))});
}

absl::Status Outfeed(const Instruction& i, Writer& w) {
  return EmitSame(i, w, "stablehlo.outfeed",
                  {absl::StrCat("outfeed_config = ",
                                Quoted(i.attrs<OutfeedAttrs>().config))});
}

std::vector<std::string> ChannelEntries(const SendRecvAttrs& a, int host_type) {
  return {absl::StrCat("channel_handle = #stablehlo.channel_handle<handle = ",
                       a.channel_id.value_or(0),
                       ", type = ", a.is_host_transfer ? host_type : 1, ">"),
          BoolEntry("is_host_transfer", a.is_host_transfer)};
}

// StableHLO's send ends with HLO's send-done.
absl::Status Send(const Instruction& i, Writer& w) {
  const std::vector<const Shape*> token = {w.Keep(Shape::Token())};
  ASSIGN_OR_RETURN(
      Values made,
      w.EmitGeneric(&i, "stablehlo.send", w.OperandValues(i),
                    ChannelEntries(i.attrs<SendRecvAttrs>(), 2), {}, token));
  w.DefinePending(i, std::move(made));
  return absl::OkStatus();
}

absl::Status Recv(const Instruction& i, Writer& w) {
  std::vector<const Shape*> results = LeavesOf(i.shape().element(0));
  results.push_back(w.Keep(Shape::Token()));
  ASSIGN_OR_RETURN(
      Values made,
      w.EmitGeneric(&i, "stablehlo.recv", w.OperandValues(i),
                    ChannelEntries(i.attrs<SendRecvAttrs>(), 3), {}, results));
  w.DefinePending(i, std::move(made));
  return absl::OkStatus();
}

constexpr EmitterRow kTransfersEmitters[] = {
    {Opcode::kAsyncDone, EmitDone},   {Opcode::kAsyncStart, EmitAsyncStart},
    {Opcode::kAsyncUpdate, EmitDone}, {Opcode::kCopyDone, EmitDone},
    {Opcode::kCopyStart, CopyStart},  {Opcode::kInfeed, Infeed},
    {Opcode::kOutfeed, Outfeed},      {Opcode::kRecv, Recv},
    {Opcode::kRecvDone, EmitDone},    {Opcode::kSend, Send},
    {Opcode::kSendDone, EmitDone},
};

}  // namespace

absl::Span<const EmitterRow> AsyncEmitters() { return kTransfersEmitters; }

}  // namespace ptxla::hlo::mlir
