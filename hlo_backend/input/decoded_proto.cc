#include "hlo_backend/input/decoded_proto.h"

#include <google/protobuf/stubs/logging.h>

#include <cstdint>

namespace ptxla::hlo {
namespace {

bool HasInstructions(const proto::HloModuleProto& m) {
  return m.computations_size() > 0 && m.computations(0).instructions_size() > 0;
}

}  // namespace

Decoded Decode(absl::string_view bytes) {
  google::protobuf::LogSilencer silent;
  const int size = static_cast<int>(bytes.size());
  Decoded d;
  if (bytes.size() > INT32_MAX) return d;
  if (d.module.ParseFromArray(bytes.data(), size) &&
      HasInstructions(d.module)) {
    d.format = FileFormat::kModuleProto;
    return d;
  }
  proto::HloProto hlo;
  if (hlo.ParseFromArray(bytes.data(), size) &&
      HasInstructions(hlo.hlo_module())) {
    d.format = FileFormat::kHloProto;
    d.module.Swap(hlo.mutable_hlo_module());
    return d;
  }
  proto::HloSnapshot snapshot;
  if (snapshot.ParseFromArray(bytes.data(), size) &&
      HasInstructions(snapshot.hlo().hlo_module())) {
    d.format = FileFormat::kSnapshot;
    d.module.Swap(snapshot.mutable_hlo()->mutable_hlo_module());
    d.arguments.assign(snapshot.arguments().begin(),
                       snapshot.arguments().end());
  }
  return d;
}

}  // namespace ptxla::hlo
