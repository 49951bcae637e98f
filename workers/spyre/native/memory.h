// Device memory: host memory in sticks of 128 bytes, counted per device.
//
// Two kinds of block exist. An *own* block was asked for by torch (empty, resize). An *adopted* block is the result of a
// CPU kernel: its bytes stay where the kernel put them and belong to the device from then on. Both are counted, so the
// statistics of torch.accelerator tell what a real device would have to hold.
#pragma once

#include "devices.h"

#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Storage.h>
#include <c10/core/impl/COW.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include <unistd.h>

namespace spyre {

constexpr size_t kStickBytes = 128;

inline size_t whole_sticks(size_t bytes) {
  return (bytes + kStickBytes - 1) / kStickBytes * kStickBytes;
}

// What each device holds. Leaked on purpose: tensors may die after static objects do.
class Ledger {
 public:
  static Ledger& instance() {
    static auto* ledger = new Ledger;
    return *ledger;
  }

  // Raises when the profile's device has no room left.
  void charge(c10::DeviceIndex device, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& stats = stats_[device];
    require_room(static_cast<uint64_t>(stats.allocated_bytes[kAll].current), whole_sticks(bytes));
    each_total(stats, [&](c10::CachingAllocator::Stat& total) { total.increase(whole_sticks(bytes)); });
    stats.requested_bytes[kAll].increase(bytes);
    stats.allocation[kAll].increase(1);
    stats.num_device_alloc++;
  }

  void discharge(c10::DeviceIndex device, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& stats = stats_[device];
    each_total(stats, [&](c10::CachingAllocator::Stat& total) { total.decrease(whole_sticks(bytes)); });
    stats.requested_bytes[kAll].decrease(bytes);
    stats.allocation[kAll].decrease(1);
    stats.num_device_free++;
  }

  c10::CachingDeviceAllocator::DeviceStats read(c10::DeviceIndex device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stats_[resolve(device)];
  }

  int64_t held(c10::DeviceIndex device) { return read(device).allocated_bytes[kAll].current; }

  void reset_accumulated(c10::DeviceIndex device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& stats = stats_[resolve(device)];
    each_total(stats, [](c10::CachingAllocator::Stat& total) { total.reset_accumulated(); });
    stats.requested_bytes[kAll].reset_accumulated();
    stats.allocation[kAll].reset_accumulated();
    stats.num_device_alloc = stats.num_device_free = 0;
  }

  void reset_peak(c10::DeviceIndex device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& stats = stats_[resolve(device)];
    each_total(stats, [](c10::CachingAllocator::Stat& total) { total.reset_peak(); });
    stats.requested_bytes[kAll].reset_peak();
    stats.allocation[kAll].reset_peak();
  }

 private:
  static constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

  static void require_room(uint64_t held, uint64_t wanted) {
    if (wanted > profile().capacity || held > profile().capacity - wanted) {
      C10_THROW_ERROR(
          OutOfMemoryError,
          refusal_text("capacity", c10::str("out of memory: ", held, " bytes are held, ", wanted, " more are wanted")));
    }
  }

  // Nothing is cached, so the three totals that torch keeps are always equal.
  template <typename Change>
  static void each_total(c10::CachingDeviceAllocator::DeviceStats& stats, Change change) {
    change(stats.allocated_bytes[kAll]);
    change(stats.reserved_bytes[kAll]);
    change(stats.active_bytes[kAll]);
  }

  std::mutex mutex_;
  std::array<c10::CachingDeviceAllocator::DeviceStats, kMaxDevices> stats_;
};

// Memory of the device's own. What is known of it stands one stick before it, because torch's lazy clones want the
// context of a data pointer to be the memory itself.
struct OwnBlock {
  size_t bytes;
  c10::DeviceIndex device;

  static void release(void* memory) {
    void* start = static_cast<char*>(memory) - kStickBytes;
    const auto* block = static_cast<const OwnBlock*>(start);
    Ledger::instance().discharge(block->device, block->bytes);
    std::free(start);
  }
};
static_assert(sizeof(OwnBlock) <= kStickBytes);

// Memory that a CPU kernel allocated. `lender` is its CPU storage and keeps it alive.
struct AdoptedBlock {
  c10::Storage lender;
  size_t bytes;
  c10::DeviceIndex device;

  static void release(void* context) {
    auto* block = static_cast<AdoptedBlock*>(context);
    Ledger::instance().discharge(block->device, block->bytes);
    delete block;
  }
};

inline c10::DataPtr no_memory(c10::DeviceIndex device) {
  return {nullptr, device_at(device)};
}

inline c10::DataPtr own_memory(c10::DeviceIndex device, size_t bytes) {
  if (bytes == 0) {
    return no_memory(device);
  }
  Ledger::instance().charge(device, bytes);
  void* start = nullptr;
  const bool fits =
      bytes <= PTRDIFF_MAX && posix_memalign(&start, kStickBytes, kStickBytes + whole_sticks(bytes)) == 0;
  if (!fits) {
    Ledger::instance().discharge(device, bytes);
    TORCH_CHECK_WITH(OutOfMemoryError, false, DEVICE_NAME ": out of memory: cannot allocate ", bytes, " bytes");
  }
  new (start) OwnBlock{bytes, device};
  auto* memory = static_cast<char*>(start) + kStickBytes;
  if (profile().poisoned) { // all bits set is not a number in every float format
    std::memset(memory + bytes, 0xFF, whole_sticks(bytes) - bytes);
  }
  return {memory, memory, &OwnBlock::release, device_at(device)};
}

// Memory that a CPU kernel allocated becomes device memory; without a copy, unless the rest of its last stick matters.
inline c10::DataPtr adopted_memory(c10::DeviceIndex device, const c10::Storage& lender) {
  if (lender.nbytes() == 0 || lender.data() == nullptr) {
    return no_memory(device);
  }
  if (profile().poisoned) {
    auto own = own_memory(device, lender.nbytes());
    std::memcpy(own.get(), lender.data(), lender.nbytes());
    return own;
  }
  Ledger::instance().charge(device, lender.nbytes());
  auto* block = new AdoptedBlock{lender, lender.nbytes(), device};
  return {lender.mutable_data(), block, &AdoptedBlock::release, device_at(device)};
}

class DeviceAllocator final : public c10::DeviceAllocator {
 public:
  static DeviceAllocator* instance() {
    static auto* allocator = new DeviceAllocator;
    return allocator;
  }

  c10::DataPtr allocate(size_t bytes) override { return own_memory(current_device_of_thread, bytes); }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {} // nothing is cached
  void recordStream(const c10::DataPtr&, c10::Stream) override {} // every call has finished when it returns
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    return Ledger::instance().read(device);
  }
  void resetAccumulatedStats(c10::DeviceIndex device) override { Ledger::instance().reset_accumulated(device); }
  void resetPeakStats(c10::DeviceIndex device) override { Ledger::instance().reset_peak(device); }

  // Free and total bytes: each device may fill the host's memory, and other programs are not its business.
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    static const auto total = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
    const auto held = static_cast<size_t>(Ledger::instance().held(device));
    return {total - std::min(held, total), total};
  }
};

// Pinned memory is host memory that the device has been told about: tensors on it are CPU tensors.
class PinnedAllocator final : public at::HostAllocator {
 public:
  static PinnedAllocator* instance() {
    static auto* allocator = new PinnedAllocator;
    return allocator;
  }

  c10::DataPtr allocate(size_t bytes) override {
    void* memory = nullptr;
    const bool fits = bytes <= PTRDIFF_MAX && posix_memalign(&memory, kStickBytes, whole_sticks(bytes + 1)) == 0;
    TORCH_CHECK_WITH(OutOfMemoryError, fits, DEVICE_NAME ": out of memory: cannot pin ", bytes, " bytes");
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto length = blocks_[reinterpret_cast<uintptr_t>(memory)] = std::max<size_t>(bytes, 1);
    stats_.active_requests.increase(1);
    stats_.allocations.increase(1);
    stats_.active_bytes.increase(length);
    stats_.allocated_bytes.increase(length);
    stats_.num_host_alloc++;
    return {memory, memory, &unpin, c10::Device(c10::kCPU)};
  }

  bool owns(const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const std::lock_guard<std::mutex> lock(mutex_);
    auto after = blocks_.upper_bound(address);
    return after != blocks_.begin() && address < (--after)->first + after->second;
  }

  bool record_event(void*, void*, c10::Stream) override { return true; } // every call has finished when it returns
  void empty_cache() override {} // nothing is cached
  at::HostStats get_stats() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stats_;
  }
  void reset_accumulated_stats() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    each_total([](c10::CachingAllocator::Stat& total) { total.reset_accumulated(); });
    stats_.num_host_alloc = stats_.num_host_free = 0;
  }
  void reset_peak_stats() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    each_total([](c10::CachingAllocator::Stat& total) { total.reset_peak(); });
  }

  c10::DeleterFnPtr raw_deleter() const override { return &unpin; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }

 private:
  static void unpin(void* memory) {
    instance()->forget(memory);
    std::free(memory);
  }

  void forget(void* memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto block = blocks_.find(reinterpret_cast<uintptr_t>(memory));
    stats_.active_requests.decrease(1);
    stats_.allocations.decrease(1);
    stats_.active_bytes.decrease(block->second);
    stats_.allocated_bytes.decrease(block->second);
    stats_.num_host_free++;
    blocks_.erase(block);
  }

  template <typename Change>
  void each_total(Change change) {
    for (auto* total : {&stats_.active_requests, &stats_.allocations, &stats_.active_bytes, &stats_.allocated_bytes}) {
      change(*total);
    }
  }

  std::mutex mutex_;
  std::map<uintptr_t, size_t> blocks_; // start -> length
  at::HostStats stats_;
};

// torch.accelerator.empty_host_cache() asks the registry and does not expect it to be empty.
REGISTER_HOST_ALLOCATOR(c10::DeviceType::PrivateUse1, PinnedAllocator::instance())

// Copies adopted memory into memory of the device's own. Lazy clones share no other kind.
inline void own_for_sharing(const c10::Storage& storage) {
  const auto& data = storage.data_ptr();
  if (data.get_context() == data.get() || c10::impl::cow::is_cow_data_ptr(data)) {
    return;
  }
  auto own = own_memory(storage.device().index(), storage.nbytes());
  std::memcpy(own.get(), data.get(), storage.nbytes());
  storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(own));
}

// Gives a storage new memory of another size and keeps what fits.
inline void resize_memory(const c10::Storage& storage, size_t bytes) {
  auto fresh = own_memory(storage.device().index(), bytes);
  const auto kept = std::min(bytes, storage.nbytes());
  if (kept != 0) {
    std::memcpy(fresh.get(), storage.data(), kept);
  }
  storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(fresh));
  storage.unsafeGetStorageImpl()->set_nbytes(bytes);
}

} // namespace spyre
