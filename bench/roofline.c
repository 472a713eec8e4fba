// What one core of this machine can do: multiply-adds, and bytes read and written.
//
//     cc -O3 -march=native -shared -fPIC bench/roofline.c -o roofline.so
#include <immintrin.h>
#include <stdint.h>
#include <time.h>

#if defined(__AVX512F__)
#define BYTES 64
#else
#define BYTES 32
#endif
typedef float vector __attribute__((vector_size(BYTES), aligned(4), may_alias));

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

// Billions of f32 operations a second, a multiply-add counted as two: chains that do not wait
// for each other, as many as hide the latency.
double peak_gflops(long rounds) {
  enum { CHAINS = 14 };
  vector sum[CHAINS] = {0}, factor, term;
  for (unsigned lane = 0; lane < BYTES / 4; lane++) factor[lane] = 0.5f, term[lane] = 1.0f;
  double begin = seconds();
  for (long round = 0; round < rounds; round++) {
#pragma GCC unroll 14
    for (int chain = 0; chain < CHAINS; chain++) sum[chain] = sum[chain] * factor + term;
    // Keeps the rounds: the compiler may not know the values of before.
    __asm__ volatile("" : "+x"(factor));
  }
  double elapsed = seconds() - begin;
  volatile float kept = 0;
  for (int chain = 0; chain < CHAINS; chain++) kept += sum[chain][0];
  return 2.0 * CHAINS * (BYTES / 4) * rounds / elapsed * 1e-9;
}

static void store(char *to, vector value, int streaming) {
#if defined(__AVX512F__)
  if (streaming) _mm512_stream_ps((float *)to, (__m512)value);
#else
  if (streaming) _mm256_stream_ps((float *)to, (__m256)value);
#endif
  else *(vector *)to = value;
}

static vector read_all(const char *from, long bytes) {
  vector sum[8] = {0};
  long at = 0;
  for (; at + 8 * BYTES <= bytes; at += 8 * BYTES)
    for (int n = 0; n < 8; n++) sum[n] += *(const vector *)(from + at + n * BYTES);
  for (; at + BYTES <= bytes; at += BYTES) sum[0] += *(const vector *)(from + at);
  return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

// Seconds to read and write that many bytes once, in turns of a kilobyte and its share, as an
// operator with such arguments has to; both begin at whole registers. With `streaming`,
// stores go past the caches.
double mix_seconds(const char *from, long reads, char *to, long writes, int streaming) {
  long more = reads > writes ? reads : writes, turns = more / 1024 + 1;
  long read_step = reads / turns / BYTES * BYTES, write_step = writes / turns / BYTES * BYTES;
  vector sum = {0};
  double begin = seconds();
  for (long turn = 0; turn < turns; turn++) {
    int last = turn + 1 == turns;
    long r = turn * read_step, w = turn * write_step;
    sum += read_all(from + r, last ? reads - r : read_step);
    long end = last ? writes : w + write_step;
    for (; w + BYTES <= end; w += BYTES) store(to + w, sum, streaming);
  }
  _mm_sfence();
  double elapsed = seconds() - begin;
  volatile float kept = sum[0];
  (void)kept;
  return elapsed;
}
