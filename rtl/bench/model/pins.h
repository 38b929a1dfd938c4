// Pins of the core, as wide as in the widest build, and the functions of a built library.
// src/model.rs has the same structures.
#pragma once
#include <stdint.h>

// Version of this interface; src/model.rs refuses libraries with another one.
#define SPFE_TCP_ABI 1

extern "C" {

struct spfe_tcp_in {
    uint64_t mac_rx_data;
    uint64_t user_tx_data[2];
    uint32_t wdata;
    uint16_t user_tx_keep, user_tx_sid, user_tx_len, user_tx_sum;
    uint16_t awaddr, araddr;
    uint8_t mac_rx_keep, mac_rx_valid, mac_rx_last, mac_rx_err;
    uint8_t mac_tx_ready;
    uint8_t user_tx_valid, user_tx_last, user_tx_mode, user_tx_push;
    uint8_t user_rx_ready, event_ready;
    uint8_t wstrb, awvalid, wvalid, bready, arvalid, rready;
    uint8_t rst, tick;
    uint8_t reserved[5];
};

struct spfe_tcp_out {
    uint64_t mac_tx_data;
    uint64_t user_rx_data[2];
    uint64_t event_data;
    uint32_t user_rx_rel, rdata;
    uint16_t user_rx_keep, user_rx_sid;
    uint8_t mac_tx_keep, mac_tx_valid, mac_tx_last, mac_tx_err;
    uint8_t user_tx_ready;
    uint8_t user_rx_valid, user_rx_last, user_rx_err, user_rx_oos;
    uint8_t event_valid;
    uint8_t awready, wready, bresp, bvalid, arready, rresp, rvalid;
    uint8_t reserved[3];
};

// Behaviour of the memory for retransmission.
struct spfe_tcp_memory {
    uint32_t latency;   // cycles from a read to its answer, 1 to 64
    uint32_t wr_stall;  // cycles of 256 in which writes are refused, on average
    uint32_t rd_stall;  // the same for reads
    uint32_t seed;      // seed of the random stalls
};

uint32_t spfe_tcp_abi(void);
void *spfe_tcp_new(void);
void spfe_tcp_free(void *model);
void spfe_tcp_set_memory(void *model, const spfe_tcp_memory *memory);
// Runs one clock: applies `in`, samples `out` before the rising edge, then applies the edge.
// Returns the number of assertions of the core that have failed so far.
uint32_t spfe_tcp_step(void *model, const spfe_tcp_in *in, spfe_tcp_out *out);
// Runs at most `n` clocks with `in`, with `tick` in the first one only. Stops before a clock in
// which the core asserts valid on an output stream. Returns the number of clocks run.
uint32_t spfe_tcp_idle(void *model, const spfe_tcp_in *in, uint32_t n);
// Text of the first assertion that failed; empty if none did.
const char *spfe_tcp_failure(void *model);
}
