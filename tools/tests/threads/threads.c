// Runs the threads of a block as threads of the host, so that code for many
// threads can be held against an answer where there is no such unit.
//
// What goes between threads goes through memory, with waits before and after; a
// warp's threads wait for each other alone, for another warp may have left.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef THREADS
#define THREADS 128
#define LANES 32
#endif

static _Thread_local int thread_number;
static int block_number;
static int32_t slots[THREADS];
static pthread_barrier_t warp[THREADS / LANES], whole;
static pthread_barrier_t part[THREADS / LANES + 1]; // by how many warps meet there

static void wait_warp(void) { pthread_barrier_wait(&warp[thread_number / LANES]); }

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
void llvm_nvvm_bar_warp_sync(int32_t mask) { wait_warp(); }
void llvm_nvvm_barrier_cta_sync_aligned_all(int32_t number) { pthread_barrier_wait(&whole); }
void llvm_nvvm_barrier_cta_sync_aligned_count(int32_t number, int32_t threads) {
  pthread_barrier_wait(&part[threads / LANES]);
}

static void prepare_barriers(void) {
  for (int n = 0; n < THREADS / LANES; ++n) {
    pthread_barrier_init(&warp[n], 0, LANES);
    pthread_barrier_init(&part[n + 1], 0, (n + 1) * LANES);
  }
  pthread_barrier_init(&whole, 0, THREADS);
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

int32_t llvm_amdgcn_workitem_id_x(void) { return thread_number; }
int32_t llvm_amdgcn_workgroup_id_x(void) { return block_number; }
int32_t llvm_amdgcn_readfirstlane(int32_t value) { return value; }
int32_t llvm_amdgcn_ds_bpermute(int32_t place, int32_t value) { return exchange(value, place / 4); }
void llvm_amdgcn_wave_barrier(void) { wait_warp(); }
void llvm_amdgcn_s_barrier(void) { pthread_barrier_wait(&whole); }

#ifdef PROGRAM
#include "program.c"
#else
// Turns of the banks of shared memory, counted at every access of the code that runs: `site`
// is one access of the program, all lanes of a warp come there equally often.
#define BANKS 32
#define WORD 4
#define SITES 4096
struct touched {
  int64_t *at;
  int count, room, width;
};
static struct touched *touches; // [THREADS][SITES]
static int64_t turns_taken, turns_least;

void weft_touch(int64_t site, int64_t at, int64_t width) {
  struct touched *own = &touches[(int64_t)thread_number * SITES + site];
  if (own->count == own->room) {
    own->room = own->room ? 2 * own->room : 16;
    own->at = realloc(own->at, own->room * sizeof(int64_t));
  }
  own->at[own->count++] = at;
  own->width = (int)width;
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

static void *run(void *number) {
  thread_number = (int)(intptr_t)number;
  call(first_task, last_task, buffers);
  return 0;
}

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
  prepare_barriers();
  touches = calloc((int64_t)THREADS * SITES, sizeof(struct touched));
  int blocks = (int)((last_task - first_task + groups - 1) / groups);
  for (block_number = 0; block_number < blocks; ++block_number) {
    pthread_t threads[THREADS];
    for (intptr_t n = 0; n < THREADS; ++n)
      if (pthread_create(&threads[n], 0, run, (void *)n))
        return 3;
    for (int n = 0; n < THREADS; ++n)
      pthread_join(threads[n], 0);
    count_turns();
  }
  printf("turns %ld %ld\n", turns_taken, turns_least);
  write_files(count, argv + 4, buffers, sizes);
  return 0;
}
#endif
