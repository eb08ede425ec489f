"""Run a function for each file of a data set; continue after a kill with the unfinished files.

Each result is written atomically, so a file that exists is finished. Its metadata has the
digest of robot and settings: it is kept by a later run with equal ones. A manifest in the folder of
the results refuses other ones.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dynamics_node.data.atomic_files import write_atomically
from dynamics_node.data.default_mapping import dataset_root
from dynamics_node.data.engines import Job, run_jobs
from dynamics_node.data.settings import FOUND, KEY
from dynamics_node.data.sources import files_of
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.files import read_file

MANIFESTS = ('annotation.json', 'rollouts.json')   # of a folder of results
DIFFERENT = {'model': 'of another model', 'settings': 'of other settings'}
MAX_BYTES = 1_000_000_000   # of a manifest: a million files
Files = str | os.PathLike | Sequence[str | os.PathLike]


class Places(NamedTuple):
    """Where the sources are, and where their results are to be written."""

    out: Path
    sources: tuple[Path, ...]
    targets: tuple[Path, ...]   # of each source


class WrittenFiles(NamedTuple):
    """What was written, and what was found in the rows."""

    out: str                          # folder
    metadata: dict[str, Any]          # robot, model, settings and their digest
    files: dict[str, dict[str, int]]  # written file, relative to `out` -> its counts
    failed: dict[str, str]            # source -> why it failed
    resumed: int                      # files that an earlier run had finished
    seconds: float                    # of this run, after its plan

    @property
    def counts(self) -> dict[str, int]:
        """Counts of all files: rows, marked rows, each mark; of episodes, if there are any."""
        total: Counter[str] = Counter()
        for counts in self.files.values():
            total.update(counts)
        return dict(total)


def places_of(files: Files, out: str | os.PathLike) -> Places:
    """Return the Places of files, patterns or folders.

    :raise DynamicsError: there is no file, or results would replace each other or a source.
    """
    root = _folder(out)
    sources = files_of(files, root)
    return Places(root, sources, tuple(_targets(sources, root)))


def run_files(function: Callable[..., dict[str, Any]], common: Sequence[object], places: Places,
              metadata: Mapping[str, Any], manifest: str, engine: str | None, workers: int,
              progress: Callable[[float, str], None] | None) -> WrittenFiles:
    """Call function(*common, source, target) for each file that is not finished.

    The manifest is written at the end: metadata and counts.

    :param metadata: result of `settings.metadata_of`; the function writes it into each file.
    :param manifest: one of MANIFESTS.
    :param engine, workers: as in `engines.run_jobs`.
    :raise DynamicsError: all files failed, or the folder has results of other settings.
    """
    started = time.monotonic()
    first = _bind(places.out, metadata, manifest)
    found, jobs = _finished(zip(places.sources, places.targets), metadata['digest'])
    resumed, failed = len(found), {}
    for k, ((source, target), result) in enumerate(run_jobs(
            function, common, jobs, engine, workers), start=1):
        if isinstance(result, DynamicsError):
            failed[source] = str(result)
        else:
            found[target] = result
        if progress is not None:
            progress(k / len(jobs), f'{resumed + k} of {len(places.sources)} files')
    if failed and not found:
        if first:   # other settings may follow
            (places.out / manifest).unlink(missing_ok=True)
        raise DynamicsError(next(iter(failed.values())))
    in_order = {os.path.relpath(target, places.out): found[str(target)]
                for target in places.targets if str(target) in found}
    done = WrittenFiles(str(places.out), dict(metadata), in_order, dict(sorted(failed.items())),
                        resumed, time.monotonic() - started)
    write_atomically(places.out / manifest, json.dumps({
        **metadata, 'counts': done.counts, 'files': done.files, 'failed': done.failed},
        indent=1) + '\n')
    return done


def _folder(out: Any) -> Path:
    if not isinstance(out, (str, os.PathLike)) or not str(out):
        raise DynamicsError(f'out is {shown(out)}; expected the path of a folder')
    return Path(out)


def _targets(sources: Sequence[Path], out: Path) -> list[Path]:
    """Return the path of each result: below `out` as its source is below the common folder."""
    roots = {dataset_root(source) for source in sources}
    root = roots.pop() if len(roots) == 1 else None
    if root is None:
        root = Path(os.path.commonpath([source.absolute().parent for source in sources]))
    targets = [out / Path(os.path.relpath(source.absolute(), root.absolute()))
               .with_suffix('.parquet') for source in sources]
    twice = [target for target, count in Counter(targets).items() if count > 1]
    if twice:
        raise DynamicsError(f"several sources would be written to '{twice[0]}'; write "
                            'their results into different folders')
    for source, target in zip(sources, targets):
        if target.absolute() == source.absolute():
            raise DynamicsError(f"out is '{out}', which has the sources; name another folder")
    return targets


def _bind(out: Path, metadata: Mapping[str, Any], manifest: str) -> bool:
    """Write the manifest; return whether there was none.

    :raise DynamicsError: the folder has results of another robot or other settings.
    """
    for name in MANIFESTS:
        path = out / name
        if not path.exists():
            continue
        try:
            before = json.loads(read_file(path, MAX_BYTES))
        except ValueError:   # a FileError is one
            before = {}
        if before.get('digest') != metadata['digest']:
            differ = [words for key, words in DIFFERENT.items() if before.get(key) != metadata[key]]
            raise DynamicsError(f"out is '{out}', which has results "
                                f'{" and ".join(differ) or "of another version"}; name another '
                                f"folder, or remove its '{name}' and files")
    first = not (out / manifest).exists()
    if first:
        write_atomically(out / manifest, json.dumps(metadata, indent=1) + '\n')
    return first


def _finished(pairs: Iterable[tuple[Path, Path]], digest: str
              ) -> tuple[dict[str, dict[str, int]], list[Job]]:
    """Return ({finished target: counts}, the other jobs)."""
    found, jobs = {}, []
    for source, target in pairs:
        counts = _counts_of(source, target, digest)
        if counts is None:
            jobs.append((str(source), str(target)))
        else:
            found[str(target)] = counts
    return found, jobs


def _counts_of(source: Path, target: Path, digest: str) -> dict[str, int] | None:
    """Return the counts in a finished file; None if it is missing, of other settings or older."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(target).metadata
        bound, found = (json.loads(metadata[key.encode()]) for key in (KEY, FOUND))
        size = os.path.getsize(source) if source.is_file() else 0
        fresh = os.path.getmtime(target) >= os.path.getmtime(source)
        same = bound['digest'] == digest and found['source_bytes'] == size
        return found['counts'] if fresh and same else None
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None
