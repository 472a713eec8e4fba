// Runs the threads of a block on the host, so that code for many threads can be
// held against an answer where there is no such unit.
//
// The threads take turns on one of the host's: each goes on until it waits for
// others. Every second block takes them from the last to the first, so that what
// lacks a wait is wrong in one of two blocks, whichever way it reads. What goes
// between threads goes through memory, with waits before and after; a warp's
// threads wait for each other alone, for another warp may have left. Who accesses shared memory is
// noted, so that what lacks a barrier stops, whatever the order.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef THREADS
#define THREADS 128
#define LANES 32
#endif
#define STACK (1 << 20)

static struct {
  enum { FRESH, STOPPED, ENDED } state;
  jmp_buf at;
} threads[THREADS];
static int thread_number, block_number, left;
// How often all threads of a block met, where the program says so.
static int met;
static jmp_buf all_ended;
static ucontext_t fresh;
static char *stacks;
static void (*body)(void);

static void go_on_as(int next);

// The one that goes on after this one.
static int follower(void) {
  int next = thread_number, step = block_number % 2 ? THREADS - 1 : 1;
  do
    next = (next + step) % THREADS;
  while (threads[next].state == ENDED && next != thread_number);
  return next;
}

static void end_thread(void);

static void run_thread(void) {
  body();
  end_thread();
  threads[thread_number].state = ENDED;
  if (--left == 0)
    _longjmp(all_ended, 1);
  go_on_as(follower());
}

static void go_on_as(int next) {
  thread_number = next;
  if (threads[next].state == STOPPED)
    _longjmp(threads[next].at, 1);
  fresh.uc_stack.ss_sp = stacks + (size_t)next * STACK;
  fresh.uc_stack.ss_size = STACK;
  fresh.uc_link = 0;
  makecontext(&fresh, run_thread, 0);
  setcontext(&fresh);
}

static void others_go_on(void) {
  int own = thread_number, next = follower();
  threads[own].state = STOPPED;
  if (next != own && _setjmp(threads[own].at) == 0)
    go_on_as(next);
}

// All threads of a block from start to end.
static void run_threads(void (*of_one)(void)) {
  if (!stacks)
    stacks = mmap(0, (size_t)THREADS * STACK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  memset(threads, 0, sizeof threads);
  body = of_one;
  left = THREADS;
  ++met;
  getcontext(&fresh);
  if (_setjmp(all_ended) == 0)
    go_on_as(block_number % 2 ? THREADS - 1 : 0);
}

struct meeting {
  int wanted, here, held;
};
static int32_t slots[THREADS];
static struct meeting warp[THREADS / LANES], whole;
static struct meeting part[THREADS / LANES + 1]; // by how many warps meet there

// The same of each warp.
static int warp_met[THREADS / LANES];

// `counted` is one of these, or none for what goes in step without a word of the program.
static void meet(struct meeting *at, int *counted) {
  int before = at->held;
  if (++at->here == at->wanted) {
    at->here = 0;
    ++at->held;
    if (counted)
      ++*counted;
  }
  while (at->held == before)
    others_go_on();
}

static void wait_warp(void) { meet(&warp[thread_number / LANES], 0); }
static void meet_warp(void) {
  int own = thread_number / LANES;
  meet(&warp[own], &warp_met[own]);
}

static int32_t exchange(int32_t value, int32_t from) {
  int first = thread_number / LANES * LANES;
  slots[thread_number] = value;
  wait_warp();
  int32_t there = slots[first + (from & (LANES - 1))];
  wait_warp();
  return there;
}

int32_t llvm_nvvm_read_ptx_sreg_tid_x(void) { return thread_number; }
int32_t llvm_nvvm_read_ptx_sreg_ctaid_x(void) { return block_number; }
int32_t llvm_nvvm_shfl_sync_idx_i32(int32_t mask, int32_t value, int32_t from, int32_t last) {
  return exchange(value, from);
}
void llvm_nvvm_bar_warp_sync(int32_t mask) { meet_warp(); }
void llvm_nvvm_barrier_cta_sync_aligned_all(int32_t number) { meet(&whole, &met); }
void llvm_nvvm_barrier_cta_sync_aligned_count(int32_t number, int32_t threads) {
  meet(&part[threads / LANES], &met);
}

// A block that waits forever is a failure, not a test that hangs.
static void prepare_meetings(void) {
  for (int n = 0; n < THREADS / LANES; ++n) {
    warp[n].wanted = LANES;
    part[n + 1].wanted = (n + 1) * LANES;
  }
  whole.wanted = THREADS;
  alarm(300);
}

static void read_files(int count, char **names, void **bytes, long *sizes,
                       void *(*room)(long size)) {
  for (int n = 0; n < count; ++n) {
    FILE *file = fopen(names[n], "rb");
    fseek(file, 0, SEEK_END);
    sizes[n] = ftell(file);
    rewind(file);
    bytes[n] = room((sizes[n] + 64) / 64 * 64);
    if (fread(bytes[n], 1, sizes[n], file) != sizes[n])
      exit(2);
    fclose(file);
  }
}

static void write_files(int count, char **names, void **bytes, long *sizes) {
  for (int n = 0; n < count; ++n) {
    FILE *file = fopen(names[n], "wb");
    fwrite(bytes[n], 1, sizes[n], file);
    fclose(file);
  }
}

// Shared memory is one window of addresses, of 18 bits.
#define WINDOW (1 << 18)
__attribute__((section("smem"), aligned(WINDOW))) char smem_window[1024] = {1};

// For each byte there who wrote and who read it last, and how often all threads, and those of their warps,
// had met then. Two threads' accesses are in order where both met in between.
#define MANY -1
struct access {
  int met, warp_met, thread;
};
static struct seen {
  struct access wrote, read;
  short flying;  // copies under way to it
  short reading; // instructions of an engine under way that read it
  int number;    // which of its thread's writes it was
} seen[WINDOW];
// How often each thread wrote there, and how often it had when it last showed that to the engine.
static int written[THREADS], shown[THREADS];

static struct access now(void) {
  return (struct access){met + 1, warp_met[thread_number / LANES], thread_number};
}

static int is_in_order(struct access before) {
  if (before.met != met + 1 || before.thread == thread_number)
    return 1;
  int own = thread_number / LANES;
  return before.thread != MANY && before.thread / LANES == own && before.warp_met != warp_met[own];
}

static void fail(const char *what) {
  fprintf(stderr, "block %d, thread %d: %s\n", block_number, thread_number, what);
  abort();
}

static struct seen *seen_at(const void *at) {
  int64_t byte = (const char *)at - smem_window;
  if (byte < 0 || byte >= WINDOW)
    fail("an access outside of shared memory");
  return &seen[byte];
}

static void see_read(const void *at, int bytes) {
  struct seen *own = seen_at(at);
  for (struct seen *end = own + bytes; own < end; ++own) {
    if (own->flying)
      fail("a copy was not waited for before it was read");
    if (!is_in_order(own->wrote))
      fail("no barrier between a write and a read");
    int many = own->read.met == met + 1 && own->read.thread / LANES != thread_number / LANES;
    own->read = now();
    if (many)
      own->read.thread = MANY;
  }
}

static void see_write(const void *at, int bytes) {
  struct seen *own = seen_at(at);
  for (struct seen *end = own + bytes; own < end; ++own) {
    if (own->flying || own->reading)
      fail("a write to what an engine is at");
    if (!is_in_order(own->read))
      fail("no barrier between a read and a write");
  }
}

static void is_written(const void *at, int bytes) {
  struct seen *own = seen_at(at);
  ++written[thread_number];
  for (struct seen *end = own + bytes; own < end; ++own) {
    own->wrote = now();
    own->number = written[thread_number];
  }
}

static int is_shown(const struct seen *own) { return own->number <= shown[own->wrote.thread]; }

// Copies that a thread begins and waits for by groups: each moves when it is waited for, in every
// second block at once. So what is read too early is not there yet in one of two blocks, and what is
// overwritten too early is gone in the other.
#define COPIES 256
static struct {
  void *to;
  const void *from;
  int bytes, read, group;
} copies[THREADS][COPIES];
static int begun[THREADS], done[THREADS], group[THREADS];

static void move(int thread, int at) {
  memset(copies[thread][at].to, 0, copies[thread][at].bytes);
  memcpy(copies[thread][at].to, copies[thread][at].from, copies[thread][at].read);
}

static void finish_copies(int last_group) {
  int thread = thread_number;
  while (done[thread] < begun[thread] && copies[thread][done[thread] % COPIES].group <= last_group) {
    int at = done[thread]++ % COPIES;
    if (block_number % 2 == 0)
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
  if (block_number % 2)
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
} instructions[THREADS][INSTRUCTIONS];
static uint32_t instructions_begun[THREADS], instructions_done[THREADS];

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
  if (begun[thread] != done[thread] || instructions_begun[thread] != instructions_done[thread])
    fail("a thread ends, and what it began was not waited for");
}

int32_t llvm_amdgcn_workitem_id_x(void) { return thread_number; }
int32_t llvm_amdgcn_workgroup_id_x(void) { return block_number; }
int32_t llvm_amdgcn_readfirstlane(int32_t value) { return value; }
/* The power of two of an instruction: subnormal results are 0. */
static float power(float x) { float y = exp2f(x); return y < FLT_MIN ? 0 : y; }
float llvm_nvvm_ex2_approx_ftz_f32(float x) { return power(x); }
float llvm_amdgcn_exp2_f32(float x) { return power(x); }

int32_t llvm_amdgcn_ds_bpermute(int32_t place, int32_t value) { return exchange(value, place / 4); }
// Advice to the assembler's scheduler.
void llvm_amdgcn_sched_barrier(int32_t crosses) {}
void llvm_amdgcn_sched_group_barrier(int32_t kind, int32_t count, int32_t list) {}
void llvm_amdgcn_wave_barrier(void) { meet_warp(); }
void llvm_amdgcn_s_barrier(void) { meet(&whole, &met); }

#ifdef PROGRAM
#include "program.c"
#else
// Turns of the banks of shared memory, counted at every access of the code that runs: `site`
// is one access of the program, all lanes of a warp come there equally often.
#define BANKS 32
#define WORD 4
#define SITES 32768
struct touched {
  int64_t *at;
  int count, room, width;
};
static struct touched *touches; // [THREADS][SITES]
static int64_t turns_taken, turns_least;

void weft_touch(int64_t site, int64_t at, int64_t width) {
  if (site >= SITES)
    fail("more places of accesses than there is room for");
  struct touched *own = &touches[(int64_t)thread_number * SITES + site];
  if (own->count == own->room) {
    own->room = own->room ? 2 * own->room : 16;
    own->at = realloc(own->at, own->room * sizeof(int64_t));
  }
  own->at[own->count++] = at;
  own->width = (int)width;
}

void weft_read(int64_t site, int64_t at, int64_t width) {
  weft_touch(site, at, width);
  see_read((const void *)at, (int)width);
}

void weft_write(int64_t site, int64_t at, int64_t width) {
  weft_touch(site, at, width);
  see_write((const void *)at, (int)width);
  is_written((const void *)at, (int)width);
}

// The words that lanes `first` to `last` want at their access `n`, one a bank and turn.
static void serve(struct touched *lanes[], int first, int last, int n) {
  int64_t words[LANES * 4];
  int count = 0, depth[BANKS] = {0}, most = 0;
  for (int lane = first; lane < last; ++lane) {
    if (n >= lanes[lane]->count)
      continue;
    int64_t at = lanes[lane]->at[n], end = at + lanes[lane]->width;
    for (int64_t word = at / WORD; word * WORD < end; ++word) {
      int known = 0;
      for (int i = 0; i < count; ++i)
        known |= words[i] == word;
      if (!known) {
        words[count++] = word;
        int deep = ++depth[word % BANKS];
        most = deep > most ? deep : most;
      }
    }
  }
  turns_taken += most;
  turns_least += most > 0;
}

static void count_turns(void) {
  for (int site = 0; site < SITES; ++site)
    for (int group = 0; group < THREADS / LANES; ++group) {
      struct touched *lanes[LANES];
      int most = 0, width = 1;
      for (int lane = 0; lane < LANES; ++lane) {
        lanes[lane] = &touches[(int64_t)(group * LANES + lane) * SITES + site];
        if (lanes[lane]->count > most) {
          most = lanes[lane]->count;
          width = lanes[lane]->width;
        }
      }
      int together = BANKS * WORD / (width > WORD ? width : WORD);
      for (int n = 0; n < most; ++n)
        for (int first = 0; first < LANES; first += together)
          serve(lanes, first, first + together < LANES ? first + together : LANES, n);
      for (int lane = 0; lane < LANES; ++lane)
        lanes[lane]->count = 0;
    }
}

// The kernel on the buffers, one argument a buffer; made for each program.
static void call(int64_t begin, int64_t end, void **buffers);

static void **buffers;
static int64_t first_task, last_task;

static void call_tasks(void) { call(first_task, last_task, buffers); }

static void *room(long size) { return aligned_alloc(64, size); }

// threads BEGIN END GROUPS FILE...: reads the buffers, runs, writes them back.
int main(int argc, char **argv) {
  int count = argc - 4;
  first_task = atoll(argv[1]);
  last_task = atoll(argv[2]);
  int groups = atoi(argv[3]);
  buffers = calloc(count, sizeof(void *));
  long *sizes = calloc(count, sizeof(long));
  read_files(count, argv + 4, buffers, sizes, room);
  prepare_meetings();
  touches = calloc((int64_t)THREADS * SITES, sizeof(struct touched));
  int blocks = (int)((last_task - first_task + groups - 1) / groups);
  for (block_number = 0; block_number < blocks; ++block_number) {
    run_threads(call_tasks);
    count_turns();
  }
  printf("turns %ld %ld\n", turns_taken, turns_least);
  write_files(count, argv + 4, buffers, sizes);
  return 0;
}
#endif

// What the host's processor has no instruction for, to the nearest even.
__bf16 __truncsfbf2(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  uint16_t half = x != x ? (bits >> 16) | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  __bf16 result;
  memcpy(&result, &half, sizeof result);
  return result;
}
