// Predicted against measured: runs the program of each row as its timing
// convention says, and compares.
//
//   ASSIGN_OR_RETURN(auto rows, ReadMeasuredRows(path));
//   Validation v = Validate(rows, {});
//   v.rows[0].predicted_us;          // nullopt: could not run; note says why
//
// Rows that share program, slice, cores and residency are compiled once. The
// result does not depend on the number of threads.
#ifndef PTXLA_DRIVER_VALIDATION_H_
#define PTXLA_DRIVER_VALIDATION_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "driver/libtpu/libtpu_compiler.h"
#include "driver/measured_rows.h"
#include "driver/timed_program.h"

namespace ptxla::driver {

struct ValidationOptions {
  int threads = 2;
  // Passes that are left out, to see what a mechanism is worth.
  std::vector<std::string> disable_passes;
  // Numbers of the chip that are others than its file's, in base units:
  // "hbm.latency", or "latency.*" for all that begin so. A chip that lacks one
  // stays as it is.
  std::vector<std::pair<std::string, double>> chip_numbers;
  // Prove of every program that it keeps to the chip (CompileOptions): a row
  // whose program does not has failed.
  bool verify = false;
  // Optimises and schedules instead of our passes; null: ours. Rows whose
  // operands lie in other memory than HBM fail with it.
  std::shared_ptr<const LibtpuCompiler> libtpu;
};

// The product that a program is, if its heart is one dot.
struct ProductShape {
  double m = 0, n = 0, k = 0;
  double lhs_bytes = 0, rhs_bytes = 0, out_bytes = 0;
};

struct ValidatedRow {
  MeasuredRow row;
  std::optional<double> predicted_us;
  std::string note;  // why there is no prediction
  // Of the program, for the floors; per iteration of a chain.
  double flops = 0, bytes = 0;
  std::optional<ProductShape> product;
  // Chip numbers that the napkin needs.
  double peak_flops = 0;
  int array_size = 0;

  // |predicted / measured - 1|; 1 for a row that should run and does not.
  double Error() const {
    if (!predicted_us) return 1;
    const double e = *predicted_us / *row.time_us - 1;
    return e < 0 ? -e : e;
  }
};

struct Validation {
  std::vector<ValidatedRow> rows;  // as given
};

Validation Validate(const std::vector<MeasuredRow>& rows,
                    const ValidationOptions& options);

// What a row runs on, and its program there.
absl::StatusOr<chips::Slice> SliceOfRow(const MeasuredRow& row,
                                        const ValidationOptions& options);
// `slice` outlives the result.
absl::StatusOr<TimedProgram> CompileRow(const MeasuredRow& row,
                                        const chips::Slice& slice,
                                        const ValidationOptions& options);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VALIDATION_H_
