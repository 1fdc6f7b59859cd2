/* The library as a whole: initialisation, versions, words for errors, and how handles are got. */
#include "fake.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    char legacy[16];
    u32 domain, bus, device, id, subsystem;
    char bus_id[32];
} Pci;
typedef struct {
    u32 version, domain, bus, device, id, subsystem, base_class, sub_class;
    char bus_id[32];
} PciExt;

static int initialise(const char *call) {
    int entered __attribute__((cleanup(leave))) = enter_system(call);
    if (entered) return entered;
    begin_use();
    return OK;
}
API nvmlInit(void) { return initialise("nvmlInit"); }
API nvmlInit_v2(void) { return initialise("nvmlInit"); }
API nvmlInitWithFlags(u32 flags) { (void)flags; return initialise("nvmlInit"); }
API nvmlShutdown(void) { SYSTEM return end_use(); }

API nvmlSystemGetDriverVersion(char *out, u32 size) { SYSTEM return copy_text(out, size, state->driver); }
API nvmlSystemGetNVMLVersion(char *out, u32 size) { SYSTEM return copy_text(out, size, state->nvml); }
API nvmlSystemGetCudaDriverVersion(int *out) { SYSTEM *out = (int)state->cuda; return OK; }
API nvmlSystemGetCudaDriverVersion_v2(int *out) { SYSTEM *out = (int)state->cuda; return OK; }

API nvmlSystemGetProcessName(u32 pid, char *out, u32 size) {
    SYSTEM
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/comm", pid);
    FILE *file = fopen(path, "re");
    if (!file) return NOT_FOUND;
    if (!size || !fgets(out, (int)size, file)) out[0] = 0;
    fclose(file);
    out[strcspn(out, "\n")] = 0;
    return OK;
}

__attribute__((visibility("default"))) const char *nvmlErrorString(int code) {
    static const char *words[] = {
        "Success", "Uninitialized", "Invalid Argument", "Not Supported",
        "Insufficient Permissions", "Already Initialized", "Not Found", "Insufficient Size",
        "Insufficient External Power", "Driver Not Loaded", "Timeout", "Interrupt Request Issue",
        "NVML Shared Library Not Found", "Function Not Found", "Corrupted infoROM", "GPU is lost",
        "GPU requires reset", "The operating system has blocked the request",
        "RM has detected an NVML/RM version mismatch.", "GPU is currently in use",
        "Insufficient Memory", "No data", "ECC on vGPU is not supported",
        "Insufficient Resources", "Frequency not supported", "Argument version mismatch",
        "Deprecated", "Not ready", "GPU not found", "Invalid state", "Reset type not supported"};
    return code >= 0 && code <= 30 ? words[code] : "Unknown Error";
}

static int count_all(const char *call, u32 *out) {
    int entered __attribute__((cleanup(leave))) = enter_system(call);
    if (entered) return entered;
    *out = (u32)state->gpu_count;
    return OK;
}
API nvmlDeviceGetCount(u32 *out) { return count_all(__func__, out); }
API nvmlDeviceGetCount_v2(u32 *out) { return count_all(__func__, out); }
API nvmlUnitGetCount(u32 *out) { SYSTEM *out = 0; return OK; }

static int handle_at(const char *call, int slot, Device *out) {
    if (slot < 0) return NOT_FOUND;
    int code = gpu_rule(call, slot);
    if (!code && slot >= state->gpu_count) code = GPU_IS_LOST;
    if (!code) *out = handle_of(slot, -1);
    return code;
}

static int by_index(const char *call, u32 index, Device *out) {
    int entered __attribute__((cleanup(leave))) = enter_system(call);
    if (entered) return entered;
    if (index >= (u32)state->gpu_count) return INVALID_ARGUMENT;
    return handle_at("nvmlDeviceGetHandleByIndex", (int)index, out);
}
API nvmlDeviceGetHandleByIndex(u32 index, Device *out) { return by_index(__func__, index, out); }
API nvmlDeviceGetHandleByIndex_v2(u32 index, Device *out) { return by_index(__func__, index, out); }

API nvmlDeviceGetHandleByUUID(const char *uuid, Device *out) {
    SYSTEM
    for (int i = 0; i < state->gpu_count; i++) {
        if (!strcmp(uuid, state->gpu[i].uuid)) return handle_at(__func__, i, out);
        for (int j = 0; j < state->gpu[i].mig_count; j++)
            if (!strcmp(uuid, state->gpu[i].mig[j].uuid)) {
                *out = handle_of(i, j);
                return OK;
            }
    }
    return NOT_FOUND;
}

API nvmlDeviceGetHandleBySerial(const char *serial, Device *out) {
    SYSTEM
    for (int i = 0; i < state->gpu_count; i++)
        if (!strcmp(serial, state->gpu[i].serial)) return handle_at(__func__, i, out);
    return NOT_FOUND;
}

static void pci_of(const Gpu *g, Pci *out) {
    memset(out, 0, sizeof *out);
    out->domain = (u32)V(pci_domain);
    out->bus = (u32)V(pci_bus);
    out->device = (u32)V(pci_device);
    out->id = (u32)V(pci_id);
    out->subsystem = (u32)V(pci_subsystem);
    snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.0", out->domain & 0xFFFF,
             out->bus & 0xFF, out->device & 0xFF);
    snprintf(out->bus_id, sizeof out->bus_id, "%08X:%02X:%02X.0", out->domain, out->bus & 0xFF,
             out->device & 0xFF);
}

static int by_bus_id(const char *call, const char *bus_id, Device *out) {
    int entered __attribute__((cleanup(leave))) = enter_system(call);
    if (entered) return entered;
    Pci pci;
    for (int i = 0; i < state->gpu_count; i++) {
        pci_of(&state->gpu[i], &pci);
        if (!strcasecmp(bus_id, pci.bus_id) || !strcasecmp(bus_id, pci.legacy))
            return handle_at(call, i, out);
    }
    return NOT_FOUND;
}
API nvmlDeviceGetHandleByPciBusId(const char *id, Device *out) { return by_bus_id(__func__, id, out); }
API nvmlDeviceGetHandleByPciBusId_v2(const char *id, Device *out) { return by_bus_id(__func__, id, out); }

#define PCI(name) API name(Device d, Pci *out) { WHOLE(d) pci_of(g, out); return OK; }
PCI(nvmlDeviceGetPciInfo)
PCI(nvmlDeviceGetPciInfo_v2)
PCI(nvmlDeviceGetPciInfo_v3)

API nvmlDeviceGetPciInfoExt(Device d, PciExt *out) {
    WHOLE(d)
    Pci pci;
    if (out->version != 0x1000040) return ARGUMENT_VERSION_MISMATCH;
    pci_of(g, &pci);
    *out = (PciExt){out->version, pci.domain, pci.bus, pci.device, pci.id, pci.subsystem, 3, 2, ""};
    strcpy(out->bus_id, pci.bus_id);
    return OK;
}

API nvmlDeviceGetIndex(Device d, u32 *out) { WHOLE(d) *out = (u32)(g - state->gpu); return OK; }
API nvmlDeviceGetMinorNumber(Device d, u32 *out) { WHOLE(d) return get_u32(g, K_minor, out); }
API nvmlDeviceGetSerial(Device d, char *out, u32 size) {
    WHOLE(d)
    return g->serial[0] ? copy_text(out, size, g->serial) : NOT_SUPPORTED;
}
API nvmlDeviceGetName(Device d, char *out, u32 size) {
    DEVICE(d)
    return copy_text(out, size, m ? m->name : g->name);
}
API nvmlDeviceGetUUID(Device d, char *out, u32 size) {
    DEVICE(d)
    return copy_text(out, size, m ? m->uuid : g->uuid);
}
API nvmlDeviceGetVbiosVersion(Device d, char *out, u32 size) {
    WHOLE(d)
    return copy_text(out, size, "92.00.45.00.03");
}
