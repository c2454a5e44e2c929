/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PRELOAD_SYS_H
#define TALLY_PRELOAD_SYS_H
/*
 * System calls without a C library.  The library must not touch errno, must not need
 * a symbol of the program's libraries, and must run on any stack. x86-64 (its psABI,
 * A.2.1).
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Returns the result, or a negative error number. */
static inline long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall" : "=a"(r)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

static inline long sys4(long nr, long a, long b, long c, long d)
{
	return sys6(nr, a, b, c, d, 0, 0);
}

static inline long sys3(long nr, long a, long b, long c)
{
	return sys6(nr, a, b, c, 0, 0, 0);
}

static inline long sys1(long nr, long a)
{
	return sys6(nr, a, 0, 0, 0, 0, 0);
}

static inline long sys_open(const char *path, int flags)
{
	return sys4(SYS_openat, -100 /* AT_FDCWD */, (long)path, flags, 0);
}

static inline long sys_close(long fd)
{
	return sys1(SYS_close, fd);
}

static inline long sys_read(long fd, void *p, size_t n)
{
	return sys3(SYS_read, fd, (long)p, (long)n);
}

static inline uint32_t sys_pid(void)
{
	return (uint32_t)sys1(SYS_getpid, 0);
}

static inline uint32_t sys_tid(void)
{
	return (uint32_t)sys1(SYS_gettid, 0);
}

/* "rep movsb" instead of a loop, which a compiler would turn into a call of memcpy. */
static inline void bytes_copy(void *to, const void *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)
			 : : "memory");
}

static inline void bytes_zero(void *to, size_t n)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
}

static inline size_t text_size(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

/* Put a text or a number with its NUL at `to`.  Return the place of the NUL. */
static inline char *text_put(char *to, const char *s)
{
	size_t n = text_size(s);

	bytes_copy(to, s, n + 1);
	return to + n;
}

static inline char *text_put_number(char *to, uint64_t v)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = 0;
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	return text_put(to, p);
}

/* Returns the rest of s after `word`, or NULL if s does not begin with it. */
static inline const char *text_after(const char *s, const char *word)
{
	while (*word)
		if (*s++ != *word++)
			return NULL;
	return s;
}

static inline int text_equal(const char *a, const char *b)
{
	const char *rest = text_after(a, b);

	return rest && !*rest;
}

#endif
