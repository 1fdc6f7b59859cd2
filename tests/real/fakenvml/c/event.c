/* Event sets that really wait: an event is a numbered line of a GPU, delivered once to a set
 * that had registered the GPU before the line appeared. */
#include "fake.h"
#include <stdlib.h>
#include <string.h>

#define MAX_SETS 16
#define SUPPORTED 0xCD8FULL

typedef struct { Device device; u64 type, data; u32 gi, ci; } EventData;
typedef struct { char gpu[96]; Device device; u64 mask, last; } Registration;
typedef struct EventSet { int used, count; Registration registration[MAX_GPUS]; } *Set;
static struct EventSet sets[MAX_SETS];

static Set known(Set set) { return set >= sets && set < sets + MAX_SETS && set->used ? set : NULL; }

API nvmlEventSetCreate(Set *out) {
    SYSTEM
    for (int i = 0; i < MAX_SETS; i++)
        if (!sets[i].used) {
            memset(&sets[i], 0, sizeof sets[i]);
            sets[i].used = 1;
            *out = &sets[i];
            return OK;
        }
    return UNKNOWN;
}

API nvmlEventSetFree(Set set) {
    SYSTEM
    if (!known(set)) return INVALID_ARGUMENT;
    set->used = 0;
    return OK;
}

API nvmlDeviceGetSupportedEventTypes(Device d, u64 *out) { WHOLE(d) *out = SUPPORTED; return OK; }

API nvmlDeviceRegisterEvents(Device d, u64 mask, Set set) {
    WHOLE(d)
    if (!known(set)) return INVALID_ARGUMENT;
    if (mask & ~SUPPORTED) return NOT_SUPPORTED;
    if (set->count == MAX_GPUS) return UNKNOWN;
    Registration *r = &set->registration[set->count++];
    copy_text(r->gpu, sizeof r->gpu, g->uuid);
    r->device = d;
    r->mask = mask;
    for (int i = 0; i < g->event_count; i++)
        if (g->event[i].sequence > r->last) r->last = g->event[i].sequence;
    return OK;
}

static int deliver(Set set, EventData *out) {
    for (int i = 0; i < set->count; i++) {
        Registration *r = &set->registration[i];
        for (int j = 0; j < state->gpu_count; j++) {
            const Gpu *g = &state->gpu[j];
            if (strcmp(g->uuid, r->gpu)) continue;
            for (int k = 0; k < g->event_count; k++) {
                const Event *e = &g->event[k];
                if (e->sequence <= r->last) continue;
                r->last = e->sequence;
                if (!(e->type & r->mask)) continue;
                *out = (EventData){r->device, e->type, e->data, e->gi, e->ci};
                return 1;
            }
        }
    }
    return 0;
}

static int wait_for(const char *call, Set set, EventData *out, u32 ms) {
    int entered __attribute__((cleanup(leave))) = enter_system(call);
    if (entered) return entered;
    double until = now_s() + ms / 1000.0;
    do {
        if (!known(set)) return INVALID_ARGUMENT;
        if (deliver(set, out)) return OK;
        unlock_for_ms(10);
    } while (now_s() < until);
    return TIMEOUT;
}
API nvmlEventSetWait(Set set, EventData *out, u32 ms) { return wait_for(__func__, set, out, ms); }
API nvmlEventSetWait_v2(Set set, EventData *out, u32 ms) { return wait_for(__func__, set, out, ms); }
