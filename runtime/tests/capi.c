/* Uses the library as a C program would; exits with 0 if all is as the header says. */
#include "weft.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition,                   \
                    weft_last_error_message());                                                   \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

static void *other_thread(void *unused) {
    (void)unused;
    CHECK(weft_last_error_code() == WEFT_OK);
    CHECK(strcmp(weft_last_error_message(), "") == 0);
    return NULL;
}

static weft_model *shared;
static weft_cancel *handle;

/* Runs the model with inputs of its own, many times, while others do. */
static void *one_of_many(void *scale) {
    static float rooms[4][64 * 16 + 64];
    float *x = rooms[*(int *)scale - 1], *y = x + 64 * 16;
    const void *inputs[] = {x};
    void *outputs[] = {y};
    size_t input_bytes[] = {64 * 16 * sizeof *x}, output_bytes[] = {64 * sizeof *y};
    for (int i = 0; i < 64 * 16; i++) x[i] = (float)(i / 16 * *(int *)scale);
    for (int run = 0; run < 300; run++) {
        memset(y, 0, output_bytes[0]);
        CHECK(weft_model_run(shared, inputs, input_bytes, outputs, output_bytes) == WEFT_OK);
        for (int r = 0; r < 64; r++) CHECK(y[r] == 16 * (2 * (63 - r) * *(int *)scale + 1));
    }
    return NULL;
}

/* Runs until the handle is cancelled, with other callers beside. */
static void *until_cancelled(void *unused) {
    (void)unused;
    static float x[64 * 16], y[64];
    const void *inputs[] = {x};
    void *outputs[] = {y};
    size_t input_bytes[] = {sizeof x}, output_bytes[] = {sizeof y};
    weft_status status;
    do
        status = weft_model_run_cancellable(shared, inputs, input_bytes, outputs, output_bytes, handle);
    while (status == WEFT_OK);
    CHECK(status == WEFT_CANCELLED && weft_last_error_code() == WEFT_CANCELLED);
    CHECK(strstr(weft_last_error_message(), "cancelled") != NULL);
    return NULL;
}

static void many_threads(weft_model *model) {
    shared = model;
    CHECK(weft_cancel_new(model, &handle) == WEFT_OK);
    CHECK(weft_cancel_new(model, NULL) == WEFT_INVALID_ARGUMENT);
    CHECK(weft_cancel_new(NULL, &handle) == WEFT_INVALID_ARGUMENT);
    pthread_t threads[4], cancelled;
    int scales[] = {1, 2, 3, 4};
    CHECK(pthread_create(&cancelled, NULL, until_cancelled, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, one_of_many, &scales[i]) == 0);
    weft_cancel_now(handle);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(pthread_join(cancelled, NULL) == 0);
}

/* Says how many rows there are: what it was compiled for, and nothing else. */
static void any_number_of_rows(const char *path) {
    weft_model *model = NULL;
    weft_port in, out;
    static float x[64 * 16], y[64 * 16 + 1];
    for (int i = 0; i < 64 * 16; i++) x[i] = (float)i;
    const void *inputs[] = {x};
    void *outputs[] = {y};
    CHECK(weft_model_load(path, 2, &model) == WEFT_OK);
    CHECK(weft_model_input(model, 0, &in) == WEFT_OK && in.shape[0] == 64);
    size_t bytes = sizeof x;
    CHECK(weft_model_run(model, inputs, &bytes, outputs, &bytes) == WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_last_error_message(), "n from 1 to 64") != NULL);

    static const uint64_t numbers[] = {7, 7, 1, 64, 0, 65, 64, 3};
    for (size_t at = 0, said = 0; at < sizeof numbers / sizeof *numbers; at++) {
        const uint64_t shape[] = {numbers[at], 16}, *const shapes[] = {shape};
        if (numbers[at] == 0 || numbers[at] > 64) {
            CHECK(weft_model_bind(model, shapes) == WEFT_INVALID_ARGUMENT);
            CHECK(strstr(weft_last_error_message(), "was compiled for n from 1 to 64") != NULL);
        } else {
            CHECK(weft_model_bind(model, shapes) == WEFT_OK);
            said = numbers[at];
        }
        CHECK(weft_model_input(model, 0, &in) == WEFT_OK && in.shape[0] == said);
        CHECK(weft_model_output(model, 0, &out) == WEFT_OK && out.shape[0] == said);
        CHECK(in.bytes == said * 64 && out.bytes == said * 64);
        memset(y, 0, sizeof y);
        CHECK(weft_model_run(model, inputs, &in.bytes, outputs, &out.bytes) == WEFT_OK);
        for (size_t i = 0; i < 64 * 16 + 1; i++) CHECK(y[i] == (i < said * 16 ? 2 * (float)i + 1 : 0));
    }
    const uint64_t narrow[] = {7, 15}, *const wrong[] = {narrow}, *const none[] = {NULL};
    CHECK(weft_model_bind(model, wrong) == WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_last_error_message(), "16 elements along dimension 1, and 15") != NULL);
    CHECK(weft_model_bind(model, none) == WEFT_INVALID_ARGUMENT);
    CHECK(weft_model_bind(model, NULL) == WEFT_INVALID_ARGUMENT);
    CHECK(weft_model_bind(NULL, wrong) == WEFT_INVALID_ARGUMENT);
    weft_model_free(model);
}

/* Rows that are written over, in memory for all that there may be. */
static void rows_in_place(const char *path) {
    static float x[64 * 16], y[64 * 16];
    weft_model *model;
    weft_port in, out;
    size_t output = 7;
    const uint64_t *extents;
    CHECK(weft_model_load(path, 2, &model) == WEFT_OK);
    CHECK(weft_model_alias(model, 0, &output, &extents) == WEFT_OK && output == 0);
    CHECK(extents[0] == 64 && extents[1] == 16);
    CHECK(weft_model_alias(model, 1, &output, &extents) == WEFT_INVALID_ARGUMENT);
    CHECK(weft_model_alias(model, 0, NULL, &extents) == WEFT_INVALID_ARGUMENT);
    const uint64_t shape[] = {7, 16}, *const shapes[] = {shape};
    CHECK(weft_model_bind(model, shapes) == WEFT_OK);
    CHECK(weft_model_input(model, 0, &in) == WEFT_OK && weft_model_output(model, 0, &out) == WEFT_OK);
    CHECK(in.shape[0] == 7 && out.shape[0] == 7 && in.bytes == sizeof x && out.bytes == sizeof x);
    const void *inputs[] = {x};
    void *outputs[] = {x}, *others[] = {y};
    for (size_t i = 0; i < 64 * 16; i++) x[i] = (float)i;
    CHECK(weft_model_run(model, inputs, &in.bytes, others, &out.bytes) == WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_last_error_message(), "are one tensor, and two were given") != NULL);
    size_t few = 7 * 64;
    CHECK(weft_model_run(model, inputs, &few, outputs, &few) == WEFT_INVALID_ARGUMENT);
    void *odd[] = {(char *)x + 1};
    const void *odd_inputs[] = {odd[0]};
    CHECK(weft_model_run(model, odd_inputs, &in.bytes, odd, &out.bytes) == WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_last_error_message(), "at no multiple of 4 bytes") != NULL);
    for (int run = 0; run < 2; run++)
        CHECK(weft_model_run(model, inputs, &in.bytes, outputs, &out.bytes) == WEFT_OK);
    for (size_t i = 0; i < 64 * 16; i++) CHECK(x[i] == (i < 7 * 16 ? 4 * (float)i + 3 : (float)i));
    weft_model_free(model);
}

/* As many rows as the model finds: nobody says how many, and each run says what it found. */
static void rows_that_are_counted(const char *path) {
    static float x[64 * 16], y[64 * 16];
    static const uint64_t numbers[] = {7, 0, 64, 1};
    weft_model *model;
    weft_port in, out;
    CHECK(weft_model_load(path, 2, &model) == WEFT_OK);
    CHECK(weft_model_input(model, 0, &in) == WEFT_OK && weft_model_output(model, 0, &out) == WEFT_OK);
    CHECK(in.bytes == sizeof x && out.bytes == sizeof y && out.shape[0] == 64);
    const void *inputs[] = {x};
    void *outputs[] = {y};
    uint64_t shape[2];
    for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++) {
        size_t end = numbers[at] * 16;
        for (size_t i = 0; i < 64 * 16; i++) x[i] = i < end ? (float)i + 1 : 0;
        memset(y, 0, sizeof y);
        CHECK(weft_model_run(model, inputs, &in.bytes, outputs, &out.bytes) == WEFT_OK);
        CHECK(weft_model_found(model, 0, shape) == WEFT_OK && shape[0] == numbers[at] && shape[1] == 16);
        for (size_t i = 0; i < 64 * 16; i++) CHECK(y[i] == (i < end ? 2 * (float)(i + 1) + 1 : 0));
    }
    x[0] = -1;
    CHECK(weft_model_run(model, inputs, &in.bytes, outputs, &out.bytes) != WEFT_OK);
    CHECK(strstr(weft_last_error_message(), "came out as 99, and") != NULL);
    CHECK(weft_model_found(model, 1, shape) == WEFT_INVALID_ARGUMENT);
    CHECK(weft_model_found(model, 0, NULL) == WEFT_INVALID_ARGUMENT);
    CHECK(weft_model_found(NULL, 0, shape) == WEFT_INVALID_ARGUMENT);
    weft_model_free(model);
}

int main(int argc, char **argv) {
    CHECK(argc == 6);
    weft_model *model = NULL;

    CHECK(weft_model_load("/no/such/file", 1, &model) == WEFT_SYSTEM);
    CHECK(model == NULL);
    CHECK(weft_last_error_code() == WEFT_SYSTEM);
    CHECK(strstr(weft_last_error_message(), "/no/such/file") != NULL);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(weft_model_load(NULL, 1, &model) == WEFT_INVALID_ARGUMENT);
    CHECK(weft_model_load(argv[2], 1, &model) == WEFT_ARTIFACT);
    CHECK(weft_model_load(argv[1], 99, &model) == WEFT_INVALID_ARGUMENT);

    CHECK(weft_model_load(argv[1], 2, &model) == WEFT_OK);
    CHECK(weft_model_threads(model) == 2);
    CHECK(weft_model_input_count(model) == 1 && weft_model_output_count(model) == 1);
    weft_port in, out;
    CHECK(weft_model_input(model, 0, &in) == WEFT_OK);
    CHECK(weft_model_output(model, 0, &out) == WEFT_OK);
    CHECK(weft_model_output(model, 1, &out) == WEFT_INVALID_ARGUMENT);
    CHECK(strcmp(in.name, "x") == 0 && in.dtype == WEFT_F32 && in.bytes == 4096);
    CHECK(in.rank == 2 && in.shape[0] == 64 && in.shape[1] == 16);
    CHECK(strcmp(out.name, "y") == 0 && out.rank == 1 && out.shape[0] == 64);
    CHECK(strcmp(weft_dtype_name(out.dtype), "float32") == 0);
    CHECK(weft_dtype_name(WEFT_BF16 + 100) == NULL);

    const uint64_t fixed[] = {64, 16}, other[] = {63, 16}, *const shapes[] = {fixed}, *const others[] = {other};
    size_t alias;
    const uint64_t *extents;
    CHECK(weft_model_alias(model, 0, &alias, &extents) == WEFT_OK && alias == SIZE_MAX && extents == NULL);
    CHECK(weft_model_bind(model, shapes) == WEFT_OK);
    CHECK(weft_model_bind(model, others) == WEFT_INVALID_ARGUMENT);

    float x[64 * 16], y[64];
    for (int i = 0; i < 64 * 16; i++) x[i] = (float)(i / 16);
    const void *inputs[] = {x};
    void *outputs[] = {y};
    size_t input_bytes[] = {sizeof x}, output_bytes[] = {sizeof y};
    for (int run = 0; run < 100; run++) {
        memset(y, 0, sizeof y);
        CHECK(weft_model_run(model, inputs, input_bytes, outputs, output_bytes) == WEFT_OK);
        for (int r = 0; r < 64; r++) CHECK(y[r] == 16 * (2 * (63 - r) + 1));
    }

    many_threads(model);
    CHECK(weft_model_run_cancellable(model, inputs, input_bytes, outputs, output_bytes, handle) ==
          WEFT_CANCELLED);
    weft_cancel_reset(handle);
    CHECK(weft_model_run_cancellable(model, inputs, input_bytes, outputs, output_bytes, handle) ==
          WEFT_OK);
    CHECK(weft_model_run_cancellable(model, inputs, input_bytes, outputs, output_bytes, NULL) ==
          WEFT_INVALID_ARGUMENT);

    input_bytes[0] = 1;
    CHECK(weft_model_run(model, inputs, input_bytes, outputs, output_bytes) == WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_last_error_message(), "4096 bytes and was given 1") != NULL);
    outputs[0] = NULL;
    CHECK(weft_model_run(model, inputs, input_bytes, outputs, output_bytes) == WEFT_INVALID_ARGUMENT);
    CHECK(weft_model_run(model, NULL, NULL, NULL, NULL) == WEFT_INVALID_ARGUMENT);
    CHECK(weft_model_run(NULL, inputs, input_bytes, outputs, output_bytes) == WEFT_INVALID_ARGUMENT);
    CHECK(weft_model_input_count(NULL) == 0);
    weft_model_free(model);
    weft_model_free(NULL);
    any_number_of_rows(argv[3]);
    rows_in_place(argv[4]);
    rows_that_are_counted(argv[5]);
    weft_cancel_now(handle);
    weft_cancel_free(handle);
    weft_cancel_free(NULL);
    printf("weft %s\n", weft_version());
    return 0;
}
