/* Reads the state file: `[driver]` and `[gpu]` sections of `key = value` lines.
 * The grammar is described in ../README.md; an unknown key aborts, so that a typing error is seen. */
#include "parse.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *KEY_NAMES[KEY_COUNT] = {
#define K(name) #name,
#include "keys.h"
#undef K
};

static const struct { const char *word; int code; } ERRORS[] = {
    {"SUCCESS", 0}, {"UNINITIALIZED", 1}, {"INVALID_ARGUMENT", 2}, {"NOT_SUPPORTED", 3},
    {"NO_PERMISSION", 4}, {"ALREADY_INITIALIZED", 5}, {"NOT_FOUND", 6}, {"INSUFFICIENT_SIZE", 7},
    {"INSUFFICIENT_POWER", 8}, {"DRIVER_NOT_LOADED", 9}, {"TIMEOUT", 10}, {"IRQ_ISSUE", 11},
    {"LIBRARY_NOT_FOUND", 12}, {"FUNCTION_NOT_FOUND", 13}, {"CORRUPTED_INFOROM", 14},
    {"GPU_IS_LOST", 15}, {"RESET_REQUIRED", 16}, {"OPERATING_SYSTEM", 17},
    {"LIB_RM_VERSION_MISMATCH", 18}, {"IN_USE", 19}, {"MEMORY", 20}, {"NO_DATA", 21},
    {"VGPU_ECC_NOT_SUPPORTED", 22}, {"INSUFFICIENT_RESOURCES", 23}, {"FREQ_NOT_SUPPORTED", 24},
    {"ARGUMENT_VERSION_MISMATCH", 25}, {"DEPRECATED", 26}, {"NOT_READY", 27},
    {"GPU_NOT_FOUND", 28}, {"INVALID_STATE", 29}, {"RESET_TYPE_NOT_SUPPORTED", 30},
    {"UNKNOWN", 999},
};

static void bad(const char *what, const char *line) {
    fprintf(stderr, "fake NVML: state file: %s: %s\n", what, line);
    abort();
}

int number_of_error(const char *word) {
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        if (!strcmp(ERRORS[i].word, word)) return ERRORS[i].code;
    if (!isdigit((unsigned char)*word)) bad("no such error", word);
    return atoi(word);
}

static u64 number(const char *text) {
    if (!strcmp(text, "max")) return NOT_AVAILABLE;
    char *end;
    u64 value = text[0] == '-' ? (u64)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    if (*end == 'K') value <<= 10, end++;
    else if (*end == 'M') value <<= 20, end++;
    else if (*end == 'G') value <<= 30, end++;
    if (end == text || *end) bad("no number", text);
    return value;
}

static char *trim(char *text) {
    while (isspace((unsigned char)*text)) text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1])) *--end = 0;
    return text;
}

/* Splits "key=value" words; returns the value and moves on, NULL at the end. */
static char *next_pair(char **rest, char **key) {
    char *word;
    while ((word = strsep(rest, " \t"))) {
        if (!*word) continue;
        *key = word;
        char *value = strchr(word, '=');
        if (!value) bad("key=value wanted", word);
        *value = 0;
        return value + 1;
    }
    return NULL;
}

static void text_to(char *to, size_t size, const char *from) {
    if (strlen(from) >= size) bad("too long", from);
    strcpy(to, from);
}

static void process(Gpu *g, char *line) {
    if (g->process_count == MAX_PROCESSES) bad("too many processes", line);
    Process *p = &g->process[g->process_count++];
    char *key, *value;
    p->gi = p->ci = NO_INSTANCE;
    p->memory = p->cc_memory = NOT_AVAILABLE;
    p->sm = p->mem = p->enc = p->dec = -1;
    strcpy(p->kinds, "C");
    while ((value = next_pair(&line, &key))) {
        if (!strcmp(key, "pid")) p->pid = (u32)number(value);
        else if (!strcmp(key, "memory")) p->memory = number(value);
        else if (!strcmp(key, "kinds")) text_to(p->kinds, sizeof p->kinds, value);
        else if (!strcmp(key, "gi")) p->gi = (u32)number(value);
        else if (!strcmp(key, "ci")) p->ci = (u32)number(value);
        else if (!strcmp(key, "sm")) p->sm = (int)number(value);
        else if (!strcmp(key, "mem")) p->mem = (int)number(value);
        else if (!strcmp(key, "enc")) p->enc = (int)number(value);
        else if (!strcmp(key, "dec")) p->dec = (int)number(value);
        else if (!strcmp(key, "cc")) p->cc_memory = number(value);
        else if (!strcmp(key, "namespace")) p->namespace_id = number(value);
        else if (!strcmp(key, "namespace_pid")) p->namespace_pid = (u32)number(value);
        else bad("unknown word of a process", key);
    }
}

static void mig(Gpu *g, char *line) {
    if (g->mig_count == MAX_MIGS) bad("too many MIG instances", line);
    Mig *m = &g->mig[g->mig_count];
    char *key, *value;
    m->slot = (u32)g->mig_count++;
    m->slices = 1;
    while ((value = next_pair(&line, &key))) {
        if (!strcmp(key, "slot")) m->slot = (u32)number(value);
        else if (!strcmp(key, "gi")) m->gi = (u32)number(value);
        else if (!strcmp(key, "ci")) m->ci = (u32)number(value);
        else if (!strcmp(key, "total")) m->total = number(value);
        else if (!strcmp(key, "used")) m->used = number(value);
        else if (!strcmp(key, "reserved")) m->reserved = number(value);
        else if (!strcmp(key, "slices")) m->slices = (u32)number(value);
        else if (!strcmp(key, "sms")) m->sms = (u32)number(value);
        else if (!strcmp(key, "uuid")) text_to(m->uuid, sizeof m->uuid, value);
        else if (!strcmp(key, "name")) {
            text_to(m->name, sizeof m->name, value);
            for (char *c = m->name; *c; c++) if (*c == '_') *c = ' ';
        } else bad("unknown word of a MIG instance", key);
    }
}

static void sample(Gpu *g, char *line) {
    if (g->sample_count == MAX_SAMPLES) bad("too many samples", line);
    Sample *s = &g->sample[g->sample_count++];
    char *key, *value;
    while ((value = next_pair(&line, &key))) {
        if (!strcmp(key, "pid")) s->pid = (u32)number(value);
        else if (!strcmp(key, "at")) s->at = number(value);
        else if (!strcmp(key, "sm")) s->sm = (u32)number(value);
        else if (!strcmp(key, "mem")) s->mem = (u32)number(value);
        else if (!strcmp(key, "enc")) s->enc = (u32)number(value);
        else if (!strcmp(key, "dec")) s->dec = (u32)number(value);
        else bad("unknown word of a sample", key);
    }
}

static void event(Gpu *g, char *line) {
    if (g->event_count == MAX_EVENTS) bad("too many events", line);
    Event *e = &g->event[g->event_count++];
    char *key, *value;
    e->gi = e->ci = NO_INSTANCE;
    while ((value = next_pair(&line, &key))) {
        if (!strcmp(key, "sequence")) e->sequence = number(value);
        else if (!strcmp(key, "type")) e->type = number(value);
        else if (!strcmp(key, "data")) e->data = number(value);
        else if (!strcmp(key, "gi")) e->gi = (u32)number(value);
        else if (!strcmp(key, "ci")) e->ci = (u32)number(value);
        else bad("unknown word of an event", key);
    }
}

static void field(Gpu *g, char *line) {
    if (g->field_count == MAX_FIELDS) bad("too many fields", line);
    Field *f = &g->field[g->field_count++];
    char *value = strpbrk(line, " \t");
    if (!value) bad("field = ID VALUE wanted", line);
    *value++ = 0;
    value = trim(value);
    f->id = (u32)number(line);
    if (isupper((unsigned char)*value)) f->error = number_of_error(value);
    else f->value = number(value);
}

/* CALL CODE [after=N] [times=N], or CALL alone for a hang. */
static void rule(Rule *rules, int *count, char *line, int hang) {
    if (*count == MAX_RULES) bad("too many rules", line);
    Rule *r = &rules[(*count)++];
    r->hang = hang;
    r->key = 2166136261u;
    for (char *c = line; *c; c++) r->key = (r->key ^ (unsigned char)*c) * 16777619u;
    r->key |= 1;
    char *word = strsep(&line, " \t"), *key, *value;
    text_to(r->call, sizeof r->call, word);
    if (!hang) {
        do word = strsep(&line, " \t"); while (word && !*word);
        if (!word) bad("error = CALL CODE wanted", r->call);
        r->code = number_of_error(word);
    }
    while (line && (value = next_pair(&line, &key))) {
        if (!strcmp(key, "after")) r->after = number(value);
        else if (!strcmp(key, "times")) r->times = number(value);
        else bad("unknown word of a rule", key);
    }
}

static void driver_line(State *s, const char *key, char *value) {
    if (!strcmp(key, "version")) text_to(s->driver, sizeof s->driver, value);
    else if (!strcmp(key, "nvml")) text_to(s->nvml, sizeof s->nvml, value);
    else if (!strcmp(key, "cuda")) s->cuda = number(value);
    else if (!strcmp(key, "epoch")) s->epoch = number(value);
    else if (!strcmp(key, "stale_error")) s->stale_error = (u64)number_of_error(value);
    else if (!strcmp(key, "host_namespace")) s->host_namespace = number(value);
    else if (!strcmp(key, "raw_pids")) s->raw_pids = number(value);
    else if (!strcmp(key, "nvlink_switch")) s->nvlink_switch = number(value);
    else if (!strcmp(key, "error")) rule(s->rule, &s->rule_count, value, 0);
    else if (!strcmp(key, "hang")) rule(s->rule, &s->rule_count, value, 1);
    else bad("unknown key of the driver", key);
}

static void gpu_line(Gpu *g, const char *key, char *value) {
    if (!strcmp(key, "uuid")) text_to(g->uuid, sizeof g->uuid, value);
    else if (!strcmp(key, "name")) text_to(g->name, sizeof g->name, value);
    else if (!strcmp(key, "serial")) text_to(g->serial, sizeof g->serial, value);
    else if (!strcmp(key, "process")) process(g, value);
    else if (!strcmp(key, "mig")) mig(g, value);
    else if (!strcmp(key, "sample")) sample(g, value);
    else if (!strcmp(key, "event")) event(g, value);
    else if (!strcmp(key, "field")) field(g, value);
    else if (!strcmp(key, "error")) rule(g->rule, &g->rule_count, value, 0);
    else if (!strcmp(key, "hang")) rule(g->rule, &g->rule_count, value, 1);
    else {
        for (int i = 0; i < KEY_COUNT; i++) {
            if (strcmp(KEY_NAMES[i], key)) continue;
            g->has[i] = strcmp(value, "none") != 0;
            g->value[i] = g->has[i] ? number(value) : 0;
            return;
        }
        bad("unknown key of a GPU", key);
    }
}

int parse_state(const char *path, State *s) {
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    char *line = NULL;
    size_t size = 0;
    Gpu *g = NULL;
    int in_driver = 0;
    strcpy(s->driver, "575.57.08");
    strcpy(s->nvml, "12.575.57.08");
    s->cuda = 12090;
    s->stale_error = UNKNOWN;
    while (getline(&line, &size, file) >= 0) {
        char *text = trim(line);
        if (!*text || *text == '#') continue;
        if (!strcmp(text, "[driver]")) in_driver = 1, g = NULL;
        else if (!strcmp(text, "[gpu]")) {
            if (s->gpu_count == MAX_GPUS) bad("too many GPUs", text);
            in_driver = 0;
            g = &s->gpu[s->gpu_count++];
        } else {
            char *value = strchr(text, '=');
            if (!value || (!g && !in_driver)) bad("key = value wanted", text);
            *value++ = 0;
            if (g) gpu_line(g, trim(text), trim(value));
            else driver_line(s, trim(text), trim(value));
        }
    }
    free(line);
    fclose(file);
    return 1;
}
