// What nearly every file includes that compiles for a chip; see PTXLA_PCH.
#include "chips/chip.pb.h"
#include "cmake/hlo_pch.h"
