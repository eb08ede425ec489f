/* Compute the terms of small dense QPs: the same functions as in qp_terms.py, without the overhead
 * of a dozen calls of NumPy each, which took most of the time of a whole-body step.
 *
 * Arguments are float64 arrays of the shapes named there; others are copied. Inner loops run over
 * the entries of a row, so that the compiler can use vector instructions without -ffast-math.
 */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <Python.h>
#include <math.h>
#include <numpy/arrayobject.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif
#define MOST 8   /* arguments of a function */

/* The arguments of one call as contiguous arrays; owned until `release`. */
typedef struct {
    PyArrayObject *array[MOST];
    int count;
} Arguments;

static void release(Arguments *all)
{
    while (all->count > 0)
        Py_DECREF(all->array[--all->count]);
}

/* Read arguments with the given numbers of dimensions, such as "21"; 0 if one is something else. */
static int read_all(Arguments *all, const char *ndims, PyObject *const *args, Py_ssize_t given)
{
    all->count = 0;
    if (given != (Py_ssize_t)strlen(ndims)) {
        PyErr_Format(PyExc_TypeError, "expected %zu arguments", strlen(ndims));
        return 0;
    }
    for (int k = 0; k < given; k++) {
        PyObject *array = PyArray_FROM_OTF(args[k], NPY_DOUBLE, NPY_ARRAY_IN_ARRAY);
        if (array == NULL) {
            release(all);
            return 0;
        }
        all->array[all->count++] = (PyArrayObject *)array;
        if (PyArray_NDIM((PyArrayObject *)array) != ndims[k] - '0') {
            PyErr_Format(PyExc_ValueError, "argument %d must have %c dimensions", k, ndims[k]);
            release(all);
            return 0;
        }
    }
    return 1;
}

static npy_intp size(const Arguments *all, int k, int axis)
{
    return PyArray_DIM(all->array[k], axis);
}

static const double *data(const Arguments *all, int k)
{
    return PyArray_DATA(all->array[k]);
}

/* Return the condition; unless the shapes fit, release the arguments and set an error. */
static int fit(Arguments *all, int condition)
{
    if (condition)
        return 1;
    PyErr_SetString(PyExc_ValueError, "the shapes of the arguments do not fit");
    release(all);
    return 0;
}

static double *values(PyObject *array)
{
    return PyArray_DATA((PyArrayObject *)array);
}

/* Add factor x row to a sum, entry by entry. */
static inline void add(double *restrict sum, double factor, const double *restrict row, npy_intp n)
{
    for (npy_intp k = 0; k < n; k++)
        sum[k] += factor * row[k];
}

/* Four sums, so that additions do not wait for each other. */
static inline double dot(const double *a, const double *b, npy_intp n)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    npy_intp k = 0;
    for (; k + 4 <= n; k += 4)
        for (int j = 0; j < 4; j++)
            sum[j] += a[k + j] * b[k + j];
    for (; k < n; k++)
        sum[0] += a[k] * b[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Return the larger of a and |b|, nan if one is. */
static inline double larger(double a, double b)
{
    b = fabs(b);
    return b > a || isnan(b) ? b : a;
}

/* normal_equations(rows (t, k + 1), weights (t,)) -> P (k, k), q (k,) */
WIDE static void accumulate(double *restrict P, double *restrict q, const double *restrict rows,
                            const double *restrict weights, npy_intp t, npy_intp k)
{
    for (npy_intp r = 0; r < t; r++) {
        const double *row = rows + r * (k + 1);
        if (weights[r] == 0.0)
            continue;
        for (npy_intp i = 0; i < k; i++)   /* the upper triangle */
            add(P + i * k + i, weights[r] * row[i], row + i, k - i);
        add(q, weights[r] * row[k], row, k);
    }
    for (npy_intp i = 0; i < k; i++)
        for (npy_intp j = 0; j < i; j++)
            P[i * k + j] = P[j * k + i];
}

static PyObject *normal_equations(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Arguments all;
    if (!read_all(&all, "21", args, given))
        return NULL;
    const npy_intp t = size(&all, 0, 0), k = size(&all, 0, 1) - 1;
    if (!fit(&all, k >= 0 && size(&all, 1, 0) == t))
        return NULL;
    PyObject *P = PyArray_ZEROS(2, ((npy_intp[]){k, k}), NPY_DOUBLE, 0);
    PyObject *q = PyArray_ZEROS(1, &k, NPY_DOUBLE, 0);
    if (P != NULL && q != NULL)
        accumulate(values(P), values(q), data(&all, 0), data(&all, 1), t, k);
    release(&all);
    return Py_BuildValue("NN", P, q);
}

/* rows_of_torques(G, limits (2, m), G_x (m - c, r), of_x (r, k + 1)) -> G (m, k), lower, upper */
WIDE static void compose(double *restrict G, double *restrict lower, double *restrict upper,
                         const double *restrict G_x, const double *restrict of_x, npy_intp rows,
                         npy_intp r, npy_intp k)
{
    for (npy_intp i = 0; i < rows; i++)
        for (npy_intp j = 0; j < r; j++) {
            const double factor = G_x[i * r + j], *row = of_x + j * (k + 1);
            if (factor == 0.0)   /* most are: a contact has its own forces */
                continue;
            add(G + i * k, factor, row, k);
            lower[i] -= factor * row[k];
            upper[i] -= factor * row[k];
        }
}

static PyObject *rows_of_torques(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Arguments all;
    if (!read_all(&all, "2222", args, given))
        return NULL;
    npy_intp c = size(&all, 0, 0), k = size(&all, 0, 1), m = size(&all, 1, 1), r = size(&all, 3, 0);
    if (!fit(&all, size(&all, 1, 0) == 2 && size(&all, 2, 0) == m - c && size(&all, 2, 1) == r
                       && size(&all, 3, 1) == k + 1))
        return NULL;
    PyObject *G = PyArray_ZEROS(2, ((npy_intp[]){m, k}), NPY_DOUBLE, 0);
    PyObject *lower = PyArray_SimpleNew(1, &m, NPY_DOUBLE);
    PyObject *upper = PyArray_SimpleNew(1, &m, NPY_DOUBLE);
    if (G != NULL && lower != NULL && upper != NULL) {
        memcpy(values(G), data(&all, 0), c * k * sizeof(double));
        memcpy(values(lower), data(&all, 1), m * sizeof(double));
        memcpy(values(upper), data(&all, 1) + m, m * sizeof(double));
        compose(values(G) + c * k, values(lower) + c, values(upper) + c, data(&all, 2),
                data(&all, 3), m - c, r, k);
    }
    release(&all);
    return Py_BuildValue("NNN", G, lower, upper);
}

/* definiteness(P (n, n)) -> float */
WIDE static double least_pivot(double *U, npy_intp n)
{
    double least = INFINITY;
    for (npy_intp j = 0; j < n; j++)   /* the diagonal as given, before it is reduced */
        if (!(U[j * n + j] > 0.0))
            return 0.0;
    double *given = U + n * n;
    for (npy_intp j = 0; j < n; j++)
        given[j] = U[j * n + j];
    for (npy_intp j = 0; j < n; j++) {
        const double *pivot = U + j * n;
        const double share = pivot[j] / given[j];
        if (!(share > 0.0))
            return 0.0;
        if (share < least)
            least = share;
        for (npy_intp i = j + 1; i < n; i++)
            add(U + i * n + i, -pivot[i] / pivot[j], pivot + i, n - i);
    }
    return least;
}

static PyObject *definiteness(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Arguments all;
    if (!read_all(&all, "2", args, given))
        return NULL;
    const npy_intp n = size(&all, 0, 0);
    if (!fit(&all, size(&all, 0, 1) == n))
        return NULL;
    double *U = PyMem_Malloc((n * n + n + 1) * sizeof(double));
    if (U != NULL)
        memcpy(U, data(&all, 0), n * n * sizeof(double));
    release(&all);
    if (U == NULL)
        return PyErr_NoMemory();
    const double least = least_pivot(U, n);
    PyMem_Free(U);
    return PyFloat_FromDouble(least);
}

/* affine(rows (t, k + 1), u (k,)) -> (t,) */
WIDE static void evaluate(double *restrict found, const double *restrict rows,
                          const double *restrict u, npy_intp t, npy_intp k)
{
    for (npy_intp r = 0; r < t; r++)
        found[r] = dot(rows + r * (k + 1), u, k) + rows[r * (k + 1) + k];
}

static PyObject *affine(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Arguments all;
    if (!read_all(&all, "21", args, given))
        return NULL;
    const npy_intp t = size(&all, 0, 0), k = size(&all, 1, 0);
    if (!fit(&all, size(&all, 0, 1) == k + 1))
        return NULL;
    PyObject *found = PyArray_SimpleNew(1, &t, NPY_DOUBLE);
    if (found != NULL)
        evaluate(values(found), data(&all, 0), data(&all, 1), t, k);
    release(&all);
    return found;
}

/* kkt(P, q, rows (m, n), low (b + m,), high, x, forces (b + m,)) -> gaps (b + m,), residual */
WIDE static double verify(double *restrict gaps, double *restrict balance, const double *P,
                          const double *q, const double *rows, const double *low,
                          const double *high, const double *x, const double *forces, npy_intp n,
                          npy_intp m, npy_intp bounds)
{
    double scale = 0.0, missed = -INFINITY, unbalanced = 0.0;
    for (npy_intp i = 0; i < n; i++) {
        const double curved = dot(P + i * n, x, n);
        scale = larger(larger(scale, curved), q[i]);
        balance[i] = curved + q[i];
    }
    for (npy_intp i = 0; i < bounds + m; i++) {
        const double *row = i < bounds ? NULL : rows + (i - bounds) * n;
        const double where = row == NULL ? x[i] : dot(row, x, n), length = 1.0 + fabs(where);
        const double below = where - low[i], above = high[i] - where;
        gaps[i] = (below < above || isnan(below) ? below : above) / length;
        double excess = -gaps[i];
        if (forces[i] != 0.0) {
            const double pushed = fabs(forces[i] > 0.0 ? above : below) / length;
            if (pushed > excess || isnan(pushed))   /* distance from the limit that pushes */
                excess = pushed;
            if (row == NULL)
                balance[i] += forces[i];
            else
                add(balance, forces[i], row, n);
        }
        if (excess > missed || isnan(excess))
            missed = excess;
    }
    for (npy_intp i = 0; i < n; i++)
        unbalanced = larger(unbalanced, balance[i]);
    unbalanced /= scale == 0.0 ? 1.0 : scale;
    return missed > unbalanced || isnan(missed) ? missed : unbalanced;
}

static PyObject *kkt(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Arguments all;
    if (!read_all(&all, "2121111", args, given))
        return NULL;
    const npy_intp n = size(&all, 1, 0), m = size(&all, 2, 0), every = size(&all, 6, 0);
    if (!fit(&all, size(&all, 0, 0) == n && size(&all, 0, 1) == n && size(&all, 2, 1) == n
                       && size(&all, 3, 0) == every && size(&all, 4, 0) == every
                       && size(&all, 5, 0) == n && (every == m || every == m + n)))
        return NULL;
    double residual = 0.0, *balance = PyMem_Malloc((n + 1) * sizeof(double));
    PyObject *gaps = PyArray_SimpleNew(1, &every, NPY_DOUBLE);
    if (gaps != NULL && balance != NULL)
        residual = verify(values(gaps), balance, data(&all, 0), data(&all, 1), data(&all, 2),
                          data(&all, 3), data(&all, 4), data(&all, 5), data(&all, 6), n, m,
                          every - m);
    release(&all);
    if (balance == NULL) {
        Py_XDECREF(gaps);
        return PyErr_NoMemory();
    }
    PyMem_Free(balance);
    return Py_BuildValue("Nd", gaps, residual);
}

#define METHOD(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}

static PyMethodDef methods[] = {
    METHOD(normal_equations), METHOD(rows_of_torques), METHOD(definiteness), METHOD(affine),
    METHOD(kkt), {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_qp_terms", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__qp_terms(void)
{
    import_array();
    return PyModule_Create(&module);
}
