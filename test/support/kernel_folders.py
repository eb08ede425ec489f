"""Choose the folders of compiled kernels."""


def kernels_of_this_run(tmp_path_factory):
    """Return a folder that was empty when pytest began; the processes of pytest -n share it."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if base.name.startswith('popen-') else base) / 'kernels'
