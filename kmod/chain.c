// SPDX-License-Identifier: GPL-2.0
/* Call chains by frame pointers, from interrupts and NMIs. */
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/unwind.h>

#include "tally.h"

unsigned int chain_kernel(struct pt_regs *regs, u64 *ips, unsigned int room,
			  bool *cut)
{
	struct unwind_state state;
	unsigned int n = 0;

	if (!room)
		return 0;
	ips[n++] = instruction_pointer(regs);
	for (unwind_start(&state, current, regs, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		unsigned long at = unwind_get_return_address(&state);

		if (!at)
			break;
		/* The first frame is the interrupted address itself. */
		if (n == 1 && at == ips[0])
			continue;
		if (n == room) {
			*cut = true;
			break;
		}
		ips[n++] = at;
	}
	return n;
}

/* Reads the frame at *fp: its return address, and the frame before it.  Returns
 * false at the end. */
static bool user_frame(unsigned long *fp, u64 *ip, bool narrow)
{
	unsigned long next;

	if (!*fp || *fp & (narrow ? 3 : 7))
		return false;
	if (narrow) {
		u32 frame[2];

		if (copy_from_user_nmi(frame, (void __user *)*fp,
				       sizeof(frame)))
			return false;
		next = frame[0];
		*ip = frame[1];
	} else {
		unsigned long frame[2];

		if (copy_from_user_nmi(frame, (void __user *)*fp,
				       sizeof(frame)))
			return false;
		next = frame[0];
		*ip = frame[1];
	}
	/* A stack grows down.  A frame pointer that does not lead up would lead in
	 * circles. */
	*fp = next > *fp ? next : 0;
	return *ip != 0;
}

unsigned int chain_user(struct pt_regs *regs, u64 *ips, unsigned int room,
			bool *cut)
{
	unsigned long fp;
	bool narrow = false;
	unsigned int n = 0;
	u64 ip;

	if (!user_mode(regs)) {
		if (!current->mm || current->flags & (PF_KTHREAD | PF_EXITING))
			return 0;
		regs = task_pt_regs(current);
		if (!user_mode(regs))
			return 0;
	}
	if (!room) {
		*cut = true;
		return 0;
	}
	ips[n++] = instruction_pointer(regs);
	if (!current->mm)
		return n;
#ifdef CONFIG_X86_64
	narrow = regs->cs == __USER32_CS;
#endif
	fp = frame_pointer(regs);
	while (user_frame(&fp, &ip, narrow)) {
		if (n == room) {
			*cut = true;
			break;
		}
		ips[n++] = ip;
	}
	return n;
}
