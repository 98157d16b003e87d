"""A process that runs one program: `python -m tilework.tuning.pool.program_server`.

The first message brings the program, each later one inputs, framed as `tilework.tuning.measuring.messages` says.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from tilework.algebra.errors import TileworkError, UsageError
from tilework.runtime.arrays import Array
from tilework.runtime.function import Function
from tilework.runtime.module import Module
from tilework.tuning.measuring.messages import receive, send
from tilework.tuning.pool.messages import message_of_arrays, named_arrays_in
from tilework.tuning.pool.programs import Program, opened


def _answer(program: Module | Function, message: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    inputs = named_arrays_in({**message, "data": data})
    outputs = program.run(inputs)
    times: list[float] = []
    if message["repeat"]:
        call = _call(program, inputs, outputs)
        times = [_mean_seconds(call, message["number"]) for _ in range(message["repeat"])]
    return {**message_of_arrays(outputs), "times": times}


def _call(
    program: Module | Function, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
) -> Callable[[], object]:
    """A call that allocates nothing."""
    if isinstance(program, Module):
        return lambda: program.run(inputs, outputs)
    arrays = [{**inputs, **outputs}[spec.name] for spec in program.info.arguments]
    return lambda: program(*arrays)


def _mean_seconds(call: Callable[[], object], number: int) -> float:
    before = time.perf_counter()
    for _ in range(number):
        call()
    return (time.perf_counter() - before) / number


def _error(error: Exception) -> dict[str, Any]:
    if isinstance(error, TileworkError):
        return {"error": str(error), "usage": isinstance(error, UsageError)}
    return {"error": f"{type(error).__name__}: {error}", "usage": False}


def main() -> None:
    """Answer messages in order until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints must not end up between the answers
    program: Module | Function | None = None
    while received := receive(sys.stdin.buffer):
        message, data = received
        try:
            if program is None:
                program = opened(Program(message["kind"], data))
                answer: dict[str, Any] = {}
            else:
                answer = _answer(program, message, data)
        except Exception as error:
            answer = _error(error)
        send(answers, answer, answer.pop("data", b""))


if __name__ == "__main__":
    main()
