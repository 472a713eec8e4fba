// How many rows that are read side by side are fetched ahead: `prefetch_streams` of a machine file.
//
//   cc -O2 -march=native bench/streams.c -o /tmp/streams && /tmp/streams
//
// Two lines of each row in turn, from data that stays in the last cache and from data that does not: where
// nanoseconds rise, prefetchers have lost the rows. Rows lie a power of two apart, and 192 bytes less.
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static double measure(char *data, size_t bytes, size_t rows, size_t apart) {
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    __m256 sum = _mm256_setzero_ps();
    double begin = now();
    for (size_t at = 0; at + 384 <= apart; at += 128)
      for (size_t row = 0; row < rows; ++row) {
        const char *line = data + row * apart + at;
        sum = _mm256_add_ps(sum, _mm256_loadu_ps((const float *)line));
        sum = _mm256_add_ps(sum, _mm256_loadu_ps((const float *)(line + 64)));
      }
    double took = now() - begin;
    // The sum is used, or nothing is read.
    if (sum[0] != sum[0])
      puts("not a number");
    best = took < best ? took : best;
  }
  return best / (bytes / 128.0) * 1e9;
}

int main(void) {
  for (size_t bytes = 8 << 20; bytes <= 128 << 20; bytes *= 16) {
    char *data = calloc(bytes, 1);
    if (!data)
      return 1;
    for (size_t at = 0; at < bytes; at += 4096)
      data[at] = 1;
    for (size_t rows = 4; rows <= 512; rows *= 2)
      printf("%3zu MiB, %3zu rows: %5.2f ns for 128 bytes a power of two apart, %5.2f else\n", bytes >> 20,
             rows, measure(data, bytes, rows, bytes / rows), measure(data, bytes, rows, bytes / rows - 192));
    free(data);
  }
}
