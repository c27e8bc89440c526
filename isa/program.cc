#include "isa/program.h"

#include <algorithm>

namespace ptxla::isa {
namespace {

bool Same(const Call& a, const Call& b) {
  return a.kernel == b.kernel && a.args == b.args && a.cores == b.cores &&
         a.moving == b.moving;
}
bool Same(const CopyStart& a, const CopyStart& b) {
  return a.id == b.id && a.from == b.from && a.to == b.to &&
         a.bytes == b.bytes && a.pieces == b.pieces &&
         a.from_stride == b.from_stride;
}
bool Same(const CopyDone& a, const CopyDone& b) { return a.id == b.id; }
bool Same(const CollectiveStart& a, const CollectiveStart& b) {
  return a.id == b.id && a.kind == b.kind && a.groups == b.groups &&
         a.pairs == b.pairs && a.reduction == b.reduction &&
         a.dtype == b.dtype && a.bytes == b.bytes && a.from == b.from &&
         a.to == b.to;
}
bool Same(const CollectiveDone& a, const CollectiveDone& b) {
  return a.id == b.id;
}
bool Same(const While& a, const While& b) {
  return a.trips == b.trips && a.basis == b.basis && a.reason == b.reason &&
         a.predicate == b.predicate && a.condition == b.condition &&
         a.body == b.body;
}
bool Same(const Conditional& a, const Conditional& b) {
  return a.selector == b.selector && a.by_pred == b.by_pred &&
         a.taken == b.taken && a.reason == b.reason && a.branches == b.branches;
}
bool Same(const HostTransfer& a, const HostTransfer& b) {
  return a.to_host == b.to_host && a.buffer == b.buffer && a.bytes == b.bytes;
}
bool Same(const Barrier&, const Barrier&) { return true; }

}  // namespace

int64_t MovingArg::Offset(uint32_t number) const {
  const int64_t at =
      is_unsigned ? int64_t{number} : int64_t{static_cast<int32_t>(number)};
  return std::clamp<int64_t>(at, 0, last) * stride;
}

bool MovingArg::operator==(const MovingArg& o) const {
  return arg == o.arg && index == o.index && is_unsigned == o.is_unsigned &&
         last == o.last && stride == o.stride;
}

absl::string_view Name(CollectiveKind kind) {
  constexpr absl::string_view kNames[] = {"all-reduce", "all-gather",
                                          "reduce-scatter", "all-to-all",
                                          "collective-permute"};
  return kNames[static_cast<int>(kind)];
}

absl::string_view Name(Reduction reduction) {
  constexpr absl::string_view kNames[] = {"none", "sum", "product", "max",
                                          "min"};
  return kNames[static_cast<int>(reduction)];
}

absl::string_view Name(TripCount basis) {
  constexpr absl::string_view kNames[] = {"static", "derived", "assumed"};
  return kNames[static_cast<int>(basis)];
}

bool Buffer::operator==(const Buffer& o) const {
  return id == o.id && name == o.name && bytes == o.bytes && space == o.space &&
         offset == o.offset && alias == o.alias && label == o.label;
}

bool OpInfo::operator==(const OpInfo& o) const {
  return name == o.name && opcode == o.opcode && layer == o.layer &&
         source_file == o.source_file && source_line == o.source_line &&
         flops == o.flops && bytes == o.bytes;
}

bool operator==(const Op& a, const Op& b) {
  if (!(a.info == b.info) || a.action.index() != b.action.index()) return false;
  return std::visit(
      [&b](const auto& x) {
        return Same(x, std::get<std::decay_t<decltype(x)>>(b.action));
      },
      a.action);
}

bool operator==(const Program& a, const Program& b) {
  return a.name == b.name && a.chip == b.chip &&
         a.num_partitions == b.num_partitions && a.kernels == b.kernels &&
         a.buffers == b.buffers && a.parameters == b.parameters &&
         a.outputs == b.outputs && a.constants == b.constants &&
         a.scoped_vmem_bytes == b.scoped_vmem_bytes && a.schedule == b.schedule;
}

}  // namespace ptxla::isa
