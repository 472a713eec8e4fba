// Runs the one kernel of a launch with all its blocks at once: each block is a process, so that
// what its threads share is its own. Buffers and counters lie in memory that all processes see.
#include <sched.h>
#include <sys/wait.h>

// The entries of a program, and how many blocks each has; made for each program.
static void enter(int entry, int64_t epoch, int64_t *counters, int64_t *bases);
extern const int blocks[];
extern const int entries;

static int64_t *counters, *bases, epoch;
static int entry;

// Between two looks at a counter: there may be more blocks than processors.
void weft_pause(void) {
  others_go_on();
  sched_yield();
}
void weft_touch(int64_t site, int64_t at, int64_t width) {}
void weft_read(int64_t site, int64_t at, int64_t width) {}
void weft_write(int64_t site, int64_t at, int64_t width) {}

static void enter_one(void) { enter(entry, epoch, counters, bases); }

static void run_block(int late) {
  prepare_meetings();
  if (block_number == late)
    usleep(300000);
  run_threads(enter_one);
  _exit(0);
}

static void *room(long size) {
  return mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

// program RUNS STEPS LATE FILE...: reads what each base holds, the arena first, runs so many times,
// each STEPS above the last one, writes it back. The block LATE begins late.
int main(int argc, char **argv) {
  int runs = atoi(argv[1]), steps = atoi(argv[2]), late = atoi(argv[3]), count = argc - 4;
  void **bytes = calloc(count, sizeof(void *));
  long *sizes = calloc(count, sizeof(long));
  read_files(count, argv + 4, bytes, sizes, room);
  counters = room(4096 * sizeof(int64_t));
  bases = room(count * sizeof(int64_t));
  memcpy(bases, bytes, count * sizeof(int64_t));
  for (int n = 0; n < runs; ++n, epoch += steps) {
    // What the last run left would hide that this one reads too early.
    memset(bytes[0], 0xff, sizes[0]);
    for (entry = 0; entry < entries; ++entry) {
      for (block_number = 0; block_number < blocks[entry]; ++block_number)
        if (fork() == 0)
          run_block(late);
      for (int status; wait(&status) > 0;)
        if (status != 0) {
          fprintf(stderr, "a block of entry %d in run %d: status %d\n", entry, n, status);
          return 4;
        }
    }
  }
  write_files(count, argv + 4, bytes, sizes);
  return 0;
}
