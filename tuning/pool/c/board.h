/* What a program for a board consists of: this runner, and code with a table of the memory that it takes. */

#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

enum role { INPUT, OUTPUT, PARAMETER, SCRATCH };

/* kind: how results are compared. 'i' and 'u' stand for integers, which must be the same, 'f' and 'd' for floating-point
   numbers of 32 and 64 bits, 'h' for IEEE's of 16 bits, 'b' for bfloat16. epsilon: the step from 1 to the next one. */
struct buffer {
  enum role role;
  char kind;
  size_t element_bytes, bytes;
  double epsilon;
};

extern const struct buffer buffers[];
extern const int buffer_count;

/* Call the code with the memory of all buffers, in order. The result is 0, or the number of a failed check. */
int32_t call(void **memory, int32_t threads);

#endif
