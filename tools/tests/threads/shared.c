// Shared memory, and what engines do to it: who accesses it is noted, copies move when they are waited for, and
// instructions of an engine read it until then. Included by threads.c.

// Shared memory is one window of addresses, of 18 bits: that of the block whose turn it is.
#define WINDOW (1 << 18)
__attribute__((section("smem"), aligned(WINDOW))) char smem_window[1024] = {1};
extern char __stop_smem[];

#if CLUSTER > 1
static char windows[CLUSTER][WINDOW];
#endif
static int window_of;
static void take_window(int block) {
#if CLUSTER > 1
  if (block == window_of)
    return;
  memcpy(windows[window_of], smem_window, __stop_smem - smem_window);
  memcpy(smem_window, windows[block], __stop_smem - smem_window);
  window_of = block;
#endif
}

// A byte of a block's shared memory.
static char *byte_of(int block, int64_t at) {
#if CLUSTER > 1
  if (block != window_of)
    return &windows[block][at];
#endif
  return &smem_window[at];
}

// For each byte there who wrote and who read it last, and how often all threads, those of their warps and those of
// the cluster had met then. Two threads' accesses are in order where both met in between.
#define MANY -1
struct access {
  int met, warp_met, cluster_met, thread;
  int made; // arrivals of the warp before it; of several the most
  int whole_met;
};
static struct seen {
  struct access wrote, read;
  short flying;  // copies under way to it
  short reading; // instructions of an engine under way that read it
  int number;    // which of its thread's writes it was
  int box;       // that wrote it last, one more than its number; 0 where threads did
} seen[CLUSTER][WINDOW];
// How often each thread wrote there, and how often it had when it last showed that to the engine.
static int written[ALL], shown[ALL];
// How many arrivals each warp has made at words that count no bytes, and of how many each thread knows that all have
// made them.
static int made[ALL / 32 + 1], known_made[ALL];

static struct access now(void) {
  return (struct access){met[OWN] + 1, warp_met[thread_number / LANES], cluster_met + 1, thread_number,
                         made[thread_number / 32], whole_met[OWN] + 1};
}

// Whether an access of a block is in order before what this thread does to that block's memory.
static int is_in_order_in(int block, struct access before) {
  if (block != OWN)
    return before.cluster_met != cluster_met + 1;
  if (ASKS)
    return before.whole_met != whole_met[OWN] + 1 || before.thread == thread_number;
  if (before.met != met[OWN] + 1 || before.thread == thread_number)
    return 1;
  int own = thread_number / LANES;
  return before.thread != MANY && before.thread / LANES == own && before.warp_met != warp_met[own];
}

static int is_in_order(struct access before) { return is_in_order_in(OWN, before); }

static struct seen *seen_in(int block, int64_t byte) {
  if (byte < 0 || byte >= WINDOW)
    fail("an access outside of shared memory");
  return &seen[block][byte];
}

static struct seen *seen_at(const void *at) { return seen_in(OWN, (const char *)at - smem_window); }

static int is_known(int box);

static void see_read(const void *at, int bytes) {
  struct seen *own = seen_at(at);
  for (struct seen *end = own + bytes; own < end; ++own) {
    if (own->flying)
      fail("a copy was not waited for before it was read");
    if (own->box && !is_known(own->box - 1))
      fail("a thread reads a box that it does not know to be there");
    if (!own->box && !is_in_order(own->wrote))
      fail("no barrier between a write and a read");
    int many = own->read.met == met[OWN] + 1 && own->read.thread / LANES != thread_number / LANES;
    int before = own->read.made;
    own->read = now();
    if (before > own->read.made)
      own->read.made = before;
    if (many)
      own->read.thread = MANY;
  }
}

// An engine's in order behind arrivals, too, that the thread knows all have made.
static void see_write_in(int block, int64_t at, int bytes, int by_engine) {
  struct seen *own = seen_in(block, at);
  for (struct seen *end = own + bytes; own < end; ++own) {
    if (own->flying || own->reading)
      fail("a write to what an engine is at");
    int arrived = by_engine && block == OWN && own->read.made < known_made[thread_number];
    if (!arrived && !is_in_order_in(block, own->read))
      fail("no barrier between a read and a write");
  }
}

static void see_write(const void *at, int bytes) {
  see_write_in(OWN, (const char *)at - smem_window, bytes, 0);
}

static void is_written(const void *at, int bytes) {
  struct seen *own = seen_at(at);
  ++written[thread_number];
  for (struct seen *end = own + bytes; own < end; ++own) {
    own->wrote = now();
    own->number = written[thread_number];
    own->box = 0;
  }
}

static int is_shown(const struct seen *own) {
  return own->box || own->number <= shown[own->wrote.thread];
}

#include "boxes.c"

// The maker's load of matrices: thread 8 m + r gives the address of row r of matrix m, 8 numbers of 16 bits; thread
// l gets numbers 2 (l % 4) and the next of row l / 4 of each, or of the turned matrix.
static const uint16_t *rows_of_matrices[ALL];
static uint16_t of_matrices[ALL][4][2];
void *weft_ldmatrix(const void *row, int32_t turned) {
  int first = thread_number / LANES * LANES, lane = thread_number - first;
  if ((uintptr_t)row % 16)
    fail("a row of a matrix that is not aligned");
  rows_of_matrices[thread_number] = row;
  wait_warp();
  for (int matrix = 0; matrix < 4; ++matrix)
    for (int n = 0; n < 2; ++n) {
      int along = lane / 4, place = 2 * (lane % 4) + n;
      const uint16_t **rows = rows_of_matrices + first + 8 * matrix;
      of_matrices[thread_number][matrix][n] = turned ? rows[place][along] : rows[along][place];
    }
  wait_warp();
  return of_matrices[thread_number];
}

// Copies that a thread begins and waits for by groups: each moves when it is waited for, in every
// second block at once. So what is read too early is not there yet in one of two blocks, and what is
// overwritten too early is gone in the other.
#define COPIES 256
static struct {
  void *to;
  const void *from;
  int bytes, read, group;
} copies[ALL][COPIES];
static int begun[ALL], done[ALL], group[ALL];

static void move(int thread, int at) {
  memset(copies[thread][at].to, 0, copies[thread][at].bytes);
  memcpy(copies[thread][at].to, copies[thread][at].from, copies[thread][at].read);
}

static void finish_copies(int last_group) {
  int thread = thread_number;
  while (done[thread] < begun[thread] && copies[thread][done[thread] % COPIES].group <= last_group) {
    int at = done[thread]++ % COPIES;
    if (ROUND % 2 == 0)
      move(thread, at);
    struct seen *own = seen_at(copies[thread][at].to);
    for (int byte = 0; byte < copies[thread][at].bytes; ++byte)
      --own[byte].flying;
    is_written(copies[thread][at].to, copies[thread][at].bytes);
  }
}

static void begin_copy(void *to, const void *from, int bytes, int read) {
  int thread = thread_number;
  if (begun[thread] - done[thread] == COPIES)
    fail("too many copies under way");
  int at = begun[thread]++ % COPIES;
  copies[thread][at].to = to;
  copies[thread][at].from = from;
  copies[thread][at].bytes = bytes;
  copies[thread][at].read = read;
  copies[thread][at].group = group[thread];
  see_write(to, bytes);
  struct seen *own = seen_at(to);
  for (int byte = 0; byte < bytes; ++byte)
    ++own[byte].flying;
  if (ROUND % 2)
    move(thread, at);
}

#define COPY(cache, size)                                                                     \
  void llvm_nvvm_cp_async_##cache##_shared_global_##size(void *to, const void *from) {        \
    begin_copy(to, from, size, size);                                                         \
  }                                                                                           \
  void llvm_nvvm_cp_async_##cache##_shared_global_##size##_s(void *to, const void *from,      \
                                                             int32_t read) {                  \
    begin_copy(to, from, size, read);                                                         \
  }
COPY(ca, 4)
COPY(ca, 8)
COPY(cg, 16)
void llvm_nvvm_cp_async_commit_group(void) { ++group[thread_number]; }
void llvm_nvvm_cp_async_wait_group(int32_t under_way) {
  finish_copies(group[thread_number] - 1 - under_way);
}

typedef struct {
  uint16_t bits;
} bfloat;
/* The same bits as another type. */
static inline float as_float(int32_t x) { float y; memcpy(&y, &x, 4); return y; }
static inline int32_t as_int32_t(float x) { int32_t y; memcpy(&y, &x, 4); return y; }

static float widened(bfloat x) {
  uint32_t bits = (uint32_t)x.bits << 16;
  return *(float *)&bits;
}

// Instructions that a warpgroup begins, and waits for by groups. What they give is a poison that says
// which one gives it, until that was waited for; what they read must stay until then.
#define INSTRUCTIONS 256
typedef void each_number(const char *at);
static struct begun {
  float d[128];
  void (*reads)(int64_t, int64_t, each_number *);
  int64_t a, b;
  uint32_t number;
} instructions[ALL][INSTRUCTIONS];
static uint32_t instructions_begun[ALL], instructions_done[ALL];

// The maker's descriptor: address, bytes to the next panel and to the next 8 rows, all in units of 16
// bytes, and how rows of 128 bytes are swizzled.
static const char *in_swizzled(int64_t what, int64_t panel, int64_t rows, int64_t row, int64_t byte) {
  int64_t at = (what & 0x3fff) << 4;
  at += panel * ((what >> 16 & 0x3fff) << 4) + rows * ((what >> 32 & 0x3fff) << 4) + row * 128 + byte;
  if ((uint64_t)what >> 62 != 1 || (what >> 49 & 7) != 0)
    fail("a descriptor of something else");
  at ^= (at >> 7 & 7) << 4;
  return smem_window + (at & (WINDOW - 1));
}

// Element k of a row that goes along k.
static const char *in_row(int64_t what, int row, int k) {
  return in_swizzled(what, 0, row / 8, row % 8, 2 * k);
}

// Element n of the row of k.
static const char *in_rows(int64_t what, int k, int n) {
  return in_swizzled(what, n / 64, k / 8, k % 8, 2 * (n % 64));
}

// An instruction begins to read a number of 16 bits, and has read it.
static void begin_read(const char *at) {
  see_read(at, 2);
  struct seen *own = seen_at(at);
  if (!is_shown(own) || !is_shown(own + 1))
    fail("an engine reads what was not shown to it");
  ++own->reading;
  ++own[1].reading;
}

static void end_read(const char *at) {
  struct seen *own = seen_at(at);
  --own->reading;
  --own[1].reading;
  see_read(at, 2);
}

static struct begun *begin(void (*reads)(int64_t, int64_t, each_number *), int64_t a, int64_t b) {
  int thread = thread_number;
  if (instructions_begun[thread] - instructions_done[thread] == INSTRUCTIONS)
    fail("too many instructions under way");
  uint32_t number = instructions_begun[thread]++;
  struct begun *own = &instructions[thread][number % INSTRUCTIONS];
  own->reads = thread % LANES ? 0 : reads;
  if (own->reads)
    own->reads(a, b, begin_read);
  own->a = a;
  own->b = b;
  own->number = number;
  return own;
}

static float poison(struct begun *own) {
  uint32_t bits = 0x7fa00000 | own->number % INSTRUCTIONS;
  return *(float *)&bits;
}

// What is behind a poison: for the next instruction at once, for others once it was waited for.
static float settled(float value, int slot, int chained) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  if (bits >> 8 != 0x7fa000)
    return value;
  struct begun *own = &instructions[thread_number][bits % INSTRUCTIONS];
  return chained || own->number < instructions_done[thread_number] ? own->d[slot] : value;
}

void weft_settle(int64_t at, int64_t count) {
  float *held = (float *)at;
  for (int slot = 0; slot < count; ++slot)
    held[slot] = settled(held[slot], slot, 0);
}

void llvm_nvvm_wgmma_wait_group_sync_aligned(int64_t under_way) {
  int thread = thread_number;
  while (instructions_begun[thread] - instructions_done[thread] > under_way) {
    struct begun *own = &instructions[thread][instructions_done[thread]++ % INSTRUCTIONS];
    if (own->reads)
      own->reads(own->a, own->b, end_read);
  }
}
void llvm_nvvm_fence_proxy_async_shared_cta(void) { shown[thread_number] = written[thread_number]; }

// Nothing is under way when a thread ends.
static void end_thread(void) {
  int thread = thread_number;
  if (arrived[thread])
    fail("a thread ends that has not waited where it arrived");
  if (begun[thread] != done[thread] || instructions_begun[thread] != instructions_done[thread])
    fail("a thread ends, and what it began was not waited for");
}
