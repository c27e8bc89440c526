// The sharding annotation of an instruction, in every written form:
//   {replicated}  {maximal device=0}  {manual}  {unknown}  {unreduced}
//   {devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}
//   {devices=[4,2]<=[2,4]T(1,0) last_tile_dims={manual, replicated}}
//   {{replicated}, {devices=[2]0,1}}              (tuple)
//   {mesh['x'=2,'y'=2], [{'x'}, {}], unreduced=max{'y'}}   (named)
// with an optional ` shard_as N` / ` shard_like N` and metadata.
#ifndef PTXLA_HLO_BACKEND_IR_SHARDING_H_
#define PTXLA_HLO_BACKEND_IR_SHARDING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hlo_backend/ir/mesh.h"
#include "hlo_backend/ir/metadata.h"

namespace ptxla::hlo {

enum class ShardingKind {
  kReplicated,
  kMaximal,
  kTuple,
  kTiled,
  kManual,
  kUnknown,
  kUnreduced,
  kNamed
};
enum class ReductionKind { kSum, kMax, kMin };

struct DimensionSharding {
  std::vector<AxisRef> axes;
  bool is_closed = true;  // open dimensions print a trailing "?"
  bool operator==(const DimensionSharding& o) const {
    return axes == o.axes && is_closed == o.is_closed;
  }
};

struct NamedSharding {
  Mesh mesh;
  std::vector<DimensionSharding> dims;
  std::vector<AxisRef> replicated_axes, unreduced_axes, manual_axes;
  ReductionKind reduction = ReductionKind::kSum;
  bool operator==(const NamedSharding& o) const;
};

struct Sharding {
  ShardingKind kind = ShardingKind::kReplicated;
  int64_t device = 0;  // of kMaximal
  // kTiled: tiles per dimension, then those of `last_tile_dims`.
  std::vector<int64_t> tile_dims;
  std::vector<int64_t> devices;     // explicit list, or
  std::optional<IotaDevices> iota;  // this
  bool replicate_on_last_tile_dim = false;
  std::vector<ShardingKind> last_tile_dims;
  std::vector<Sharding> tuple;                 // of kTuple
  std::shared_ptr<const NamedSharding> named;  // of kNamed
  enum class Group { kNone, kAs, kLike } group = Group::kNone;
  int64_t group_id = 0;
  std::vector<Metadata> metadata;

  static Sharding Replicated() { return {}; }
  static Sharding Manual();
  static Sharding Tiled(std::vector<int64_t> tile_dims,
                        std::vector<int64_t> devices);
  static Sharding Tuple(std::vector<Sharding> elements);

  // kTiled: devices in row-major order of tile_dims.
  std::vector<int64_t> Devices() const;
  // One more than the largest device mentioned; 1 for {replicated}.
  int64_t DeviceCount() const;
  std::string ToString(bool with_metadata = false) const;
  bool operator==(const Sharding& o) const;
  bool operator!=(const Sharding& o) const { return !(*this == o); }
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_SHARDING_H_
