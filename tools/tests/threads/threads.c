// Runs the threads of a block on the host, so that code for many threads can be
// held against an answer where there is no such unit.
//
// The threads take turns on one of the host's: each goes on until it waits for
// others. Every second block takes them from the last to the first, so that what
// lacks a wait is wrong in one of two blocks, whichever way it reads. What goes
// between threads goes through memory, with waits before and after; a warp's
// threads wait for each other alone, for another warp may have left. Who accesses shared memory is
// noted, so that what lacks a barrier stops, whatever the order.
//
// Blocks of a cluster take turns, too: one goes on until all of its threads wait. Their threads are numbered one
// block behind the other, and shared memory is that of the block whose turn it is.
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
#ifndef CLUSTER
#define CLUSTER 1
#endif
// The last threads of a block, which only ask for boxes: they come to no barrier but those of the whole block.
#ifndef ASKERS
#define ASKERS 0
#endif
// Registers of a thread at first, where some give theirs away.
#ifndef REGISTERS
#define REGISTERS 0
#endif
// Threads of all blocks of a cluster.
#define ALL (CLUSTER * THREADS)
#define STACK (1 << 20)

static struct {
  enum { FRESH, STOPPED, ENDED } state;
  jmp_buf at;
} threads[ALL];
static int thread_number, left;
// The first block of the cluster, and the thread's own in it.
static int block_number;
#define OWN (thread_number / THREADS)
#define ROUND (block_number / CLUSTER)
#define ASKS (thread_number % THREADS >= THREADS - ASKERS)
// How often all threads of a block met, but for those that only ask, the same with these, and all of a cluster, where the
// program says so.
static int met[CLUSTER], whole_met[CLUSTER], cluster_met;
// How often threads gave way since one of them went on with something.
static int waiting;
static jmp_buf all_ended;
static int spare_registers[CLUSTER]; // that some gave away
static ucontext_t fresh;
static char *stacks;
static void (*body)(void);

static void go_on_as(int next);

// The one of a block that goes on after a thread, perhaps this one itself; -1 if all have ended.
static int follower_in(int block, int thread) {
  int step = ROUND % 2 ? THREADS - 1 : 1;
  for (int n = 1; n <= THREADS; ++n) {
    int next = block * THREADS + (thread + n * step) % THREADS;
    if (threads[next].state != ENDED)
      return next;
  }
  return -1;
}

// The one that goes on after this one: of the same block, until all of it wait.
static int follower(void) {
  int same = follower_in(OWN, thread_number % THREADS);
  if (CLUSTER == 1 || (waiting <= THREADS && same >= 0))
    return same;
  waiting = 0;
  for (int n = 1; n < CLUSTER; ++n) {
    int next = follower_in((OWN + n) % CLUSTER, 0);
    if (next >= 0)
      return next;
  }
  return same;
}

static void take_window(int block);

static void end_thread(void);
static void forget_registers(void);

static void run_thread(void) {
  body();
  end_thread();
  threads[thread_number].state = ENDED;
  waiting = 0;
  if (--left == 0)
    _longjmp(all_ended, 1);
  go_on_as(follower());
}

static void go_on_as(int next) {
  take_window(next / THREADS);
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
  ++waiting;
  int own = thread_number, next = follower();
  threads[own].state = STOPPED;
  if (next != own && _setjmp(threads[own].at) == 0)
    go_on_as(next);
}

// All threads of a cluster's blocks from start to end.
static void run_threads(void (*of_one)(void)) {
  if (!stacks)
    stacks = mmap(0, (size_t)ALL * STACK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  memset(threads, 0, sizeof threads);
  body = of_one;
  left = ALL;
  for (int block = 0; block < CLUSTER; ++block) {
    ++met[block];
    ++whole_met[block];
    spare_registers[block] = 0;
  }
  forget_registers();
  ++cluster_met;
  getcontext(&fresh);
  if (_setjmp(all_ended) == 0)
    go_on_as(ROUND % 2 ? ALL - 1 : 0);
}

struct meeting {
  int wanted, here, held;
};
static int32_t slots[ALL];
static struct meeting warp[ALL / LANES], whole[CLUSTER], together;
static struct meeting part[CLUSTER][THREADS / LANES + 1]; // by how many warps meet there

// The same of each warp.
static int warp_met[ALL / LANES];
static int tries;

static void fail(const char *what) {
  fprintf(stderr, "block %d, thread %d: %s\n", block_number + OWN, thread_number % THREADS, what);
  abort();
}

static void go_on(void) { waiting = tries = 0; }

// `counted` is one of these, or none for what goes in step without a word of the program.
static void meet(struct meeting *at, int *counted) {
  int before = at->held;
  if (++at->here == at->wanted) {
    at->here = 0;
    ++at->held;
    if (counted)
      ++*counted;
    go_on();
  }
  while (at->held == before) {
#ifndef PROGRAM
    if (++tries > 1000 * ALL)
      fail("all threads wait for each other");
#endif
    others_go_on();
  }
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

int32_t llvm_nvvm_read_ptx_sreg_tid_x(void) { return thread_number % THREADS; }
int32_t llvm_nvvm_read_ptx_sreg_ctaid_x(void) { return block_number + OWN; }
int32_t llvm_nvvm_read_ptx_sreg_cluster_ctarank(void) { return OWN; }
int32_t llvm_nvvm_shfl_sync_idx_i32(int32_t mask, int32_t value, int32_t from, int32_t last) {
  return exchange(value, from);
}
void llvm_nvvm_bar_warp_sync(int32_t mask) { meet_warp(); }
void llvm_nvvm_barrier_cta_sync_aligned_all(int32_t number) {
  if (whole[OWN].here + 1 == whole[OWN].wanted)
    ++whole_met[OWN];
  meet(&whole[OWN], &met[OWN]);
}
void llvm_nvvm_barrier_cta_sync_aligned_count(int32_t number, int32_t threads) {
  meet(&part[OWN][threads / LANES], &met[OWN]);
}

// All threads of a cluster: each arrives, and waits later.
static char arrived[ALL];
void llvm_nvvm_barrier_cluster_arrive_aligned(void) {
  if (arrived[thread_number]++)
    fail("an arrival of a thread that has not waited since the last one");
}
void llvm_nvvm_barrier_cluster_wait_aligned(void) {
  if (!arrived[thread_number]--)
    fail("a wait of a thread that has not arrived");
  if (together.here + 1 == together.wanted)
    for (int block = 0; block < CLUSTER; ++block)
      ++met[block];
  meet(&together, &cluster_met);
}

// Registers of a thread, in eights; more are there once others gave them.
#define GIVING 128
static int given[ALL / GIVING + 1]; // by each group that gives or takes at once
static void check_registers(int32_t count) {
  if (!REGISTERS || count % 8 || count < 24 || count > 256)
    fail("a number of registers that a thread cannot have");
  int *own = &given[thread_number / GIVING];
  if (*own && *own != count)
    fail("threads that give registers at once, and have other numbers of them");
  *own = count;
}
static void forget_registers(void) { memset(given, 0, sizeof given); }
void llvm_nvvm_setmaxnreg_dec_sync_aligned_u32(int32_t count) {
  check_registers(count);
  if (count > REGISTERS)
    fail("a thread gives registers that it does not have");
  spare_registers[OWN] += REGISTERS - count;
}
void llvm_nvvm_setmaxnreg_inc_sync_aligned_u32(int32_t count) {
  check_registers(count);
  while (spare_registers[OWN] < count - REGISTERS) {
    if (++tries > 1000 * ALL)
      fail("threads wait for registers that nobody gives");
    others_go_on();
  }
  spare_registers[OWN] -= count - REGISTERS;
  go_on();
}

// A block that waits forever is a failure, not a test that hangs.
static void prepare_meetings(void) {
  for (int n = 0; n < ALL / LANES; ++n)
    warp[n].wanted = LANES;
  for (int block = 0; block < CLUSTER; ++block) {
    for (int n = 0; n < THREADS / LANES; ++n)
      part[block][n + 1].wanted = (n + 1) * LANES;
    whole[block].wanted = THREADS;
  }
  together.wanted = ALL;
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

#include "shared.c"

int32_t llvm_amdgcn_workitem_id_x(void) { return thread_number % THREADS; }
int32_t llvm_amdgcn_workgroup_id_x(void) { return block_number + OWN; }
int32_t llvm_amdgcn_readfirstlane(int32_t value) { return value; }
/* The power of two of an instruction: subnormal results are 0. */
static float power(float x) { float y = exp2f(x); return y < FLT_MIN ? 0 : y; }
float llvm_nvvm_ex2_approx_ftz_f32(float x) { return power(x); }
float llvm_amdgcn_exp2_f32(float x) { return power(x); }

int32_t llvm_amdgcn_ds_bpermute(int32_t place, int32_t value) { return exchange(value, place / 4); }
// Advice to the assembler's scheduler.
void llvm_amdgcn_sched_barrier(int32_t crosses) {}
void llvm_amdgcn_sched_group_barrier(int32_t kind, int32_t count, int32_t list) {}
void llvm_amdgcn_s_setprio(int16_t priority) {}
void llvm_amdgcn_wave_barrier(void) { meet_warp(); }
void llvm_amdgcn_s_barrier(void) { llvm_nvvm_barrier_cta_sync_aligned_all(0); }

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
static struct touched *touches; // [ALL][SITES]
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
    for (int group = 0; group < ALL / LANES; ++group) {
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
  touches = calloc((int64_t)ALL * SITES, sizeof(struct touched));
  int blocks = (int)((last_task - first_task + groups - 1) / groups);
  if (blocks % CLUSTER)
    fail("a grid that is not whole clusters");
  for (block_number = 0; block_number < blocks; block_number += CLUSTER) {
    run_threads(call_tasks);
    end_boxes();
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
