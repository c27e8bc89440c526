#include "hlo_backend/stablehlo/shardy.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/stablehlo/scanner.h"

namespace ptxla::hlo::mlir {
namespace {

constexpr int64_t kMaxDevices = int64_t{1} << 24;

class ShardyReader : public Scanner {
 public:
  ShardyReader(const std::string& text, const Meshes& meshes)
      : Scanner(absl::string_view(text)), meshes_(meshes) {}

  // Behind the "<".
  bool MeshBody(Mesh* mesh) {
    int64_t size = 1;
    if (Accept("[")) {
      while (!Is("]")) {
        MeshAxis axis;
        if (!String(&axis.name) || !Expect("=") || !Integer(&axis.size)) {
          return false;
        }
        if (axis.size < 1 || size > kMaxDevices / axis.size) {
          return FailHere("the mesh is empty or too large");
        }
        size *= axis.size;
        mesh->axes.push_back(std::move(axis));
        if (!Accept(",")) break;
      }
      if (!Expect("]")) return false;
    }
    Accept(",");
    if (Accept("device_ids") && (!Expect("=") || !Ids(mesh))) return false;
    return Expect(">");
  }

  bool Axes(std::vector<AxisRef>* axes, bool* open) {
    if (!Expect("{")) return false;
    while (!Is("}")) {
      if (Accept("?")) {
        *open = true;
        break;
      }
      AxisRef axis;
      if (!String(&axis.name)) return false;
      if (Accept(":")) {
        if (!Expect("(") || !Integer(&axis.pre_size) || !Expect(")") ||
            !Integer(&axis.sub_size)) {
          return false;
        }
      }
      axes->push_back(std::move(axis));
      if (!Accept(",")) break;
    }
    return Expect("}");
  }

  bool One(Sharding* sharding) {
    if (!Expect("<")) return false;
    auto named = std::make_shared<NamedSharding>();
    if (Accept("mesh")) {
      if (!Expect("<") || !MeshBody(&named->mesh)) return false;
    } else {
      std::string name;
      if (!SymbolName(&name)) return FailHere("expected a mesh");
      auto it = meshes_.find(name);
      if (it == meshes_.end()) {
        return FailHere(absl::StrCat("unknown mesh @", name));
      }
      named->mesh = it->second;
    }
    if (!Expect(",") || !Expect("[")) return false;
    while (!Is("]")) {
      DimensionSharding dim;
      bool open = false;
      if (!Axes(&dim.axes, &open)) return false;
      dim.is_closed = !open;
      absl::string_view priority;  // p0
      if (Word(&priority) && priority[0] != 'p') {
        return FailHere("expected a priority");
      }
      named->dims.push_back(std::move(dim));
      if (!Accept(",")) break;
    }
    if (!Expect("]")) return false;
    while (Accept(",")) {
      absl::string_view word;
      bool open = false;
      if (!Word(&word) || !Expect("=")) return FailHere("expected axes");
      std::vector<AxisRef>* axes =
          word == "replicated"  ? &named->replicated_axes
          : word == "unreduced" ? &named->unreduced_axes
                                : nullptr;
      if (axes == nullptr) return FailHere("expected replicated or unreduced");
      if (!Axes(axes, &open)) return false;
    }
    if (!Expect(">")) return false;
    sharding->kind = ShardingKind::kNamed;
    sharding->named = std::move(named);
    return true;
  }

  absl::Status Broken(const std::string& text) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot read the sharding ", text, ": ", status().message()));
  }

 private:
  bool Ids(Mesh* mesh) {
    if (!Expect("[")) return false;
    while (!Is("]")) {
      int64_t id;
      if (!Integer(&id)) return false;
      mesh->device_ids.push_back(id);
      if (!Accept(",")) break;
    }
    return Expect("]");
  }

  const Meshes& meshes_;
};

// What is read is checked as its HLO text would be.
absl::StatusOr<Sharding> Checked(const Sharding& sharding) {
  // No axis anywhere: every device has all of it.
  bool any = !sharding.named->unreduced_axes.empty();
  for (const DimensionSharding& d : sharding.named->dims) {
    any |= !d.axes.empty();
  }
  if (!any) return Sharding::Replicated();
  return ParseSharding(sharding.ToString());
}

}  // namespace

absl::StatusOr<Mesh> ReadShardyMesh(const std::string& text) {
  const Meshes none;
  ShardyReader reader(text, none);
  Mesh mesh;
  if (reader.Expect("<") && reader.MeshBody(&mesh)) return mesh;
  return reader.Broken(text);
}

absl::StatusOr<std::vector<Sharding>> ReadShardyShardings(
    const std::string& text, const Meshes& meshes) {
  ShardyReader reader(text, meshes);
  bool many = false;
  if (reader.Accept("#")) {
    absl::string_view name;
    if (!reader.Word(&name)) return reader.Broken(text);
    many = name == "sdy.sharding_per_value";
  }
  if (many && !reader.Expect("<")) return reader.Broken(text);
  // in_shardings=[<...>, <...>] have brackets only.
  const bool list = reader.Accept("[");
  std::vector<Sharding> shardings;
  do {
    if (list && reader.Is("]")) break;
    Sharding sharding;
    if (!reader.One(&sharding)) return reader.Broken(text);
    ASSIGN_OR_RETURN(sharding, Checked(sharding), _ << text);
    shardings.push_back(std::move(sharding));
  } while (list && reader.Accept(","));
  return shardings;
}

absl::StatusOr<Sharding> ReadShardySharding(const std::string& text,
                                            const Meshes& meshes) {
  ASSIGN_OR_RETURN(const std::vector<Sharding> list,
                   ReadShardyShardings(text, meshes));
  if (list.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected one sharding, got ", text));
  }
  return list[0];
}

absl::StatusOr<Sharding> ParseShardingText(const std::string& text) {
  return ParseSharding(text);
}

}  // namespace ptxla::hlo::mlir
