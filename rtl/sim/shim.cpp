// A Verilated top of rtl/sim behind C functions. Such a top has a clock and two structs, its inputs
// and its outputs; the caller packs and unpacks their bits, so that one shim serves all tops.
#include <cstdint>
#include <memory>
#include <string>

#include "Vcore.h"
#include "verilated.h"

namespace {

// A port of up to 64 bits is an integer, a wider one an array of words of 32 bits.
template <typename Port> constexpr uint32_t words(const Port &) { return (sizeof(Port) + 3) / 4; }
template <std::size_t N> constexpr uint32_t words(const VlWide<N> &) { return N; }
template <typename Port> uint32_t word(const Port &port, unsigned i) { return uint32_t(uint64_t(port) >> (32 * i)); }
template <std::size_t N> uint32_t word(const VlWide<N> &port, unsigned i) { return port[i]; }
template <typename Port> void set(Port &port, const uint32_t *from) {
    uint64_t value = from[0];
    if (sizeof(Port) > 4) value |= uint64_t(from[1]) << 32;
    port = Port(value);
}
template <std::size_t N> void set(VlWide<N> &port, const uint32_t *from) {
    for (unsigned i = 0; i < N; i++) port[i] = from[i];
}

struct Model {
    VerilatedContext context;
    std::unique_ptr<Vcore> core;
    uint32_t failures = 0;
    std::string failure;
};

thread_local Model *current = nullptr;

} // namespace

// Verilator calls this when an assertion of the core fails; the caller decides what to do.
void vl_stop(const char *file, int line, const char *scope) VL_MT_UNSAFE {
    if (!current) return;
    if (current->failures++ == 0)
        current->failure = std::string(file) + ":" + std::to_string(line) + " in " + scope;
}

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void *spfe_sim_new(uint32_t seed) {
    auto model = std::make_unique<Model>();
    current = model.get();
    model->context.randReset(2);
    model->context.randSeed(int(seed));
    // Each assertion that fails calls vl_stop; with a higher limit it would only be printed.
    model->context.errorLimit(1);
    model->core = std::make_unique<Vcore>(&model->context, "core");
    return model.release();
}

EXPORT void spfe_sim_free(void *handle) {
    auto *model = static_cast<Model *>(handle);
    current = nullptr;
    model->core->final();
    delete model;
}

EXPORT uint32_t spfe_sim_words(void *handle, uint32_t outputs) {
    const Vcore &core = *static_cast<Model *>(handle)->core;
    return outputs ? words(core.out_o) : words(core.in_i);
}

// Runs a cycle: applies `in`, samples `out` before the rising edge, then applies the edge. Returns
// the number of assertions that have failed so far.
EXPORT uint32_t spfe_sim_step(void *handle, const uint32_t *in, uint32_t *out) {
    auto *model = static_cast<Model *>(handle);
    Vcore &core = *model->core;
    current = model;
    set(core.in_i, in);
    core.clk_i = 0;
    core.eval();
    for (uint32_t i = 0; i < words(core.out_o); i++) out[i] = word(core.out_o, i);
    core.clk_i = 1;
    core.eval();
    model->context.timeInc(1);
    return model->failures;
}

// Text of the first assertion that failed; empty if none did.
EXPORT const char *spfe_sim_failure(void *handle) { return static_cast<Model *>(handle)->failure.c_str(); }
