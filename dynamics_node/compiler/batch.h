/* Run a kernel on a batch of states: in blocks of lanes, on several threads; large results bypass
 * the caches.
 *
 * A kernel with few results writes them as rows, state after state. One with many writes columns to
 * scratch memory: vectors with the states in their lanes, which are copied to the rows, see
 * columns_to_rows.h. Entries (i, j) and (j, i) of a symmetric matrix are read from the same column;
 * in straight-line code all zeros share one, and equal symbols. */
#ifndef DYNAMICS_NODE_BATCH_H
#define DYNAMICS_NODE_BATCH_H

#include <Python.h>
#include <numpy/arrayobject.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "columns_to_rows.h"

#define MAX_BLOCKS 16
/* Results of at least this many bytes in given arrays bypass the caches: a plain store would first
 * read the line from memory, and evict another one. TALOS with a floating base, mass matrix: 1.9
 * times faster with 17 and with 45 MB, 1.4 times slower with 6 MB, which stay in the cache of 32
 * MB. This was measured when kernels wrote rows themselves, and not again since they write columns
 * that are copied to the rows. Not in fresh memory: its pages are in the cache when the system has
 * just cleared them. */
#if defined(__SSE2__)
#define STREAM_FROM ((Py_ssize_t)1 << 24)
#else
#define STREAM_FROM PY_SSIZE_T_MAX
#endif
#define SCRATCH_BYTES ((Py_ssize_t)1 << 17)   /* of run_streamed; at least one block */
#define ALIGNMENT 64    /* bytes, of columns */

typedef int64_t (*single_function)(const double *const *, double *const *);
typedef int64_t (*block_function)(const double *const *, double *const *, int64_t);

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    single_function single;
    block_function block;   /* states of one block, from a row on */
    Py_ssize_t lanes, threshold, threads;
    int n_inputs, n_outputs, n_uniforms;
    Py_ssize_t in_size[MAX_BLOCKS], out_size[MAX_BLOCKS];
    int out_ndim[MAX_BLOCKS];
    npy_intp out_dims[MAX_BLOCKS][4];   /* the first is the number of states */
    const double *uniform[MAX_BLOCKS];
    Py_ssize_t memory;       /* numbers of the scratch memory of a block, if it has columns */
    const int32_t *columns;  /* per number of all results: place of its column; NULL: rows */
    PyObject *uniforms, *fallback, *owner, *layout;
    PyTypeObject *kind;
} Caller;

/* Bytes of all results of a state. */
static Py_ssize_t row_bytes(const Caller *self)
{
    Py_ssize_t numbers = 0;
    for (int k = 0; k < self->n_outputs; k++)
        numbers += self->out_size[k];
    return numbers * (Py_ssize_t)sizeof(double);
}

typedef struct {
    const Caller *self;
    const double *in[2 * MAX_BLOCKS];
    double *out[MAX_BLOCKS];
    Py_ssize_t n;
    int streamed, failed;
} Work;

/* Return how many numbers to allocate for some rows: the kernel may read or write up to a register
 * beyond the last one. */
static Py_ssize_t padded(Py_ssize_t rows, Py_ssize_t size)
{
    return (rows + 1) * size + MAX_LANES;
}

/* Allocate memory for `rows` states: for their inputs if `in` is given, their results if `out` is.
 * Without memory return NULL; `in` and `out` then hold no valid pointers. */
static double *new_scratch(const Caller *self, Py_ssize_t rows, double **in, double **out)
{
    Py_ssize_t total = 0;
    for (int k = 0; in != NULL && k < self->n_inputs; k++)
        total += padded(rows, self->in_size[k]);
    for (int k = 0; out != NULL && k < self->n_outputs; k++)
        total += padded(rows, self->out_size[k]);
    double *scratch = PyMem_RawCalloc(total, sizeof(double)), *next = scratch;
    for (int k = 0; in != NULL && k < self->n_inputs; k++) {
        in[k] = next;
        next += padded(rows, self->in_size[k]);
    }
    for (int k = 0; out != NULL && k < self->n_outputs; k++) {
        out[k] = next;
        next += padded(rows, self->out_size[k]);
    }
    return scratch;
}

/* Run blocks of states; return whether one of them failed. In increasing order: a row shorter than
 * a register is stored with an excess, which the next row overwrites (lower.py). */
static int run_blocks(const Caller *self, const double *const *in, double *const *out,
                      Py_ssize_t blocks)
{
    int64_t failed = 0;
    for (Py_ssize_t k = 0; k < blocks; k++)
        failed |= self->block(in, out, k * self->lanes);
    return failed != 0;
}

/* Run blocks of states, a few at a time: the results are written to scratch memory that stays in a
 * cache, then streamed to the given arrays. */
static int run_streamed(const Work *work, Py_ssize_t blocks)
{
    const Caller *self = work->self;
    const Py_ssize_t lanes = self->lanes, fit = SCRATCH_BYTES / (row_bytes(self) * lanes);
    const Py_ssize_t most = fit < 1 ? 1 : fit;
    const double *in[2 * MAX_BLOCKS];
    double *out[MAX_BLOCKS], *goal[MAX_BLOCKS];
    double *scratch = new_scratch(self, most * lanes, NULL, out);
    if (scratch == NULL)
        return run_blocks(self, work->in, work->out, blocks);
    int failed = 0;
    memcpy(in, work->in, sizeof in);
    memcpy(goal, work->out, sizeof goal);
    for (Py_ssize_t done = 0; done < blocks; done += most) {
        const Py_ssize_t now = blocks - done < most ? blocks - done : most, rows = now * lanes;
        failed |= run_blocks(self, in, out, now);
        for (int k = 0; k < self->n_inputs; k++)
            in[k] += rows * self->in_size[k];
        for (int k = 0; k < self->n_outputs; k++) {
            stream(goal[k], out[k], rows * self->out_size[k]);
            goal[k] += rows * self->out_size[k];
        }
    }
    end_stream();
    PyMem_RawFree(scratch);
    return failed;
}

/* Copy the inputs of the last states, at most one block. The kernel computes whole blocks, so the
 * last state is repeated to fill the block: its copies fail only if it fails. The kernel also reads
 * up to a register beyond the last row, for which new_scratch has room. */
static void pad_inputs(const Work *work, Py_ssize_t done, double *const *in)
{
    const Caller *self = work->self;
    const Py_ssize_t rest = work->n - done;
    for (int k = 0; k < self->n_inputs; k++) {
        const Py_ssize_t size = self->in_size[k];
        memcpy(in[k], work->in[k] + done * size, rest * size * sizeof(double));
        for (Py_ssize_t row = rest; row < self->lanes; row++)
            memcpy(in[k] + row * size, in[k] + (rest - 1) * size, size * sizeof(double));
    }
}

/* Run all states but the last ones in place; the last, at least one and at most `lanes`, in padded
 * copies, because the kernel also writes up to a register beyond the end of a row. */
static void run_rows(Work *work)
{
    const Caller *self = work->self;
    const Py_ssize_t lanes = self->lanes;
    const Py_ssize_t blocks = (work->n - 1) / lanes, done = blocks * lanes;
    work->failed |= work->streamed ? run_streamed(work, blocks)
                                   : run_blocks(self, work->in, work->out, blocks);

    double *in[2 * MAX_BLOCKS], *out[MAX_BLOCKS];
    double *scratch = new_scratch(self, lanes, in, out);
    if (scratch == NULL) {
        work->failed = 1;
        return;
    }
    pad_inputs(work, done, in);
    for (int k = 0; k < self->n_uniforms; k++)
        in[self->n_inputs + k] = (double *)self->uniform[k];
    work->failed |= run_blocks(self, (const double *const *)in, out, 1);
    for (int k = 0; k < self->n_outputs; k++)
        memcpy(work->out[k] + done * self->out_size[k], out[k],
               (work->n - done) * self->out_size[k] * sizeof(double));
    PyMem_RawFree(scratch);
}

/* Run all states: columns of a block, then rows; the last block, at least one state, on padded
 * copies of its inputs. */
static void run_columns(Work *work)
{
    const Caller *self = work->self;
    const Py_ssize_t lanes = self->lanes, last = (work->n - 1) / lanes * lanes;
    double *in[2 * MAX_BLOCKS];
    double *scratch = new_scratch(self, lanes, in, NULL);
    char *raw = PyMem_RawMalloc(self->memory * sizeof(double) + ALIGNMENT);
    double *memory = (double *)((uintptr_t)(raw + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
    if (scratch == NULL || raw == NULL)
        work->failed = 1;
    else
        memset(memory, 0, lanes * sizeof(double));   /* the zeros: read, but never written */
    for (Py_ssize_t first = 0; !work->failed && first < work->n; first += lanes) {
        const Py_ssize_t states = first < last ? lanes : work->n - last;
        const double *const *from = work->in;
        if (first == last) {
            pad_inputs(work, last, in);
            for (int k = 0; k < self->n_uniforms; k++)
                in[self->n_inputs + k] = (double *)self->uniform[k];
            from = (const double *const *)in;
        }
        work->failed |= self->block(from, &memory, first < last ? first : 0) != 0;
        const int32_t *columns = self->columns;
        for (int k = 0; k < self->n_outputs; columns += self->out_size[k++])
            (work->streamed ? stream_rows : copy_rows)(
                memory, columns, work->out[k] + first * self->out_size[k], self->out_size[k],
                states);
    }
    if (work->streamed)
        end_stream();
    PyMem_RawFree(raw);
    PyMem_RawFree(scratch);
}

static void run_batch(Work *work)
{
    if (work->self->columns != NULL)
        run_columns(work);
    else
        run_rows(work);
}

static void *run_thread(void *work)
{
    run_batch(work);
    return NULL;
}

/* Return the number of threads for a batch of n states; each gets at least one block. */
static Py_ssize_t count_threads(const Caller *self, Py_ssize_t n)
{
    if (n < self->threshold)
        return 1;
    Py_ssize_t count = self->threads;
    if (count > 2 * n / self->threshold)
        count = 2 * n / self->threshold;
    if (count > n / self->lanes)
        count = n / self->lanes;
    return count < 1 ? 1 : count;
}

/* Divide the states among threads, in whole blocks; this thread computes the first part, and those
 * for which no thread can be started. Return whether all states are valid. */
static int run_threads(Work *work)
{
    typedef struct {
        Work work;
        pthread_t thread;
        int started;
    } Part;
    const Caller *self = work->self;
    const Py_ssize_t count = count_threads(self, work->n);
    const Py_ssize_t share = work->n / count / self->lanes * self->lanes;
    Part *parts = count > 1 ? PyMem_RawCalloc(count - 1, sizeof(Part)) : NULL;
    if (parts == NULL) {
        run_batch(work);
        return !work->failed;
    }
    for (Py_ssize_t part = 1; part < count; part++) {
        Part *other = &parts[part - 1];
        other->work = *work;
        for (int k = 0; k < self->n_inputs; k++)
            other->work.in[k] += part * share * self->in_size[k];
        for (int k = 0; k < self->n_outputs; k++)
            other->work.out[k] += part * share * self->out_size[k];
        other->work.n = part < count - 1 ? share : work->n - part * share;
        other->started = pthread_create(&other->thread, NULL, run_thread, &other->work) == 0;
    }
    work->n = share;
    run_batch(work);
    int failed = work->failed;
    for (Py_ssize_t part = 1; part < count; part++) {
        Part *other = &parts[part - 1];
        if (other->started)
            pthread_join(other->thread, NULL);
        else
            run_batch(&other->work);
        failed |= other->work.failed;
    }
    PyMem_RawFree(parts);
    return !failed;
}

#endif
