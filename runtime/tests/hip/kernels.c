/* The kernels of `common` as a GPU has them: functions for one thread, of which each runs an rTask. */
#define N 16
#define GROUPS 8

asm(".pushsection .weft.launches,\"\",@progbits\n"
    ".ascii \"// launch scale threads 8 groups 8\\n\"\n"
    ".ascii \"// launch mirror threads 8 groups 8\\n\"\n"
#ifdef PROGRAM
    ".ascii \"// program net steps 0 4 threads 1 blocks 2\\n\"\n"
#endif
    ".popsection");

int block, thread;
int scale_parameters = 5, mirror_parameters = 4, net_parameters = 3;

void scale(long begin, long end, const float *x, const float *c, float *h) {
    long r = begin + block * GROUPS + thread;
    if (r >= end) return;
    for (long i = 0; i < N; i++) h[r * N + i] = x[r * N + i] * c[0] + c[1];
}

void mirror(long begin, long end, const float *h, float *y) {
    long r = begin + block * GROUPS + thread;
    if (r >= end) return;
    float sum = 0;
    for (long i = 0; i < N; i++) sum += h[(63 - r) * N + i];
    y[r] = sum;
}

/* Both, by the last of two blocks, where counters begin at 0 in each run. Bases: the arena, the
 * host's arena, constants, inputs, outputs. */
void net(long epoch, long *counters, float **bases) {
    if (epoch != 0 || counters[block]++ != 0 || block == 0) return;
    for (long r = 0; r < 64; r++) {
        float sum = 0;
        for (long i = 0; i < N; i++) {
            bases[0][i] = bases[3][(63 - r) * N + i] * bases[2][0] + bases[2][1];
            sum += bases[0][i];
        }
        bases[4][r] = sum;
    }
}
