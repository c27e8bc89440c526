// The C++ sources of the tree, for tests about the tree itself.
#ifndef PTXLA_TESTS_ARCHITECTURE_SOURCE_TREE_H_
#define PTXLA_TESTS_ARCHITECTURE_SOURCE_TREE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ptxla::testing {

struct SourceFile {
  std::string path;  // from the root of the tree, "isa/program.h"
  std::vector<std::string> lines;
};

// All .h, .cc and .def files of the tree's folders: those that have a
// CMakeLists.txt, which build folders have not. Sorted by path.
std::vector<SourceFile> ListSources();

// Folder -> folders that it may include, itself and transitive ones included.
std::map<std::string, std::set<std::string>> ReadLayers();

// The folder of layers.txt that holds `path`, "" if none does.
std::string LayerOf(const std::string& path,
                    const std::map<std::string, std::set<std::string>>& layers);

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_ARCHITECTURE_SOURCE_TREE_H_
