// The runtime face of the device: guard (devices, streams, events) and hooks (what torch asks an accelerator).
//
// The device is synchronous: an operator has finished when its call returns. So streams are identities without a queue,
// waiting never blocks, and an event is the moment at which it was recorded.
#pragma once

#include "memory.h"
#include "random.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <chrono>

namespace spyre {

struct Guard final : c10::impl::DeviceGuardImplInterface {
  using Moment = std::chrono::steady_clock::time_point;

  c10::DeviceType type() const override { return kDeviceType; }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }
  c10::Device getDevice() const override { return device_at(current_device_of_thread); }
  void setDevice(c10::Device device) const override { current_device_of_thread = resolve(device.index()); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    current_device_of_thread = std::max<c10::DeviceIndex>(device.index(), 0);
  }
  c10::Device exchangeDevice(c10::Device device) const override {
    const auto before = getDevice();
    setDevice(device);
    return before;
  }
  c10::DeviceCapability getDeviceCapability(c10::Device) const override {
    c10::DeviceCapability capability; // every dtype
    if (!profile().advertised.empty()) {
      capability.capability_data.capability_bits = profile().advertised.bits(); // both count dtypes in torch's order
    }
    return capability;
  }

  c10::Stream getDefaultStream(c10::Device device) const override { return stream(device, 0); }
  c10::Stream getStream(c10::Device device) const override {
    return stream(device, current_streams_of_thread[resolve(device.index())]);
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    static std::atomic<c10::StreamId> last{0};
    return stream(device, ++last);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override { return getNewStream(device, 0); }
  c10::Stream exchangeStream(c10::Stream next) const override {
    const auto before = getStream(next.device());
    current_streams_of_thread[resolve(next.device_index())] = next.id();
    return before;
  }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeDevice(c10::DeviceIndex device) const override { resolve(device); }
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}

  void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {
    delete static_cast<Moment*>(*event);
    *event = new Moment(std::chrono::steady_clock::now());
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<Moment*>(event); }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  double elapsedTime(void* from, void* to, c10::DeviceIndex) const override {
    TORCH_CHECK(from && to, DEVICE_NAME ": both events must be recorded before their distance in time is known");
    return std::chrono::duration<double, std::milli>(*static_cast<Moment*>(to) - *static_cast<Moment*>(from)).count();
  }

 private:
  static c10::Stream stream(c10::Device device, c10::StreamId id) {
    return c10::Stream(c10::Stream::UNSAFE, device_at(device.index()), id);
  }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex device) const override { return device < device_count(); }

  c10::DeviceIndex deviceCount() const override { return device_count(); }
  c10::DeviceIndex getCurrentDevice() const override { return current_device_of_thread; }
  void setCurrentDevice(c10::DeviceIndex device) const override { current_device_of_thread = resolve(device); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    return std::exchange(current_device_of_thread, resolve(device));
  }
  // "Maybe" allows a negative index, which leaves the device as it is.
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override { return exchangeDevice(device); }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override { return make_generator(device); }

  bool isPinnedPtr(const void* pointer) const override { return PinnedAllocator::instance()->owns(pointer); }
  at::Allocator* getPinnedMemoryAllocator() const override { return PinnedAllocator::instance(); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    resize_memory(storage, bytes);
  }
  c10::Device getDeviceFromPtr(void*) const override {
    if (device_count() > 1) {
      refuse("pointer-device", "with several devices the device of a bare pointer is not known");
    }
    return device_at(0);
  }
};

} // namespace spyre
