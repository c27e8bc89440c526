#include "hlo_backend/proto/sharding_proto.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/proto/metadata_proto.h"
#include "hlo_backend/proto/repeated_fields.h"

namespace ptxla::hlo {
namespace {

using Kind = proto::OpSharding;

Kind::Type KindToProto(ShardingKind kind) {
  switch (kind) {
    case ShardingKind::kReplicated:
      return Kind::REPLICATED;
    case ShardingKind::kMaximal:
      return Kind::MAXIMAL;
    case ShardingKind::kTuple:
      return Kind::TUPLE;
    case ShardingKind::kManual:
      return Kind::MANUAL;
    case ShardingKind::kUnknown:
      return Kind::UNKNOWN;
    case ShardingKind::kUnreduced:
      return Kind::UNREDUCED;
    default:
      return Kind::OTHER;
  }
}

absl::StatusOr<ShardingKind> KindFromProto(int type) {
  switch (type) {
    case Kind::REPLICATED:
      return ShardingKind::kReplicated;
    case Kind::MAXIMAL:
      return ShardingKind::kMaximal;
    case Kind::TUPLE:
      return ShardingKind::kTuple;
    case Kind::OTHER:
      return ShardingKind::kTiled;
    case Kind::MANUAL:
      return ShardingKind::kManual;
    case Kind::UNKNOWN:
      return ShardingKind::kUnknown;
    case Kind::UNREDUCED:
      return ShardingKind::kUnreduced;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("sharding type ", type, " is not known"));
  }
}

template <class List>
void IotaToProto(const IotaDevices& iota, List* out) {
  for (int64_t d : iota.reshape_dims) out->add_iota_reshape_dims(d);
  for (int d : iota.transpose_perm) out->add_iota_transpose_perm(d);
  // XLA always writes the permutation.
  if (!iota.transpose_perm.empty()) return;
  for (size_t d = 0; d < iota.reshape_dims.size(); ++d) {
    out->add_iota_transpose_perm(static_cast<int>(d));
  }
}

template <class List>
IotaDevices IotaFromProto(const List& in) {
  return {{in.iota_reshape_dims().begin(), in.iota_reshape_dims().end()},
          {in.iota_transpose_perm().begin(), in.iota_transpose_perm().end()}};
}

void MeshToProto(const Mesh& mesh, proto::MeshProto* out) {
  for (const MeshAxis& axis : mesh.axes) {
    auto* a = out->add_axes();
    a->set_name(axis.name);
    a->set_size(axis.size);
  }
  for (int64_t id : mesh.device_ids) out->add_device_ids(id);
  if (!mesh.iota) return;
  auto* iota = out->mutable_iota_transform();
  for (int64_t d : mesh.iota->reshape_dims) iota->add_reshape_dims(d);
  for (int d : mesh.iota->transpose_perm) iota->add_transpose_perm(d);
}

Mesh MeshFromProto(const proto::MeshProto& in) {
  Mesh mesh;
  for (const auto& axis : in.axes()) {
    mesh.axes.push_back({axis.name(), axis.size()});
  }
  mesh.device_ids.assign(in.device_ids().begin(), in.device_ids().end());
  if (in.has_iota_transform()) {
    const auto& iota = in.iota_transform();
    mesh.iota = IotaDevices{
        {iota.reshape_dims().begin(), iota.reshape_dims().end()},
        {iota.transpose_perm().begin(), iota.transpose_perm().end()}};
  }
  return mesh;
}

void AxisToProto(const Mesh& mesh, const AxisRef& axis,
                 proto::AxisRefProto* out) {
  out->set_mesh_axis_index(mesh.FindAxis(axis.name));
  if (axis.sub_size == 0) return;
  out->mutable_sub_axis_info()->set_pre_size(axis.pre_size);
  out->mutable_sub_axis_info()->set_size(axis.sub_size);
}

absl::StatusOr<std::vector<AxisRef>> AxesFromProto(
    const Mesh& mesh,
    const google::protobuf::RepeatedPtrField<proto::AxisRefProto>& in) {
  std::vector<AxisRef> axes;
  for (const proto::AxisRefProto& a : in) {
    const int64_t index = a.mesh_axis_index();
    if (index < 0 || index >= static_cast<int64_t>(mesh.axes.size())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a mesh of ", mesh.axes.size(), " axes has no axis ", index));
    }
    AxisRef axis{mesh.axes[index].name, 1, 0};
    if (a.has_sub_axis_info()) {
      axis.pre_size = a.sub_axis_info().pre_size();
      axis.sub_size = a.sub_axis_info().size();
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

void NamedToProto(const NamedSharding& named, proto::NamedShardingProto* out) {
  MeshToProto(named.mesh, out->mutable_mesh());
  for (const DimensionSharding& d : named.dims) {
    auto* dim = out->add_dim_shardings();
    for (const AxisRef& a : d.axes) AxisToProto(named.mesh, a, dim->add_axes());
    dim->set_is_closed(d.is_closed);
  }
  for (const AxisRef& a : named.replicated_axes) {
    AxisToProto(named.mesh, a, out->add_replicated_axes());
  }
  for (const AxisRef& a : named.unreduced_axes) {
    AxisToProto(named.mesh, a, out->add_unreduced_axes());
  }
  for (const AxisRef& a : named.manual_axes) {
    AxisToProto(named.mesh, a, out->add_manual_axes());
  }
  out->set_reduction_op(
      static_cast<proto::NamedShardingProto::ReductionOpProto>(
          static_cast<int>(named.reduction)));
}

absl::StatusOr<NamedSharding> NamedFromProto(
    const proto::NamedShardingProto& in) {
  NamedSharding named;
  named.mesh = MeshFromProto(in.mesh());
  for (const auto& d : in.dim_shardings()) {
    DimensionSharding dim;
    ASSIGN_OR_RETURN(dim.axes, AxesFromProto(named.mesh, d.axes()));
    dim.is_closed = d.is_closed();
    named.dims.push_back(std::move(dim));
  }
  ASSIGN_OR_RETURN(named.replicated_axes,
                   AxesFromProto(named.mesh, in.replicated_axes()));
  ASSIGN_OR_RETURN(named.unreduced_axes,
                   AxesFromProto(named.mesh, in.unreduced_axes()));
  ASSIGN_OR_RETURN(named.manual_axes,
                   AxesFromProto(named.mesh, in.manual_axes()));
  const int reduction = in.reduction_op();
  if (reduction < 0 || reduction > static_cast<int>(ReductionKind::kMin)) {
    return absl::InvalidArgumentError("unknown reduction of a sharding");
  }
  named.reduction = static_cast<ReductionKind>(reduction);
  return named;
}

// The fields as they are; what they say is checked by the text reader.
absl::StatusOr<Sharding> ReadFields(const proto::OpSharding& in, int depth) {
  if (depth > kMaxProtoNesting) {
    return absl::InvalidArgumentError("a sharding nests too deep");
  }
  Sharding s;
  ASSIGN_OR_RETURN(s.kind, KindFromProto(in.type()));
  if (in.has_named_sharding()) {
    ASSIGN_OR_RETURN(NamedSharding named, NamedFromProto(in.named_sharding()));
    s.kind = ShardingKind::kNamed;
    s.named = std::make_shared<const NamedSharding>(std::move(named));
  }
  for (const proto::OpSharding& e : in.tuple_shardings()) {
    ASSIGN_OR_RETURN(Sharding element, ReadFields(e, depth + 1));
    s.tuple.push_back(std::move(element));
  }
  if (s.kind == ShardingKind::kMaximal) {
    if (in.tile_assignment_devices_size() != 1) {
      return absl::InvalidArgumentError("a maximal sharding names one device");
    }
    s.device = in.tile_assignment_devices(0);
  }
  if (s.kind == ShardingKind::kTiled) {
    s.tile_dims.assign(in.tile_assignment_dimensions().begin(),
                       in.tile_assignment_dimensions().end());
    if (in.iota_reshape_dims_size() > 0) {
      s.iota = IotaFromProto(in);
    } else {
      s.devices.assign(in.tile_assignment_devices().begin(),
                       in.tile_assignment_devices().end());
    }
    s.replicate_on_last_tile_dim = in.replicate_on_last_tile_dim();
    for (int type : in.last_tile_dims()) {
      ASSIGN_OR_RETURN(const ShardingKind kind, KindFromProto(type));
      s.last_tile_dims.push_back(kind);
    }
  }
  if (in.is_shard_group()) {
    s.group = in.shard_group_type() == Kind::LIKE ? Sharding::Group::kLike
                                                  : Sharding::Group::kAs;
    s.group_id = in.shard_group_id();
  }
  return s;
}

void ReadMetadata(const proto::OpSharding& in, Sharding* s) {
  for (const proto::OpMetadata& m : in.metadata()) {
    s->metadata.push_back(FromProto(m));
  }
  if (in.has_named_sharding()) {
    for (const proto::OpMetadata& m : in.named_sharding().metadata()) {
      s->metadata.push_back(FromProto(m));
    }
  }
  for (size_t i = 0; i < s->tuple.size(); ++i) {
    ReadMetadata(in.tuple_shardings(static_cast<int>(i)), &s->tuple[i]);
  }
}

}  // namespace

void ToProto(const Sharding& sharding, proto::OpSharding* out) {
  out->set_type(KindToProto(sharding.kind));
  if (sharding.kind == ShardingKind::kMaximal) {
    out->add_tile_assignment_dimensions(1);
    out->add_tile_assignment_devices(sharding.device);
  }
  for (int64_t d : sharding.tile_dims) out->add_tile_assignment_dimensions(d);
  for (int64_t d : sharding.devices) out->add_tile_assignment_devices(d);
  if (sharding.iota) IotaToProto(*sharding.iota, out);
  out->set_replicate_on_last_tile_dim(sharding.replicate_on_last_tile_dim);
  for (ShardingKind kind : sharding.last_tile_dims) {
    out->add_last_tile_dims(KindToProto(kind));
  }
  for (const Sharding& element : sharding.tuple) {
    ToProto(element, out->add_tuple_shardings());
  }
  if (sharding.named) {
    NamedToProto(*sharding.named, out->mutable_named_sharding());
  }
  if (sharding.group != Sharding::Group::kNone) {
    out->set_is_shard_group(true);
    out->set_shard_group_id(sharding.group_id);
    out->set_shard_group_type(
        sharding.group == Sharding::Group::kLike ? Kind::LIKE : Kind::AS);
  }
  for (const Metadata& m : sharding.metadata) {
    ToProto(m, sharding.named ? out->mutable_named_sharding()->add_metadata()
                              : out->add_metadata());
  }
}

absl::StatusOr<Sharding> FromProto(const proto::OpSharding& in) {
  ASSIGN_OR_RETURN(const Sharding fields, ReadFields(in, 0));
  ASSIGN_OR_RETURN(Sharding sharding, ParseSharding(fields.ToString()),
                   _ << "sharding " << fields.ToString());
  ReadMetadata(in, &sharding);
  return sharding;
}

void ToProto(const ReplicaGroups& groups, proto::HloInstructionProto* out) {
  if (const IotaGroups* iota = groups.iota()) {
    auto* list = out->mutable_iota_collective_device_list();
    list->set_num_replica_groups(iota->num_groups);
    list->set_num_devices_per_group(iota->group_size);
    IotaToProto(iota->devices, list);
  } else if (const MeshGroups* mesh = groups.mesh()) {
    auto* list = out->mutable_mesh_axes_replica_group_list();
    MeshToProto(mesh->mesh, list->mutable_mesh());
    for (const AxisRef& a : mesh->axes) {
      AxisToProto(mesh->mesh, a, list->add_axes());
    }
  } else {
    auto* list = out->mutable_collective_device_list();
    for (const auto& group : *groups.list()) {
      auto* ids = list->add_replica_groups();
      for (int64_t id : group) ids->add_replica_ids(id);
    }
  }
}

absl::StatusOr<ReplicaGroups> GroupsFromProto(
    const proto::HloInstructionProto& in) {
  ReplicaGroups groups;
  if (in.has_iota_collective_device_list()) {
    const auto& list = in.iota_collective_device_list();
    groups = ReplicaGroups(IotaGroups{list.num_replica_groups(),
                                      list.num_devices_per_group(),
                                      IotaFromProto(list)});
  } else if (in.has_mesh_axes_replica_group_list()) {
    const auto& list = in.mesh_axes_replica_group_list();
    MeshGroups mesh{MeshFromProto(list.mesh()), {}};
    ASSIGN_OR_RETURN(mesh.axes, AxesFromProto(mesh.mesh, list.axes()));
    groups = ReplicaGroups(std::move(mesh));
  } else {
    ReplicaGroups::List list;
    for (const auto& group : in.collective_device_list().replica_groups()) {
      list.emplace_back(group.replica_ids().begin(), group.replica_ids().end());
    }
    for (const auto& group : in.replica_groups()) {
      list.emplace_back(group.replica_ids().begin(), group.replica_ids().end());
    }
    groups = ReplicaGroups(std::move(list));
  }
  ASSIGN_OR_RETURN(groups, ParseReplicaGroups(groups.ToString()),
                   _ << "replica groups");
  return groups;
}

}  // namespace ptxla::hlo
