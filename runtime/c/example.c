/* Runs the model $name once:

       ./example$usage

   An input is a file with the bytes of its numbers; one that is not given is filled with something. A size that is not
   given is 1. Outputs are written to files of their names, and their first numbers are shown. */

#include "$name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop(const char *what, const char *about) {
  fprintf(stderr, "example: %s%s\n", what, about);
  exit(1);
}

static void check(int32_t code) {
  if (code != 0) stop("", ${name}_error(code));
}

/* What the command line says of a name; NULL where it says nothing. */
static const char *given(int count, char **words, const char *name) {
  const size_t length = strlen(name);
  for (int i = 1; i < count; ++i) {
    if (strncmp(words[i], name, length) == 0 && words[i][length] == '=') return words[i] + length + 1;
  }
  return NULL;
}

static int64_t number(const char *text, int64_t otherwise) { return text == NULL ? otherwise : strtoll(text, NULL, 10); }

static void *memory(int64_t elements, size_t element_bytes) {
  if (elements < 0) stop("a size is negative", "");
  void *bytes = calloc((size_t)elements + 1, element_bytes);
  if (bytes == NULL) stop("there is not enough memory", "");
  return bytes;
}

/* Fill memory from a file, if there is one. */
static void read_numbers(const char *path, void *numbers, int64_t elements, size_t element_bytes) {
  if (path == NULL) return;
  FILE *file = fopen(path, "rb");
  if (file == NULL) stop("cannot open ", path);
  if (fread(numbers, element_bytes, (size_t)elements, file) != (size_t)elements || fgetc(file) != EOF) {
    stop("the input has another size than the file ", path);
  }
  fclose(file);
}

static void write_numbers(const char *path, const void *numbers, int64_t elements, size_t element_bytes) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) stop("cannot open ", path);
  if (fwrite(numbers, element_bytes, (size_t)elements, file) != (size_t)elements) stop("cannot write ", path);
  fclose(file);
}

/* Whether the command line says nothing but what is asked for. */
static void check_names(int count, char **words) {
  static const char *const names[] = {$names"threads", "parameters"};
  for (int i = 1; i < count; ++i) {
    const char *end = strchr(words[i], '=');
    int known = 0;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; ++n) {
      known |= end != NULL && strlen(names[n]) == (size_t)(end - words[i]) && !strncmp(names[n], words[i], end - words[i]);
    }
    if (known) continue;
    fprintf(stderr, "example: '%s' says nothing that the model knows; usage: ./example$usage\n", words[i]);
    exit(2);
  }
}

int main(int count, char **words) {
  check_names(count, words);
$size_variables  const int32_t threads = (int32_t)number(given(count, words, "threads"), 1);
  const char *parameters = given(count, words, "parameters");
  $name *model;
  check(${name}_open(&model, parameters == NULL ? "parameters.bin" : parameters));

$input_code$output_code
  check(${name}_run(model, $arguments, NULL, threads));

$result_code
  ${name}_close(model);
  return 0;
}
