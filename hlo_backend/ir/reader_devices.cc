// Replica groups, meshes, shardings.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/reader.h"

namespace ptxla::hlo {
namespace {

// More devices than any machine: a guard against texts that would make us
// expand billions of them.
constexpr int64_t kMaxDevices = int64_t{1} << 24;

}  // namespace

bool Reader::IotaValue(IotaDevices* iota) {
  const char* begin = at();
  if (!IntList(&iota->reshape_dims, '[', ']')) return false;
  if (IsName("T")) {
    lex_.Next();
    if (!IntList(&iota->transpose_perm, '(', ')')) return false;
  }
  int64_t devices = 1;
  for (int64_t d : iota->reshape_dims) {
    if (d < 1 || devices > kMaxDevices / d) {
      return Fail(begin, "the list of devices is empty or too long");
    }
    devices *= d;
  }
  if (iota->transpose_perm.empty()) return true;
  std::vector<bool> seen(iota->reshape_dims.size(), false);
  for (int d : iota->transpose_perm) {
    if (d < 0 || d >= static_cast<int>(seen.size()) || seen[d]) {
      return Fail(begin, "T(...) is not a permutation of the dimensions");
    }
    seen[d] = true;
  }
  if (iota->transpose_perm.size() != seen.size()) {
    return Fail(begin, "T(...) is not a permutation of the dimensions");
  }
  return true;
}

// 'name' of a mesh axis, between single quotes.
static bool QuotedName(Reader* r, std::string* name) {
  if (!r->Is('\'')) return r->Expected("an axis name in single quotes");
  const char* begin = r->at() + 1;
  const char* end = r->lexer().text().data() + r->lexer().text().size();
  const char* p = begin;
  while (p != end && *p != '\'' && *p != '\n') ++p;
  if (p == end || *p != '\'') return r->Fail(begin, "the name does not end");
  *name = std::string(begin, p - begin);
  r->lexer().Seek(p + 1);
  return true;
}

bool Reader::MeshValue(Mesh* mesh) {
  const char* begin = at();
  if (!ExpectName("mesh") || !Expect('[')) return false;
  int64_t size = 1;
  while (!Is(']')) {
    MeshAxis axis;
    const bool quoted = Is('\'');
    if (!(quoted ? QuotedName(this, &axis.name) : Name(&axis.name)) ||
        !Expect('=') || !Int(&axis.size)) {
      return false;
    }
    if (axis.size < 1 || size > kMaxDevices / axis.size) {
      return Fail(begin, "the mesh is empty or too large");
    }
    size *= axis.size;
    mesh->axes.push_back(std::move(axis));
    if (!Accept(',')) break;
  }
  if (!Expect(']')) return false;
  if (!Is(',')) return true;
  const Token next = lex_.Peek();
  if (next.text != "device_ids") return true;
  lex_.Next();
  lex_.Next();
  if (!Expect('=') || !Expect('(')) return false;
  if (Accept('[')) {
    int64_t count;
    if (!Int(&count) || !Expect(']')) return false;
    if (token().kind != TokenKind::kLessEqual) return Expected("<=");
    lex_.Next();
    mesh->iota.emplace();
    if (!IotaValue(&*mesh->iota)) return false;
    if (mesh->iota->size() != size) {
      return Fail(begin, "device_ids= do not fill the mesh");
    }
    return Expect(')');
  }
  while (!Is(')')) {
    int64_t id;
    if (!Int(&id)) return false;
    mesh->device_ids.push_back(id);
    if (!Accept(',')) break;
  }
  if (static_cast<int64_t>(mesh->device_ids.size()) != size) {
    return Fail(begin, "device_ids= do not fill the mesh");
  }
  return Expect(')');
}

bool Reader::AxisRefValue(AxisRef* ref) {
  if (!(Is('\'') ? QuotedName(this, &ref->name) : Name(&ref->name))) {
    return false;
  }
  if (!Accept(':')) return true;
  return Expect('(') && Int(&ref->pre_size) && Expect(')') &&
         Int(&ref->sub_size);
}

bool Reader::AxisRefs(std::vector<AxisRef>* axes, bool* open) {
  if (!Expect('{')) return false;
  while (!Is('}')) {
    if (open != nullptr && Accept('?')) {
      *open = true;
      break;
    }
    AxisRef ref;
    if (!AxisRefValue(&ref)) return false;
    axes->push_back(std::move(ref));
    if (!Accept(',')) break;
  }
  return Expect('}');
}

bool Reader::CheckAxes(const Mesh& mesh, const std::vector<AxisRef>& axes,
                       const char* begin) {
  for (const AxisRef& ref : axes) {
    const int axis = mesh.FindAxis(ref.name);
    if (axis < 0) {
      return Fail(begin, absl::StrCat("the mesh has no axis '", ref.name, "'"));
    }
    if (ref.pre_size < 1 || ref.sub_size < 0 ||
        (ref.sub_size > 0 &&
         mesh.axes[axis].size % (ref.pre_size * ref.sub_size) != 0)) {
      return Fail(begin,
                  absl::StrCat(ref.ToString(), " does not divide its axis"));
    }
  }
  return true;
}

bool Reader::ReplicaGroupsValue(ReplicaGroups* groups) {
  const char* begin = at();
  if (IsName("mesh")) {
    MeshGroups mesh;
    if (!MeshValue(&mesh.mesh)) return false;
    Accept(',');
    if (!AxisRefs(&mesh.axes)) return false;
    if (!CheckAxes(mesh.mesh, mesh.axes, begin)) return false;
    *groups = ReplicaGroups(std::move(mesh));
    return true;
  }
  if (Is('[')) {
    std::vector<int64_t> dims;
    IotaGroups iota;
    if (!IntList(&dims, '[', ']')) return false;
    if (token().kind != TokenKind::kLessEqual) return Expected("<=");
    lex_.Next();
    if (!IotaValue(&iota.devices)) return false;
    if (dims.size() != 2 || dims[0] < 1 || dims[1] < 1 ||
        dims[0] > iota.devices.size() ||
        dims[0] * dims[1] != iota.devices.size()) {
      return Fail(begin, "replica groups [groups,size] do not fit the devices");
    }
    iota.num_groups = dims[0];
    iota.group_size = dims[1];
    *groups = ReplicaGroups(std::move(iota));
    return true;
  }
  std::vector<std::vector<int64_t>> list;
  if (!IntLists(&list)) return false;
  *groups = ReplicaGroups(std::move(list));
  return true;
}

bool Reader::TiledShardingValue(Sharding* s) {
  s->kind = ShardingKind::kTiled;
  const char* begin = at();
  if (!IntList(&s->tile_dims, '[', ']')) return false;
  int64_t tiles = 1;
  for (int64_t d : s->tile_dims) {
    if (d < 1 || tiles > kMaxDevices / d) {
      return Fail(begin, "the tiles are none or too many");
    }
    tiles *= d;
  }
  if (token().kind == TokenKind::kLessEqual) {
    lex_.Next();
    s->iota.emplace();
    if (!IotaValue(&*s->iota)) return false;
    if (s->iota->size() != tiles) {
      return Fail(begin, absl::StrCat(s->iota->size(), " devices for ", tiles,
                                      " tiles"));
    }
    return true;
  }
  while (token().kind == TokenKind::kInteger) {
    int64_t device;
    if (!Int(&device)) return false;
    s->devices.push_back(device);
    if (!Accept(',')) break;
  }
  std::vector<int64_t> sorted = s->devices;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return Fail(begin, "a device is given twice");
  }
  if (static_cast<int64_t>(s->devices.size()) != tiles) {
    return Fail(begin, absl::StrCat(s->devices.size(), " devices for ", tiles,
                                    " tiles"));
  }
  return true;
}

bool Reader::NamedShardingValue(Sharding* s) {
  const char* begin = at();
  s->kind = ShardingKind::kNamed;
  auto named = std::make_shared<NamedSharding>();
  if (!MeshValue(&named->mesh)) return false;
  while (Accept(',')) {
    if (Accept('[')) {
      while (!Is(']')) {
        DimensionSharding dim;
        bool open = false;
        if (!AxisRefs(&dim.axes, &open)) return false;
        dim.is_closed = !open;
        named->dims.push_back(std::move(dim));
        if (!Accept(',')) break;
      }
      if (!Expect(']')) return false;
      continue;
    }
    if (AcceptName("replicated")) {
      if (!Expect('=') || !AxisRefs(&named->replicated_axes)) return false;
    } else if (AcceptName("manual")) {
      if (!Expect('=') || !AxisRefs(&named->manual_axes)) return false;
    } else if (AcceptName("unreduced")) {
      if (!Expect('=')) return false;
      if (AcceptName("max")) named->reduction = ReductionKind::kMax;
      if (AcceptName("min")) named->reduction = ReductionKind::kMin;
      AcceptName("sum");
      if (!AxisRefs(&named->unreduced_axes)) return false;
    } else {
      return Expected("[dimensions], replicated=, unreduced= or manual=");
    }
  }
  for (const DimensionSharding& dim : named->dims) {
    if (!CheckAxes(named->mesh, dim.axes, begin)) return false;
  }
  for (const auto* axes :
       {&named->replicated_axes, &named->unreduced_axes, &named->manual_axes}) {
    if (!CheckAxes(named->mesh, *axes, begin)) return false;
  }
  s->named = std::move(named);
  return true;
}

bool Reader::ShardingValue(Sharding* s) {
  if (!Expect('{')) return false;
  if (Is('{') || Is('}')) {
    s->kind = ShardingKind::kTuple;
    if (++nesting_ > kMostNested) return Fail(at(), "shardings nest too deep");
    while (!Is('}')) {
      s->tuple.emplace_back();
      if (!ShardingValue(&s->tuple.back())) return false;
      if (!Accept(',')) break;
    }
    --nesting_;
    return Expect('}');
  }
  if (IsName("mesh") && !NamedShardingValue(s)) return false;
  while (!Is('}')) {
    const char* begin = at();
    absl::string_view word;
    if (!Name(&word)) return false;
    auto keyword = [&word](absl::string_view w) { return word == w; };
    if (keyword("replicated")) {
      s->kind = ShardingKind::kReplicated;
    } else if (keyword("manual")) {
      s->kind = ShardingKind::kManual;
    } else if (keyword("unknown")) {
      s->kind = ShardingKind::kUnknown;
    } else if (keyword("unreduced")) {
      s->kind = ShardingKind::kUnreduced;
    } else if (keyword("maximal")) {
      s->kind = ShardingKind::kMaximal;
      if (!IsName("device")) return Expected("device=");
    } else if (keyword("device")) {
      if (!Expect('=') || !Int(&s->device)) return false;
    } else if (keyword("devices")) {
      if (!Expect('=') || !TiledShardingValue(s)) return false;
    } else if (keyword("last_tile_dim_replicate")) {
      s->replicate_on_last_tile_dim = true;
    } else if (keyword("last_tile_dims")) {
      if (!Expect('=') || !Expect('{')) return false;
      while (!Is('}')) {
        const char* type_at = at();
        absl::string_view type;
        if (!Name(&type)) return false;
        const auto kind = type == "manual"      ? ShardingKind::kManual
                          : type == "unreduced" ? ShardingKind::kUnreduced
                          : type == "unknown"   ? ShardingKind::kUnknown
                                                : ShardingKind::kReplicated;
        if (kind == ShardingKind::kReplicated && type != "replicated") {
          return Fail(type_at, absl::StrCat("\"", type, "\" is no sharding"));
        }
        s->last_tile_dims.push_back(kind);
        if (!Accept(',')) break;
      }
      if (!Expect('}')) return false;
    } else if (keyword("shard_as") || keyword("shard_like")) {
      s->group =
          keyword("shard_as") ? Sharding::Group::kAs : Sharding::Group::kLike;
      if (!Int(&s->group_id)) return false;
    } else if (keyword("metadata")) {
      if (!Expect('=')) return false;
      const Token next = lex_.Peek();
      const bool many = next.kind == TokenKind::kPunct && next.text == "{";
      if (many && !Expect('{')) return false;
      do {
        s->metadata.emplace_back();
        if (!MetadataValue(&s->metadata.back())) return false;
      } while (many && Accept(','));
      if (many && !Expect('}')) return false;
    } else {
      return Fail(begin, absl::StrCat("\"", word, "\" is no sharding"));
    }
    Accept(',');
  }
  return Expect('}');
}

}  // namespace ptxla::hlo
