/* HIP's driver for tests: the device is this processor, code objects are shared objects, and a
 * kernel is a function that is called for one thread after the other. FAIL names a function that
 * fails; what was not given back is told at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OUT_OF_MEMORY = 2, NO_DEVICE = 100, NO_BINARY = 209, NOT_FOUND = 500 };
enum { MOST_LAUNCHES = 64, MOST_PARAMETERS = 8 };

typedef struct { void *object, *function, *block, *thread; int parameters; } Function;
typedef struct { Function *function; unsigned blocks, threads; unsigned long values[MOST_PARAMETERS]; } Launch;
typedef struct { Launch launches[MOST_LAUNCHES]; void *cleared[MOST_LAUNCHES]; size_t bytes[MOST_LAUNCHES]; int count; } Graph;
typedef struct { Graph *recording; } Stream;

static int live;
static int launched, together, replayed;

static int fails(const char *name) {
    const char *asked = getenv("FAIL");
    return asked && strcmp(asked, name) == 0 ? OUT_OF_MEMORY : 0;
}

#define MAY_FAIL do { int status = fails(__func__); if (status) return status; } while (0)

__attribute__((destructor)) static void tell(void) {
    fprintf(stderr, "left %d, launched %d, together %d, replayed %d\n", live, launched, together, replayed);
}

int hipInit(unsigned flags) { (void)flags; MAY_FAIL; return getenv("NO_DEVICE") ? NO_DEVICE : 0; }
int hipSetDevice(int device) { return device == 0 ? 0 : NO_DEVICE; }
int hipDeviceGetName(char *name, int size, int device) { (void)device; snprintf(name, size, "Loom 1"); return 0; }
int hipDeviceSynchronize(void) { MAY_FAIL; return 0; }
const char *hipGetErrorName(int status) {
    switch (status) {
    case OUT_OF_MEMORY: return "hipErrorOutOfMemory";
    case NO_DEVICE: return "hipErrorNoDevice";
    case NO_BINARY: return "hipErrorNoBinaryForGpu";
    default: return "hipErrorNotFound";
    }
}

static int make(void **made, size_t bytes) { *made = calloc(1, bytes); live++; return 0; }
static int end(void *made) { free(made); live--; return 0; }

int hipMalloc(void **at, size_t bytes) {
    MAY_FAIL;
    make(at, bytes);
    memset(*at, 0xA5, bytes);
    return 0;
}
int hipFree(void *at) { return end(at); }
int hipMemcpy(void *to, const void *from, size_t bytes, unsigned kind) {
    MAY_FAIL;
    if (kind != 1 && kind != 2) return NOT_FOUND;
    memcpy(to, from, bytes);
    return 0;
}

int hipStreamCreate(Stream **stream) { return make((void **)stream, sizeof(Stream)); }
int hipStreamDestroy(Stream *stream) { return end(stream); }
int hipStreamBeginCapture(Stream *stream, unsigned mode) {
    MAY_FAIL;
    if (mode != 1 || stream->recording) return NOT_FOUND;
    return make((void **)&stream->recording, sizeof(Graph));
}
int hipStreamEndCapture(Stream *stream, Graph **graph) {
    *graph = stream->recording;
    stream->recording = NULL;
    return *graph ? 0 : NOT_FOUND;
}
int hipGraphInstantiate(Graph **ready, Graph *graph, void **node, char *log, size_t size) {
    (void)node, (void)log, (void)size;
    MAY_FAIL;
    make((void **)ready, sizeof(Graph));
    **ready = *graph;
    return 0;
}
int hipGraphDestroy(Graph *graph) { return end(graph); }
int hipGraphExecDestroy(Graph *graph) { return end(graph); }

static void run(const Launch *launch) {
    const unsigned long *v = launch->values;
    void (*kernel)(long, long, long, long, long, long, long, long) = launch->function->function;
    for (unsigned block = 0; block < launch->blocks; block++)
        for (unsigned thread = 0; thread < launch->threads; thread++) {
            *(int *)launch->function->block = block;
            *(int *)launch->function->thread = thread;
            kernel(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
        }
    launched++;
}

int hipGraphLaunch(Graph *graph, Stream *stream) {
    (void)stream;
    MAY_FAIL;
    for (int i = 0; i < graph->count; i++) {
        if (graph->cleared[i]) memset(graph->cleared[i], 0, graph->bytes[i]);
        else run(&graph->launches[i]);
    }
    replayed++;
    return 0;
}

int hipMemsetAsync(void *at, int value, size_t bytes, Stream *stream) {
    Graph *graph = stream->recording;
    if (value != 0) return NOT_FOUND;
    if (!graph) { memset(at, 0, bytes); return 0; }
    graph->cleared[graph->count] = at;
    graph->bytes[graph->count++] = bytes;
    return 0;
}

int hipModuleLoadData(void **module, const unsigned char *code) {
    MAY_FAIL;
    if (memcmp(code, "\177ELF", 4) != 0) return NO_BINARY;
    /* As long as its table of sections says, which comes last. */
    unsigned long table = *(unsigned long *)(code + 40);
    unsigned short size = *(unsigned short *)(code + 58), count = *(unsigned short *)(code + 60);
    char path[64];
    int file = memfd_create("code", 0);
    if (write(file, code, table + size * count) < 0) return NOT_FOUND;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    *module = dlopen(path, RTLD_NOW);
    close(file);
    if (!*module) return NO_BINARY;
    live++;
    return 0;
}
int hipModuleUnload(void *module) { live--; return dlclose(module); }

int hipModuleGetFunction(Function **function, void *module, const char *name) {
    static Function found[8];
    static int count;
    char parameters[64];
    snprintf(parameters, sizeof parameters, "%s_parameters", name);
    Function own = {module, dlsym(module, name), dlsym(module, "block"), dlsym(module, "thread"), 0};
    int *known = dlsym(module, parameters);
    if (!own.function || !known || count == 8) return NOT_FOUND;
    own.parameters = *known;
    found[count] = own;
    *function = &found[count++];
    return 0;
}

int hipModuleLaunchKernel(Function *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty,
                          unsigned tz, unsigned shared, Stream *stream, void **parameters, void **extra) {
    (void)shared;
    MAY_FAIL;
    if (y != 1 || z != 1 || ty != 1 || tz != 1 || extra) return NOT_FOUND;
    Launch launch = {function, x, threads, {0}};
    for (int i = 0; i < function->parameters; i++) launch.values[i] = *(unsigned long *)parameters[i];
    Graph *graph = stream->recording;
    if (graph) graph->launches[graph->count++] = launch;
    else run(&launch);
    return 0;
}

int hipModuleLaunchCooperativeKernel(Function *function, unsigned x, unsigned y, unsigned z, unsigned threads,
                                     unsigned ty, unsigned tz, unsigned shared, Stream *stream, void **parameters) {
    MAY_FAIL;
    (void)shared;
    (void)stream;
    if (y != 1 || z != 1 || ty != 1 || tz != 1) return NOT_FOUND;
    Launch launch = {function, x, threads, {0}};
    for (int i = 0; i < function->parameters; i++) launch.values[i] = *(unsigned long *)parameters[i];
    run(&launch);
    together++;
    return 0;
}

int hipEventCreate(float **event) { return make((void **)event, sizeof(float)); }
int hipEventRecord(float *event, Stream *stream) {
    static float now;
    (void)stream;
    *event = now += 0.25f;
    return 0;
}
int hipEventElapsedTime(float *time_ms, float *start, float *stop) { *time_ms = *stop - *start; return 0; }
int hipEventDestroy(float *event) { return end(event); }
