// SPDX-License-Identifier: MIT OR Apache-2.0
//
// C++17 over the C interface (docs/c.md): objects that close themselves, and exceptions.
//
// Each class holds one handle of spfe.h, which get() returns; it can be moved and not copied. A
// negative result becomes an spfe::Error. Rules and parameters are those of the C function of the same
// name. A queue gives its posted buffers back when it is closed; destroy queues before the Buffers that
// were posted to them, or a Buffer's destructor cannot put it back.
#ifndef SPFE_HPP
#define SPFE_HPP

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "spfe/spfe.h"

namespace spfe
{

// A negative result of the C interface.
class Error : public std::runtime_error {
      public:
	explicit Error(int code) : std::runtime_error(spfe_error()), code_(code) {}

	// The negative result.
	int code() const noexcept { return code_; }
	// Such as "BUSY".
	const char *name() const noexcept { return spfe_status_name(code_); }
	// "local", "remote", "link" or "usage": where the cause is.
	const char *status_class() const noexcept { return spfe_status_class(code_); }
	bool timed_out() const noexcept { return code_ == SPFE_TIMED_OUT; }

      private:
	int code_;
};

// Returns a result that is not negative, and throws otherwise.
inline int check(int result)
{
	if (result < 0)
		throw Error(result);
	return result;
}

// Owner of a handle.
template <typename Handle, int (*Close)(Handle *)> class Owner {
      public:
	Owner() noexcept = default;
	explicit Owner(Handle *handle) noexcept : handle_(handle) {}
	Owner(Owner &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
	Owner &operator=(Owner &&other) noexcept
	{
		std::swap(handle_, other.handle_);
		return *this;
	}
	Owner(const Owner &) = delete;
	Owner &operator=(const Owner &) = delete;
	~Owner()
	{
		if (handle_)
			Close(handle_); // a destructor cannot report a failure; close() can
	}

	Handle *get() const noexcept { return handle_; }
	explicit operator bool() const noexcept { return handle_ != nullptr; }

	// Closes it now. On an error it stays open.
	void close()
	{
		if (handle_) {
			check(Close(handle_));
			handle_ = nullptr;
		}
	}

      private:
	Handle *handle_ = nullptr;
};

// Options of a queue, set by name: Options().depth(64).event().
class Options {
      public:
	Options &depth(std::uint32_t entries) { return set(&spfe_queue_options::depth, entries); }
	Options &slot_bytes(std::uint32_t n) { return set(&spfe_queue_options::slot_bytes, n); }
	Options &area_bytes(std::uint32_t n) { return set(&spfe_queue_options::area_bytes, n); }
	Options &strategy(spfe_strategy how) { return set(&spfe_queue_options::strategy, how); }
	Options &stamps() { return set(&spfe_queue_options::flags, options_.flags | SPFE_STAMPS); }
	Options &event() { return set(&spfe_queue_options::flags, options_.flags | SPFE_EVENT); }

	const spfe_queue_options *get() const noexcept { return &options_; }

      private:
	Options &set(std::uint32_t spfe_queue_options::*field, std::uint32_t value)
	{
		options_.*field = value;
		return *this;
	}

	spfe_queue_options options_ = SPFE_QUEUE_OPTIONS_INIT;
};

// A range of a region.
class Buffer : public Owner<spfe_buf, spfe_buf_put> {
      public:
	using Owner::Owner;

	std::uint8_t *data() const noexcept { return get()->data; }
	std::size_t size() const noexcept { return get()->length; }
	std::size_t capacity() const noexcept { return get()->capacity; }
	std::uint8_t *begin() const noexcept { return data(); }
	std::uint8_t *end() const noexcept { return data() + size(); }

	// Sets the number of bytes in use.
	void resize(std::size_t bytes)
	{
		if (bytes > capacity())
			throw std::length_error("spfe::Buffer: more bytes than its capacity");
		get()->length = static_cast<std::uint32_t>(bytes);
	}
};

// Registered memory.
class Region : public Owner<spfe_region, spfe_region_free> {
      public:
	using Owner::Owner;

	std::size_t size() const noexcept { return spfe_region_size(get()); }

	Buffer buffer(std::size_t offset, std::size_t bytes) const
	{
		spfe_buf *buf = nullptr;
		check(spfe_buf_get(get(), offset, bytes, &buf));
		return Buffer(buf);
	}

	// Adjacent buffers from the start of the region.
	std::vector<Buffer> split(std::size_t bytes, std::size_t count) const
	{
		std::vector<Buffer> buffers;
		buffers.reserve(count);
		for (std::size_t number = 0; number < count; number++)
			buffers.push_back(buffer(number * bytes, bytes));
		return buffers;
	}
};

// What all queues have.
class Queue : public Owner<spfe_queue, spfe_queue_close> {
      public:
	using Owner::Owner;

	// Waits for a number of packets or completions, and leaves them to be polled.
	spfe_ready wait(std::uint32_t count = 1, std::uint64_t deadline_ns = SPFE_NEVER)
	{
		spfe_threshold threshold = {};
		threshold.count = count;
		return wait(threshold, deadline_ns);
	}
	spfe_ready wait(const spfe_threshold &threshold, std::uint64_t deadline_ns = SPFE_NEVER)
	{
		return static_cast<spfe_ready>(
			check(spfe_queue_wait(get(), &threshold, deadline_ns)));
	}

	// Ends the wait of another thread, or the next one.
	void cancel() { check(spfe_queue_cancel(get())); }
	int fd() const { return check(spfe_queue_fd(get())); }
	// True if the threshold is met already.
	bool request_event(const spfe_threshold *threshold = nullptr)
	{
		return check(spfe_queue_request_event(get(), threshold)) == 1;
	}
	struct spfe_queue_stats stats() const
	{
		struct spfe_queue_stats stats = {};
		stats.size = sizeof stats;
		check(spfe_queue_stats(get(), &stats));
		return stats;
	}

      protected:
	// Takes what a poll function finds.
	template <typename Found> bool poll(int (*take)(spfe_queue *, Found *), Found &found)
	{
		return check(take(get(), &found)) == 1;
	}
};

// Transmit queue with buffers of the program.
class Tx : public Queue {
      public:
	using Queue::Queue;

	// The buffer stays the caller's object; do not touch its bytes until it has been sent.
	void send(const Buffer &buffer, spfe_end end = SPFE_EOP)
	{
		check(spfe_send(get(), buffer.get(), end));
	}
	// Sends a group and returns how many buffers were taken from the front.
	std::uint32_t send_group(const Buffer *buffers, std::uint32_t count)
	{
		std::vector<spfe_buf *> list;
		list.reserve(count);
		for (std::uint32_t number = 0; number < count; number++)
			list.push_back(buffers[number].get());
		return static_cast<std::uint32_t>(check(spfe_send_group(get(), list.data(), count)));
	}
	std::uint32_t send_group(const std::vector<Buffer> &buffers)
	{
		return send_group(buffers.data(), static_cast<std::uint32_t>(buffers.size()));
	}
	void send_with_path(const std::uint8_t *path, std::uint32_t bytes, const Buffer &buffer)
	{
		check(spfe_send_with_path(get(), path, bytes, buffer.get()));
	}
	void send_burst(const Buffer &buffer, std::uint32_t length, std::uint32_t stride,
			std::uint32_t count)
	{
		check(spfe_send_burst(get(), buffer.get(), length, stride, count));
	}
	// Takes the next completion. False if there is none.
	bool poll(spfe_sent &sent) { return Queue::poll(spfe_sent_poll, sent); }
};

// Receive queue with buffers of the program.
class Rx : public Queue {
      public:
	using Queue::Queue;

	// The buffer stays the caller's object; its bytes are the device's until it is received.
	void post(const Buffer &buffer) { check(spfe_rx_post(get(), buffer.get())); }
	// Takes the next packet or part of one. False if there is none.
	bool poll(spfe_received &received) { return Queue::poll(spfe_rx_poll, received); }
};

// Transmit queue with buffers of its own: reserve, fill, submit.
class PooledTx : public Queue {
      public:
	using Queue::Queue;

	// The next free slot; nullptr while all are busy.
	std::uint8_t *slot(std::uint32_t *capacity = nullptr)
	{
		std::uint8_t *data = nullptr;
		return check(spfe_slot(get(), &data, capacity)) == 1 ? data : nullptr;
	}
	void send(std::uint32_t length) { check(spfe_slot_send(get(), length)); }
	void stage(std::uint32_t length) { check(spfe_slot_stage(get(), length)); }
	void submit() { check(spfe_slot_submit(get())); }
	bool poll(spfe_sent &sent) { return Queue::poll(spfe_sent_poll, sent); }
};

// Receive queue with buffers of its own: peek, use, release.
class PooledRx : public Queue {
      public:
	using Queue::Queue;

	// The next packet, in its slot. False if there is none. The same until it is released.
	bool peek(spfe_packet &packet) { return Queue::poll(spfe_slot_peek, packet); }
	void release() { check(spfe_slot_release(get())); }
};

// Receive queue for many small packets.
class PackedRx : public Queue {
      public:
	using Queue::Queue;

	// Takes the next run of records, which spfe_run_next() walks. False if there is none.
	bool poll(spfe_run &run) { return Queue::poll(spfe_run_poll, run); }
	void release() { check(spfe_run_release(get())); }
};

// Broadcast messages of a SpaceFibre port.
class Broadcast : public Queue {
      public:
	using Queue::Queue;

	void send(const std::uint8_t (&data)[8], std::uint8_t channel = 0, std::uint8_t type = 0)
	{
		check(spfe_broadcast_send(get(), channel, type, data));
	}
	bool poll(spfe_broadcast &message) { return Queue::poll(spfe_broadcast_poll, message); }
	void drain(std::uint64_t deadline_ns = SPFE_NEVER)
	{
		check(spfe_messages_drain(get(), deadline_ns));
	}
};

// Time-codes of a SpaceWire port.
class TimeCodes : public Queue {
      public:
	using Queue::Queue;

	void send(std::uint8_t time, std::uint8_t flags = 0)
	{
		check(spfe_time_code_send(get(), time, flags));
	}
	bool poll(spfe_time_code &code) { return Queue::poll(spfe_time_code_poll, code); }
	void drain(std::uint64_t deadline_ns = SPFE_NEVER)
	{
		check(spfe_messages_drain(get(), deadline_ns));
	}
};

// RMAP initiator.
class Rmap : public Owner<spfe_rmap, spfe_rmap_close> {
      public:
	using Owner::Owner;

	void read(std::uint64_t address, void *data, std::size_t bytes,
		  std::uint64_t deadline_ns = SPFE_NEVER)
	{
		check(spfe_rmap_read(get(), address, data, bytes, deadline_ns));
	}
	void write(std::uint64_t address, const void *data, std::size_t bytes,
		   std::uint64_t deadline_ns = SPFE_NEVER)
	{
		check(spfe_rmap_write(get(), address, data, bytes, deadline_ns));
	}
	void modify(std::uint64_t address, const void *data, const void *mask, void *old,
		    std::size_t bytes, std::uint64_t deadline_ns = SPFE_NEVER)
	{
		check(spfe_rmap_modify(get(), address, data, mask, old, bytes, deadline_ns));
	}
};

// An open device.
class Endpoint : public Owner<spfe_endpoint, spfe_close> {
      public:
	explicit Endpoint(const char *name) : Owner(open(name)) {}
	explicit Endpoint(const std::string &name) : Endpoint(name.c_str()) {}

	Tx tx(std::uint32_t port, std::uint32_t vc = 0, const Options &options = Options()) const
	{
		return Tx(queue(spfe_tx_open, port, vc, options));
	}
	Rx rx(std::uint32_t port, std::uint32_t vc = 0, const Options &options = Options()) const
	{
		return Rx(queue(spfe_rx_open, port, vc, options));
	}
	PooledTx pooled_tx(std::uint32_t port, std::uint32_t vc = 0,
			   const Options &options = Options()) const
	{
		return PooledTx(queue(spfe_pooled_tx_open, port, vc, options));
	}
	PooledRx pooled_rx(std::uint32_t port, std::uint32_t vc = 0,
			   const Options &options = Options()) const
	{
		return PooledRx(queue(spfe_pooled_rx_open, port, vc, options));
	}
	PackedRx packed_rx(std::uint32_t port, std::uint32_t vc = 0,
			   const Options &options = Options()) const
	{
		return PackedRx(queue(spfe_packed_rx_open, port, vc, options));
	}
	Broadcast broadcast(std::uint32_t port, int channel = SPFE_ANY, int type = SPFE_ANY,
			    const Options &options = Options()) const
	{
		spfe_queue *handle = nullptr;
		check(spfe_broadcast_open(get(), port, channel, type, options.get(), &handle));
		return Broadcast(handle);
	}
	TimeCodes time_codes(std::uint32_t port, const Options &options = Options()) const
	{
		spfe_queue *handle = nullptr;
		check(spfe_time_code_open(get(), port, options.get(), &handle));
		return TimeCodes(handle);
	}
	Rmap rmap(std::uint32_t port, std::uint32_t vc = 0,
		  const spfe_rmap_options *options = nullptr) const
	{
		spfe_rmap *handle = nullptr;
		check(spfe_rmap_open(get(), port, vc, options, &handle));
		return Rmap(handle);
	}
	Region alloc(std::size_t bytes) const
	{
		spfe_region *region = nullptr;
		check(spfe_region_alloc(get(), bytes, &region));
		return Region(region);
	}

	std::uint64_t now_ns() const noexcept { return spfe_now_ns(get()); }
	// A deadline in so many ns.
	std::uint64_t after_ns(std::uint64_t ns) const noexcept { return now_ns() + ns; }
	struct spfe_endpoint_info info() const
	{
		struct spfe_endpoint_info info = {};
		info.size = sizeof info;
		check(spfe_endpoint_info(get(), &info));
		return info;
	}
	struct spfe_port_info port_info(std::uint32_t port) const
	{
		struct spfe_port_info info = {};
		info.size = sizeof info;
		check(spfe_port_info(get(), port, &info));
		return info;
	}
	struct spfe_vc_info vc_info(std::uint32_t port, std::uint32_t vc) const
	{
		struct spfe_vc_info info = {};
		info.size = sizeof info;
		check(spfe_vc_info(get(), port, vc, &info));
		return info;
	}
	void set_priority(std::uint32_t port, std::uint32_t vc, std::uint8_t priority)
	{
		check(spfe_vc_set_priority(get(), port, vc, priority));
	}
	std::uint64_t mib(std::uint32_t port, const std::string &name) const
	{
		std::uint64_t value = 0;
		check(spfe_mib_get(get(), port, name.c_str(), &value));
		return value;
	}
	void set_mib(std::uint32_t port, const std::string &name, std::uint64_t value)
	{
		check(spfe_mib_set(get(), port, name.c_str(), value));
	}

      private:
	using Open = int(spfe_endpoint *, std::uint32_t, std::uint32_t, const spfe_queue_options *,
			 spfe_queue **);

	static spfe_endpoint *open(const char *name)
	{
		spfe_endpoint *endpoint = nullptr;
		check(spfe_open(name, &endpoint));
		return endpoint;
	}
	spfe_queue *queue(Open *opens, std::uint32_t port, std::uint32_t vc,
			  const Options &options) const
	{
		spfe_queue *handle = nullptr;
		check(opens(get(), port, vc, options.get(), &handle));
		return handle;
	}
};

} // namespace spfe

#endif
