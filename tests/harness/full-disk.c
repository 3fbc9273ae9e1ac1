/*
 * A disk that tests fill. It is preloaded into a process, and while the file that TEST_FULL_DISK
 * names is there, no regular file grows: what would write behind its end fails as on a full disk,
 * and no disk has room for more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static bool is_full(void) {
  const char *mark = getenv("TEST_FULL_DISK");
  return mark && access(mark, F_OK) == 0;
}

static bool would_grow(int fd, off_t end) {
  struct stat status;
  return is_full() && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && end > status.st_size;
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at) {
  if (would_grow(fd, at + (off_t)bytes)) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_pwrite64, fd, data, bytes, at);
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t at) {
  return pwrite(fd, data, bytes, at);
}

int ftruncate(int fd, off_t bytes) {
  if (would_grow(fd, bytes)) {
    errno = ENOSPC;
    return -1;
  }
  return (int)syscall(SYS_ftruncate, fd, bytes);
}

int ftruncate64(int fd, off_t bytes) { return ftruncate(fd, bytes); }

int fallocate(int fd, int mode, off_t at, off_t bytes) {
  if (would_grow(fd, at + bytes)) {
    errno = ENOSPC;
    return -1;
  }
  return (int)syscall(SYS_fallocate, fd, mode, at, bytes);
}

int fallocate64(int fd, int mode, off_t at, off_t bytes) { return fallocate(fd, mode, at, bytes); }

int statfs(const char *path, struct statfs *told) {
  int failed = (int)syscall(SYS_statfs, path, told);
  if (!failed && is_full()) told->f_bavail = told->f_bfree = 0;
  return failed;
}

int statfs64(const char *path, struct statfs64 *told) {
  int failed = (int)syscall(SYS_statfs, path, told);
  if (!failed && is_full()) told->f_bavail = told->f_bfree = 0;
  return failed;
}
