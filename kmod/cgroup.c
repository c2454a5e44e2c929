// SPDX-License-Identifier: GPL-2.0
/* Control groups, version 2: membership in a group or in one below it. */
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "tally.h"

#ifdef CONFIG_CGROUPS
int cgroup_follow(struct session *s, u32 fd)
{
	struct cgroup *g;

	if (fd > INT_MAX)
		return -EBADF;
	g = cgroup_get_from_fd(fd);
	if (IS_ERR(g))
		return PTR_ERR(g);
	s->cgroup = g;
	return 0;
}

/* Finds the group as bpf_get_current_cgroup_id() does, which also works in NMIs. */
bool cgroup_has(struct session *s, struct task_struct *t)
{
	bool in;

	rcu_read_lock();
	in = cgroup_is_descendant(task_dfl_cgroup(t), s->cgroup);
	rcu_read_unlock();
	return in;
}

void cgroup_forget(struct session *s)
{
	if (s->cgroup)
		cgroup_put(s->cgroup);
	s->cgroup = NULL;
}
#else
int cgroup_follow(struct session *s, u32 fd)
{
	return -EOPNOTSUPP;
}

bool cgroup_has(struct session *s, struct task_struct *t)
{
	return false;
}

void cgroup_forget(struct session *s)
{
}
#endif
