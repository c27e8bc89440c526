// The real TPU compiler in place of ours: a module goes to libtpu, ahead of
// time and without a TPU, and comes back optimised and scheduled, with its
// fusions, layouts, memory spaces and prefetches. What is simulated are still
// our bundles of its kernels, in windows of our choice. The user's Python needs
// libtpu and jax; building and testing need neither.
//
//   ASSIGN_OR_RETURN(LibtpuCompiler c, LibtpuCompiler::Find({"python3", dir}));
//   c.name();                        // "libtpu 0.0.42.1, jax 0.10.2"
//   ASSIGN_OR_RETURN(auto scheduled, c.Compile(*module, slice));
#ifndef PTXLA_DRIVER_LIBTPU_LIBTPU_COMPILER_H_
#define PTXLA_DRIVER_LIBTPU_LIBTPU_COMPILER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::driver {

struct LibtpuOptions {
  std::string python = "python3";
  // Folder of what was compiled before, by content: module, slice and versions.
  // It is made when it is missing.
  std::string cache;
};

class LibtpuCompiler {
 public:
  // InvalidArgument says what to install when something is missing.
  static absl::StatusOr<LibtpuCompiler> Find(const LibtpuOptions& options);

  const std::string& name() const { return name_; }

  // InvalidArgument: libtpu refuses the module or does not know the chip, in
  // its first line. Unimplemented: several slices.
  absl::StatusOr<std::unique_ptr<hlo::Module>> Compile(
      const hlo::Module& module, const chips::Slice& slice) const;

 private:
  LibtpuOptions options_;
  std::string helper_;  // path of the Python program
  std::string name_;
};

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_LIBTPU_LIBTPU_COMPILER_H_
