/* Copy results from columns, vectors with a state per lane, to the rows of the states.
 *
 * Large results bypass the caches: whole cache lines are collected in a buffer per row, then written
 * by non-temporal stores. */
#ifndef DYNAMICS_NODE_COLUMNS_TO_ROWS_H
#define DYNAMICS_NODE_COLUMNS_TO_ROWS_H

#include <Python.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
/* This file is compiled for any processor; functions with AVX512 are called where the machine has
 * it. TALOS, 4096 states, Zen 5: mass matrices take 0.62 times as long, derivatives 0.75, 0.9. */
#if defined(__x86_64__) && defined(__GNUC__)
#define COMPILES_AVX512
#define AVX512 __attribute__((target("avx512f")))
#include <immintrin.h>
#endif

#define MAX_LANES 8
#define LINE 8       /* numbers in a cache line */
#define SEGMENT 64   /* numbers of a row that are copied at once: 4 KB of columns with 8 lanes */

static int has_avx512;   /* set by find_instructions */

static void find_instructions(void)
{
#if defined(COMPILES_AVX512)
    has_avx512 = __builtin_cpu_supports("avx512f") != 0;
#endif
}

#if defined(COMPILES_AVX512)
AVX512 static void stream_lines(double *goal, const double *source, Py_ssize_t n)
{
    for (Py_ssize_t k = 0; k < n; k += LINE)
        _mm512_stream_pd(goal + k, _mm512_loadu_pd(source + k));
}
#endif

/* Copy numbers by stores that bypass the caches, a cache line at a time. */
static void stream(double *goal, const double *source, Py_ssize_t n)
{
    for (; n > 0 && (uintptr_t)goal % 64 != 0; n--)
        *goal++ = *source++;
    const Py_ssize_t whole = n - n % LINE;
    Py_ssize_t k = 0;
#if defined(COMPILES_AVX512)
    if (has_avx512) {
        stream_lines(goal, source, whole);
        k = whole;
    }
#endif
#if defined(__SSE2__)
    for (; k < whole; k += 2)
        _mm_stream_pd(goal + k, _mm_loadu_pd(source + k));
#endif
    for (; k < n; k++)
        goal[k] = source[k];
}

static void end_stream(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* Copy n numbers of two states, adjacent lanes, from their columns to two rows. */
static void copy_pair(const double *lane, const int32_t *columns, Py_ssize_t n, double *x,
                      double *y)
{
    Py_ssize_t k = 0;
#if defined(__SSE2__)
    for (; k + 2 <= n; k += 2) {
        const __m128d a = _mm_loadu_pd(lane + columns[k]), b = _mm_loadu_pd(lane + columns[k + 1]);
        _mm_storeu_pd(x + k, _mm_unpacklo_pd(a, b));
        _mm_storeu_pd(y + k, _mm_unpackhi_pd(a, b));
    }
#endif
    for (; k < n; k++) {
        x[k] = lane[columns[k]];
        y[k] = lane[columns[k] + 1];
    }
}

#if defined(COMPILES_AVX512)
/* Copy n numbers of eight states to their rows: 8 x 8 numbers are transposed in registers. */
AVX512 static void copy_eight(const double *memory, const int32_t *columns, Py_ssize_t n,
                              double *const *rows)
{
    Py_ssize_t k = 0;
    for (; k + 8 <= n; k += 8) {
        __m512d pair[8];   /* of columns: even lanes of two columns, then odd lanes, and so on */
        for (int i = 0; i < 8; i += 2) {
            const __m512d a = _mm512_loadu_pd(memory + columns[k + i]);
            const __m512d b = _mm512_loadu_pd(memory + columns[k + i + 1]);
            pair[i] = _mm512_unpacklo_pd(a, b);
            pair[i + 1] = _mm512_unpackhi_pd(a, b);
        }
        for (int odd = 0; odd < 2; odd++) {
            const __m512d *own = pair + odd;
            const __m512d low = _mm512_shuffle_f64x2(own[0], own[2], 0x88);       /* lanes 0, 4 */
            const __m512d high = _mm512_shuffle_f64x2(own[0], own[2], 0xdd);      /* lanes 2, 6 */
            const __m512d low_end = _mm512_shuffle_f64x2(own[4], own[6], 0x88);
            const __m512d high_end = _mm512_shuffle_f64x2(own[4], own[6], 0xdd);
            _mm512_storeu_pd(rows[odd] + k, _mm512_shuffle_f64x2(low, low_end, 0x88));
            _mm512_storeu_pd(rows[odd + 2] + k, _mm512_shuffle_f64x2(high, high_end, 0x88));
            _mm512_storeu_pd(rows[odd + 4] + k, _mm512_shuffle_f64x2(low, low_end, 0xdd));
            _mm512_storeu_pd(rows[odd + 6] + k, _mm512_shuffle_f64x2(high, high_end, 0xdd));
        }
    }
    for (; k < n; k++)
        for (int lane = 0; lane < 8; lane++)
            rows[lane][k] = memory[columns[k] + lane];
}
#endif

/* Copy n numbers of some states from their columns to rows. */
static void copy_segment(const double *memory, const int32_t *columns, Py_ssize_t n,
                         double *const *rows, Py_ssize_t states)
{
    double beyond[SEGMENT];   /* of a second state that the last pair does not have */
#if defined(COMPILES_AVX512)
    if (states == 8 && has_avx512) {
        copy_eight(memory, columns, n, rows);
        return;
    }
#endif
    for (Py_ssize_t lane = 0; lane < states; lane += 2)
        copy_pair(memory + lane, columns, n, rows[lane],
                  lane + 1 < states ? rows[lane + 1] : beyond);
}

/* Copy one result of some states, at most a block, from its columns to rows: a segment of all rows
 * before the next one, so that its columns are in the nearest cache. */
static void copy_rows(const double *memory, const int32_t *columns, double *goal, Py_ssize_t size,
                      Py_ssize_t states)
{
    double *rows[MAX_LANES];
    for (Py_ssize_t lane = 0; lane < states; lane++)
        rows[lane] = goal + lane * size;
    for (Py_ssize_t start = 0; start < size; start += SEGMENT) {
        const Py_ssize_t n = size - start < SEGMENT ? size - start : SEGMENT;
        copy_segment(memory, columns + start, n, rows, states);
        for (Py_ssize_t lane = 0; lane < states; lane++)
            rows[lane] += n;
    }
}

/* A row that is written through a buffer, in whole cache lines that bypass the caches. */
typedef struct {
    double *goal;
    Py_ssize_t waiting;   /* numbers in the buffer */
    double buffer[LINE + SEGMENT];
} StreamedRow;

/* Write the whole lines of a buffer; at the end of the row the rest too. Then fewer than LINE
 * numbers wait, so that a segment always fits. */
static void write_lines(StreamedRow *row, int ends)
{
    const Py_ssize_t before = (Py_ssize_t)(-(uintptr_t)row->goal / sizeof(double) % LINE);
    Py_ssize_t n = row->waiting;
    if (!ends)
        n = n < before ? 0 : n - (n - before) % LINE;
    stream(row->goal, row->buffer, n);
    row->goal += n;
    row->waiting -= n;
    memmove(row->buffer, row->buffer + n, row->waiting * sizeof(double));
}

/* The same as copy_rows, past the caches. */
static void stream_rows(const double *memory, const int32_t *columns, double *goal,
                        Py_ssize_t size, Py_ssize_t states)
{
    StreamedRow streamed[MAX_LANES];
    for (Py_ssize_t lane = 0; lane < states; lane++) {
        streamed[lane].goal = goal + lane * size;
        streamed[lane].waiting = 0;
    }
    for (Py_ssize_t start = 0; start < size; start += SEGMENT) {
        const Py_ssize_t n = size - start < SEGMENT ? size - start : SEGMENT;
        double *rows[MAX_LANES];
        for (Py_ssize_t lane = 0; lane < states; lane++) {
            rows[lane] = streamed[lane].buffer + streamed[lane].waiting;
            streamed[lane].waiting += n;
        }
        copy_segment(memory, columns + start, n, rows, states);
        for (Py_ssize_t lane = 0; lane < states; lane++)
            write_lines(&streamed[lane], start + n == size);
    }
}

#endif
