/* MIG: the mode, the slots with their holes, and what an instance says of itself. */
#include "fake.h"
#include <string.h>

typedef struct {
    u32 sms, copy, decoders, encoders, jpeg, ofa, gpu_slices, compute_slices;
    u64 memory_mib;
} Attributes;

API nvmlDeviceGetMigMode(Device d, u32 *current, u32 *pending) {
    WHOLE(d)
    if (!HAS(mig_mode)) return NOT_SUPPORTED;
    *current = (u32)V(mig_mode);
    *pending = HAS(mig_mode_pending) ? (u32)V(mig_mode_pending) : *current;
    return OK;
}

API nvmlDeviceGetMaxMigDeviceCount(Device d, u32 *out) {
    WHOLE(d)
    return get_u32(g, K_mig_slots, out);
}

API nvmlDeviceGetMigDeviceHandleByIndex(Device d, u32 index, Device *out) {
    WHOLE(d)
    if (!HAS(mig_mode) || !V(mig_mode)) return NOT_SUPPORTED;
    if (index >= V(mig_slots)) return INVALID_ARGUMENT;
    for (int i = 0; i < g->mig_count; i++)
        if (g->mig[i].slot == index) {
            *out = handle_of((int)(g - state->gpu), i);
            return OK;
        }
    return NOT_FOUND;
}

API nvmlDeviceIsMigDeviceHandle(Device d, u32 *out) { DEVICE(d) *out = m != NULL; return OK; }

API nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device d, Device *out) {
    DEVICE(d)
    if (!m) return INVALID_ARGUMENT;
    *out = handle_of((int)(g - state->gpu), -1);
    return OK;
}

API nvmlDeviceGetGpuInstanceId(Device d, u32 *out) {
    DEVICE(d)
    if (!m) return NOT_SUPPORTED;
    *out = m->gi;
    return OK;
}

API nvmlDeviceGetComputeInstanceId(Device d, u32 *out) {
    DEVICE(d)
    if (!m) return NOT_SUPPORTED;
    *out = m->ci;
    return OK;
}

static int attributes(const char *call, Device d, Attributes *out) {
    Gpu *g = NULL;
    Mig *m = NULL;
    int entered __attribute__((cleanup(leave))) = enter_device(call, d, &g, &m);
    if (entered) return entered;
    if (!m) return NOT_SUPPORTED;
    memset(out, 0, sizeof *out);
    out->sms = m->sms;
    out->gpu_slices = out->compute_slices = m->slices;
    out->memory_mib = m->total >> 20;
    return OK;
}
API nvmlDeviceGetAttributes(Device d, Attributes *out) { return attributes(__func__, d, out); }
API nvmlDeviceGetAttributes_v2(Device d, Attributes *out) { return attributes(__func__, d, out); }
