/* Locks, handles, scripted errors and hangs: the door through which every call passes.
 * parse.c reads the file; this decides when it has changed and what a call may see. */
#include "fake.h"
#include "parse.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x5057AB1Eu
#define MAX_HANDLES 512

State *state;
double state_time_s;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stat seen;
static u64 serial;
static int users;
static u32 generation;
static u64 init_epoch;
static struct Handle handles[MAX_HANDLES];
static int handle_count;
static struct { u32 key; int slot; u64 calls; } counters[256];

double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

u64 own_pid_namespace(void) {
    struct stat s;
    return stat("/proc/self/ns/pid", &s) ? 0 : (u64)s.st_ino;
}

static void refresh(void) {
    const char *path = getenv("ROOST_FAKE_NVML");
    struct stat now;
    if (!path || stat(path, &now)) {
        if (!state) state = calloc(1, sizeof *state);
        memset(state, 0, sizeof *state);
        state->rule_count = 1; /* no file: no driver */
        strcpy(state->rule[0].call, "*");
        state->rule[0].code = 9;
        memset(&seen, 0, sizeof seen);
        serial++;
        return;
    }
    if (state && now.st_ino == seen.st_ino && now.st_size == seen.st_size &&
        now.st_mtim.tv_sec == seen.st_mtim.tv_sec && now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec)
        return;
    State *fresh = calloc(1, sizeof *fresh);
    if (!parse_state(path, fresh)) { /* replaced between the two looks: next call sees it */
        free(fresh);
        if (state) return;
        fresh = calloc(1, sizeof *fresh);
    }
    free(state);
    state = fresh;
    seen = now;
    state_time_s = (double)now.st_mtim.tv_sec + (double)now.st_mtim.tv_nsec / 1e9;
    serial++;
}

/* "DeviceGetName", "nvmlDeviceGetName", "nvmlDeviceGetHandleByIndex_v2", "Device*" and "*" match. */
static int matches(const Rule *rule, const char *call) {
    const char *want = rule->call;
    if (!strncmp(want, "nvml", 4)) want += 4;
    if (!strncmp(call, "nvml", 4)) call += 4;
    size_t length = strlen(want);
    if (length && want[length - 1] == '*') return !strncmp(want, call, length - 1);
    if (!strcmp(want, call)) return 1;
    return !strncmp(want, call, length) && call[length] == '_' && call[length + 1] == 'v';
}

static u64 count_call(const Rule *rule, int slot) {
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        if (!counters[i].key) {
            counters[i].key = rule->key;
            counters[i].slot = slot;
        }
        if (counters[i].key == rule->key && counters[i].slot == slot) return counters[i].calls++;
    }
    return NOT_AVAILABLE;
}

/* 0: go on. -1: hang, look again later. Else the error to return. */
static int apply(const Rule *rules, int count, const char *call, int slot) {
    for (int i = 0; i < count; i++) {
        const Rule *rule = &rules[i];
        if (!matches(rule, call)) continue;
        if (rule->after || rule->times) {
            u64 n = count_call(rule, slot);
            if (n < rule->after || (rule->times && n >= rule->after + rule->times)) continue;
        }
        return rule->hang ? -1 : rule->code;
    }
    return 0;
}

void unlock_for_ms(int ms) {
    struct timespec t = {ms / 1000, (ms % 1000) * 1000000L};
    pthread_mutex_unlock(&lock);
    nanosleep(&t, NULL);
    pthread_mutex_lock(&lock);
    refresh();
}

void leave(int *entered) {
    (void)entered;
    pthread_mutex_unlock(&lock);
}

static int system_rules(const char *call) {
    int code;
    while ((code = apply(state->rule, state->rule_count, call, -1)) == -1) unlock_for_ms(5);
    return code;
}

static int started(const char *call) {
    if (!strncmp(call, "nvmlInit", 8) || !strcmp(call, "nvmlShutdown")) return OK;
    if (!users) return UNINITIALIZED;
    if (init_epoch != state->epoch) return (int)state->stale_error;
    return OK;
}

int enter_system(const char *call) {
    pthread_mutex_lock(&lock);
    refresh();
    if (!strcmp(call, "nvmlShutdown")) return OK;
    int code = system_rules(call);
    return code ? code : started(call);
}

int gpu_rule(const char *call, int slot) {
    int code;
    while (slot < state->gpu_count &&
           (code = apply(state->gpu[slot].rule, state->gpu[slot].rule_count, call, slot)) == -1)
        unlock_for_ms(5);
    return slot < state->gpu_count ? code : GPU_IS_LOST;
}

static void die(const char *call, const void *device) {
    fprintf(stderr, "fake NVML: %s was called with %p, which is no handle\n", call, device);
    abort();
}

static int find(Device device) {
    if (device->serial == serial) return device->slot;
    device->serial = serial;
    device->slot = -1;
    device->mig_slot = -1;
    for (int i = 0; i < state->gpu_count; i++) {
        if (strcmp(state->gpu[i].uuid, device->gpu)) continue;
        device->slot = i;
        for (int j = 0; j < state->gpu[i].mig_count; j++)
            if (!strcmp(state->gpu[i].mig[j].uuid, device->mig)) device->mig_slot = j;
        if (device->mig[0] && device->mig_slot < 0) device->slot = -1;
        return device->slot;
    }
    return -1;
}

int enter_device(const char *call, Device device, Gpu **gpu, Mig **mig) {
    if (device < handles || device >= handles + MAX_HANDLES || device->magic != MAGIC)
        die(call, device);
    pthread_mutex_lock(&lock);
    refresh();
    int code = system_rules(call);
    if (code) return code;
    if ((code = started(call))) return code;
    if (device->generation != generation) return INVALID_ARGUMENT;
    int slot = find(device);
    if (slot < 0) return device->mig[0] ? NOT_FOUND : GPU_IS_LOST;
    if ((code = gpu_rule(call, slot))) return code;
    if ((slot = find(device)) < 0) return GPU_IS_LOST;
    *gpu = &state->gpu[slot];
    *mig = device->mig_slot >= 0 ? &state->gpu[slot].mig[device->mig_slot] : NULL;
    return OK;
}

Device handle_of(int slot, int mig_slot) {
    const char *gpu = state->gpu[slot].uuid;
    const char *mig = mig_slot < 0 ? "" : state->gpu[slot].mig[mig_slot].uuid;
    for (int i = 0; i < handle_count; i++)
        if (handles[i].generation == generation && !strcmp(handles[i].gpu, gpu) &&
            !strcmp(handles[i].mig, mig))
            return &handles[i];
    if (handle_count == MAX_HANDLES) handle_count = 0; /* the oldest generations are reused */
    Device device = &handles[handle_count++];
    device->magic = MAGIC;
    device->generation = generation;
    device->serial = 0;
    copy_text(device->gpu, sizeof device->gpu, gpu);
    copy_text(device->mig, sizeof device->mig, mig);
    return device;
}

void begin_use(void) {
    if (users++) return;
    generation++;
    init_epoch = state->epoch;
}

int end_use(void) {
    if (!users) return UNINITIALIZED;
    users--;
    return OK;
}

int copy_text(char *to, u32 size, const char *from) {
    size_t length = strlen(from);
    if (length + 1 > size) return INSUFFICIENT_SIZE;
    memcpy(to, from, length + 1);
    return OK;
}

int get_u32(Gpu *gpu, int key, u32 *out) {
    if (!out) return INVALID_ARGUMENT;
    if (!gpu->has[key]) return NOT_SUPPORTED;
    *out = (u32)gpu->value[key];
    return OK;
}
