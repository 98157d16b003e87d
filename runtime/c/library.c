/* $name: opening and running the model. Written by Tilework $version. */

#include "$name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__unix__) || defined(__APPLE__)
#define MAPS_FILES
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

enum { NO_FILE = -1, NOT_PARAMETERS = -2, OTHER_PARAMETERS = -3, NO_MEMORY = -4, NEGATIVE_SIZE = -5, NOT_ALIGNED = -6 };
enum { ALIGNMENT = 64, PARAMETERS = $parameter_count };

/* The file of parameters: a head that names it, then the parameters, each at a multiple of ALIGNMENT bytes. */
#define FILE_BYTES ((size_t)$file_bytes)
static const unsigned char head[ALIGNMENT] = {$head};
static const size_t offsets[PARAMETERS + 1] = {$offsets};

struct $name {
  void *memory; /* All of the file, or what was allocated for it. */
  void *parameters[PARAMETERS + 1];
};

int32_t $entry(void **inputs, void **outputs, void **parameters, void *arena, int64_t *symbols, int32_t threads,
               void *devices);

$functions/* Memory that begins at a multiple of ALIGNMENT; *whole is what is to be freed. */
static void *aligned_memory(size_t bytes, void **whole) {
  *whole = malloc(bytes + ALIGNMENT);
  if (*whole == NULL) return NULL;
  return (void *)(((uintptr_t)*whole + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
}

#if defined(MAPS_FILES)

static int32_t read_file(const char *path, void **memory, unsigned char **bytes) {
  const int file = open(path, O_RDONLY);
  if (file < 0) return NO_FILE;
  struct stat status;
  int32_t error = fstat(file, &status) ? NO_FILE : (size_t)status.st_size != FILE_BYTES ? NOT_PARAMETERS : 0;
  if (error == 0) {
    *memory = mmap(NULL, FILE_BYTES, PROT_READ, MAP_PRIVATE, file, 0);
    *bytes = *memory;
    if (*memory == MAP_FAILED) error = NO_MEMORY;
  }
  close(file);
  return error;
}

static void free_file(void *memory) { munmap(memory, FILE_BYTES); }

#else

static int32_t read_file(const char *path, void **memory, unsigned char **bytes) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NO_FILE;
  *bytes = aligned_memory(FILE_BYTES + 1, memory);
  int32_t error = *bytes == NULL ? NO_MEMORY : fread(*bytes, 1, FILE_BYTES + 1, file) != FILE_BYTES ? NOT_PARAMETERS : 0;
  fclose(file);
  if (error == NOT_PARAMETERS) free(*memory);
  return error;
}

static void free_file(void *memory) { free(memory); }

#endif

int32_t ${name}_open($name **model, const char *path) {
  unsigned char *bytes = NULL;
  void *memory = NULL;
  *model = NULL;
  const int32_t error = read_file(path, &memory, &bytes);
  if (error != 0) return error;
  if (memcmp(bytes, head, sizeof head) != 0) {
    free_file(memory);
    return OTHER_PARAMETERS;
  }
  $name *opened = malloc(sizeof *opened);
  if (opened == NULL) {
    free_file(memory);
    return NO_MEMORY;
  }
  opened->memory = memory;
  for (int i = 0; i < PARAMETERS; ++i) opened->parameters[i] = bytes + offsets[i];
  *model = opened;
  return 0;
}

void ${name}_close($name *model) {
  if (model == NULL) return;
  free_file(model->memory);
  free(model);
}

const char *${name}_error(int32_t code) {
  switch (code) {
    case 0: return "no error";
    case NO_FILE: return "$name: the file of parameters cannot be opened";
    case NOT_PARAMETERS: return "$name: the file of parameters has another size than the model's";
    case OTHER_PARAMETERS: return "$name: the file of parameters belongs to another model";
    case NO_MEMORY: return "$name: there is not enough memory";
    case NEGATIVE_SIZE: return "$name: a size is negative";
    case NOT_ALIGNED: return "$name: the arena is not aligned to 64 bytes";
$messages    default: return "$name: unknown error";
  }
}

size_t ${name}_arena_bytes($sizes) {
$unused_sizes  return (size_t)($arena_bytes);
}

$shapes
/* Call the entry with memory for what lies between inputs and outputs. */
static int32_t call_entry(const $name *model, void **inputs, void **outputs, int64_t *symbols, size_t bytes, void *arena,
                          int32_t threads) {
  if ((uintptr_t)arena % ALIGNMENT != 0) return NOT_ALIGNED;
  void *own = NULL;
  if (arena == NULL) {
    arena = aligned_memory(bytes, &own);
    if (arena == NULL) return NO_MEMORY;
  }
  const int32_t code = $entry(inputs, outputs, (void **)model->parameters, arena, symbols, threads, NULL);
  free(own);
  return code;
}

int32_t ${name}_run($run_parameters) {
  void *inputs[] = {$inputs};
  void *outputs[] = {$outputs};
  int64_t symbols[] = {$symbols};
$size_checks  return call_entry(model, inputs, outputs, symbols, ${name}_arena_bytes($symbol_arguments), arena, threads);
}
