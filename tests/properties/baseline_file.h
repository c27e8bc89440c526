// A versioned CSV of what is exactly so today: a change of the compiler or the
// simulator that moves a row edits the file, and says why in its commit.
//
//   BaselineFile file("v6e.csv", "program,topology,fidelity,cycles,kernels",
//   3); file.Found("add.hlo,v6e,kernel", "1000,2"); return file.Finish(update);
//   // 0: as recorded, or written anew
#ifndef PTXLA_TESTS_PROPERTIES_BASELINE_FILE_H_
#define PTXLA_TESTS_PROPERTIES_BASELINE_FILE_H_

#include <map>
#include <string>

namespace ptxla::testing {

class BaselineFile {
 public:
  // `name`: in tests/properties/baselines. The first `keys` columns of the
  // header name a row.
  BaselineFile(const std::string& name, const std::string& header, int keys);

  // What a row is now, in the order of the file to be written.
  void Found(const std::string& key, const std::string& value);
  // The row cannot be found out here: it stays as it is.
  void NotHere(const std::string& key);
  // Prints what differs, rows that are gone included; the exit status.
  int Finish(bool update);

 private:
  const std::string path_, header_;
  std::map<std::string, std::string> old_;  // value by key
  std::string text_, differences_;
};

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_PROPERTIES_BASELINE_FILE_H_
