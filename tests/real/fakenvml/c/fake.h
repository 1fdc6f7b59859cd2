/* The fake's own view of the world: a parsed state file, handles, and the door of every call.
 * Topics (process.c, mig.c, ...) include this and know nothing of files or locks. */
#ifndef ROOST_FAKE_NVML_H
#define ROOST_FAKE_NVML_H
#include <stddef.h>
#include <stdint.h>

typedef unsigned long long u64;
typedef unsigned int u32;
typedef struct Handle *Device;

enum {
    OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4,
    NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, TIMEOUT = 10, GPU_IS_LOST = 15, NO_DATA = 21,
    ARGUMENT_VERSION_MISMATCH = 25, UNKNOWN = 999,
};

#define MAX_GPUS 16
#define MAX_PROCESSES 1024
#define MAX_MIGS 32
#define MAX_RULES 32
#define MAX_SAMPLES 128
#define MAX_FIELDS 64
#define MAX_EVENTS 32
#define NOT_AVAILABLE (~0ULL)
#define NO_INSTANCE 0xFFFFFFFFu

enum Key {
#define K(name) K_##name,
#include "keys.h"
#undef K
    KEY_COUNT
};

typedef struct {
    u32 pid, gi, ci;
    u64 memory, cc_memory, namespace_id;
    u32 namespace_pid, reported_pid;
    char kinds[8];
    int sm, mem, enc, dec;
} Process;

typedef struct { u32 pid; u64 at; u32 sm, mem, enc, dec; } Sample;
typedef struct { u32 id; int error; u64 value; } Field;
typedef struct { u64 sequence, type, data; u32 gi, ci; } Event;
typedef struct { char call[64]; int code, hang; u64 after, times; u32 key; } Rule;
typedef struct {
    u32 slot, gi, ci, slices, sms;
    u64 total, used, reserved;
    char uuid[96], name[96];
} Mig;

typedef struct {
    char uuid[96], name[96], serial[32];
    u64 value[KEY_COUNT];
    unsigned char has[KEY_COUNT];
    int process_count, mig_count, rule_count, sample_count, field_count, event_count;
    Process process[MAX_PROCESSES];
    Mig mig[MAX_MIGS];
    Rule rule[MAX_RULES];
    Sample sample[MAX_SAMPLES];
    Field field[MAX_FIELDS];
    Event event[MAX_EVENTS];
} Gpu;

typedef struct {
    char driver[80], nvml[80];
    u64 cuda, epoch, stale_error, host_namespace, raw_pids, nvlink_switch;
    int gpu_count, rule_count;
    Rule rule[MAX_RULES];
    Gpu gpu[MAX_GPUS];
} State;

struct Handle { u32 magic, generation; char gpu[96], mig[96]; u64 serial; int slot, mig_slot; };

extern State *state;
extern double state_time_s; /* when the state file was written */

/* Enter a call: lock, re-read a changed file, check initialisation, rules and handle. */
int enter_system(const char *call);
int enter_device(const char *call, Device device, Gpu **gpu, Mig **mig);
void leave(int *entered);
int gpu_rule(const char *call, int slot); /* rules of a GPU for calls without its handle; may wait */
Device handle_of(int slot, int mig_slot);
void begin_use(void);
int end_use(void);
void unlock_for_ms(int ms);
int copy_text(char *to, u32 size, const char *from);
int get_u32(Gpu *gpu, int key, u32 *out);
int number_of_error(const char *word);
u64 own_pid_namespace(void);
double now_s(void);

#define API __attribute__((visibility("default"))) int
#define SYSTEM                                                                                  \
    int entered_ __attribute__((cleanup(leave))) = enter_system(__func__);                      \
    if (entered_) return entered_;
#define DEVICE(device)                                                                          \
    Gpu *g = NULL;                                                                              \
    Mig *m = NULL;                                                                              \
    int entered_ __attribute__((cleanup(leave))) = enter_device(__func__, device, &g, &m);      \
    (void)m;                                                                                    \
    if (entered_) return entered_;
/* A whole GPU only: MIG handles have no such reading. */
#define WHOLE(device)                                                                           \
    DEVICE(device)                                                                              \
    if (m) return NOT_SUPPORTED;
#define V(key) (g->value[K_##key])
#define HAS(key) (g->has[K_##key])
#endif
