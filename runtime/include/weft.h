/* weft.h: runs compiled weft models from C.
 *
 * Link with -lweft_runtime. A model is loaded from a .weft file, describes its inputs and
 * outputs, and runs on memory that the caller owns:
 *
 *     weft_model *model;
 *     if (weft_model_load("net.weft", 0, &model) != WEFT_OK) {
 *         fprintf(stderr, "%s\n", weft_last_error_message());
 *         return 1;
 *     }
 *     const void *inputs[] = {x};
 *     void *outputs[] = {y};
 *     size_t input_bytes[] = {sizeof x}, output_bytes[] = {sizeof y};
 *     weft_model_run(model, inputs, input_bytes, outputs, output_bytes);
 *     weft_model_free(model);
 *
 * An artifact holds machine code. Load only artifacts that you trust as you trust a program.
 *
 * Functions and numbers in this file stay as they are; later versions only add to them.
 */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended. */
typedef enum weft_status {
    WEFT_OK = 0,
    /* A null pointer, or an index, count, size or number of threads that is not accepted. */
    WEFT_INVALID_ARGUMENT = 1,
    /* A file or the system failed. */
    WEFT_SYSTEM = 2,
    /* The file is no sound artifact of a version this library reads. */
    WEFT_ARTIFACT = 3,
    /* The machine lacks something the code needs, such as a processor feature. */
    WEFT_UNSUPPORTED = 4,
    /* Another thread is running the model, which is not for the processor. */
    WEFT_BUSY = 5,
    /* A fault of this library. */
    WEFT_INTERNAL = 6,
    /* The run was cancelled; what its outputs hold is not to be used. */
    WEFT_CANCELLED = 7,
    /* A kernel failed, which the message names; the model can be used as before. */
    WEFT_FAILED = 8
} weft_status;

/* Type of a tensor element. */
typedef enum weft_dtype {
    WEFT_BOOL = 0, /* one byte, 0 or 1 */
    WEFT_I8 = 1,
    WEFT_I16 = 2,
    WEFT_I32 = 3,
    WEFT_I64 = 4,
    WEFT_U8 = 5,
    WEFT_U16 = 6,
    WEFT_U32 = 7,
    WEFT_U64 = 8,
    WEFT_F16 = 9,
    WEFT_BF16 = 10,
    WEFT_F32 = 11,
    WEFT_F64 = 12,
    /* What follows takes one byte each: an integer its value, a float its bits. */
    WEFT_I4 = 13,
    WEFT_U4 = 14,
    WEFT_I2 = 15,
    WEFT_U2 = 16,
    WEFT_F8E4M3FN = 17,
    WEFT_F8E4M3FNUZ = 18,
    WEFT_F8E5M2 = 19,
    WEFT_F8E5M2FNUZ = 20,
    WEFT_F8E8M0FNU = 21,
    WEFT_F4E2M1FN = 22,
    WEFT_F6E2M3FN = 23,
    WEFT_F6E3M2FN = 24
} weft_dtype;

/* A loaded model. */
typedef struct weft_model weft_model;

/* A handle by which any thread cancels runs of one model. */
typedef struct weft_cancel weft_cancel;

/* An input or output: a row-major tensor, dense but where an output lies in an input (weft_model_alias).
 * Its pointers are valid until the model is
 * freed, those of its shape until lengths are said again. */
typedef struct weft_port {
    const char *name;      /* the tensor's name in the model, UTF-8 */
    int32_t dtype;         /* a weft_dtype */
    size_t rank;           /* number of axes; 0 for a scalar */
    const uint64_t *shape; /* extents, outermost first; rank of them. The greatest that there may be,
                              until weft_model_bind says which there are */
    size_t bytes;          /* size of the whole tensor; of one that an output shares, for the greatest shape */
} weft_port;

/* Version of this library, such as "0.1.0". */
const char *weft_version(void);

/* Why the last failed call on this thread failed. The message stays valid until the next
 * failed call on this thread. */
weft_status weft_last_error_code(void);
const char *weft_last_error_message(void);

/* numpy's name of an element type, ml_dtypes' where numpy has none, or NULL if there is no such type. */
const char *weft_dtype_name(int32_t dtype);

/* Loads the artifact at `path` to be run by `threads` threads, the caller's among them. 0
 * threads: as many as the model can use and the machine has processors. More threads than the
 * model has execution units is an error. `*model` is set on success only. */
weft_status weft_model_load(const char *path, size_t threads, weft_model **model);

/* Frees a model and ends its threads. No thread may be running it. NULL is ignored. */
void weft_model_free(weft_model *model);

/* Number of threads that run the model. */
size_t weft_model_threads(const weft_model *model);

/* Number of inputs and outputs. */
size_t weft_model_input_count(const weft_model *model);
size_t weft_model_output_count(const weft_model *model);

/* Describes input or output `index`, counted from 0. */
weft_status weft_model_input(const weft_model *model, size_t index, weft_port *port);
weft_status weft_model_output(const weft_model *model, size_t index, weft_port *port);

/* Says the lengths of all later runs of a model whose callers decide them: `shapes` has the shape of each
 * input, in order. Shapes that disagree with the model, or with each other, are refused, and the lengths
 * that were said before stay. Afterwards ports have the shapes of these runs. No other thread may use the
 * model meanwhile. Of a model whose shapes are fixed the shapes are checked. */
weft_status weft_model_bind(weft_model *model, const uint64_t *const *shapes);

/* Which output lies in the memory of input `input`, as a cache does behind which rows are written:
 * SIZE_MAX if none does. Both are then one tensor, of `extents` (with the rank of the ports, valid until the
 * model is freed) however long it is in a run: its rows lie as far apart as these say. A run is given the
 * same pointer and size for both, at a multiple of the size of an element; it finds there what the one
 * before has left. */
weft_status weft_model_alias(const weft_model *model, size_t input, size_t *output,
                             const uint64_t **extents);

/* Runs the model once. Each array has one entry per input or output, in order; sizes are in
 * bytes and must be those of the ports. Inputs are read, every byte of the outputs is written, of
 * those that lie in an input (weft_model_alias) only the new rows. Other memory than at a multiple
 * of an element's size, or whose rows lie closer together than the model's, is copied. Outputs must
 * not overlap each other or another input. Returns when the outputs are complete.
 *
 * Any number of threads may run one model for the processor at once: each run has memory of its
 * own, and the caller is one of the model's threads for its own run. Where more runs are made than
 * the machine has processors (or four, if that is more), callers wait. A model for something else
 * is run by one thread at a time; another gets WEFT_BUSY. */
weft_status weft_model_run(weft_model *model, const void *const *inputs, const size_t *input_bytes,
                           void *const *outputs, const size_t *output_bytes);

/* How long output `output` came out in this thread's last run of the model: its shape, of as many numbers as the port
 * has dimensions. Where data decide lengths, as of NonZero, ports have the most that there may be; what a run
 * found is dense at the beginning of the memory that was given. Of other outputs it is the shape of the port. */
weft_status weft_model_found(const weft_model *model, size_t output, uint64_t *shape);

/* As weft_model_run, with a handle of the same model. If that is cancelled, the run ends with
 * WEFT_CANCELLED when its threads have completed the calls of kernels that they are in, or that
 * belong to runs before it. Several runs may have the same handle; other runs go on undisturbed. */
weft_status weft_model_run_cancellable(weft_model *model, const void *const *inputs,
                                       const size_t *input_bytes, void *const *outputs,
                                       const size_t *output_bytes, const weft_cancel *cancel);

/* Makes a handle that cancels runs of a model for the processor. `*cancel` is set on success only.
 * The handle may outlive the model. */
weft_status weft_cancel_new(const weft_model *model, weft_cancel **cancel);

/* Frees a handle that no run has any more. NULL is ignored. */
void weft_cancel_free(weft_cancel *cancel);

/* Cancels the runs that have this handle, and those that will be given it until it is reset. May be
 * called by any thread, and returns at once. NULL is ignored. */
void weft_cancel_now(const weft_cancel *cancel);

/* Lets runs with this handle go on again. NULL is ignored. */
void weft_cancel_reset(const weft_cancel *cancel);

#ifdef __cplusplus
}
#endif

#endif
