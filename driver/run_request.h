// What a user asks of `run`, before anything is looked up.
#ifndef PTXLA_DRIVER_RUN_REQUEST_H_
#define PTXLA_DRIVER_RUN_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxla::driver {

struct RunRequest {
  // One of the two.
  std::string workload;  // "bert"
  std::string hlo;       // a file, a folder, or "-" for standard input
  // Of a folder, and for elided constants (hlo_input.h): their values seldom
  // decide how long a program takes, and printers leave them out.
  std::string hlo_module, hlo_stage, elided = "iota";
  std::vector<int64_t> sizes;  // of open dimensions (hlo_input.h)

  std::string topology;  // "v5e-8"
  std::string chip_file;
  int cores_per_chip = 0;  // 0: all cores of one device
  std::string fidelity = "kernel";
  std::string mode = "lazy";
  int steps = 3;
  bool estimate_unknown_ops = false;
  // Iterations of a loop whose count depends on data; 0: such loops are
  // refused.
  int64_t assumed_trip_count = 0;
  // Check the module after every pass, and execute the bundles on data to
  // compare their results with the evaluator's.
  bool verify = false;
  // Prove of every program that it keeps to the chip's registers, memories and
  // slots (isa::VerifyProgram); `verify` does so too.
  bool prove = false;

  // Of the workload; unset: its own default.
  std::string phase;
  std::optional<int64_t> global_batch, batch_per_chip, seq;
  std::string dtype, optimizer, remat, parallel;
  std::vector<std::string> settings;  // "key=value"

  // What optimises and schedules: "own", or "libtpu" (libtpu_compiler.h), with
  // the Python that has it and the folder of what it compiled before.
  std::string compiler = "own", python = "python3", compiler_cache;

  std::string dump_to;  // a folder; empty: no dump
  std::string explain;  // an op (explain/find_op.h); empty: none
  bool timeline = false;
  // Re-simulate to see what each ASSUMED number moves.
  bool assumed_effects = true;
};

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_RUN_REQUEST_H_
