// What most files of the driver, the reports and the commands include; see
// PTXLA_PCH.
#include "cmake/chip_pch.h"
#include "record/device_trace.pb.h"
#include "record/run_record.pb.h"
