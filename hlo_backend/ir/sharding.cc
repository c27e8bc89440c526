#include "hlo_backend/ir/sharding.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ptxla::hlo {
namespace {

absl::string_view KindName(ShardingKind kind) {
  switch (kind) {
    case ShardingKind::kManual:
      return "manual";
    case ShardingKind::kUnknown:
      return "unknown";
    case ShardingKind::kUnreduced:
      return "unreduced";
    default:
      return "replicated";
  }
}

void AppendNamed(const NamedSharding& named, std::string* out) {
  absl::StrAppend(out, named.mesh.ToString(), ", [");
  for (size_t i = 0; i < named.dims.size(); ++i) {
    const DimensionSharding& dim = named.dims[i];
    absl::StrAppend(out, i > 0 ? ", " : "", "{");
    for (size_t a = 0; a < dim.axes.size(); ++a) {
      absl::StrAppend(out, a > 0 ? ", " : "", dim.axes[a].ToString());
    }
    if (!dim.is_closed) out->append(dim.axes.empty() ? "?" : ", ?");
    out->push_back('}');
  }
  out->push_back(']');
  auto axes = [out](const char* key, const std::vector<AxisRef>& list,
                    const char* prefix) {
    if (list.empty()) return;
    absl::StrAppend(out, ", ", key, "=", prefix, AxisListToString(list));
  };
  axes("replicated", named.replicated_axes, "");
  axes("unreduced", named.unreduced_axes,
       named.reduction == ReductionKind::kMax   ? "max"
       : named.reduction == ReductionKind::kMin ? "min"
                                                : "");
  axes("manual", named.manual_axes, "");
}

}  // namespace

bool NamedSharding::operator==(const NamedSharding& o) const {
  return mesh == o.mesh && dims == o.dims &&
         replicated_axes == o.replicated_axes &&
         unreduced_axes == o.unreduced_axes && manual_axes == o.manual_axes &&
         reduction == o.reduction;
}

Sharding Sharding::Manual() {
  Sharding s;
  s.kind = ShardingKind::kManual;
  return s;
}

Sharding Sharding::Tiled(std::vector<int64_t> tile_dims,
                         std::vector<int64_t> devices) {
  Sharding s;
  s.kind = ShardingKind::kTiled;
  s.tile_dims = std::move(tile_dims);
  s.devices = std::move(devices);
  return s;
}

Sharding Sharding::Tuple(std::vector<Sharding> elements) {
  Sharding s;
  s.kind = ShardingKind::kTuple;
  s.tuple = std::move(elements);
  return s;
}

std::vector<int64_t> Sharding::Devices() const {
  return iota ? iota->Expand() : devices;
}

int64_t Sharding::DeviceCount() const {
  int64_t count = 1;
  switch (kind) {
    case ShardingKind::kMaximal:
      return device + 1;
    case ShardingKind::kTiled:
      if (iota) return iota->size();
      for (int64_t d : devices) count = std::max(count, d + 1);
      return count;
    case ShardingKind::kTuple:
      for (const Sharding& s : tuple) count = std::max(count, s.DeviceCount());
      return count;
    case ShardingKind::kNamed:
      return named->mesh.size();
    default:
      return count;
  }
}

std::string Sharding::ToString(bool with_metadata) const {
  std::string out = "{";
  switch (kind) {
    case ShardingKind::kMaximal:
      absl::StrAppend(&out, "maximal device=", device);
      break;
    case ShardingKind::kTuple:
      for (size_t i = 0; i < tuple.size(); ++i) {
        if (i > 0) out.append(", ");
        if (i > 0 && i % 5 == 0) absl::StrAppend(&out, "/*index=", i, "*/");
        out.append(tuple[i].ToString(with_metadata));
      }
      break;
    case ShardingKind::kTiled:
      absl::StrAppend(&out, "devices=[", absl::StrJoin(tile_dims, ","), "]",
                      iota ? iota->ToString() : absl::StrJoin(devices, ","));
      if (replicate_on_last_tile_dim) out.append(" last_tile_dim_replicate");
      if (!last_tile_dims.empty()) {
        absl::StrAppend(&out, " last_tile_dims={",
                        absl::StrJoin(last_tile_dims, ", ",
                                      [](std::string* o, ShardingKind k) {
                                        absl::StrAppend(o, KindName(k));
                                      }),
                        "}");
      }
      break;
    case ShardingKind::kNamed:
      AppendNamed(*named, &out);
      break;
    default:
      absl::StrAppend(&out, KindName(kind));
  }
  if (group != Group::kNone) {
    absl::StrAppend(&out, group == Group::kAs ? " shard_as " : " shard_like ",
                    group_id);
  }
  if (with_metadata && metadata.size() == 1) {
    absl::StrAppend(&out, " metadata=", metadata[0].ToString());
  } else if (with_metadata && !metadata.empty()) {
    absl::StrAppend(&out, " metadata={",
                    absl::StrJoin(metadata, ", ",
                                  [](std::string* o, const Metadata& m) {
                                    o->append(m.ToString());
                                  }),
                    "}");
  }
  out.push_back('}');
  return out;
}

bool Sharding::operator==(const Sharding& o) const {
  const bool same_named =
      named == o.named || (named && o.named && *named == *o.named);
  return same_named && kind == o.kind && device == o.device &&
         tile_dims == o.tile_dims && devices == o.devices && iota == o.iota &&
         replicate_on_last_tile_dim == o.replicate_on_last_tile_dim &&
         last_tile_dims == o.last_tile_dims && tuple == o.tuple &&
         group == o.group && group_id == o.group_id;
}

}  // namespace ptxla::hlo
