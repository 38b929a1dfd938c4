// A Verilated core behind the C functions of pins.h, with the memory for retransmission beside it.
#include "pins.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "Vcore.h"
#include "verilated.h"

static_assert(sizeof(spfe_tcp_in) == 64 && sizeof(spfe_tcp_out) == 64, "src/model.rs has the same");

namespace {

// Ports are as wide as their build: 8 to 64 bits are integers, more is an array of 32-bit words.
template <typename Port> void put(Port &port, const uint64_t *value) { port = Port(*value); }
template <std::size_t N> void put(VlWide<N> &port, const uint64_t *value) {
    for (std::size_t i = 0; i < N; i++) port[i] = uint32_t(value[i / 2] >> (32 * (i % 2)));
}
template <typename Port> void get(const Port &port, uint64_t *value) { *value = port; }
template <std::size_t N> void get(const VlWide<N> &port, uint64_t *value) {
    for (std::size_t i = 0; i < N; i++) {
        if (i % 2 == 0) value[i / 2] = 0;
        value[i / 2] |= uint64_t(port[i]) << (32 * (i % 2));
    }
}

struct Word {
    uint8_t byte[16];
};

#ifdef CORE_HAS_MEMORY
// The memory is in the core: what is left to do is its clock, two thirds as fast as the core's.
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
// Answers reads in order after a fixed time; may refuse.
class Memory {
  public:
    explicit Memory(std::size_t words) : word_(words), pending_(64) {}

    void configure(const spfe_tcp_memory &how) {
        how_ = how;
        if (how_.latency < 1) how_.latency = 1;
        if (how_.latency > 64) how_.latency = 64;
        random_ = how.seed | 1u;
    }
    // What the core is shown in this cycle.
    void offer(Vcore &core) {
        now_ = (now_ + 1) % pending_.size();
        core.mem_wr_ready_i = !stalls(how_.wr_stall);
        core.mem_rd_ready_i = !stalls(how_.rd_stall);
        Answer &answer = pending_[now_];
        core.mem_rsp_valid_i = answer.valid;
        if (answer.valid) std::memcpy(&core.mem_rsp_data_i[0], answer.data.byte, 16);
        answer.valid = false;
    }
    // What the core asks for in this cycle.
    void take(Vcore &core) {
        if (core.mem_rd_valid_o && core.mem_rd_ready_i) {
            Answer &answer = pending_[(now_ + how_.latency) % pending_.size()];
            answer.valid = true;
            answer.data = word_[core.mem_rd_addr_o % word_.size()];
        }
        if (core.mem_wr_valid_o && core.mem_wr_ready_i) {
            uint8_t data[16];
            std::memcpy(data, &core.mem_wr_data_o[0], 16);
            Word &word = word_[core.mem_wr_addr_o % word_.size()];
            for (int i = 0; i < 16; i++)
                if (core.mem_wr_mask_o >> i & 1) word.byte[i] = data[i];
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
    bool settled = false; // the memory has offered what it shows in this clock
    uint32_t failures = 0;
    std::string failure;
};

thread_local Model *current = nullptr;

void apply(Vcore &core, const spfe_tcp_in &in) {
    core.rst_i = in.rst;
    core.tick_i = in.tick;
    put(core.mac_rx_data_i, &in.mac_rx_data);
    core.mac_rx_keep_i = in.mac_rx_keep;
    core.mac_rx_valid_i = in.mac_rx_valid;
    core.mac_rx_last_i = in.mac_rx_last;
    core.mac_rx_err_i = in.mac_rx_err;
    core.mac_tx_ready_i = in.mac_tx_ready;
    put(core.user_tx_data_i, in.user_tx_data);
    core.user_tx_keep_i = in.user_tx_keep;
    core.user_tx_valid_i = in.user_tx_valid;
    core.user_tx_last_i = in.user_tx_last;
    core.user_tx_sid_i = in.user_tx_sid;
    core.user_tx_mode_i = in.user_tx_mode;
    core.user_tx_len_i = in.user_tx_len;
    core.user_tx_sum_i = in.user_tx_sum;
    core.user_tx_push_i = in.user_tx_push;
    core.user_rx_ready_i = in.user_rx_ready;
    core.event_ready_i = in.event_ready;
    core.s_axil_awaddr_i = in.awaddr;
    core.s_axil_awvalid_i = in.awvalid;
    core.s_axil_wdata_i = in.wdata;
    core.s_axil_wstrb_i = in.wstrb;
    core.s_axil_wvalid_i = in.wvalid;
    core.s_axil_bready_i = in.bready;
    core.s_axil_araddr_i = in.araddr;
    core.s_axil_arvalid_i = in.arvalid;
    core.s_axil_rready_i = in.rready;
}

void sample(const Vcore &core, spfe_tcp_out &out) {
    get(core.mac_tx_data_o, &out.mac_tx_data);
    out.mac_tx_keep = core.mac_tx_keep_o;
    out.mac_tx_valid = core.mac_tx_valid_o;
    out.mac_tx_last = core.mac_tx_last_o;
    out.mac_tx_err = core.mac_tx_err_o;
    out.user_tx_ready = core.user_tx_ready_o;
    get(core.user_rx_data_o, out.user_rx_data);
    out.user_rx_keep = core.user_rx_keep_o;
    out.user_rx_valid = core.user_rx_valid_o;
    out.user_rx_last = core.user_rx_last_o;
    out.user_rx_sid = core.user_rx_sid_o;
    out.user_rx_err = core.user_rx_err_o;
    out.user_rx_oos = core.user_rx_oos_o;
    out.user_rx_rel = core.user_rx_rel_o;
    get(core.event_data_o, &out.event_data);
    out.event_valid = core.event_valid_o;
    out.awready = core.s_axil_awready_o;
    out.wready = core.s_axil_wready_o;
    out.bresp = core.s_axil_bresp_o;
    out.bvalid = core.s_axil_bvalid_o;
    out.arready = core.s_axil_arready_o;
    out.rdata = core.s_axil_rdata_o;
    out.rresp = core.s_axil_rresp_o;
    out.rvalid = core.s_axil_rvalid_o;
}

// The first half of a clock: all combinational values settle.
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

// Verilator calls this where an assertion of the core fails; the bench decides what it means.
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
    model->context.randReset(0);
    model->context.errorLimit(1 << 30);
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
