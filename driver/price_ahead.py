"""What kernels cost, asked of all processors at once and kept in the cache, before layouts are searched one by one."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable

from xdsl.dialects.func import FuncOp

from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import parameter_bytes
from tilework.analysis.precision import precision_of
from tilework.analysis.program_targets import HOST, set_targets, target_of
from tilework.driver.canonical_text import nameless_text
from tilework.driver.session import Session
from tilework.driver.worker import FailedKernel, Outcome, PricedKernel, PriceJob, raise_failure
from tilework.runtime.cache import source_hash
from tilework.targets import Target
from tilework.transforms.graph.algorithms import Algorithms, Choice, algorithms_for, question_of
from tilework.transforms.graph.layout_search import LayoutSearch
from tilework.transforms.graph.lone_groups import alone


def price_ahead(main: FuncOp, session: Session) -> None:
    """Tell the algorithms for the kernels of a graph function what `choose-layouts` is sure to ask them.

    That is most of what it asks. Prices in the cache are not asked for again. Raises what `raise_failure` does.
    """
    target, precision, cache = target_of(main), session.precision, session.cache
    jobs: list[PriceJob] = []
    waiting: list[tuple[str, Algorithms, Hashable]] = []
    for graph in graphs_of(main):
        algorithms, weights = algorithms_for(target, precision_of(precision), graph), parameter_bytes(graph)
        for group in LayoutSearch.of(graph, target, algorithms).first_questions():
            module = alone(group)
            set_targets(module, {HOST: target})
            text = nameless_text(module)
            job = PriceJob(text, group.label.data, weights, precision, cost=len(text))
            key, question = _key(job, target), question_of(group)
            if (entry := cache.get(key)) is not None:
                algorithms.tell(question, Choice.from_json(entry[1]))
            else:
                jobs.append(job)
                waiting.append((key, algorithms, question))
            group.erase()

    def on_done(index: int, outcome: Outcome) -> None:
        if isinstance(outcome, FailedKernel):
            raise_failure(outcome)
        assert isinstance(outcome, PricedKernel)
        key, algorithms, question = waiting[index]
        algorithms.tell(question, Choice.from_json(outcome.algorithm))
        cache.put(key, b"", outcome.algorithm)

    session.pool.run(jobs, on_done)


def _key(job: PriceJob, target: Target) -> str:
    """What a price depends on: the group, the machine as it runs the program, the compiler itself."""
    stay = target.with_weights(job.weight_bytes).weights_stay
    content = "\n".join(["price", job.text, str(stay), job.precision, source_hash()])
    return hashlib.sha256(content.encode()).hexdigest()
