/* $name: a model compiled by Tilework $version.

$tensors

   How to build it and call it is in Tilework's docs/embedding.md; example.c is a program that does so. */

#ifndef ${NAME}_H
#define ${NAME}_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open model. It is not changed by running it: several threads may, each with an arena of its own. */
typedef struct $name $name;

/* Open the model with the file of its parameters, parameters.bin. Returns 0, or an error: see ${name}_error. */
int32_t ${name}_open($name **model, const char *path);

/* Give back what ${name}_open took; nothing for NULL. */
void ${name}_close($name *model);

/* What the result of a function means. */
const char *${name}_error(int32_t code);

/* Run the model. Tensors lie in memory in row-major order, without gaps; inputs and outputs share no memory.

   arena: ${name}_arena_bytes of memory, aligned to 64 bytes, for what lies between inputs and outputs; with NULL it is
   allocated for the call. threads: how many may share the work, the caller being one; results do not depend on it.
   Returns 0, or an error: see ${name}_error. Outputs hold no result then. */
int32_t ${name}_run($run_parameters);

/* How many bytes of memory a run needs. */
size_t ${name}_arena_bytes($sizes);

$shapes
#ifdef __cplusplus
}
#endif

#endif
