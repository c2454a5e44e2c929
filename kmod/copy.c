// SPDX-License-Identifier: GPL-2.0
/* Copies the user side of a sample: registers and stack, from which the recorder
 * makes the call chain. */
#include <linux/errno.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>

#include "ring_core.h"
#include "tally.h"

/* Threads that run in the kernel only, although they use a program's memory. */
#ifdef PF_USER_WORKER
#define NO_USER (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)
#else
#define NO_USER (PF_KTHREAD | PF_IO_WORKER)
#endif

/*
 * Returns whether the kernel's entry code has stored all registers where
 * task_pt_regs() expects them.  An NMI may arrive earlier: while they are pushed or
 * popped, on the small entry stacks, or while the stack pointer is still the
 * program's.
 */
static bool entered(const struct pt_regs *regs, const struct pt_regs *user)
{
	unsigned long sp = kernel_stack_pointer((struct pt_regs *)regs);

	if (sp > (unsigned long)user && sp <= (unsigned long)(user + 1))
		return false;
#ifdef CONFIG_X86_64
	if (sp >> P4D_SHIFT == CPU_ENTRY_AREA_BASE >> P4D_SHIFT)
		return false;
#endif
	return sp >= TASK_SIZE_MAX;
}

static void copy_regs(const struct pt_regs *u, struct tally_copy *out)
{
	u64 *r = out->regs;

	r[0] = u->ax;
	r[1] = u->dx;
	r[2] = u->cx;
	r[3] = u->bx;
	r[4] = u->si;
	r[5] = u->di;
	r[6] = u->bp;
	r[7] = u->sp;
	r[16] = u->ip;
	out->known = 0xff | 1u << 16;
	out->flags = TALLY_COPY_32;
#ifdef CONFIG_X86_64
	if (u->cs == __USER32_CS)
		return;
	r[8] = u->r8;
	r[9] = u->r9;
	r[10] = u->r10;
	r[11] = u->r11;
	r[12] = u->r12;
	r[13] = u->r13;
	r[14] = u->r14;
	r[15] = u->r15;
	out->known = 0x1ffff;
	out->flags = 0;
#endif
}

bool copy_user(struct pt_regs *regs, struct tally_copy *out)
{
	struct pt_regs *user = regs;

	memset(out, 0, sizeof(*out));
	if (!user_mode(regs)) {
		if (current->flags & NO_USER)
			return false;
		user = task_pt_regs(current);
		if (!entered(regs, user))
			return true;
		if (!user_mode(user))
			return false;
	}
	copy_regs(user, out);
	return true;
}

bool copy_entered(struct tally_copy *out)
{
	struct pt_regs *user = task_pt_regs(current);

	memset(out, 0, sizeof(*out));
	if (current->flags & NO_USER || !user_mode(user))
		return false;
	copy_regs(user, out);
	return true;
}

bool copy_call(s16 *number)
{
	struct pt_regs *user = task_pt_regs(current);

	if (current->flags & NO_USER || !user_mode(user) || !user_64bit_mode(user))
		return false;
	*number = (s16)syscall_get_nr(current, user);
	return true;
}

static unsigned long fetch(void *to, uint64_t from, unsigned long n)
{
	return copy_from_user_nmi(to, (const void __user *)(unsigned long)from,
				  n);
}

/*
 * Returns the end of the stack.  That of a main thread begins at mm->start_stack with the
 * program's arguments; their text, the environment and a gap of up to 8 KB lie above.  Code at
 * a program's entry point may be unwound by what lies below that by a few words.  The value
 * is a hint: a program may change it, and a thread may have another stack.
 */
static u64 stack_end(u64 sp)
{
	u64 first = READ_ONCE(current->mm->start_stack);

	return sp < first && first < TASK_SIZE - TALLY_COPY_ABOVE
	       ? first + TALLY_COPY_ABOVE : TASK_SIZE;
}

int copy_stack(struct cpu_state *c, struct tally_copy *t, u64 at, u64 room,
	       u32 most)
{
	const struct ring_data ring = { c->data, c->size };
	u64 sp = t->regs[7], end = TASK_SIZE;
	struct ring_copy got;

	/* A thread that is ending has already released its memory. */
	if (!t->known || !current->mm)
		sp = TASK_SIZE;
	else
		end = stack_end(sp);
	got = ring_copy_stack(&ring, at, room, fetch, sp, end, most);
	if (got.full)
		return -ENOSPC;
	t->bytes = got.bytes;
	if (got.all)
		t->flags |= TALLY_COPY_ALL;
	return got.taken;
}
