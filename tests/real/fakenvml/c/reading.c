/* What a card measures: memory, utilisation, temperature, power, clocks, fan, PCIe, modes. */
#include "fake.h"
#include <string.h>

typedef struct { u64 total, free, used; } Memory;
typedef struct { u32 version; u64 total, reserved, free, used; } MemoryV2;

/* memory_used in the state excludes the reserve; memory_gap makes the sum wrong on purpose. */
static void memory_of(Gpu *g, Mig *m, MemoryV2 *out) {
    out->total = m ? m->total : V(memory_total);
    out->reserved = m ? m->reserved : V(memory_reserved);
    out->used = m ? m->used : V(memory_used);
    out->free = out->total - out->reserved - out->used - (m ? 0 : V(memory_gap));
}

API nvmlDeviceGetMemoryInfo(Device d, Memory *out) {
    DEVICE(d)
    MemoryV2 v2;
    if (!HAS(memory_total)) return NOT_SUPPORTED;
    memory_of(g, m, &v2);
    *out = (Memory){v2.total, v2.free, v2.total - v2.free};
    return OK;
}

API nvmlDeviceGetMemoryInfo_v2(Device d, MemoryV2 *out) {
    DEVICE(d)
    if (!HAS(memory_total)) return NOT_SUPPORTED;
    if (HAS(memory_v2) && V(memory_v2) != 1) return V(memory_v2) ? (int)V(memory_v2) : NOT_SUPPORTED;
    if (out->version != 0x02000028) return ARGUMENT_VERSION_MISMATCH;
    memory_of(g, m, out);
    if (HAS(used_includes_reserved) && V(used_includes_reserved)) out->used += out->reserved;
    return OK;
}

API nvmlDeviceGetBAR1MemoryInfo(Device d, Memory *out) {
    WHOLE(d)
    if (!HAS(bar1_total)) return NOT_SUPPORTED;
    *out = (Memory){V(bar1_total), V(bar1_total) - V(bar1_used), V(bar1_used)};
    return OK;
}

static int on_mig(const Gpu *g) { return HAS(mig_mode) && V(mig_mode); }

API nvmlDeviceGetUtilizationRates(Device d, u32 *out) {
    WHOLE(d)
    if (!HAS(utilisation) || on_mig(g)) return NOT_SUPPORTED;
    out[0] = (u32)V(utilisation);
    out[1] = HAS(memory_utilisation) ? (u32)V(memory_utilisation) : 0;
    return OK;
}

#define ENGINE(name, key)                                                                          \
    API name(Device d, u32 *out, u32 *period_us) {                                                 \
        WHOLE(d)                                                                                   \
        if (on_mig(g)) return NOT_SUPPORTED;                                                       \
        *period_us = 167000;                                                                       \
        return get_u32(g, K_##key, out);                                                           \
    }
ENGINE(nvmlDeviceGetEncoderUtilization, encoder)
ENGINE(nvmlDeviceGetDecoderUtilization, decoder)
ENGINE(nvmlDeviceGetJpgUtilization, jpeg)
ENGINE(nvmlDeviceGetOfaUtilization, ofa)

API nvmlDeviceGetTemperature(Device d, int sensor, u32 *out) {
    WHOLE(d)
    return sensor ? INVALID_ARGUMENT : get_u32(g, K_temperature, out);
}
API nvmlDeviceGetTemperatureV(Device d, u32 *out) {
    WHOLE(d)
    if (out[0] != 0x100000C) return ARGUMENT_VERSION_MISMATCH;
    return out[1] ? INVALID_ARGUMENT : get_u32(g, K_temperature, out + 2);
}
API nvmlDeviceGetTemperatureThreshold(Device d, int kind, u32 *out) {
    static const int keys[] = {K_shutdown, K_slowdown, K_memory_max, K_gpu_max};
    WHOLE(d)
    if (kind < 0 || kind > 7) return INVALID_ARGUMENT;
    return kind > 3 ? NOT_SUPPORTED : get_u32(g, keys[kind], out);
}
API nvmlDeviceGetMarginTemperature(Device d, u32 *out) {
    WHOLE(d)
    if (out[0] != 0x1000008) return ARGUMENT_VERSION_MISMATCH;
    return get_u32(g, K_margin, out + 1);
}

#define NUMBER(name, key) API name(Device d, u32 *out) { WHOLE(d) return get_u32(g, K_##key, out); }
NUMBER(nvmlDeviceGetFanSpeed, fan)
NUMBER(nvmlDeviceGetNumFans, fans)
NUMBER(nvmlDeviceGetPowerUsage, power_mw)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, power_limit_mw)
NUMBER(nvmlDeviceGetPowerManagementLimit, power_limit_mw)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, power_default_mw)
NUMBER(nvmlDeviceGetPerformanceState, pstate)
NUMBER(nvmlDeviceGetPowerState, pstate)
NUMBER(nvmlDeviceGetPersistenceMode, persistence)
NUMBER(nvmlDeviceGetDisplayActive, display_active)
NUMBER(nvmlDeviceGetDisplayMode, display_mode)
NUMBER(nvmlDeviceGetComputeMode, compute_mode)
NUMBER(nvmlDeviceGetAccountingMode, accounting)
NUMBER(nvmlDeviceGetNumGpuCores, cores)
NUMBER(nvmlDeviceGetBrand, brand)
NUMBER(nvmlDeviceGetArchitecture, architecture)
NUMBER(nvmlDeviceGetMemoryBusWidth, bus_width)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, pcie_generation)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, pcie_generation_max)
NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration, pcie_generation_max)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, pcie_width)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, pcie_width_max)
NUMBER(nvmlDeviceGetPcieReplayCounter, pcie_replay)
NUMBER(nvmlDeviceGetNumaNodeId, memory_numa_node)

API nvmlDeviceGetFanSpeed_v2(Device d, u32 fan, u32 *out) {
    WHOLE(d)
    return HAS(fans) && fan >= V(fans) ? INVALID_ARGUMENT : get_u32(g, K_fan, out);
}
API nvmlDeviceGetPowerManagementLimitConstraints(Device d, u32 *low, u32 *high) {
    WHOLE(d)
    int code = get_u32(g, K_power_min_mw, low);
    return code ? code : get_u32(g, K_power_max_mw, high);
}

static int clock_of(Gpu *g, u32 kind, int max, u32 *out) {
    static const int keys[4][2] = {{K_sm_clock, K_sm_clock_max}, {K_sm_clock, K_sm_clock_max},
                                   {K_memory_clock, K_memory_clock_max},
                                   {K_video_clock, K_video_clock_max}};
    return kind > 3 ? INVALID_ARGUMENT : get_u32(g, keys[kind][max], out);
}
API nvmlDeviceGetClockInfo(Device d, u32 kind, u32 *out) { WHOLE(d) return clock_of(g, kind, 0, out); }
API nvmlDeviceGetMaxClockInfo(Device d, u32 kind, u32 *out) { WHOLE(d) return clock_of(g, kind, 1, out); }
API nvmlDeviceGetClock(Device d, u32 kind, u32 id, u32 *out) {
    WHOLE(d)
    return id > 3 ? INVALID_ARGUMENT : clock_of(g, kind, id == 3, out);
}
API nvmlDeviceGetApplicationsClock(Device d, u32 kind, u32 *out) { WHOLE(d) return clock_of(g, kind, 1, out); }

#define REASONS(name)                                                                              \
    API name(Device d, u64 *out) {                                                                 \
        WHOLE(d)                                                                                   \
        if (!HAS(throttle)) return NOT_SUPPORTED;                                                  \
        *out = V(throttle);                                                                        \
        return OK;                                                                                 \
    }
REASONS(nvmlDeviceGetCurrentClocksEventReasons)
REASONS(nvmlDeviceGetCurrentClocksThrottleReasons)
API nvmlDeviceGetSupportedClocksEventReasons(Device d, u64 *out) { WHOLE(d) *out = 0x1FF; return OK; }
API nvmlDeviceGetSupportedClocksThrottleReasons(Device d, u64 *out) { WHOLE(d) *out = 0x1FF; return OK; }

API nvmlDeviceGetPcieThroughput(Device d, u32 counter, u32 *kib_s) {
    WHOLE(d)
    unlock_for_ms(20); /* the real one measures for as long */
    *kib_s = 0;
    return counter > 1 ? INVALID_ARGUMENT : OK;
}
API nvmlDeviceGetCudaComputeCapability(Device d, int *major, int *minor) {
    DEVICE(d)
    if (!HAS(compute_major)) return NOT_SUPPORTED;
    *major = (int)V(compute_major);
    *minor = (int)V(compute_minor);
    return OK;
}
API nvmlDeviceGetMultiGpuBoard(Device d, u32 *out) { WHOLE(d) *out = 0; return OK; }
API nvmlDeviceGetBoardId(Device d, u32 *out) { WHOLE(d) *out = (u32)V(pci_bus) << 8; return OK; }

static int affinity(const Gpu *g, u32 words, unsigned long *out) {
    if (!words) return INSUFFICIENT_SIZE;
    memset(out, 0, words * sizeof *out);
    out[0] = 3;
    (void)g;
    return OK;
}
API nvmlDeviceGetCpuAffinity(Device d, u32 words, unsigned long *out) { WHOLE(d) return affinity(g, words, out); }
API nvmlDeviceGetCpuAffinityWithinScope(Device d, u32 words, unsigned long *out, u32 scope) {
    WHOLE(d)
    (void)scope;
    return affinity(g, words, out);
}
API nvmlDeviceGetMemoryAffinity(Device d, u32 words, unsigned long *out, u32 scope) {
    WHOLE(d)
    (void)scope;
    if (!HAS(numa_node)) return NOT_SUPPORTED;
    if (!words || V(numa_node) >= 64 * (u64)words) return INSUFFICIENT_SIZE;
    memset(out, 0, words * sizeof *out);
    out[V(numa_node) / 64] = 1UL << (V(numa_node) % 64);
    return OK;
}
