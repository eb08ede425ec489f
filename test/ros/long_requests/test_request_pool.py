"""Test the pool of workers without processes: turns of clients, limits, ends of workers."""

from types import SimpleNamespace

import pytest

from dynamics_node import DynamicsError
from dynamics_node.ros.identification.worker_process import WorkerMessage
from dynamics_node.ros.long_requests.request_pool import START, RequestPool
from dynamics_node.ros.parameters.service import ServiceParameters


class Bench:
    """A pool whose workers and clock are operated by the test.

    :ivar started: workers, in the order of their start.
    :ivar ended: [(job, kind of its last message, text)].
    """

    def __init__(self, **limits):
        self.now, self.started, self.ended = 100.0, [], []
        self.broken = False
        self.pool = RequestPool(self._start_worker, ServiceParameters(**limits), lambda: self.now)

    def _start_worker(self):
        if self.broken:
            raise OSError('no memory')
        worker = FakeWorker(self)
        self.started.append(worker)
        return worker

    def submit(self, client, name, compiling=False, size=0):
        job = SimpleNamespace(name=name, compiling=compiling)
        self.pool.submit(client, job, lambda message: self.ended.append(
            (name, message.kind, message.content[0])), size)

    @property
    def running(self):
        return [worker.job.name for worker in self.started if worker.job is not None]

    def finish(self, name):
        """Let a worker reply."""
        worker = next(each for each in self.started if each.job and each.job.name == name)
        worker.reply = WorkerMessage('done', (f'reply to {name}',))
        self.pool.poll()


class FakeWorker:
    """Computes until the test says that it has ended."""

    def __init__(self, bench):
        self._bench, self.begun, self.failure = bench, None, ''
        self.job = self.reply = None
        self.killed = False

    @property
    def ended(self):
        return self.failure != ''

    def start(self, job):
        assert self.job is None and not self.killed
        self.job, self.begun = job, self._bench.now

    def message(self):
        reply, self.reply = self.reply, None
        if reply is not None:
            self.job = None
        return reply

    def kill(self):
        self.killed, self.job = True, None


def test_a_worker_starts_with_the_first_request_and_is_used_again():
    """None before."""
    bench = Bench()
    assert bench.pool.workers == 0
    for name in ('first', 'second'):
        bench.submit(b'a', name)
        assert bench.running == [name]
        bench.finish(name)
    assert bench.ended == [('first', 'done', 'reply to first'),
                           ('second', 'done', 'reply to second')]
    assert (len(bench.started), bench.pool.workers, bench.pool.running) == (1, 1, 0)


def test_a_client_uses_one_worker_and_leaves_the_others_free():
    """Another client's request starts at once, though a hundred wait."""
    bench = Bench(workers=2)
    for k in range(100):
        bench.submit(b'a', f'a{k}')
    assert (bench.running, bench.pool.waiting) == (['a0'], 99)
    bench.submit(b'b', 'b0')
    assert (bench.running, bench.pool.waiting) == (['a0', 'b0'], 99)
    bench.finish('b0')
    assert bench.running == ['a0']


def test_with_one_worker_a_client_waits_for_one_request_of_another():
    """The one that runs."""
    bench = Bench(workers=1)
    for k in range(100):
        bench.submit(b'a', f'a{k}')
    bench.finish('a0')
    bench.submit(b'b', 'b0')
    assert bench.running == ['a1']
    bench.finish('a1')
    assert bench.running == ['b0']
    bench.finish('b0')
    assert bench.running == ['a2']


def test_a_request_that_would_take_too_long_is_refused():
    """Before any work, with the estimate and the limit."""
    bench = Bench(max_duration=2.0)
    bench.pool.check(2.0)
    with pytest.raises(DynamicsError, match=r'take: 2\.5, at most 2 \(service\.max_duration\)'):
        bench.pool.check(2.5)
    assert bench.pool.refused == {'max_duration': 1}


def test_waiting_requests_of_all_clients_take_limited_memory():
    """One that runs is not counted, nor one that has ended."""
    bench = Bench(max_waiting_bytes=1000, workers=1)
    bench.submit(b'a', 'runs', size=900)
    bench.submit(b'a', 'waits', size=600)
    with pytest.raises(DynamicsError, match=r'bytes of waiting long requests: 1001, at most 1000 '
                                            r'\(service\.max_waiting_bytes\)'):
        bench.submit(b'b', 'too large', size=401)
    bench.submit(b'b', 'fits', size=400)
    bench.finish('runs')
    bench.submit(b'c', 'fits now', size=400)
    assert bench.pool.refused == {'max_waiting_bytes': 1}


def test_too_many_waiting_requests_of_a_client_are_refused():
    """With the number; other clients are not affected."""
    bench = Bench(max_waiting=3, workers=1)
    for k in range(4):   # one runs, three wait
        bench.submit(b'a', f'a{k}')
    with pytest.raises(DynamicsError, match=r'waiting long requests of this client: 4, at most 3 '
                                            r'\(service\.max_waiting\)'):
        bench.submit(b'a', 'a4')
    bench.submit(b'b', 'b0')
    assert (bench.pool.waiting, bench.pool.refused) == (4, {'max_waiting': 1})
    bench.finish('a0')
    bench.finish('b0')
    bench.submit(b'a', 'a5')
    assert bench.pool.waiting == 3


@pytest.mark.parametrize('compiling', [False, True])
def test_a_request_that_takes_too_long_is_stopped(compiling):
    """Its worker is killed, a new one takes the next request; the text has time and limit."""
    bench = Bench(max_duration=2.0, workers=1)
    bench.submit(b'a', 'slow', compiling)
    bench.submit(b'a', 'next')
    bench.now += 2.0
    bench.pool.poll()
    assert bench.running == ['slow']
    bench.now += 0.25
    bench.pool.poll()
    ((name, kind, text),) = bench.ended
    assert (name, kind) == ('slow', 'refused')
    assert 'was stopped after 2.25 s; service.max_duration is 2 s' in text
    assert ('try again later' in text) is compiling
    assert bench.started[0].killed and bench.running == ['next'] and len(bench.started) == 2
    assert bench.pool.refused == {'max_duration': 1}


def test_the_start_of_a_process_does_not_count_but_has_a_limit():
    """A worker has not begun before it has started."""
    bench = Bench(max_duration=2.0)
    bench.submit(b'a', 'job')
    bench.started[0].begun = None
    bench.now += START
    bench.pool.poll()
    assert bench.ended == []
    bench.now += 1.0
    bench.pool.poll()
    assert 'did not start within' in bench.ended[0][2] and bench.started[0].killed


def test_a_worker_that_ends_gives_its_client_the_reason():
    """The next request starts a new one; a reply that came before counts."""
    bench = Bench(workers=1)
    bench.submit(b'a', 'lost')
    bench.started[0].failure = 'was ended by SIGKILL'
    bench.pool.poll()
    assert bench.ended[0][:2] == ('lost', 'refused')
    assert 'the worker process was ended by SIGKILL before it replied' in bench.ended[0][2]
    bench.submit(b'a', 'next')
    assert bench.running == ['next'] and len(bench.started) == 2
    bench.started[1].failure = 'exited with 1'
    bench.finish('next')
    assert bench.ended[1] == ('next', 'done', 'reply to next')
    bench.pool.poll()
    assert bench.pool.workers == 0


def test_a_process_that_cannot_start_is_a_refusal():
    """The pool goes on."""
    bench = Bench()
    bench.broken = True
    bench.submit(b'a', 'first')
    assert bench.ended == [('first', 'refused', 'no worker process can start: no memory')]
    bench.broken = False
    bench.submit(b'a', 'second')
    assert bench.running == ['second']


def test_abort_refuses_all_and_keeps_the_idle_workers():
    """Close ends them too."""
    bench = Bench(workers=2)
    for client in (b'a', b'b'):
        bench.submit(client, client.decode())
    bench.finish('b')
    bench.submit(b'a', 'waiting')
    bench.ended.clear()
    bench.pool.abort('the node was deactivated')
    assert sorted(bench.ended) == [(name, 'refused', 'the node was deactivated')
                                   for name in ('a', 'waiting')]
    assert [worker.killed for worker in bench.started] == [True, False]
    assert (bench.pool.workers, bench.pool.waiting, bench.pool.running) == (1, 0, 0)
    bench.pool.close('the end')
    assert bench.started[1].killed and bench.pool.workers == 0


def test_fewer_workers_are_used_after_a_change_of_the_limit():
    """A busy one ends its request first."""
    bench = Bench(workers=2)
    for client in (b'a', b'b'):
        bench.submit(client, client.decode())
    bench.pool.limits = ServiceParameters(workers=1)
    bench.pool.poll()
    assert bench.running == ['a', 'b']
    bench.finish('a')
    assert (bench.pool.workers, [worker.killed for worker in bench.started]) == (1, [True, False])


def test_the_longest_wait_is_noted():
    """From the arrival to the start."""
    bench = Bench(workers=1)
    bench.submit(b'a', 'first')
    bench.submit(b'a', 'second')
    bench.now += 1.5
    bench.finish('first')
    assert bench.pool.longest_wait == 1.5
