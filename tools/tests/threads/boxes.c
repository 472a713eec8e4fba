// Boxes of tensors that an engine brings by descriptors, and barriers that count their bytes. Included by shared.c.
//
// In every fourth block a box is there at once, and in another fourth at any time; in the others no box is there before
// all threads wait, and then it is the one that was asked for last. A thread knows of a box once it has seen the end of its barrier's
// phase, or has met one that had; one that only asks, once it knows that all others do. Where no bytes are counted warps arrive, and whoever sees the end of that phase knows
// what they had done and seen.
//
// A box for several blocks of a cluster is one for each of them, to the same place, with the barrier at the same place.
// What one block asks for in another's memory is in order behind what that one's threads did, and know, where all of the
// cluster met in between.

// As the maker's documents describe a descriptor, dimensions the fastest first.
struct tensor {
  int operand, bytes, dims, swizzle;
  int64_t extents[5], strides[5], points[5];
  const char *base;
};

#define MOST_BOXES (1 << 16)
static struct box {
  int block;
  int64_t to; // a byte of its memory
  const struct tensor *of;
  int64_t at[5];
  int bytes, barrier;
  uint32_t phase;
  int moved, done;
  int seen_met, seen_cluster_met; // how often all threads had met when one first saw the end of its phase
  char seen_by[THREADS];
  int seen_made[THREADS]; // arrivals that each had made then
} boxes[MOST_BOXES];
static int boxes_begun, boxes_left, idle;

static struct barrier {
  int made, shown, count, missing, block, counts_bytes;
  int shown_met; // how often the cluster had met when it was shown
  int arrival;   // one more than the number of the last arrival of all that ended a phase, where it counts no bytes
  int64_t bytes; // expected and not there
  uint32_t phase;
  struct access by;
} barriers[CLUSTER][WINDOW / 8];
static int arrivals[CLUSTER]; // of all, that were made
// At which barrier each arrival is.
#define MOST_ARRIVALS 4096
static struct barrier *arrival_at[CLUSTER][MOST_ARRIVALS];

static int is_known_by_all(int number);

// Whether this thread knows of a box that it is there.
static int is_known(int number) {
  const struct box *own = &boxes[number];
  if (ASKS)
    return is_known_by_all(number);
  if (own->block != OWN)
    return own->done && own->seen_met && own->seen_cluster_met != cluster_met + 1;
  int seen = own->seen_by[thread_number % THREADS];
  return own->done && (seen || (own->seen_met && own->seen_met != met[OWN] + 1));
}

// Whether this thread knows that all threads of its block that use them know of a box.
static int is_known_by_all(int number) {
  const struct box *own = &boxes[number];
  if (!own->done || !own->seen_met)
    return 0;
  int arrived = 1;
  for (int thread = 0; thread < THREADS - ASKERS; ++thread)
    arrived &= own->seen_by[thread] && own->seen_made[thread] < known_made[thread_number];
  return arrived || (!ASKS && own->seen_met != met[OWN] + 1);
}

static int barrier_at(const void *at) {
  int64_t byte = (const char *)at - smem_window;
  if (byte < 0 || byte >= WINDOW || byte % 8)
    fail("a barrier that is no word of shared memory");
  return (int)(byte / 8);
}

// One that was made, in order before this thread's use.
static struct barrier *made_barrier(const void *at) {
  struct barrier *own = &barriers[OWN][barrier_at(at)];
  if (!own->made || !is_in_order(own->by))
    fail("a barrier that was not made yet");
  return own;
}

void llvm_nvvm_mbarrier_init_shared(void *at, int32_t count) {
  struct barrier *own = &barriers[OWN][barrier_at(at)];
  see_write(at, 8);
  *own = (struct barrier){.made = 1, .count = count, .missing = count, .block = OWN, .by = now()};
}

void llvm_nvvm_fence_mbarrier_init_release_cluster(void) {
  for (int n = 0; n < WINDOW / 8; ++n)
    if (barriers[OWN][n].by.thread == thread_number && !barriers[OWN][n].shown) {
      barriers[OWN][n].shown = 1;
      barriers[OWN][n].shown_met = cluster_met;
    }
}

static void end_phase(struct barrier *own) {
  if (own->missing || own->bytes)
    return;
  ++own->phase;
  own->missing = own->count;
  if (!own->counts_bytes)
    own->arrival = ++arrivals[own->block];
  idle = 0;
  go_on();
}

int64_t llvm_nvvm_mbarrier_arrive_expect_tx_scope_cta_space_cta(void *at, int32_t bytes) {
  struct barrier *own = made_barrier(at);
  if (!own->missing)
    fail("an arrival at a barrier whose phase has all");
  // A thread that still waits for an earlier phase would take this one for it.
  for (int number = 0; number < boxes_begun; ++number)
    if (boxes[number].block == OWN && boxes[number].barrier == barrier_at(at) && boxes[number].phase < own->phase &&
        !is_known_by_all(number))
      fail("a barrier is used again before all threads know that its last phase is over");
  own->counts_bytes = 1;
  own->bytes += bytes;
  --own->missing;
  end_phase(own);
  return 0;
}

// A thread of a warp arrives for all of it, in the phase in which the others do.
int64_t llvm_nvvm_mbarrier_arrive_shared(void *at) {
  struct barrier *own = made_barrier(at);
  if (own->counts_bytes)
    fail("an arrival at a barrier that counts bytes");
  int warp = thread_number / 32, number = made[warp];
  if (number == MOST_ARRIVALS)
    fail("more arrivals than there is room for");
  struct barrier **there = &arrival_at[OWN][number];
  if (*there && *there != own)
    fail("an arrival at another barrier than that of others");
  for (int other = OWN * THREADS / 32; other < ((OWN + 1) * THREADS - ASKERS) / 32; ++other)
    for (int before = made[other]; before < number; ++before)
      if (arrival_at[OWN][before] == own)
        fail("an arrival at a barrier that another warp has yet to come to");
  *there = own;
  ++made[warp];
  --own->missing;
  end_phase(own);
  return 0;
}

// The byte of shared memory that a byte of the box goes to: bits of the address are changed.
static char *swizzled_to(const struct box *own, int64_t byte) {
  int64_t at = own->to + byte;
  at ^= (at >> 7 & ((1 << own->of->swizzle) - 1)) << 4;
  return byte_of(own->block, at);
}

static void move_box(struct box *own) {
  const struct tensor *of = own->of;
  for (int64_t number = 0; number < own->bytes / of->bytes; ++number) {
    int64_t rest = number, inside = 1;
    const char *from = of->base;
    for (int dim = 0; dim < of->dims; ++dim) {
      int64_t at = own->at[dim] + rest % of->points[dim];
      rest /= of->points[dim];
      inside &= at >= 0 && at < of->extents[dim];
      from += at * (dim ? of->strides[dim - 1] : of->bytes);
    }
    char *to = swizzled_to(own, number * of->bytes);
    if (inside)
      memcpy(to, from, of->bytes);
    else
      memset(to, 0, of->bytes);
  }
  own->moved = 1;
}

static void finish_box(int number) {
  struct box *own = &boxes[number];
  if (!own->moved)
    move_box(own);
  for (int byte = 0; byte < own->bytes; ++byte) {
    struct seen *there = seen_in(own->block, own->to + byte);
    --there->flying;
    there->box = number + 1;
  }
  own->done = 1;
  --boxes_left;
  idle = 0;
  struct barrier *barrier = &barriers[own->block][own->barrier];
  barrier->bytes -= own->bytes;
  end_phase(barrier);
}

// One that is not there, counted from the last that was begun.
static void finish_one(int behind_last) {
  for (int number = boxes_begun - 1; number >= 0; --number)
    if (!boxes[number].done && behind_last-- == 0) {
      finish_box(number);
      return;
    }
}

// The barrier of another block at the same place: in the same phase, for certain.
static struct barrier *barrier_of(int block, const void *at, uint32_t phase) {
  int number = barrier_at(at);
  struct barrier *own = &barriers[block][number];
  if (!own->made || !is_in_order_in(block, own->by))
    fail("a barrier of another block that was not made yet");
  if (own->shown && own->shown_met == cluster_met)
    fail("a barrier of another block that was shown to engines behind their meeting");
  if (own->phase != phase)
    fail("a barrier of another block in another phase");
  for (int box = 0; box < boxes_begun; ++box)
    if (boxes[box].block == block && boxes[box].barrier == number && boxes[box].phase < own->phase && !is_known(box))
      fail("a barrier of another block is used again before that is known to have seen the end of its phase");
  return own;
}

static void begin_box_in(int block, uint32_t phase, char *where, void *at, const struct tensor *of,
                         const int32_t *place, int dims) {
  struct barrier *barrier = block == OWN ? made_barrier(at) : barrier_of(block, at, phase);
  if (!barrier->shown)
    fail("an engine counts at a barrier that was not shown to it");
  if (boxes_begun == MOST_BOXES)
    fail("more boxes than there is room for");
  struct box *own = &boxes[boxes_begun];
  int64_t to = where - smem_window;
  *own = (struct box){.block = block, .to = to, .of = of, .barrier = barrier_at(at), .phase = barrier->phase};
  own->bytes = of->bytes;
  if (of->dims != dims || dims < 1 || dims > 5)
    fail("a descriptor of other dimensions");
  for (int dim = 0; dim < dims; ++dim) {
    own->at[dim] = place[dim];
    own->bytes *= of->points[dim];
    if (of->points[dim] < 1 || of->points[dim] > 256)
      fail("a box of a size that there is not");
    if (dim && of->strides[dim - 1] % 16)
      fail("a tensor whose rows are not aligned");
  }
  int64_t line = of->points[0] * of->bytes;
  if (line % 16 || (of->swizzle && line > 16 << of->swizzle) || (uintptr_t)of->base % 16)
    fail("a box whose rows are not what the engine moves");
  if (to % 128)
    fail("a box to a place that is not aligned");
  for (int byte = 0; byte < own->bytes; ++byte) {
    struct seen *there = seen_in(block, to + byte);
    see_write_in(block, to + byte, 1, 1);
    if (there->box && !is_known(there->box - 1))
      fail("a box over another one that nobody waited for");
    // Of what others wrote one that only asks knows by an arrival, or by the meeting of all.
    if (ASKS && there->number && !there->box && !is_in_order(there->wrote) &&
        there->wrote.made >= known_made[thread_number])
      fail("a box over what may still be written");
    if (there->number && !is_shown(there))
      fail("an engine writes over what was not shown to it");
    if (block != OWN && !there->box && !is_in_order_in(block, there->wrote))
      fail("an engine writes over what another block's threads may be writing");
    ++there->flying;
  }
  int number = boxes_begun++;
  ++boxes_left;
  if (ROUND % 4 == 1)
    finish_box(number);
  else
    memset(byte_of(block, to), 0xff, own->bytes);
}

// Where `some` is said, for each block of the cluster whose bit is in a mask.
static void begin_box(char *to, void *at, const struct tensor *of, int some, int mask, const int32_t *place, int dims) {
  if (some && (mask <= 0 || mask >> CLUSTER))
    fail("a box for blocks that the cluster does not have");
  // The phase of this block's barrier may end with the first of them.
  uint32_t phase = made_barrier(at)->phase;
  for (int block = 0; block < CLUSTER; ++block)
    if (some ? mask >> block & 1 : block == OWN)
      begin_box_in(block, phase, to, at, of, place, dims);
}

#define BOX(dims, ...)                                                                                       \
  void llvm_nvvm_cp_async_bulk_tensor_g2s_tile_##dims##d(void *to, void *at, const struct tensor *of,         \
                                                         __VA_ARGS__, int16_t mask, int64_t hint, _Bool some, \
                                                         _Bool hinted, int32_t group)
#define TAKE(...) begin_box(to, at, of, some, mask, (int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / 4)
BOX(1, int32_t a) { TAKE(a); }
BOX(2, int32_t a, int32_t b) { TAKE(a, b); }
BOX(3, int32_t a, int32_t b, int32_t c) { TAKE(a, b, c); }
BOX(4, int32_t a, int32_t b, int32_t c, int32_t d) { TAKE(a, b, c, d); }
BOX(5, int32_t a, int32_t b, int32_t c, int32_t d, int32_t e) { TAKE(a, b, c, d, e); }

// Whether the phase of a parity is over; if not, others go on, and the engine.
_Bool llvm_nvvm_mbarrier_try_wait_parity_scope_cta_space_cta(void *at, int32_t parity) {
  struct barrier *own = made_barrier(at);
  if ((own->phase & 1) != (parity & 1)) {
    if (own->arrival > known_made[thread_number])
      known_made[thread_number] = own->arrival;
    for (int number = 0; number < boxes_begun; ++number) {
      struct box *box = &boxes[number];
      if (box->block == OWN && box->barrier == barrier_at(at) && box->done && box->phase < own->phase) {
        if (!box->seen_by[thread_number % THREADS])
          box->seen_made[thread_number % THREADS] = made[thread_number / 32];
        box->seen_by[thread_number % THREADS] = 1;
        if (!box->seen_met) {
          box->seen_met = met[OWN] + 1;
          box->seen_cluster_met = cluster_met + 1;
        }
      }
    }
    return 1;
  }
  static uint32_t random = 12345;
  random = random * 1664525 + 1013904223;
  // All threads wait once each of them has had its turn twice.
  int stuck = ++idle > 2 * ALL + 2;
  if (stuck && !boxes_left)
    fail("a barrier is waited for whose phase does not end");
  if (boxes_left && ROUND % 4 == 2 && random >> 28 == 0)
    finish_one(random >> 8 & 0xffff ? (random >> 8) % boxes_left : 0);
  else if (stuck)
    finish_one(0);
  others_go_on();
  return 0;
}

// Behind the last thread of a block each box was there and was waited for; the next block has barriers of its own.
static void end_boxes(void) {
  for (int number = 0; number < boxes_begun; ++number)
    if (!boxes[number].done || !boxes[number].seen_met)
      fail("a block ends, and nobody waited for a box");
  if (boxes_begun)
    for (int block = 0; block < CLUSTER; ++block)
      for (int byte = 0; byte < WINDOW; ++byte)
        seen[block][byte].box = seen[block][byte].read.made = 0;
  boxes_begun = 0;
  memset(barriers, 0, sizeof barriers);
  memset(arrivals, 0, sizeof arrivals);
  memset(arrival_at, 0, sizeof arrival_at);
  memset(made, 0, sizeof made);
  memset(known_made, 0, sizeof known_made);
}
