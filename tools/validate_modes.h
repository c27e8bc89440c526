// What `ptxla-sim validate` does beside its table: one row looked at closely,
// and our compiler beside the TPU's.
#ifndef PTXLA_TOOLS_VALIDATE_MODES_H_
#define PTXLA_TOOLS_VALIDATE_MODES_H_

#include <string>
#include <vector>

#include "driver/measured_rows.h"
#include "driver/parity/parity.h"
#include "driver/validation.h"
#include "tools/commands.h"

namespace ptxla::tools {

// `rows`: those whose id begins as asked; one of them must be meant.
int ExplainValidatedRow(const std::vector<driver::MeasuredRow>& rows,
                        const std::string& id,
                        const driver::ValidationOptions& options, bool json);

enum class ParityForm { kText, kMarkdown, kMemory, kJson };
int CompareWithCompiler(const std::string& csv,
                        const driver::ParityOptions& options, ParityForm form);

// `rows`: the table of every program too. `prefix`: of the programs' names.
int CompareWithSchedules(const std::string& csv, const std::string& prefix,
                         int threads, bool rows);

}  // namespace ptxla::tools

#endif  // PTXLA_TOOLS_VALIDATE_MODES_H_
