// Device identity: how many emulated devices there are and which one a thread works on.
//
// Everything else in this folder asks here. The number of devices is fixed for the life of the process; the current
// device and the current stream belong to a thread, as on every real accelerator.
#pragma once

#include "profile.h"

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

namespace spyre {

constexpr auto kDeviceType = c10::DeviceType::PrivateUse1;
constexpr c10::DeviceIndex kMaxDevices = 8;

// SPYRE_DEVICE_COUNT, 1 to 8. The Python side has refused every other value before this library is loaded.
inline c10::DeviceIndex device_count() {
  static const c10::DeviceIndex count = [] {
    const char* text = std::getenv("SPYRE_DEVICE_COUNT");
    const long wanted = text ? std::strtol(text, nullptr, 10) : 1;
    return static_cast<c10::DeviceIndex>(wanted >= 1 && wanted <= kMaxDevices ? wanted : 1);
  }();
  return count;
}

inline thread_local c10::DeviceIndex current_device_of_thread = 0;
inline thread_local std::array<c10::StreamId, kMaxDevices> current_streams_of_thread{};

// Turns "no index" (-1) into the current device; raises for an index that no device has.
inline c10::DeviceIndex resolve(c10::DeviceIndex index) {
  if (index < 0) {
    return current_device_of_thread;
  }
  TORCH_CHECK(
      index < device_count(),
      DEVICE_NAME ": there is no device ", static_cast<int>(index), ", only ", static_cast<int>(device_count()),
      " (set SPYRE_DEVICE_COUNT to emulate more)");
  return index;
}

inline c10::Device device_at(c10::DeviceIndex index) {
  return {kDeviceType, resolve(index)};
}

} // namespace spyre
