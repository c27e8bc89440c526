// What each mechanism of the model is worth: the errors of `validate` with the
// mechanism taken out, beside those with all of them.
//
//   MechanismTable t = MeasureMechanisms(rows, options);
//   std::puts(MechanismMarkdown(t).c_str());
#ifndef PTXLA_DRIVER_MECHANISMS_H_
#define PTXLA_DRIVER_MECHANISMS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "driver/measured_rows.h"
#include "driver/validation.h"

namespace ptxla::driver {

struct Mechanism {
  std::string name;  // "grid step"
  std::string off;   // what is done to take it out, for people
  std::vector<std::string> disable_passes;
  // ValidationOptions::chip_numbers.
  std::vector<std::pair<std::string, double>> chip_numbers;
};

// All of them; the first is "all on".
const std::vector<Mechanism>& Mechanisms();

struct MechanismTable {
  std::vector<std::string> blocks;
  struct Line {
    Mechanism mechanism;
    std::map<std::string, double> mean;  // error by block
  };
  std::vector<Line> lines;  // of Mechanisms()
};

MechanismTable MeasureMechanisms(const std::vector<MeasuredRow>& rows,
                                 const ValidationOptions& options);

std::string MechanismMarkdown(const MechanismTable& table);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_MECHANISMS_H_
