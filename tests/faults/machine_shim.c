/* Laid over the C library of one process tree (LD_PRELOAD): another wall clock, and a folder without room.

   RELAY_FAULTS_SWITCHES names a file of 16 bytes that is shared by those who are to be troubled and who troubles them:
   the nanoseconds by which the wall clock is ahead (signed), and whether the folder RELAY_FAULTS_FOLDER is full.
   Monotonic clocks are left alone, as they are when somebody sets a machine's date. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *switches;
static const char *folder;
static size_t folder_length;

__attribute__((constructor)) static void find_switches(void) {
    const char *name = getenv("RELAY_FAULTS_SWITCHES");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, 16, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) switches = memory;
    folder = getenv("RELAY_FAULTS_FOLDER");
    folder_length = folder ? strlen(folder) : 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int64_t ahead(void) { return switches ? switches[0] : 0; }

int clock_gettime(clockid_t clock, struct timespec *found) {
    static __typeof__(&clock_gettime) real;
    if (!real) real = REAL(clock_gettime);
    int result = real(clock, found);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t now = (int64_t)found->tv_sec * 1000000000 + found->tv_nsec + ahead();
        found->tv_sec = now / 1000000000;
        found->tv_nsec = now % 1000000000;
    }
    return result;
}

int gettimeofday(struct timeval *restrict found, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    found->tv_sec = now.tv_sec;
    found->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *found) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (found) *found = now.tv_sec;
    return now.tv_sec;
}

static int is_full(void) { return switches && folder_length && switches[1]; }

static int inside(const char *path) {
    return strncmp(path, folder, folder_length) == 0 && (path[folder_length] == '/' || path[folder_length] == 0);
}

/* Whether what a path names lies in the full folder. A relative one is looked at from where it is used. */
static int no_room_at(int at, const char *path) {
    char whole[2 * PATH_MAX], link[64];
    if (!is_full()) return 0;
    if (path[0] == '/') return inside(path);
    snprintf(link, sizeof link, at == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", at);
    ssize_t length = readlink(link, whole, PATH_MAX);
    if (length < 0) return 0;
    snprintf(whole + length, sizeof whole - length, "/%s", path);
    return inside(whole);
}

static int no_room_in(int file) {
    char link[64], path[PATH_MAX];
    if (!is_full()) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return inside(path);
}

#define REFUSE_IF(full) do { if (full) { errno = ENOSPC; return -1; } } while (0)

ssize_t write(int file, const void *data, size_t size) {
    static __typeof__(&write) real;
    if (!real) real = REAL(write);
    REFUSE_IF(no_room_in(file));
    return real(file, data, size);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    static __typeof__(&pwrite64) real;
    if (!real) real = REAL(pwrite64);
    REFUSE_IF(no_room_in(file));
    return real(file, data, size, at);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at) { return pwrite64(file, data, size, at); }

ssize_t writev(int file, const struct iovec *parts, int count) {
    static __typeof__(&writev) real;
    if (!real) real = REAL(writev);
    REFUSE_IF(no_room_in(file));
    return real(file, parts, count);
}

int mkdirat(int at, const char *path, mode_t mode) {
    static __typeof__(&mkdirat) real;
    if (!real) real = REAL(mkdirat);
    REFUSE_IF(no_room_at(at, path));
    return real(at, path, mode);
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

/* A file that is made anew needs room; one that is there is opened, and its writes are refused. */
static int opened(int at, const char *path, int flags, mode_t mode) {
    static int (*real)(int, const char *, int, ...);
    if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64");
    struct stat known;
    REFUSE_IF((flags & O_CREAT) && no_room_at(at, path) && fstatat(at, path, &known, 0) != 0);
    return real(at, path, flags, mode);
}

#define MODE_OF(flags) mode_t mode = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }

int openat64(int at, const char *path, int flags, ...) { MODE_OF(flags) return opened(at, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE_OF(flags) return opened(at, path, flags | O_LARGEFILE, mode); }
int open64(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags, mode); }
int open(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
