// What a report keeps of a device's trace: one line per HLO instruction with
// its time, bound and fraction of the chip's peak.
#ifndef PTXLA_DRIVER_PROGRAM_RECORD_H_
#define PTXLA_DRIVER_PROGRAM_RECORD_H_

#include "base/units.h"
#include "chips/topology.h"
#include "record/device_trace.pb.h"
#include "record/run_record.pb.h"

namespace ptxla::driver {

// Times are those of one device. FLOPs and bytes too.
record::ProgramRecord MakeProgramRecord(const record::DeviceTrace& trace,
                                        const chips::Slice& slice);

// Peak of one device for the products of `dtype` ("bf16", "f32" …; any other
// counts as bf16, the type that MFU is quoted in).
FlopsPerSecond DevicePeak(const chips::Slice& slice, const std::string& dtype);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PROGRAM_RECORD_H_
