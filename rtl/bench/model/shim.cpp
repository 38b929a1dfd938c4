// A Verilated core behind the C functions of pins.h, with the memory for retransmission beside it.
#include "pins.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "Vcore.h"
#include "verilated.h"

static_assert(sizeof(spfe_tcp_in) == 64 && sizeof(spfe_tcp_out) == 64, "src/model.rs has the same");

namespace {

constexpr unsigned SID_BITS = 9; // SidBits of spfe_tcp_pkg

// A port of a packed struct, or a plain one: up to 64 bits are an integer, more are an array of
// 32-bit words. Bit 0 of the port is the lowest bit of the struct's last member.
template <typename Port> uint32_t word(const Port &port, unsigned i) { return uint32_t(uint64_t(port) >> (32 * i)); }
template <std::size_t N> uint32_t word(const VlWide<N> &port, unsigned i) { return port[i]; }
template <typename Port> void set_word(Port &port, unsigned i, uint32_t value) {
    const unsigned shift = 32 * i;
    port = Port((uint64_t(port) & ~(uint64_t(0xffffffff) << shift)) | uint64_t(value) << shift);
}
template <std::size_t N> void set_word(VlWide<N> &port, unsigned i, uint32_t value) { port[i] = value; }

// Writes the members of a struct port, the last one first.
template <typename Port> class Writer {
  public:
    explicit Writer(Port &port) : port_(port) {}
    Writer &put(uint64_t value, unsigned bits) {
        for (unsigned done = 0; done < bits;) {
            const unsigned at = bit_ % 32, count = std::min(32 - at, bits - done);
            const uint32_t mask = uint32_t((uint64_t(1) << count) - 1);
            const uint32_t part = uint32_t(value >> done) & mask;
            set_word(port_, bit_ / 32, (word(port_, bit_ / 32) & ~(mask << at)) | part << at);
            bit_ += count;
            done += count;
        }
        return *this;
    }

  private:
    Port &port_;
    unsigned bit_ = 0;
};

// Reads the members of a struct port, the last one first.
template <typename Port> class Reader {
  public:
    explicit Reader(const Port &port) : port_(port) {}
    uint64_t get(unsigned bits) {
        uint64_t value = 0;
        for (unsigned done = 0; done < bits;) {
            const unsigned at = bit_ % 32, count = std::min(32 - at, bits - done);
            const uint32_t mask = uint32_t((uint64_t(1) << count) - 1);
            value |= uint64_t(word(port_, bit_ / 32) >> at & mask) << done;
            bit_ += count;
            done += count;
        }
        return value;
    }

  private:
    const Port &port_;
    unsigned bit_ = 0;
};

struct Word {
    uint8_t byte[16];
};

#ifdef CORE_HAS_MEMORY
// The core contains the memory; only its clock is driven here, at two thirds of the core's rate.
class Memory {
  public:
    explicit Memory(std::size_t) {}
    void configure(const spfe_tcp_memory &) {}
    void offer(Vcore &core) { step(core); }
    void take(Vcore &core) { step(core); }

  private:
    // Half a clock of the core.
    void step(Vcore &core) {
        core.mem_rst_i = core.rst_i;
        core.mem_clk_i = half_++ % 3 == 0;
    }
    uint32_t half_ = 0;
};
#else
// Memory for retransmission: answers reads in order after a fixed time, and may refuse requests.
class Memory {
  public:
    explicit Memory(std::size_t words) : word_(words), pending_(64) {}

    void configure(const spfe_tcp_memory &how) {
        how_ = how;
        if (how_.latency < 1) how_.latency = 1;
        if (how_.latency > 64) how_.latency = 64;
        random_ = how.seed | 1u;
    }
    // Drives the inputs of the core in this cycle.
    void offer(Vcore &core) {
        now_ = (now_ + 1) % pending_.size();
        core.mem_wr_ready_i = !stalls(how_.wr_stall);
        core.mem_rd_ready_i = !stalls(how_.rd_stall);
        Answer &answer = pending_[now_];
        core.mem_rsp_valid_i = answer.valid;
        if (answer.valid) std::memcpy(&core.mem_rsp_i[0], answer.data.byte, 16);
        answer.valid = false;
    }
    // Accepts the requests of the core in this cycle.
    void take(Vcore &core) {
        if (core.mem_rd_valid_o && core.mem_rd_ready_i) {
            Answer &answer = pending_[(now_ + how_.latency) % pending_.size()];
            answer.valid = true;
            answer.data = word_[core.mem_rd_o % word_.size()];
        }
        if (core.mem_wr_valid_o && core.mem_wr_ready_i) {
            Reader write(core.mem_wr_o); // mem_write_t
            const uint64_t mask = write.get(16);
            const uint64_t data[2] = {write.get(64), write.get(64)};
            Word &word = word_[write.get(32) % word_.size()];
            for (int i = 0; i < 16; i++)
                if (mask >> i & 1) word.byte[i] = uint8_t(data[i / 8] >> (8 * (i % 8)));
        }
    }

  private:
    struct Answer {
        bool valid = false;
        Word data = {};
    };
    bool stalls(uint32_t share) {
        if (share == 0) return false;
        random_ ^= random_ << 13;
        random_ ^= random_ >> 17;
        random_ ^= random_ << 5;
        return (random_ >> 8 & 0xff) < share;
    }

    std::vector<Word> word_;
    std::vector<Answer> pending_;
    std::size_t now_ = 0;
    spfe_tcp_memory how_ = {2, 0, 0, 1};
    uint32_t random_ = 1;
};
#endif

struct Model {
    VerilatedContext context;
    std::unique_ptr<Vcore> core;
    Memory memory{std::size_t(1) << TX_MEM_ADDR_BITS};
    bool settled = false; // the memory has driven its signals for this clock
    uint32_t failures = 0;
    std::string failure;
};

thread_local Model *current = nullptr;

void apply(Vcore &core, const spfe_tcp_in &in) {
    core.rst_i = in.rst;
    core.tick_i = in.tick;
    // The structs of rtl/tcp/spfe_tcp_io_pkg.sv, their last members first.
    Writer(core.mac_rx_i).put(in.mac_rx_err, 1).put(in.mac_rx_last, 1).put(in.mac_rx_keep, 8).put(in.mac_rx_data, 64);
    core.mac_rx_valid_i = in.mac_rx_valid;
    core.mac_tx_ready_i = in.mac_tx_ready;
    Writer(core.user_tx_i)
        .put(in.user_tx_push, 1)
        .put(in.user_tx_sum, 16)
        .put(in.user_tx_len, 16)
        .put(in.user_tx_mode, 2)
        .put(in.user_tx_sid, SID_BITS)
        .put(in.user_tx_last, 1)
        .put(in.user_tx_keep, 16)
        .put(in.user_tx_data[0], 64)
        .put(in.user_tx_data[1], 64);
    core.user_tx_valid_i = in.user_tx_valid;
    core.user_rx_ready_i = in.user_rx_ready;
    core.event_ready_i = in.event_ready;
    Writer(core.axil_req_i)
        .put(in.rready, 1)
        .put(in.arvalid, 1)
        .put(in.araddr, 12)
        .put(in.bready, 1)
        .put(in.wvalid, 1)
        .put(in.wstrb, 4)
        .put(in.wdata, 32)
        .put(in.awvalid, 1)
        .put(in.awaddr, 12);
}

void sample(const Vcore &core, spfe_tcp_out &out) {
    Reader mac(core.mac_tx_o);
    out.mac_tx_err = uint8_t(mac.get(1));
    out.mac_tx_last = uint8_t(mac.get(1));
    out.mac_tx_keep = uint8_t(mac.get(8));
    out.mac_tx_data = mac.get(64);
    out.mac_tx_valid = core.mac_tx_valid_o;
    out.user_tx_ready = core.user_tx_ready_o;
    Reader user(core.user_rx_o);
    out.user_rx_rel = uint32_t(user.get(32));
    out.user_rx_oos = uint8_t(user.get(1));
    out.user_rx_err = uint8_t(user.get(1));
    out.user_rx_sid = uint16_t(user.get(SID_BITS));
    out.user_rx_last = uint8_t(user.get(1));
    out.user_rx_keep = uint16_t(user.get(16));
    out.user_rx_data[0] = user.get(64);
    out.user_rx_data[1] = user.get(64);
    out.user_rx_valid = core.user_rx_valid_o;
    out.event_data = core.event_o;
    out.event_valid = core.event_valid_o;
    Reader axil(core.axil_rsp_o);
    out.rvalid = uint8_t(axil.get(1));
    out.rresp = uint8_t(axil.get(2));
    out.rdata = uint32_t(axil.get(32));
    out.arready = uint8_t(axil.get(1));
    out.bvalid = uint8_t(axil.get(1));
    out.bresp = uint8_t(axil.get(2));
    out.wready = uint8_t(axil.get(1));
    out.awready = uint8_t(axil.get(1));
}

// First half of a clock: combinational values settle.
void settle(Model &model) {
    current = &model;
    if (!model.settled) model.memory.offer(*model.core);
    model.settled = true;
    model.core->clk_i = 0;
    model.core->eval();
}

// The rising edge.
void edge(Model &model) {
    model.memory.take(*model.core);
    model.settled = false;
    model.core->clk_i = 1;
    model.core->eval();
    model.context.timeInc(1);
}

} // namespace

// Verilator calls this when an assertion of the core fails; the bench decides what to do.
void vl_stop(const char *file, int line, const char *scope) VL_MT_UNSAFE {
    if (!current) return;
    if (current->failures++ == 0)
        current->failure = std::string(file) + ":" + std::to_string(line) + " in " + scope;
}

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT uint32_t spfe_tcp_abi(void) { return SPFE_TCP_ABI; }

EXPORT void *spfe_tcp_new(void) {
    auto model = std::make_unique<Model>();
    current = model.get();
    // What has no initial value begins with random bits.
    const char *seed = std::getenv("SPFE_CORE_SEED");
    Verilated::threadContextp(&model->context);
    model->context.randReset(2);
    model->context.randSeed(std::max(seed ? std::atoi(seed) : 1, 1));
    model->context.errorLimit(1);
    model->core = std::make_unique<Vcore>(&model->context, "core");
    return model.release();
}

EXPORT void spfe_tcp_free(void *handle) {
    auto *model = static_cast<Model *>(handle);
    current = nullptr;
    model->core->final();
    delete model;
}

EXPORT void spfe_tcp_set_memory(void *handle, const struct spfe_tcp_memory *memory) {
    static_cast<Model *>(handle)->memory.configure(*memory);
}

EXPORT uint32_t spfe_tcp_step(void *handle, const spfe_tcp_in *in, spfe_tcp_out *out) {
    auto *model = static_cast<Model *>(handle);
    apply(*model->core, *in);
    settle(*model);
    sample(*model->core, *out);
    edge(*model);
    return model->failures;
}

EXPORT uint32_t spfe_tcp_idle(void *handle, const spfe_tcp_in *in, uint32_t n) {
    auto *model = static_cast<Model *>(handle);
    Vcore &core = *model->core;
    apply(core, *in);
    for (uint32_t done = 0; done < n; done++) {
        settle(*model);
        if (core.mac_tx_valid_o || core.user_rx_valid_o || core.event_valid_o) return done;
        edge(*model);
        core.tick_i = 0;
    }
    return n;
}

EXPORT const char *spfe_tcp_failure(void *handle) {
    return static_cast<Model *>(handle)->failure.c_str();
}
