"""The threads of libraries of C: who runs what, callers at once, and that nobody reads what another one writes."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path

import numpy as np
import pytest
from c_compilers import PARALLEL, WARNINGS, need_compiler, run

BODIES = """
#include <stdint.h>

/* Of a table of integers, add 1 to those of the range. */
void count(void *table, int64_t lower, int64_t upper) {
  for (int64_t i = lower; i < upper; ++i) ((int32_t *)table)[i] += 1;
}

/* Count the calls. */
void calls(void *table, int64_t lower, int64_t upper) {
  (void)lower;
  (void)upper;
  __atomic_fetch_add((int32_t *)table, 1, __ATOMIC_RELAXED);
}

/* Return when as many calls are running as the table says. */
void meet(void *table, int64_t lower, int64_t upper) {
  int32_t *numbers = table;
  (void)lower;
  (void)upper;
  __atomic_fetch_add(&numbers[1], 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&numbers[1], __ATOMIC_SEQ_CST) < numbers[0]) {
  }
}
"""

RACES = """
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

void tilework_parallel(void (*)(void *, int64_t, int64_t), void *, int64_t, int64_t, int32_t, int32_t);
void count(void *table, int64_t lower, int64_t upper);

static void *caller(void *table) {
  for (int i = 0; i < 200; ++i) tilework_parallel(count, table, 0, 1000, 1 + i % 4, 1 + i % 3);
  return NULL;
}

int main(void) {
  static int32_t tables[2][1000];
  pthread_t other;
  pthread_create(&other, NULL, caller, tables[0]);
  caller(tables[1]);
  pthread_join(other, NULL);
  for (int i = 0; i < 1000; ++i) {
    if (tables[0][i] != 200 || tables[1][i] != 200) return 1;
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    need_compiler()
    folder = tmp_path_factory.mktemp("parallel")
    (folder / "bodies.c").write_text(BODIES)
    words = ["-O2", "-shared", "-fPIC", "-pthread", "bodies.c", PARALLEL, "-o", "parallel.so"]
    run(["gcc", *WARNINGS, *words], folder)
    return ctypes.CDLL(str(folder / "parallel.so"))


def loop(library: ctypes.CDLL, body: str, table: np.ndarray, lower: int, upper: int, threads: int, pieces: int) -> None:
    ends = ctypes.c_int64(lower), ctypes.c_int64(upper), ctypes.c_int32(threads), ctypes.c_int32(pieces)
    library.tilework_parallel(getattr(library, body), ctypes.c_void_p(table.ctypes.data), *ends)


@pytest.mark.parametrize("pieces", [1, 8, 1000])
@pytest.mark.parametrize("threads", [1, 2, 3, 8, 300])
@pytest.mark.parametrize(("lower", "upper"), [(0, 0), (0, 1), (3, 10), (5, 1002)])
def test_each_iteration_is_run_once(library: ctypes.CDLL, lower: int, upper: int, threads: int, pieces: int):
    for _ in range(20):
        table = np.zeros(upper, np.int32)
        loop(library, "count", table, lower, upper, threads, pieces)
        assert table.tolist() == [0] * lower + [1] * (upper - lower)


@pytest.mark.parametrize(("trips", "threads", "pieces"), [(7, 2, 1), (9, 4, 1), (31, 2, 8), (100, 3, 8)])
def test_shares_are_cut_into_no_more_pieces_than_asked_for(library: ctypes.CDLL, trips: int, threads: int, pieces: int):
    table = np.zeros(1, np.int32)
    loop(library, "calls", table, 0, trips, threads, pieces)
    assert threads <= table[0] <= threads * pieces


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_as_many_threads_as_asked_for_run_at_once(library: ctypes.CDLL, threads: int):
    table = np.array([threads, 0], np.int32)
    loop(library, "meet", table, 0, threads, threads, 1)
    assert table[1] == threads


def test_callers_at_once(library: ctypes.CDLL):
    tables = [np.zeros(500, np.int32) for _ in range(6)]

    def call(table: np.ndarray) -> None:
        for _ in range(50):
            loop(library, "count", table, 0, 500, 3, 4)

    callers = [threading.Thread(target=call, args=(table,)) for table in tables]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((table == 50).all() for table in tables)


def test_there_are_no_races(tmp_path: Path):
    need_compiler()
    (tmp_path / "main.c").write_text(RACES + BODIES)
    words = ["-g", "-O1", "-fsanitize=thread", "-pthread", "main.c", PARALLEL, "-o", "main"]
    if _has_sanitizer(tmp_path):
        run(["gcc", *WARNINGS, *words], tmp_path)
        run([tmp_path / "main"], tmp_path)
    else:
        pytest.skip("this compiler has no library that looks for races")


def _has_sanitizer(folder: Path) -> bool:
    (folder / "nothing.c").write_text("int main(void) { return 0; }\n")
    try:
        run(["gcc", "-fsanitize=thread", "nothing.c", "-o", "nothing"], folder)
        run([folder / "nothing"], folder)
    except AssertionError:
        return False
    return True
