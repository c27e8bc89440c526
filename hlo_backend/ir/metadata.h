// Where an instruction came from in the user's program: `metadata={...}`.
#ifndef PTXLA_HLO_BACKEND_IR_METADATA_H_
#define PTXLA_HLO_BACKEND_IR_METADATA_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ptxla::hlo {

struct Metadata {
  std::string op_type;  // "aten__addmm"
  std::string op_name;  // "jit(f)/layer_3/attention/dot_general"
  std::string source_file;
  int64_t source_line = 0, source_end_line = 0;
  int64_t source_column = 0, source_end_column = 0;
  int64_t stack_frame_id = 0;  // 1-based, into Module::stack_frames()
  std::string deduplicated_name, scheduling_name;
  std::string profile_type;      // "{1}", as it was read
  std::string metadata_payload;  // as it was read
  int64_t size_of_generated_code_in_bytes = 0;
  int64_t size_of_memory_working_set_in_bytes = 0;

  bool empty() const;
  // "{op_name="f/add" source_file="a.py" source_line=3}".
  std::string ToString() const;
  bool operator==(const Metadata& o) const;
};

// The numbered tables FileNames, FunctionNames, FileLocations, StackFrames of
// a module. All indices are 1-based; 0 is "none".
struct StackFrameTables {
  struct Location {
    int64_t file = 0, function = 0;
    int64_t line = 0, column = 0, end_line = 0, end_column = 0;
  };
  struct Frame {
    int64_t location = 0, parent = 0;
  };
  std::vector<std::string> files, functions;
  std::vector<Location> locations;
  std::vector<Frame> frames;

  bool empty() const { return frames.empty() && files.empty(); }
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_METADATA_H_
