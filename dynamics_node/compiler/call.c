/* Call a kernel with NumPy arrays, with as little overhead as CPython allows.
 *
 * Caller(single, block, lanes, inputs, outputs, columns, uniforms, fallback, threshold, threads,
 *        owner, kind=tuple)
 *   single, block   addresses of the kernel's functions (see lower.py)
 *   lanes           states that `block` computes
 *   inputs          tuple of the sizes of the arguments
 *   outputs         tuple of the shapes of the results
 *   columns         None where `block` writes rows, else (size of its memory in numbers, int32 array
 *                   of the place of each number of the results in that memory, for lane 0)
 *   uniforms        tuple of float64 arrays passed to the kernel after the arguments
 *   fallback        called with the same arguments if they are not plain arrays, or if the kernel
 *                   reports an invalid number: it converts them, computes in NumPy, or raises
 *   threshold       number of states from which on two threads are faster than one
 *   threads         greatest number of threads; each computes at least half of `threshold` states
 *   owner           object that keeps the code in memory
 *   kind            type of tuple for several results, such as a NamedTuple
 *
 * A Caller takes its arguments by position, and `out`: the array that the result is written to, or
 * a tuple of arrays for several results. An `out` that cannot be written to directly goes to the
 * fallback too, which raises what is wrong with it.
 */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "batch.h"

#define VERSION 1   /* the same as in extension.py, which says when to change it */

static PyArray_Descr *float64;
static PyObject *out_name;   /* 'out', interned */

/* Return the number of states, 0 for a single one, -1 if the arguments are not plain arrays:
 * float64, aligned, C-contiguous, all (size,) or all (n, size), n > 0, no subclass of ndarray. */
static Py_ssize_t read_arguments(const Caller *self, PyObject *const *args, const double **in)
{
    Py_ssize_t n = -1;
    for (int k = 0; k < self->n_inputs; k++) {
        if (!PyArray_CheckExact(args[k]))
            return -1;
        PyArrayObject *array = (PyArrayObject *)args[k];
        const int ndim = PyArray_NDIM(array);
        if (PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(array) || ndim < 1 || ndim > 2
            || PyArray_DIM(array, ndim - 1) != self->in_size[k])
            return -1;
        const Py_ssize_t here = ndim == 1 ? 0 : PyArray_DIM(array, 0);
        if ((k > 0 && here != n) || (ndim == 2 && here == 0))
            return -1;
        n = here;
        in[k] = PyArray_DATA(array);
    }
    for (int k = 0; k < self->n_uniforms; k++)
        in[self->n_inputs + k] = self->uniform[k];
    return n;
}

static PyObject *new_array(int ndim, const npy_intp *dims)
{
    Py_INCREF(float64);  /* stolen by the next line */
    return PyArray_NewFromDescr(&PyArray_Type, float64, ndim, dims, NULL, NULL, 0, NULL);
}

/* Make one array per output, for n states; n = 0 is a single state. */
static int new_outputs(const Caller *self, Py_ssize_t n, PyObject **results, double **out)
{
    for (int k = 0; k < self->n_outputs; k++) {
        npy_intp dims[4] = {n, self->out_dims[k][1], self->out_dims[k][2], self->out_dims[k][3]};
        results[k] = n == 0 ? new_array(self->out_ndim[k], dims + 1)
                            : new_array(self->out_ndim[k] + 1, dims);
        if (results[k] == NULL) {
            while (k > 0)
                Py_DECREF(results[--k]);
            return -1;
        }
        out[k] = PyArray_DATA((PyArrayObject *)results[k]);
    }
    return 0;
}

/* Return whether two ranges of memory have a byte in common. */
static int overlap(const void *a, Py_ssize_t a_bytes, const void *b, Py_ssize_t b_bytes)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x < y + (uintptr_t)b_bytes && y < x + (uintptr_t)a_bytes;
}

/* Take the arrays of `given` as outputs: 0, or -1 if one of them cannot be written to directly. */
static int given_outputs(const Caller *self, Py_ssize_t n, PyObject *given, const double **in,
                         PyObject **results, double **out)
{
    const Py_ssize_t rows = n == 0 ? 1 : n, word = sizeof(double);
    if (self->n_outputs != 1
        && (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != self->n_outputs))
        return -1;
    for (int k = 0; k < self->n_outputs; k++) {
        PyObject *item = self->n_outputs == 1 ? given : PyTuple_GET_ITEM(given, k);
        if (!PyArray_Check(item))
            return -1;
        PyArrayObject *array = (PyArrayObject *)item;
        const int batch = n > 0, ndim = self->out_ndim[k] + batch;
        if (PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISCARRAY(array)
            || PyArray_NDIM(array) != ndim || (batch && PyArray_DIM(array, 0) != n))
            return -1;
        for (int d = batch; d < ndim; d++)
            if (PyArray_DIM(array, d) != self->out_dims[k][d + 1 - batch])
                return -1;
        out[k] = PyArray_DATA(array);
        const Py_ssize_t bytes = rows * self->out_size[k] * word;
        for (int j = 0; j < self->n_inputs; j++)
            if (overlap(out[k], bytes, in[j], rows * self->in_size[j] * word))
                return -1;
        for (int j = 0; j < k; j++)
            if (overlap(out[k], bytes, out[j], rows * self->out_size[j] * word))
                return -1;
        results[k] = item;
    }
    for (int k = 0; k < self->n_outputs; k++)
        Py_INCREF(results[k]);
    return 0;
}

static int run_many(const Caller *self, Py_ssize_t n, const double **in, double **out, int given)
{
    const int streamed = given && n * row_bytes(self) >= STREAM_FROM;
    Work work = {.self = self, .n = n, .streamed = streamed};
    int good;
    memcpy(work.in, in, sizeof work.in);
    memcpy(work.out, out, sizeof work.out);
    Py_BEGIN_ALLOW_THREADS
    good = run_threads(&work);
    Py_END_ALLOW_THREADS
    return good;
}

static PyObject *call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    const Caller *self = (Caller *)callable;
    const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    const double *in[2 * MAX_BLOCKS];
    double *out[MAX_BLOCKS];
    PyObject *results[MAX_BLOCKS], *given = NULL;
    Py_ssize_t n = -1;
    int plain = nargs == self->n_inputs;
    if (kwnames != NULL && PyTuple_GET_SIZE(kwnames) > 0) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, 0);   /* interned where it is written in code */
        plain = plain && PyTuple_GET_SIZE(kwnames) == 1 && name == out_name;
        given = args[nargs] == Py_None ? NULL : args[nargs];
    }
    if (plain)
        n = read_arguments(self, args, in);
    if (n < 0)
        return PyObject_Vectorcall(self->fallback, args, nargsf, kwnames);
    if (given == NULL) {
        if (new_outputs(self, n, results, out) < 0)
            return NULL;
    } else if (given_outputs(self, n, given, in, results, out) < 0) {
        return PyObject_Vectorcall(self->fallback, args, nargsf, kwnames);
    }
    const int good = n == 0 ? self->single(in, out) == 0
                            : run_many(self, n, in, out, given != NULL);
    if (!good) {
        for (int k = 0; k < self->n_outputs; k++)
            Py_DECREF(results[k]);
        return PyObject_Vectorcall(self->fallback, args, nargsf, kwnames);
    }
    if (self->n_outputs == 1)
        return results[0];
    PyObject *tuple = self->kind == &PyTuple_Type
        ? PyTuple_New(self->n_outputs) : self->kind->tp_alloc(self->kind, self->n_outputs);
    for (int k = 0; k < self->n_outputs; k++) {
        if (tuple != NULL)
            PyTuple_SET_ITEM(tuple, k, results[k]);
        else
            Py_DECREF(results[k]);
    }
    return tuple;
}

static Py_ssize_t read_size(PyObject *number)
{
    const Py_ssize_t size = PyLong_AsSsize_t(number);
    if (size < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "a size is negative");
    return size;
}

static int read_shapes(Caller *self, PyObject *inputs, PyObject *outputs, PyObject *uniforms)
{
    self->n_inputs = (int)PyTuple_GET_SIZE(inputs);
    self->n_outputs = (int)PyTuple_GET_SIZE(outputs);
    self->n_uniforms = (int)PyTuple_GET_SIZE(uniforms);
    if (self->n_inputs < 1 || self->n_inputs > MAX_BLOCKS || self->n_outputs > MAX_BLOCKS
        || self->n_uniforms > MAX_BLOCKS || self->lanes < 1 || self->lanes > MAX_LANES) {
        PyErr_SetString(PyExc_ValueError, "too many or too few inputs, outputs, uniforms or lanes");
        return -1;
    }
    for (int k = 0; k < self->n_inputs; k++)
        if ((self->in_size[k] = read_size(PyTuple_GET_ITEM(inputs, k))) < 0)
            return -1;
    for (int k = 0; k < self->n_outputs; k++) {
        PyObject *shape = PyTuple_GET_ITEM(outputs, k);
        if (!PyTuple_Check(shape) || PyTuple_GET_SIZE(shape) > 3) {
            PyErr_SetString(PyExc_ValueError, "an output has a shape of at most three dimensions");
            return -1;
        }
        self->out_ndim[k] = (int)PyTuple_GET_SIZE(shape);
        self->out_size[k] = 1;
        for (int d = 0; d < self->out_ndim[k]; d++) {
            const Py_ssize_t size = read_size(PyTuple_GET_ITEM(shape, d));
            if (size < 0)
                return -1;
            self->out_dims[k][d + 1] = size;
            self->out_size[k] *= size;
        }
    }
    for (int k = 0; k < self->n_uniforms; k++) {
        PyObject *array = PyTuple_GET_ITEM(uniforms, k);
        if (!PyArray_Check(array) || PyArray_TYPE((PyArrayObject *)array) != NPY_DOUBLE
            || !PyArray_ISCARRAY_RO((PyArrayObject *)array)) {
            PyErr_SetString(PyExc_TypeError, "uniforms must be contiguous float64 arrays");
            return -1;
        }
        self->uniform[k] = PyArray_DATA((PyArrayObject *)array);
    }
    return 0;
}

/* Read the layout of the memory of a block: its size, and the place of every result in it. None:
 * the kernel writes rows. */
static int read_columns(Caller *self, PyObject *layout)
{
    PyArrayObject *columns;
    Py_ssize_t numbers = 0;
    if (layout == Py_None)
        return 0;
    if (!PyTuple_Check(layout)) {
        PyErr_SetString(PyExc_TypeError, "columns must be None or a tuple");
        return -1;
    }
    if (!PyArg_ParseTuple(layout, "nO!", &self->memory, &PyArray_Type, &columns))
        return -1;
    for (int k = 0; k < self->n_outputs; k++)
        numbers += self->out_size[k];
    if (PyArray_TYPE(columns) != NPY_INT32 || !PyArray_ISCARRAY_RO(columns)
        || PyArray_NDIM(columns) != 1 || PyArray_DIM(columns, 0) != numbers || self->lanes % 2) {
        PyErr_SetString(PyExc_ValueError, "columns are an int32 array with a place per number of "
                        "the results, and lanes are even");
        return -1;
    }
    const int32_t *places = PyArray_DATA(columns);
    for (Py_ssize_t k = 0; k < numbers; k++)
        if (places[k] < 0 || places[k] > self->memory - self->lanes) {
            PyErr_SetString(PyExc_ValueError, "a column is outside of the memory");
            return -1;
        }
    self->columns = places;
    return 0;
}

static PyObject *new_caller(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    unsigned long long single, block;
    Py_ssize_t lanes, threshold, threads;
    PyObject *inputs, *outputs, *layout, *uniforms, *fallback, *owner;
    PyObject *kind = (PyObject *)&PyTuple_Type;
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0) {
        PyErr_SetString(PyExc_TypeError, "Caller takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "KKnO!O!OO!OnnO|O!", &single, &block, &lanes, &PyTuple_Type, &inputs,
                          &PyTuple_Type, &outputs, &layout, &PyTuple_Type, &uniforms, &fallback,
                          &threshold, &threads, &owner, &PyType_Type, &kind))
        return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)kind, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "kind must be a subclass of tuple");
        return NULL;
    }
    if (threshold < 1 || threads < 1) {
        PyErr_SetString(PyExc_ValueError, "threshold and threads must be positive");
        return NULL;
    }
    Caller *self = (Caller *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->vectorcall = call;
    self->single = (single_function)(uintptr_t)single;
    self->block = (block_function)(uintptr_t)block;
    self->lanes = lanes;
    self->threshold = threshold;
    self->threads = threads;
    self->layout = Py_NewRef(layout);
    self->uniforms = Py_NewRef(uniforms);
    self->fallback = Py_NewRef(fallback);
    self->owner = Py_NewRef(owner);
    self->kind = (PyTypeObject *)Py_NewRef(kind);
    if (read_shapes(self, inputs, outputs, uniforms) < 0 || read_columns(self, layout) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int traverse(PyObject *op, visitproc visit, void *arg)
{
    Caller *self = (Caller *)op;
    Py_VISIT(self->layout);
    Py_VISIT(self->uniforms);
    Py_VISIT(self->fallback);
    Py_VISIT(self->owner);
    Py_VISIT(self->kind);
    return 0;
}

static int clear(PyObject *op)
{
    Caller *self = (Caller *)op;
    Py_CLEAR(self->layout);
    Py_CLEAR(self->uniforms);
    Py_CLEAR(self->fallback);
    Py_CLEAR(self->owner);
    Py_CLEAR(self->kind);
    return 0;
}

static void dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    clear(op);
    Py_TYPE(op)->tp_free(op);
}

/* Introspection: a Caller has the name, the docstring and the signature (by __wrapped__) of its
 * fallback, the method that it replaces. inspect and help() treat it as a routine because it has
 * __get__. Python does not call __get__ for an entry of an object's own dictionary, where a Caller
 * is kept. */
static PyObject *get_of_fallback(PyObject *op, void *name)
{
    return PyObject_GetAttrString(((Caller *)op)->fallback, name);
}

static PyObject *get_wrapped(PyObject *op, void *unused)
{
    return Py_NewRef(((Caller *)op)->fallback);
}

static PyObject *bind(PyObject *op, PyObject *owner, PyObject *type)
{
    return Py_NewRef(op);
}

static PyGetSetDef getset[] = {
    {"__wrapped__", get_wrapped, NULL, NULL, NULL},
    {"__doc__", get_of_fallback, NULL, NULL, "__doc__"},
    {"__name__", get_of_fallback, NULL, NULL, "__name__"},
    {"__qualname__", get_of_fallback, NULL, NULL, "__qualname__"},
    {"__module__", get_of_fallback, NULL, NULL, "__module__"},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject caller_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dynamics_node.compiler._call.Caller",
    .tp_basicsize = sizeof(Caller),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Caller, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = new_caller,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_dealloc = dealloc,
    .tp_getset = getset,
    .tp_descr_get = bind,
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_call", NULL, -1, NULL};

PyMODINIT_FUNC PyInit__call(void)
{
    import_array();
    find_instructions();
    float64 = PyArray_DescrFromType(NPY_DOUBLE);
    out_name = PyUnicode_InternFromString("out");
    if (out_name == NULL || PyType_Ready(&caller_type) < 0)
        return NULL;
    PyObject *self = PyModule_Create(&module);
    if (self == NULL || PyModule_AddIntConstant(self, "VERSION", VERSION) < 0
        || PyModule_AddObjectRef(self, "Caller", (PyObject *)&caller_type) < 0) {
        Py_XDECREF(self);
        return NULL;
    }
    return self;
}
