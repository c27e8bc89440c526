// What nearly every file under hlo_backend/ includes; see PTXLA_PCH.
#include "cmake/pch.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/module.h"
