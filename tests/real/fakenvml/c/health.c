/* Counters and health: energy, ECC, row remapping, NVLink, and the field values behind them. */
#include "fake.h"
#include <string.h>

typedef struct {
    u32 id, scope;
    int64_t at_us, latency_us;
    u32 type;
    int code;
    union { double d; u32 u; u64 l; int64_t s; } value;
} FieldValue;
_Static_assert(sizeof(FieldValue) == 40, "NVML's layout");

static int energy(const Gpu *g, u64 *out) {
    if (!HAS(energy_mj)) return NOT_SUPPORTED;
    *out = V(energy_mj);
    if (HAS(energy_grows) && V(energy_grows))
        *out += (u64)((now_s() - state_time_s) * (double)V(power_mw));
    return OK;
}
API nvmlDeviceGetTotalEnergyConsumption(Device d, u64 *out) { WHOLE(d) return energy(g, out); }

/* Keys by field: type 1 is 32 bits, 3 is 64 bits, 5 signed (nvmlValueType_t). */
static const struct { u32 id; int key; u32 type; } FIELDS[] = {
    {1, K_ecc_mode, 1}, {2, K_ecc_mode, 1}, {3, K_ecc_corrected, 3}, {4, K_ecc_uncorrected, 3},
    {5, K_ecc_corrected_ever, 3}, {6, K_ecc_uncorrected_ever, 3}, {82, K_temperature_memory, 1},
    {91, K_nvlinks, 1}, {94, K_pcie_replay, 3}, {142, K_remapped_corrected, 1},
    {143, K_remapped_uncorrected, 1}, {144, K_remapped_pending, 1}, {145, K_remapped_failure, 1},
    {185, K_power_mw, 1}, {186, K_power_mw, 1}, {187, K_power_min_mw, 1}, {188, K_power_max_mw, 1},
    {189, K_power_default_mw, 1}, {190, K_power_limit_mw, 1}, {192, K_power_limit_mw, 1},
    {193, K_shutdown_tlimit, 5}, {194, K_slowdown_tlimit, 5}, {197, K_pcie_tx, 3},
    {198, K_pcie_rx, 3}, {230, K_recovery_action, 1},
};

static void fill(Gpu *g, FieldValue *f) {
    f->at_us = (int64_t)(now_s() * 1e6);
    f->latency_us = 0;
    f->code = NOT_SUPPORTED;
    f->value.l = 0;
    f->type = 3;
    for (int i = 0; i < g->field_count; i++)
        if (g->field[i].id == f->id) {
            f->code = g->field[i].error;
            f->value.l = g->field[i].value;
            return;
        }
    if (f->id == 83) {
        f->code = energy(g, &f->value.l);
        return;
    }
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++) {
        if (FIELDS[i].id != f->id) continue;
        if (!g->has[FIELDS[i].key]) return;
        f->code = OK;
        f->type = FIELDS[i].type;
        if (f->type == 3) f->value.l = g->value[FIELDS[i].key];
        else f->value.u = (u32)g->value[FIELDS[i].key];
        return;
    }
}

API nvmlDeviceGetFieldValues(Device d, int count, FieldValue *values) {
    WHOLE(d)
    if (count < 1 || !values) return INVALID_ARGUMENT;
    for (int i = 0; i < count; i++) fill(g, &values[i]);
    return OK;
}

API nvmlDeviceGetEccMode(Device d, u32 *current, u32 *pending) {
    WHOLE(d)
    int code = get_u32(g, K_ecc_mode, current);
    if (!code) *pending = *current;
    return code;
}

static int ecc(Gpu *g, u32 kind, u32 counter, u64 *out) {
    static const int keys[2][2] = {{K_ecc_corrected, K_ecc_corrected_ever},
                                   {K_ecc_uncorrected, K_ecc_uncorrected_ever}};
    if (kind > 1 || counter > 1) return INVALID_ARGUMENT;
    if (!HAS(ecc_mode) || !V(ecc_mode) || !g->has[keys[kind][counter]]) return NOT_SUPPORTED;
    *out = g->value[keys[kind][counter]];
    return OK;
}
API nvmlDeviceGetTotalEccErrors(Device d, u32 kind, u32 counter, u64 *out) {
    WHOLE(d)
    return ecc(g, kind, counter, out);
}
API nvmlDeviceGetMemoryErrorCounter(Device d, u32 kind, u32 counter, u32 place, u64 *out) {
    WHOLE(d)
    (void)place;
    return ecc(g, kind, counter, out);
}

API nvmlDeviceGetRemappedRows(Device d, u32 *corrected, u32 *uncorrected, u32 *pending, u32 *failed) {
    WHOLE(d)
    if (!HAS(remapped_pending) || g->mig_count) return NOT_SUPPORTED;
    *corrected = (u32)V(remapped_corrected);
    *uncorrected = (u32)V(remapped_uncorrected);
    *pending = (u32)V(remapped_pending);
    *failed = (u32)V(remapped_failure);
    return OK;
}

API nvmlDeviceGetNvLinkState(Device d, u32 link, u32 *out) {
    WHOLE(d)
    if (!HAS(nvlinks) || link >= V(nvlinks)) return NOT_SUPPORTED;
    *out = 1;
    return OK;
}

static int second(const char *call, Device d, Gpu **g) {
    Mig *m;
    int code = enter_device(call, d, g, &m);
    leave(&code);
    return code;
}

/* NVLINK (2) between cards that both have links; other ways of access are always open. */
API nvmlDeviceGetP2PStatus(Device one, Device two, u32 what, u32 *out) {
    Gpu *a, *b;
    int code = second(__func__, one, &a);
    int has_one = !code && a->has[K_nvlinks] && a->value[K_nvlinks];
    if (code || (code = second(__func__, two, &b))) return code;
    int both = has_one && b->has[K_nvlinks] && b->value[K_nvlinks];
    *out = what == 2 ? (both ? 0 : 5) : 0;
    return OK;
}

API nvmlDeviceGetTopologyCommonAncestor(Device one, Device two, u32 *out) {
    Gpu *a, *b;
    int code = second(__func__, one, &a);
    u64 node = code ? 0 : a->value[K_numa_node];
    if (code || (code = second(__func__, two, &b))) return code;
    *out = one == two ? 0 : node == b->value[K_numa_node] ? 40 : 50;
    return OK;
}
