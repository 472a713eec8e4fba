// Bytes a cycle that one core reads and stores in each of its memories: `bytes_per_cycle` and
// `store_bytes_per_cycle` of a machine file.
//
//   cc -O2 -march=native bench/rates.c -o /tmp/rates && /tmp/rates
//
// Sizes are those that stay in caches of 32 KiB, 512 KiB and 32 MiB, and one that stays in none; the best of
// twenty rounds. The clock is that at which a chain of additions runs.
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static double gigahertz(void) {
  double best = 0;
  for (int round = 0; round < 20; ++round) {
    long sum = 0;
    double begin = now();
    for (int n = 0; n < 3000000; ++n)
      __asm__ volatile("add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0" : "+r"(sum));
    double rate = sum / (now() - begin) * 1e-9;
    best = rate > best ? rate : best;
  }
  return best;
}

static double read_all(const char *data, size_t bytes, size_t times) {
  // As many sums as hide an addition's latency.
  __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  double begin = now();
  for (size_t n = 0; n < times; ++n)
    for (const float *at = (const float *)data; at < (const float *)(data + bytes); at += 64) {
      a = _mm256_add_ps(a, _mm256_load_ps(at));
      b = _mm256_add_ps(b, _mm256_load_ps(at + 8));
      c = _mm256_add_ps(c, _mm256_load_ps(at + 16));
      d = _mm256_add_ps(d, _mm256_load_ps(at + 24));
      e = _mm256_add_ps(e, _mm256_load_ps(at + 32));
      f = _mm256_add_ps(f, _mm256_load_ps(at + 40));
      g = _mm256_add_ps(g, _mm256_load_ps(at + 48));
      h = _mm256_add_ps(h, _mm256_load_ps(at + 56));
    }
  double took = now() - begin;
  // The sums are used, or nothing is read.
  a = _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d));
  e = _mm256_add_ps(_mm256_add_ps(e, f), _mm256_add_ps(g, h));
  if (a[0] + e[0] != 0)
    puts("not zero");
  return bytes * times / took * 1e-9;
}

static double store_all(char *data, size_t bytes, size_t times) {
  double begin = now();
  for (size_t n = 0; n < times; ++n)
    for (size_t at = 0; at < bytes; at += 64) {
      _mm256_store_ps((float *)(data + at), _mm256_setzero_ps());
      _mm256_store_ps((float *)(data + at + 32), _mm256_setzero_ps());
      __asm__ volatile("" ::: "memory");
    }
  return bytes * times / (now() - begin) * 1e-9;
}

int main(void) {
  const size_t most = 128 << 20, sizes[] = {16 << 10, 256 << 10, 8 << 20, most};
  char *data = aligned_alloc(2 << 20, most);
  if (!data)
    return 1;
  for (size_t at = 0; at < most; at += 8)
    *(long *)(data + at) = 0;
  double clock = gigahertz();
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
    double reads = 0, stores = 0;
    for (int round = 0; round < 20; ++round) {
      size_t times = (32 << 20) / sizes[n] + 1;
      double rate = read_all(data, sizes[n], times);
      reads = rate > reads ? rate : reads;
      rate = store_all(data, sizes[n], times);
      stores = rate > stores ? rate : stores;
    }
    printf("%6zu KiB: read %4.1f bytes a cycle, store %4.1f\n", sizes[n] >> 10, reads / clock, stores / clock);
  }
  free(data);
}
