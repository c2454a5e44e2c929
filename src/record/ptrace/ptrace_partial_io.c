// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Completes large transfers that a stop cut short.
 *
 * A write of many bytes into a pipe, or a copy of a large file, ends early when its
 * thread is to stop.  A part is done, and the call does not restart.  tally therefore
 * makes the thread issue another call for the rest, with changed arguments.  The thread
 * then sees one call that did everything: its registers are restored to the values after
 * the first call, except for the number of bytes.  A signal in between ends the call, as
 * it does without tally.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include "launch/proc_read.h"
#include "record/ptrace/ptrace_calls.h"
#include "record/ptrace/ptrace_internal.h"

#ifdef __x86_64__

enum { PARTS_MAX = 1024 };	/* IOV_MAX */

/* One call transfers at most this, whatever was requested (MAX_RW_COUNT,
 * include/linux/fs.h). */
#define BYTES_MAX 0x7ffff000u

enum kind { OTHER, PIPE, SOCKET, TERMINAL, MEMORY, REGULAR };

/* Devices: Documentation/admin-guide/devices.txt */
static enum kind kind_of(const struct tracee *k, uint64_t fd)
{
	char path[64];
	unsigned int dev;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/fd/%u", k->pid, k->tid,
		 (unsigned int)fd);
	if (stat(path, &st) < 0)
		return OTHER;
	if (S_ISFIFO(st.st_mode))
		return PIPE;
	if (S_ISSOCK(st.st_mode))
		return SOCKET;
	if (S_ISREG(st.st_mode))
		return REGULAR;
	dev = major(st.st_rdev);
	if (!S_ISCHR(st.st_mode))
		return OTHER;
	if (dev == 4 || dev == 5 || (dev >= 136 && dev <= 143))
		return TERMINAL;
	/* zero, full, random, urandom */
	return dev == 1 && (minor(st.st_rdev) == 5 ||
			    (minor(st.st_rdev) >= 7 && minor(st.st_rdev) <= 9))
	       ? MEMORY : OTHER;
}

/* Returns whether the file never blocks; then a call ends with a part by itself
 * (proc(5), fdinfo). */
static bool never_waits(const struct tracee *k, uint64_t fd)
{
	unsigned int flags = 0;
	char path[64], line[64];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/fdinfo/%u", k->pid,
		 k->tid, (unsigned int)fd);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "flags: %o", &flags) == 1;
	if (f)
		fclose(f);
	return flags & O_NONBLOCK;
}

/* Reads the parts of a struct msghdr and the flags of its call. */
static bool take_message(const struct tracee *k, struct partial_io *c)
{
	struct msghdr m;

	if (!proc_memory(k->tid, c->before.rsi, &m, sizeof(m)))
		return false;
	c->vector = (uintptr_t)m.msg_iov;
	c->parts = m.msg_iovlen;
	c->flags = (unsigned int)c->before.rdx;
	return true;
}

/* Chooses the call for the rest.  Returns false if there is none. */
static bool choose(const struct tracee *k, struct partial_io *c)
{
	const struct user_regs_struct *r = &c->before;
	enum kind kind = r->orig_rax == SYS_getrandom ? MEMORY
			 : kind_of(k, r->rdi);

	c->at = r->rsi;
	c->n = r->rdx;
	c->number = (int)r->orig_rax;
	switch (c->number) {
	case SYS_readv:
	case SYS_preadv:
	case SYS_preadv2:
		c->vector = r->rsi;
		c->parts = r->rdx;
		/* fall through */
	case SYS_read:
	case SYS_pread64:
		/* These devices have no position. */
		c->number = SYS_read;
		return kind == MEMORY;
	case SYS_copy_file_range:
		/* The offsets in the files, or in the program's memory, are already
		 * correct. */
		c->n = r->r8;
		return true;
	case SYS_getrandom:
		c->at = r->rdi;
		c->n = r->rsi;
		return true;
	case SYS_writev:
		c->vector = r->rsi;
		c->parts = r->rdx;
		c->number = SYS_write;
		break;
	case SYS_write:
		break;
	case SYS_sendmsg:
		if (!take_message(k, c))
			return false;
		break;
	case SYS_recvmsg:
		if (!take_message(k, c) || !(c->flags & MSG_WAITALL))
			return false;
		break;
	case SYS_sendfile:
		/* The offset in the file is already correct.  For a pipe, the part
		 * never exceeds what fits. */
		c->n = r->r10;
		return kind == REGULAR ||
		       (kind != PIPE && !never_waits(k, r->rdi));
	case SYS_sendto:
	case SYS_recvfrom:
		c->flags = (unsigned int)r->r10;
		if (c->number == SYS_recvfrom && !(c->flags & MSG_WAITALL))
			return false;
		break;
	default:
		return false;
	}
	if ((kind != PIPE && kind != SOCKET && kind != TERMINAL) ||
	    c->flags & MSG_DONTWAIT || never_waits(k, r->rdi))
		return false;
	if (kind != SOCKET)
		return true;
	if (c->number == SYS_recvfrom || c->number == SYS_recvmsg) {
		c->number = SYS_recvfrom;
	} else {
		/* A part was sent.  If the peer is gone by now, the call just ends;
		 * it raises no signal. */
		c->number = SYS_sendto;
		c->flags |= MSG_NOSIGNAL;
	}
	return true;
}

/* Sets the next piece of one buffer. */
static bool piece_of(const struct tracee *k, const struct partial_io *c,
		     uint64_t *at, uint64_t *n)
{
	uint64_t skip = c->done;
	struct iovec v;

	if (!c->parts) {
		*at = c->at + skip;
		*n = c->n > skip ? c->n - skip : 0;
		return *n;
	}
	for (uint64_t i = 0; i < c->parts && i < PARTS_MAX; i++) {
		if (!proc_memory(k->tid, c->vector + i * sizeof(v), &v, sizeof(v)))
			return false;
		if (v.iov_len > skip) {
			*at = (uintptr_t)v.iov_base + skip;
			*n = v.iov_len - skip;
			return true;
		}
		skip -= v.iov_len;
	}
	return false;
}

static void put(const struct tracee *k, const struct user_regs_struct *x)
{
	union regs r = { .x64 = *x };

	regs_set(k, &r, false);
}

/* Issues a call for the next piece.  Returns false if everything is done. */
static bool next_piece(struct tracee *k, struct partial_io *c)
{
	struct user_regs_struct r = c->before;
	uint64_t at, n;

	if (c->done >= BYTES_MAX || !piece_of(k, c, &at, &n))
		return false;
	n = n < BYTES_MAX - c->done ? n : BYTES_MAX - c->done;
	c->piece = n;
	c->inside = false;
	r.rip -= 2;
	r.rax = (uint64_t)c->number;
	if (c->number == SYS_getrandom) {
		r.rdi = at;
		r.rsi = n;
	} else if (c->number == SYS_sendfile) {
		r.r10 = n;
	} else if (c->number == SYS_copy_file_range) {
		r.r8 = n;
	} else {
		r.rsi = at;
		r.rdx = n;
	}
	if (c->number == SYS_sendto || c->number == SYS_recvfrom) {
		r.r10 = c->flags;
		r.r8 = r.r9 = 0;
	}
	put(k, &r);
	return true;
}

void partial_io_begin(struct tracee *k, const struct user_regs_struct *r)
{
	struct partial_io c = { .before = *r, .done = r->rax };
	uint8_t code[2];

	/* "syscall" */
	if (!choose(k, &c) || !proc_memory(k->tid, r->rip - 2, code, sizeof(code)) ||
	    code[0] != 0x0f || code[1] != 0x05)
		return;
	k->partial = malloc(sizeof(c));
	if (!k->partial)
		return;
	*k->partial = c;
	if (next_piece(k, k->partial))
		return;
	free(k->partial);
	k->partial = NULL;
}

void partial_io_cancel(struct tracee *k)
{
	struct partial_io *c = k->partial;

	if (!c)
		return;
	c->before.rax = c->done;
	put(k, &c->before);
	free(c);
	k->partial = NULL;
}

void partial_io_step(struct tracee *k)
{
	struct partial_io *c = k->partial;
	bool is32, more;
	union regs r;
	int64_t ret;

	if (!c)
		return;
	if (!c->inside) {
		c->inside = true;
		return;
	}
	if (!regs_get(k, &r, &is32))
		return;
	ret = (int64_t)r.x64.rax;
	more = ret > 0 && (uint64_t)ret == c->piece;
	if (ret > 0 && (uint64_t)ret <= c->piece)
		c->done += (uint64_t)ret;
	if (!more || !next_piece(k, c))
		partial_io_cancel(k);
}

#endif
