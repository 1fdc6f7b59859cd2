/* Who is on a GPU: the three lists in their three layouts, the detail list, and utilisation.
 * V3_STRIDE=32 builds the driver 535.43, whose v3 wrote an entry of 32 bytes. */
#include "fake.h"
#include <string.h>

#ifndef V3_STRIDE
#define V3_STRIDE 24
#endif

typedef struct { u32 pid; u64 memory; } V1;
typedef struct { u32 pid; u64 memory; u32 gi, ci; } V2;
typedef struct { u32 pid; u64 memory; u32 gi, ci; u64 cc_memory; } Detail;
typedef struct { u32 version, mode, count; Detail *entries; } DetailList;
typedef struct { u32 pid; u64 at; u32 sm, mem, enc, dec; } Utilisation;
typedef struct { u64 at; u32 pid, sm, mem, enc, dec, jpeg, ofa; } UtilisationInfo;
typedef struct { u32 version, count; u64 last_seen; UtilisationInfo *entries; } UtilisationInfos;

_Static_assert(sizeof(V1) == 16 && sizeof(V2) == 24 && sizeof(Detail) == 32, "NVML's layouts");

/* The pid as the driver tells it to this caller; 0: not visible in its namespace, so left out. */
static int pid_for(u64 own, const Process *p, u32 *pid) {
    *pid = p->pid;
    if (!own || own == state->host_namespace) return 1;
    if (p->namespace_id == own) {
        *pid = p->namespace_pid;
        return 1;
    }
    return state->raw_pids != 0;
}

static int list(Gpu *g, Mig *m, const char *kinds, u32 stride, u32 *count, void *out) {
    if (!count) return INVALID_ARGUMENT;
    u32 capacity = *count, found = 0, pid;
    u64 own = state->host_namespace ? own_pid_namespace() : 0;
    for (int i = 0; i < g->process_count; i++) {
        const Process *p = &g->process[i];
        if (!strpbrk(p->kinds, kinds) || !pid_for(own, p, &pid)) continue;
        if (m && (p->gi != m->gi || (p->ci != NO_INSTANCE && p->ci != m->ci))) continue;
        if (found < capacity && out) {
            char *at = (char *)out + (size_t)found * stride;
            Detail entry = {pid, p->memory, p->gi, p->ci, p->cc_memory};
            memcpy(at, &entry, 4); /* the padding stays as the caller left it */
            memcpy(at + 8, (char *)&entry + 8, stride - 8);
        }
        found++;
    }
    *count = found;
    return found > capacity || (found && !out) ? INSUFFICIENT_SIZE : OK;
}

#define LISTS(what, kind)                                                                          \
    API nvmlDeviceGet##what##RunningProcesses(Device d, u32 *count, V1 *out) {                     \
        DEVICE(d) return list(g, m, kind, sizeof(V1), count, out);                                 \
    }                                                                                              \
    API nvmlDeviceGet##what##RunningProcesses_v2(Device d, u32 *count, V2 *out) {                  \
        DEVICE(d) return list(g, m, kind, sizeof(V2), count, out);                                 \
    }                                                                                              \
    API nvmlDeviceGet##what##RunningProcesses_v3(Device d, u32 *count, void *out) {                \
        DEVICE(d) return list(g, m, kind, V3_STRIDE, count, out);                                  \
    }
LISTS(Compute, "C")
LISTS(Graphics, "G")
LISTS(MPSCompute, "M")

/* Modes: 0 compute, 1 graphics, 2 MPS, 3 all, also those without a context (kind "X"). */
API nvmlDeviceGetRunningProcessDetailList(Device d, DetailList *l) {
    static const char *kinds[] = {"C", "G", "M", "CGMX"};
    DEVICE(d)
    if (!l || l->mode > 3) return INVALID_ARGUMENT;
    if (l->version != 0x1000018) return ARGUMENT_VERSION_MISMATCH;
    if (!HAS(detail_list) || !V(detail_list)) return NOT_SUPPORTED;
    return list(g, m, kinds[l->mode], sizeof(Detail), &l->count, l->entries);
}

static int gather(Gpu *g, u64 since, Sample *out) {
    u64 now = (u64)(now_s() * 1e6);
    int found = 0;
    for (int i = 0; i < g->process_count && found < MAX_SAMPLES; i++) {
        const Process *p = &g->process[i];
        if (p->sm <= 0 && p->mem <= 0 && p->enc <= 0 && p->dec <= 0) continue;
        Sample s = {p->pid, now, p->sm > 0 ? (u32)p->sm : 0, p->mem > 0 ? (u32)p->mem : 0,
                    p->enc > 0 ? (u32)p->enc : 0, p->dec > 0 ? (u32)p->dec : 0};
        u32 pid;
        if (state->host_namespace && pid_for(own_pid_namespace(), p, &pid)) s.pid = pid;
        out[found++] = s; /* not visible: the host's pid stays, as the driver does it */
    }
    for (int i = 0; i < g->sample_count && found < MAX_SAMPLES; i++) {
        Sample s = g->sample[i];
        if (!s.at) s.at = now;
        if (s.at > since || s.at == 1) out[found++] = s; /* 1: garbage from the past, nvtop#110 */
    }
    return found;
}

API nvmlDeviceGetProcessUtilization(Device d, Utilisation *out, u32 *count, u64 since) {
    WHOLE(d)
    Sample samples[MAX_SAMPLES];
    if (!count) return INVALID_ARGUMENT;
    if (HAS(mig_mode) && V(mig_mode)) return NOT_SUPPORTED;
    u32 capacity = *count, found = (u32)gather(g, since, samples);
    *count = found;
    if (!found) return NOT_FOUND;
    if (!out || capacity < found) {
        if (!out) *count = MAX_SAMPLES; /* the driver's answer is the size of its ring */
        return INSUFFICIENT_SIZE;
    }
    for (u32 i = 0; i < found; i++) {
        Sample s = samples[i];
        out[i] = (Utilisation){s.pid, s.at, s.sm, s.mem, s.enc, s.dec};
    }
    return OK;
}

API nvmlDeviceGetProcessesUtilizationInfo(Device d, UtilisationInfos *l) {
    WHOLE(d)
    Sample samples[MAX_SAMPLES];
    if (!l) return INVALID_ARGUMENT;
    if (l->version != 0x1000018) return ARGUMENT_VERSION_MISMATCH;
    if (HAS(mig_mode) && V(mig_mode)) return NOT_SUPPORTED;
    u32 capacity = l->count, found = (u32)gather(g, l->last_seen, samples);
    l->count = found;
    if (!found) return NOT_FOUND;
    if (!l->entries || capacity < found) return INSUFFICIENT_SIZE;
    for (u32 i = 0; i < found; i++) {
        Sample s = samples[i];
        l->entries[i] = (UtilisationInfo){s.at, s.pid, s.sm, s.mem, s.enc, s.dec, 0, 0};
    }
    return OK;
}

API nvmlDeviceGetConfComputeMemSizeInfo(Device d, u64 *sizes) {
    WHOLE(d)
    sizes[0] = 0;
    sizes[1] = HAS(memory_total) ? V(memory_total) >> 10 : 0;
    return OK;
}
