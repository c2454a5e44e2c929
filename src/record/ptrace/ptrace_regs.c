// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and sets the registers of a stopped thread. */
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "record/ptrace/ptrace_calls.h"
#include "record/ptrace/ptrace_internal.h"

#ifdef __x86_64__

bool regs_get(const struct tracee *k, union regs *r, bool *is32)
{
	struct iovec io = { r, sizeof(*r) };

	if (ptrace(PTRACE_GETREGSET, (pid_t)k->tid, NT_PRSTATUS, &io) < 0)
		return false;
	*is32 = io.iov_len == sizeof(r->x32);
	return true;
}

void regs_set(const struct tracee *k, const union regs *r, bool is32)
{
	struct iovec io = { (void *)(uintptr_t)r,
			    is32 ? sizeof(r->x32) : sizeof(r->x64) };

	ptrace(PTRACE_SETREGSET, (pid_t)k->tid, NT_PRSTATUS, &io);
}

int64_t regs_call(const union regs *r, bool is32)
{
	return is32 ? (int32_t)r->x32.orig_ax : (int64_t)r->x64.orig_rax;
}

#endif
