/* LD_PRELOAD: ends the process with SIGKILL just before its Nth call that changes a file system (INGOT_KILL_AT=N).
 * INGOT_KILL_COUNT names a file that gets the number of such calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;
static long limit;
static int counter = -1;

__attribute__((constructor)) static void start(void) {
  const char *text = getenv("INGOT_KILL_AT");
  const char *path = getenv("INGOT_KILL_COUNT");
  limit = text ? atol(text) : 0;
  if (path)
    counter = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  unsetenv("LD_PRELOAD"); /* children, such as a linker, are not meant */
}

/* Whether this is the call to die at. The count is written at once: processes end in many ways. */
static int is_last(void) {
  long number = atomic_fetch_add(&calls, 1) + 1;
  char text[24];
  int size = snprintf(text, sizeof text, "%ld", number);
  if (counter >= 0)
    syscall(SYS_pwrite64, counter, text, (size_t)size, 0L);
  return number == limit;
}

static void count(void) {
  if (is_last())
    kill(getpid(), SIGKILL);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRAP(result, name, parameters, ...)                                                                            \
  result name parameters {                                                                                             \
    count();                                                                                                           \
    return REAL(name)(__VA_ARGS__);                                                                                    \
  }

/* Half of a write may reach the file before the process dies. */
ssize_t write(int fd, const void *data, size_t size) {
  if (is_last()) {
    if (fd > 2)
      (void)!REAL(write)(fd, data, size / 2);
    kill(getpid(), SIGKILL);
  }
  return REAL(write)(fd, data, size);
}

WRAP(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), fd, data, size, at)
WRAP(int, mkdir, (const char *path, mode_t mode), path, mode)
WRAP(int, linkat, (int a, const char *from, int b, const char *to, int flags), a, from, b, to, flags)
WRAP(int, rename, (const char *from, const char *to), from, to)
WRAP(int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags), a, from, b, to, flags)
WRAP(int, unlink, (const char *path), path)
WRAP(int, unlinkat, (int folder, const char *path, int flags), folder, path, flags)
WRAP(int, rmdir, (const char *path), path)
WRAP(int, fsync, (int fd), fd)
WRAP(int, ftruncate, (int fd, off_t size), fd, size)

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (flags & O_CREAT)
    count();
  return REAL(open)(path, flags, mode);
}
