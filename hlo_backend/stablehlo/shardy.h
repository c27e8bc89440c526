// Meshes and shardings as Shardy writes them (`<@mesh, [{"x"}, {}]>`) to those
// of HLO. Internal to the reader.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_SHARDY_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_SHARDY_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo_backend/ir/sharding.h"

namespace ptxla::hlo::mlir {

using Meshes = absl::flat_hash_map<std::string, Mesh>;

// `<["x"=2, "y"=4]>`, with or without a name in front and device_ids behind.
absl::StatusOr<Mesh> ReadShardyMesh(const std::string& text);
// `#sdy.sharding<@mesh, [{"x", ?}, {}], replicated={"y"}>`, the prefix may be
// missing. A mesh may stand in place: `mesh<["x"=2]>`.
absl::StatusOr<Sharding> ReadShardySharding(const std::string& text,
                                            const Meshes& meshes);
// One sharding or `#sdy.sharding_per_value<[<...>, <...>]>`.
absl::StatusOr<std::vector<Sharding>> ReadShardyShardings(
    const std::string& text, const Meshes& meshes);
// The text of HLO, quoted in mhlo.sharding.
absl::StatusOr<Sharding> ParseShardingText(const std::string& text);

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_SHARDY_H_
