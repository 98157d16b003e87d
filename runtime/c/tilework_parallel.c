/* Threads that share the iterations of a parallel loop. Compiled kernels call tilework_parallel, which runs
   body(context, first, end) for ranges that make up lower to upper, and returns when all have been run.

   Thread t of n has the t-th n-th of the iterations as its share, takes it in at most so many pieces, and then takes
   pieces of others' shares. The caller is thread 0. It waits for those that have come in, and for nobody else: where the
   system gives a worker no time, the caller does its share. A second caller at the same time runs its loop alone.

   Compiled with -DTILEWORK_NO_THREADS, every loop runs on its caller's thread. */

#include <stdint.h>

typedef void (*Body)(void *context, int64_t first, int64_t end);

void tilework_parallel(Body body, void *context, int64_t lower, int64_t upper, int32_t threads, int32_t pieces);

#if defined(TILEWORK_NO_THREADS)

void tilework_parallel(Body body, void *context, int64_t lower, int64_t upper, int32_t threads, int32_t pieces) {
  (void)threads;
  (void)pieces;
  body(context, lower, upper);
}

#else

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

enum {
  MOST_THREADS = 256,
  CALLER_PAUSES = 500,  /* How often a caller that waits looks before it offers its processor to others. */
  WORKER_PAUSES = 8000, /* How often a worker looks for the next loop before it sleeps. */
  OPEN = 1 << 16        /* Of the state: workers may come in. Below it stands how many are inside. */
};

/* A share: the next iteration to take, and the end. Each has a line of the cache for itself. */
typedef struct {
  _Alignas(128) atomic_int_fast64_t next;
  int64_t end;
} Share;

static Share shares[MOST_THREADS];
static atomic_flag busy = ATOMIC_FLAG_INIT;
static atomic_int state;
static atomic_uint loops; /* How many there have been. */
static atomic_int asleep; /* How many workers are, or are about to. */
static int64_t started = 1; /* How many threads there are, the caller with them. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t another_loop = PTHREAD_COND_INITIALIZER;

/* The loop that runs: workers that are inside may read it, the caller writes it while nobody is. */
static Body loop_body;
static void *loop_context;
static int64_t loop_threads, loop_piece;

static void pause_for_a_moment(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

/* Run pieces of one's own share, then of the others', until all are taken. */
static void take_pieces(int64_t thread) {
  for (int64_t k = 0; k < loop_threads; ++k) {
    Share *share = &shares[(thread + k) % loop_threads];
    /* A load first: adding would move the line from the cache of the thread whose share it is. */
    while (atomic_load_explicit(&share->next, memory_order_relaxed) < share->end) {
      const int64_t first = atomic_fetch_add_explicit(&share->next, loop_piece, memory_order_relaxed);
      if (first >= share->end) break;
      const int64_t end = share->end - first < loop_piece ? share->end : first + loop_piece;
      loop_body(loop_context, first, end);
    }
  }
}

/* Wait until there has been another loop than those seen; returns how many there have been. */
static unsigned next_loop(unsigned seen) {
  for (int look = 0; look < WORKER_PAUSES; ++look) {
    const unsigned now = atomic_load_explicit(&loops, memory_order_acquire);
    if (now != seen) return now;
    pause_for_a_moment();
  }
  pthread_mutex_lock(&mutex);
  /* It says that it sleeps before it looks at the number of loops; the caller sets that before it looks who sleeps. */
  atomic_fetch_add(&asleep, 1);
  while (atomic_load(&loops) == seen) pthread_cond_wait(&another_loop, &mutex);
  atomic_fetch_sub(&asleep, 1);
  pthread_mutex_unlock(&mutex);
  return atomic_load(&loops);
}

static int came_in(void) {
  int now = atomic_load_explicit(&state, memory_order_relaxed);
  while (now & OPEN) {
    if (atomic_compare_exchange_weak_explicit(&state, &now, now + 1, memory_order_acquire, memory_order_relaxed)) {
      return 1;
    }
  }
  return 0;
}

/* What a worker does, as long as the process lives. */
static void *work(void *number) {
  const int64_t thread = (int64_t)(intptr_t)number;
  unsigned seen = 0;
  for (;;) {
    seen = next_loop(seen);
    if (!came_in()) continue;
    if (thread < loop_threads) take_pieces(thread);
    atomic_fetch_sub_explicit(&state, 1, memory_order_release);
  }
  return NULL;
}

/* Only the caller that runs a loop calls this. Where the system refuses a thread, there are fewer. */
static void start_workers(int64_t threads) {
  for (; started < threads; ++started) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, (void *)(intptr_t)started)) return;
    pthread_detach(thread);
  }
}

static void divide(int64_t lower, int64_t upper, int64_t threads) {
  const uint64_t trips = (uint64_t)(upper - lower);
  const uint64_t whole = trips / (uint64_t)threads, rest = trips % (uint64_t)threads;
  int64_t first = lower;
  for (int64_t t = 0; t < threads; ++t) {
    const int64_t end = first + (int64_t)(whole + ((uint64_t)t < rest));
    atomic_store_explicit(&shares[t].next, first, memory_order_relaxed);
    shares[t].end = end;
    first = end;
  }
}

static void wait_for_those_inside(void) {
  for (int turn = 0; atomic_load_explicit(&state, memory_order_acquire) != 0; ++turn) {
    if (turn < CALLER_PAUSES) {
      pause_for_a_moment();
    } else {
      sched_yield();
    }
  }
}

void tilework_parallel(Body body, void *context, int64_t lower, int64_t upper, int32_t threads, int32_t pieces) {
  if (upper <= lower) return;
  if (threads < 2 || atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
    body(context, lower, upper);
    return;
  }
  const int64_t most = threads < MOST_THREADS ? threads : MOST_THREADS, parts = most * pieces;
  start_workers(most);
  loop_body = body;
  loop_context = context;
  loop_threads = most;
  loop_piece = (upper - lower - 1) / parts + 1;
  divide(lower, upper, most);
  atomic_store_explicit(&state, OPEN, memory_order_release);
  atomic_fetch_add(&loops, 1);
  if (atomic_load(&asleep) > 0) {
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&another_loop);
    pthread_mutex_unlock(&mutex);
  }
  take_pieces(0);
  atomic_fetch_and_explicit(&state, ~OPEN, memory_order_acq_rel);
  wait_for_those_inside();
  atomic_flag_clear_explicit(&busy, memory_order_release);
}

#endif
