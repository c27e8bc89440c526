// Shardings and groups of devices between Module's classes and their protos.
//
// From protos every form is checked as its text would be: InvalidArgument for
// device lists that do not fill their tiles, unknown axes and the like.
#ifndef PTXLA_HLO_BACKEND_PROTO_SHARDING_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_SHARDING_PROTO_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/replica_groups.h"
#include "hlo_backend/ir/sharding.h"
#include "hlo_backend/proto/hlo.pb.h"
#include "hlo_backend/proto/sharding.pb.h"

namespace ptxla::hlo {

void ToProto(const Sharding& sharding, proto::OpSharding* out);
absl::StatusOr<Sharding> FromProto(const proto::OpSharding& in);

// The field of the form that the groups have: list, iota or mesh.
void ToProto(const ReplicaGroups& groups, proto::HloInstructionProto* out);
// Also from `replica_groups`, the field of older files.
absl::StatusOr<ReplicaGroups> GroupsFromProto(
    const proto::HloInstructionProto& in);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_SHARDING_PROTO_H_
