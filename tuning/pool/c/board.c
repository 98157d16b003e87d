/* Runs the code that it is linked with, within a limit of time, and prints one line of JSON.

       ./program seconds=5 threads=1 inputs=FILE [parameters=FILE] [outputs=FILE] [expected=FILE allowed=A]
                 [enough=S sample=S most_in_a_sample=N fewest=N most=N hopeless=S] [number=N repeat=N]

   inputs, parameters: the bytes of all buffers of that role, one after the other. outputs: a file to write the results
   of the first call to. expected: such a file of code that is right; a floating-point number may be off by `allowed`
   steps of the largest one.

   With `enough` the least time of a call is printed, of at least `fewest` and at most `most` samples, `enough` seconds
   long together if that is between. A sample is as many calls as take `sample` seconds, at least one and about
   `most_in_a_sample` at most. A first call that takes longer than `hopeless` is the only one. With `repeat` there are so
   many times, each the mean of `number` calls. Else the time of the first call is printed. The time is that of the
   thread where there is one, else that of the wall. */

#include "board.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { ALIGNMENT = 64 };

static int word_count;
static char **all_words;
static int32_t threads;

static void stop(const char *what, const char *about) {
  printf("{\"failure\": \"run\", \"message\": \"%s%s\"}\n", what, about);
  exit(0);
}

/* What the command line says of a name; NULL where it says nothing. */
static const char *given(const char *name) {
  const size_t length = strlen(name);
  for (int i = 1; i < word_count; ++i) {
    if (strncmp(all_words[i], name, length) == 0 && all_words[i][length] == '=') return all_words[i] + length + 1;
  }
  return NULL;
}

static double number(const char *name, double otherwise) {
  const char *text = given(name);
  return text == NULL ? otherwise : strtod(text, NULL);
}

/* From now on, so many seconds are left to the process, whatever it does. */
static void limit(double seconds) {
  const struct itimerval timer = {.it_value = {(time_t)seconds, (suseconds_t)((seconds - (time_t)seconds) * 1e6)}};
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  signal(SIGALRM, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &alarms, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
}

static void *allocated(size_t bytes) {
  char *memory = malloc(bytes + ALIGNMENT);
  if (memory == NULL) stop("there is not enough memory on the board", "");
  memory += ALIGNMENT - (uintptr_t)memory % ALIGNMENT;
  memset(memory, 0, bytes);
  return memory;
}

static void read_buffers(enum role role, const char *path, void **memory) {
  FILE *file = path == NULL ? NULL : fopen(path, "rb");
  for (int i = 0; i < buffer_count; ++i) {
    if (buffers[i].role != role) continue;
    if (file == NULL || fread(memory[i], 1, buffers[i].bytes, file) != buffers[i].bytes) {
      stop("the board lacks a file that was sent, or a part of it: ", path == NULL ? "none" : path);
    }
  }
  if (file != NULL) fclose(file);
}

static void write_outputs(const char *path, void **memory) {
  FILE *file = fopen(path, "wb");
  int wrong = file == NULL;
  for (int i = 0; i < buffer_count && !wrong; ++i) {
    if (buffers[i].role == OUTPUT) wrong = fwrite(memory[i], 1, buffers[i].bytes, file) != buffers[i].bytes;
  }
  if (wrong || fclose(file) != 0) stop("the board cannot write ", path);
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* How long so many calls take. */
static double timed(void **memory, int calls) {
  const double before = seconds_now();
  for (int i = 0; i < calls; ++i) {
    const int32_t status = call(memory, threads);
    if (status != 0) {
      printf("{\"status\": %d}\n", (int)status);
      exit(0);
    }
  }
  return seconds_now() - before;
}

static double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 0    ? ldexp(fraction, -24)
                 : exponent == 31 ? (fraction ? NAN : INFINITY)
                                  : ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -value : value;
}

static double element(const struct buffer *buffer, const void *memory, size_t index) {
  const char *place = (const char *)memory + index * buffer->element_bytes;
  float single;
  double wide;
  uint16_t narrow;
  uint32_t bits;
  switch (buffer->kind) {
    case 'd': memcpy(&wide, place, sizeof wide); return wide;
    case 'f': memcpy(&single, place, sizeof single); return single;
    case 'h': memcpy(&narrow, place, sizeof narrow); return half(narrow);
    default:
      memcpy(&narrow, place, sizeof narrow);
      bits = (uint32_t)narrow << 16;
      memcpy(&single, &bits, sizeof single);
      return single;
  }
}

static void wrong_answer(int output, size_t index, const char *found, const char *right) {
  printf("{\"failure\": \"wrong answer\", \"output\": %d, \"element\": %zu, \"found\": \"%s\", \"right\": \"%s\"}\n",
         output, index, found, right);
  exit(0);
}

/* The text of an integer, whose bytes are the first ones of a larger one on all machines that are boards. */
static void write_integer(const struct buffer *buffer, const void *place, char *text, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, place, buffer->element_bytes);
  if (buffer->kind == 'u') {
    snprintf(text, bytes, "%llu", (unsigned long long)value);
  } else {
    const int unused = 64 - 8 * (int)buffer->element_bytes;
    snprintf(text, bytes, "%lld", (long long)((int64_t)(value << unused) >> unused));
  }
}

static void compare_exactly(const struct buffer *buffer, int output, const void *found, const void *right) {
  for (size_t at = 0; at < buffer->bytes; at += buffer->element_bytes) {
    const char *a = (const char *)found + at, *b = (const char *)right + at;
    if (memcmp(a, b, buffer->element_bytes) == 0) continue;
    char texts[2][40];
    write_integer(buffer, a, texts[0], sizeof texts[0]);
    write_integer(buffer, b, texts[1], sizeof texts[1]);
    wrong_answer(output, at / buffer->element_bytes, texts[0], texts[1]);
  }
}

static void compare_nearly(const struct buffer *buffer, int output, const void *found, const void *right) {
  const size_t count = buffer->bytes / buffer->element_bytes;
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    const double size = fabs(element(buffer, right, i));
    if (isfinite(size) && size > largest) largest = size;
  }
  const double bound = number("allowed", 0) * buffer->epsilon * largest;
  for (size_t i = 0; i < count; ++i) {
    const double a = element(buffer, found, i), b = element(buffer, right, i);
    if (a == b || fabs(a - b) <= bound || (isnan(a) && isnan(b))) continue;
    char texts[2][40];
    snprintf(texts[0], sizeof texts[0], "%.9g", a);
    snprintf(texts[1], sizeof texts[1], "%.9g", b);
    wrong_answer(output, i, texts[0], texts[1]);
  }
}

/* Stop at the first element of a result that is not as in a file. */
static void compare_outputs(const char *path, void **memory) {
  FILE *file = fopen(path, "rb");
  int output = 0;
  for (int i = 0; i < buffer_count; ++i) {
    const struct buffer *buffer = &buffers[i];
    if (buffer->role != OUTPUT) continue;
    void *right = allocated(buffer->bytes);
    if (file == NULL || fread(right, 1, buffer->bytes, file) != buffer->bytes) {
      stop("the board lacks the results to compare with: ", path);
    }
    const int exact = buffer->kind == 'i' || buffer->kind == 'u';
    (exact ? compare_exactly : compare_nearly)(buffer, output++, memory[i], right);
  }
  if (file != NULL) fclose(file);
}

/* The least time of a call. Calls too short for the clock are timed several at a time. */
static double least(void **memory) {
  const double sample = number("sample", 0);
  int several = 1;
  double taken = timed(memory, 1);
  while (taken < sample && several < number("most_in_a_sample", 1)) {
    several *= 2;
    taken = timed(memory, several);
  }
  double samples = number("enough", 0) / (taken > sample ? taken : sample);
  if (samples < number("fewest", 1)) samples = number("fewest", 1);
  if (samples > number("most", 1)) samples = number("most", 1);
  double shortest = INFINITY;
  for (int i = 0; i < (int)samples; ++i) {
    const double seconds = timed(memory, several);
    if (seconds < shortest) shortest = seconds;
  }
  return shortest / several;
}

static void print_times(void **memory, int calls, int repeat) {
  printf("{\"times\": [");
  for (int i = 0; i < repeat; ++i) printf("%s%.9g", i == 0 ? "" : ", ", timed(memory, calls) / calls);
  printf("]}\n");
}

int main(int count, char **words) {
  word_count = count;
  all_words = words;
  threads = (int32_t)number("threads", 1);
  limit(number("seconds", 1));
  void **memory = malloc((size_t)(buffer_count + 1) * sizeof *memory);
  if (memory == NULL) stop("there is not enough memory on the board", "");
  for (int i = 0; i < buffer_count; ++i) memory[i] = allocated(buffers[i].bytes);
  read_buffers(INPUT, given("inputs"), memory);
  read_buffers(PARAMETER, given("parameters"), memory);
  double seconds = timed(memory, 1);
  if (given("outputs") != NULL) write_outputs(given("outputs"), memory);
  if (given("expected") != NULL) compare_outputs(given("expected"), memory);
  if (given("repeat") != NULL) {
    print_times(memory, (int)number("number", 1), (int)number("repeat", 1));
    return 0;
  }
  if (given("enough") != NULL && seconds <= number("hopeless", INFINITY)) seconds = least(memory);
  printf("{\"seconds\": %.9g}\n", seconds);
  return 0;
}
