// Local time of a named zone, from the system's tz database (/usr/share/zoneinfo, TZif of RFC 8536).
// The C library knows one zone per process, from the environment; the box's zone is a setting.
//
// Threading: any thread; reads a small file.
#pragma once
#include <string_view>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace samovar::api {

// The form of a zone's name, "Europe/Berlin"; whether it exists is for zone_known.
bool zone_name_valid(std::string_view name) noexcept;
// True also when this system has no tz database to ask.
bool zone_known(std::string_view name);

// Seconds east of UTC at `time`; UTC when the zone cannot be read.
std::chrono::seconds zone_offset(std::string_view name, WallTime time);
// When the local day of `time` began.
WallTime local_midnight(std::string_view zone, WallTime time);

// The parser apart: offset at a unix time. Errc::corrupt for anything that is no TZif.
Result<std::int64_t> tzif_offset(ByteView file, std::int64_t unix_seconds);

}  // namespace samovar::api
