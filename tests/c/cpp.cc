// SPDX-License-Identifier: MIT OR Apache-2.0
// The C++ wrappers of the C interface. Prints TAP; the exit code is the number of failures.

#include <spfe/spfe.hpp>

#include <cstdio>
#include <cstring>
#include <type_traits>

namespace
{

int failures;
int number;

void check(bool good, const char *what)
{
	failures += !good;
	std::printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
}

template <typename Call> int code_of(Call call)
{
	try {
		call();
	} catch (const spfe::Error &error) {
		return std::strlen(error.what()) > 0 ? error.code() : 0;
	}
	return 0;
}

void pooled()
{
	spfe::Endpoint endpoint("virtual:");
	auto tx = endpoint.pooled_tx(0, 0, spfe::Options().depth(16).slot_bytes(256));
	auto rx = endpoint.pooled_rx(1, 0, spfe::Options().depth(16).slot_bytes(256));
	for (std::uint8_t value = 0; value < 10; value++) {
		std::memset(tx.slot(), value, 100);
		tx.stage(100);
	}
	tx.submit();
	rx.wait(10);
	int good = 0;
	for (spfe_packet packet = {}; rx.peek(packet); rx.release())
		good += packet.length == 100 && packet.data[99] == good;
	check(good == 10, "a group through pooled queues");
	spfe_sent sent = {};
	check(tx.poll(sent) && sent.packets == 10 && !tx.poll(sent), "one completion for the group");
}

void posted()
{
	spfe::Endpoint endpoint(std::string("virtual:"));
	auto region = endpoint.alloc(64 * 1024);
	auto buffers = region.split(1024, 16);
	check(region.size() == 64 * 1024 && buffers.size() == 16 && buffers[3].size() == 1024,
	      "buffers of a region");
	auto tx = endpoint.tx(0);
	auto rx = endpoint.rx(1);
	for (int index = 8; index < 16; index++)
		rx.post(buffers[index]);
	for (int index = 0; index < 8; index++) {
		buffers[index].resize(10 + index);
		std::memset(buffers[index].data(), index, buffers[index].size());
	}
	check(tx.send_group(buffers.data(), 8) == 8, "a group is taken");
	rx.wait(8);
	bool good = true;
	for (std::uint32_t index = 0; index < 8; index++) {
		spfe_received received = {};
		good &= rx.poll(received) && received.buf == buffers[8 + index].get() &&
			received.buf->length == 10 + index && received.buf->data[9] == index;
	}
	check(good, "received into posted buffers, in order");
	check(rx.stats().polls >= 8, "counters");
	bool thrown = false;
	try {
		buffers[0].resize(1025);
	} catch (const std::length_error &) {
		thrown = true;
	}
	check(thrown, "no length beyond the capacity");
}

void messages_and_remote_memory()
{
	spfe::Endpoint endpoint("virtual:");
	auto sender = endpoint.broadcast(0);
	auto listener = endpoint.broadcast(1, 7);
	sender.send({1, 2, 3, 4, 5, 6, 7, 8}, 7, 0x20);
	sender.drain();
	spfe_broadcast message = {};
	check(listener.poll(message) && message.data[7] == 8 && message.type == 0x20, "broadcast");
	auto master = endpoint.time_codes(2);
	auto slave = endpoint.time_codes(3);
	master.send(5);
	spfe_time_code code = {};
	check(slave.poll(code) && code.time == 5, "time-code");

	spfe::Endpoint target("virtual:?peer=rmap:1M");
	auto rmap = target.rmap(0);
	char back[6] = "";
	rmap.write(0x100, "hello", 6);
	rmap.read(0x100, back, 6);
	check(std::strcmp(back, "hello") == 0, "RMAP");
	check(code_of([&] { rmap.read(UINT64_C(0xff00000000), back, 6); }) == SPFE_RMAP_REFUSED - 10,
	      "a refused command is an exception");
}

void errors_and_ownership()
{
	static_assert(!std::is_copy_constructible<spfe::Tx>::value, "handles have one owner");
	static_assert(std::is_nothrow_move_constructible<spfe::Tx>::value, "and can be moved");

	check(code_of([] { spfe::Endpoint endpoint("nonsense"); }) == -SPFE_STATUS_BAD_FIELD,
	      "a wrong name is an exception");
	spfe::Endpoint endpoint("virtual:?time=virtual");
	check(endpoint.info().ports == 4 && endpoint.port_info(0).vcs > 0, "descriptions");
	endpoint.set_priority(0, 1, 3);
	check(endpoint.vc_info(0, 1).priority == 3 && endpoint.mib(0, "Priority[1]") == 3, "priority");
	{
		auto first = endpoint.tx(0);
		check(code_of([&] { endpoint.tx(0); }) == -SPFE_STATUS_BUSY, "one sender");
		spfe::Tx second = std::move(first);
		check(!first && second, "moved");
		second.close();
		second.close();
	}
	auto rx = endpoint.rx(0); // the virtual channel is free again
	try {
		rx.wait(1, endpoint.after_ns(1000));
		check(false, "a deadline");
	} catch (const spfe::Error &error) {
		check(error.timed_out() && !std::strcmp(error.name(), "TIMED_OUT"), "a deadline");
	}
	auto other = endpoint.tx(0);
	check(static_cast<bool>(other), "closed by its destructor");
}

} // namespace

int main()
{
	pooled();
	posted();
	messages_and_remote_memory();
	errors_and_ownership();
	std::printf("1..%d\n", number);
	return failures;
}
