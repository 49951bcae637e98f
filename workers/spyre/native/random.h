// Random numbers: one Mersenne generator per device, apart from the host's.
//
// CPU kernels draw from a CPU generator, so a device generator carries one and lends it for the length of a call.
// A seed therefore gives the same numbers as on the host, while the two sequences advance independently.
#pragma once

#include "devices.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>

#include <mutex>

namespace spyre {

class DeviceGenerator final : public c10::GeneratorImpl {
 public:
  explicit DeviceGenerator(c10::DeviceIndex device)
      : c10::GeneratorImpl(device_at(device), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        host_(at::detail::createCPUGenerator()) {}

  at::Generator& host() { return host_; }

  void set_current_seed(uint64_t seed) override { host_.set_current_seed(seed); }
  uint64_t current_seed() const override { return host_.current_seed(); }
  uint64_t seed() override { return host_.seed(); }
  void set_offset(uint64_t) override { no_offset(); }
  uint64_t get_offset() const override { no_offset(); }
  void set_state(const c10::TensorImpl& state) override { host_.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return host_.unsafeGetGeneratorImpl()->get_state();
  }

 private:
  DeviceGenerator* clone_impl() const override {
    auto* copy = new DeviceGenerator(device().index());
    copy->host_ = host_.clone();
    return copy;
  }

  // A Mersenne twister has no position to jump to.
  [[noreturn]] static void no_offset() { refuse("generator-offset", "generators of this device have no offset"); }

  at::Generator host_;
};

inline at::Generator make_generator(c10::DeviceIndex device) {
  return at::make_generator<DeviceGenerator>(resolve(device));
}

inline const at::Generator& default_generator(c10::DeviceIndex device) {
  static const auto* generators = [] {
    auto* made = new std::vector<at::Generator>;
    for (c10::DeviceIndex index = 0; index < device_count(); ++index) {
      made->push_back(make_generator(index));
    }
    return made;
  }();
  return (*generators)[resolve(device)];
}

// The CPU generator inside `generator`, which must belong to this device type.
inline at::Generator& host_generator(const at::Generator& generator) {
  TORCH_CHECK(
      generator.device().type() == kDeviceType,
      "Expected a '" DEVICE_NAME "' device type for generator but found '", generator.device().type(), "'");
  return static_cast<DeviceGenerator*>(generator.unsafeGetGeneratorImpl())->host();
}

// Some kernels (native_dropout) draw from the host's default generator and take no generator argument. For their
// length the host's default generator continues the device's sequence; afterwards both have their own state back.
class BorrowedDefaultGenerator {
 public:
  explicit BorrowedDefaultGenerator(c10::DeviceIndex device)
      : lock_(borrowing()), lender_(host_generator(default_generator(device))), saved_(shared().get_state()) {
    shared().set_state(lender_.get_state());
  }

  ~BorrowedDefaultGenerator() {
    lender_.set_state(shared().get_state());
    shared().set_state(saved_);
  }

  BorrowedDefaultGenerator(const BorrowedDefaultGenerator&) = delete;
  BorrowedDefaultGenerator& operator=(const BorrowedDefaultGenerator&) = delete;

 private:
  static at::Generator& shared() {
    static at::Generator generator = at::detail::getDefaultCPUGenerator();
    return generator;
  }

  static std::mutex& borrowing() {
    static auto* mutex = new std::mutex;
    return *mutex;
  }

  std::lock_guard<std::mutex> lock_;
  at::Generator& lender_;
  at::Tensor saved_;
};

} // namespace spyre
