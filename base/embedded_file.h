// A text file that is part of the binary.
//
// `ptxla_embed` of cmake/ptxla.cmake makes arrays of them:
//   for (const EmbeddedFile& file : kChipFiles) Parse(file.name, file.text);
#ifndef PTXLA_BASE_EMBEDDED_FILE_H_
#define PTXLA_BASE_EMBEDDED_FILE_H_

namespace ptxla {

struct EmbeddedFile {
  const char* name;  // without its folder
  const char* text;
};

}  // namespace ptxla

#endif  // PTXLA_BASE_EMBEDDED_FILE_H_
