/* In sanitized builds by gcc: a failed check of the undefined-behaviour sanitizer is a trap (CMakeLists.txt), and this
   makes the address sanitizer print "ILL" and the stack for it. Eight frames of each allocation are kept, not thirty,
   which takes a seventh less time. ASAN_OPTIONS in the environment comes on top. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void) { return "handle_sigill=1:malloc_context_size=8"; }

/* Programs are linked with -u and this name, which takes this file from the archive: libasan.so has the other one. */
extern const char sanitizer_options_are_linked;
const char sanitizer_options_are_linked = 1;
