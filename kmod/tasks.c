// SPDX-License-Identifier: GPL-2.0
/*
 * The threads that recordings follow, in a hash table by task.  TASKS and the
 * tracepoints of fork, exec and task end fill it.  The scheduler's tracepoints show
 * when the threads run, and who wakes them.  Handlers look tasks up under RCU.  A task
 * leaves the table when the kernel frees it, so its address never refers to another task.
 *
 * The tracepoints are not exported by name; they are found in the kernel's list.
 */
#include <linux/hash.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "tally.h"

/* Tracepoints are called with preemption off.  There, such a kernel lets nobody allocate
 * memory, as forked() does, or take a lock that is not raw. */
#ifdef CONFIG_PREEMPT_RT
#error "tally does not support PREEMPT_RT kernels"
#endif

struct linux_binprm;

struct followed {
	struct hlist_node node;
	struct task_struct *task;	/* never dereferenced */
	bool active;			/* false: until the task's exec */
	bool named;			/* named by TASKS, not inherited from a
					 * parent */
	struct rcu_head rcu;
};

static struct hlist_head *bucket(struct session *s, struct task_struct *t)
{
	return &s->tasks[hash_ptr(t, ilog2(TASK_BUCKETS))];
}

static struct followed *find(struct session *s, struct task_struct *t)
{
	struct followed *f;

	hlist_for_each_entry_rcu(f, bucket(s, t), node)
		if (f->task == t)
			return f;
	return NULL;
}

bool tasks_has(struct session *s, struct task_struct *t)
{
	struct followed *f;
	bool turn;

	rcu_read_lock();
	f = find(s, t);
	turn = f && READ_ONCE(f->active);
	rcu_read_unlock();
	return turn;
}

bool tasks_current(struct session *s)
{
	return tasks_has(s, current);
}

u32 tasks_number(struct task_struct *t, enum pid_type type,
		 struct pid_namespace *ns)
{
	pid_t nr = __task_pid_nr_ns(t, type, ns);

	return !nr && !pid_alive(t) ? ~0u : (u32)nr;
}

/* Inserts f and takes ownership.  Frees it if the task is already there or the
 * limit is reached. */
static int insert(struct session *s, struct followed *f)
{
	unsigned long flags;
	int r = 0;

	spin_lock_irqsave(&s->task_lock, flags);
	if (find(s, f->task)) {
		kfree(f);
	} else if (f->named && s->ntasks >= TALLY_TASKS_MAX) {
		kfree(f);
		r = -EBADFD;
	} else {
		s->ntasks += f->named;
		hlist_add_head_rcu(&f->node, bucket(s, f->task));
	}
	spin_unlock_irqrestore(&s->task_lock, flags);
	return r;
}

int tasks_add(struct session *s, u32 tid)
{
	struct followed *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	struct task_struct *t;
	int r = 0;

	if (!f)
		return -ENOMEM;
	f->active = !(s->setup.flags & TALLY_SETUP_ON_EXEC);
	f->named = true;
	/* A task found by number stays allocated until the unlock. */
	rcu_read_lock();
	t = tid <= INT_MAX ? pid_task(find_vpid(tid), PIDTYPE_PID) : NULL;
	f->task = t;
	if (t && !(t->flags & PF_EXITING)) {
		r = insert(s, f);
	} else {
		kfree(f);
		r = -ESRCH;
	}
	rcu_read_unlock();
	return r;
}

void tasks_free(struct session *s)
{
	struct hlist_node *next;
	struct followed *f;
	unsigned int i;

	for (i = 0; i < TASK_BUCKETS; i++)
		hlist_for_each_entry_safe(f, next, &s->tasks[i], node) {
			hlist_del(&f->node);
			kfree(f);
		}
}

static void forked(void *data, struct task_struct *parent,
		   struct task_struct *child)
{
	struct followed *f, *new;
	struct session *s;

	rcu_read_lock();
	list_for_each_entry_rcu(s, &sessions, list) {
		if (!(s->setup.flags & TALLY_SETUP_INHERIT))
			continue;
		f = find(s, parent);
		if (!f)
			continue;
		new = kzalloc(sizeof(*new),
			      GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
		if (!new) {
			atomic64_inc(&s->untracked);
			continue;
		}
		new->task = child;
		new->active = READ_ONCE(f->active);
		insert(s, new);
	}
	rcu_read_unlock();
}

static void execed(void *data, struct task_struct *task, pid_t old_pid,
		   struct linux_binprm *bprm)
{
	unsigned long flags;
	struct session *s;
	struct followed *f;

	rcu_read_lock();
	list_for_each_entry_rcu(s, &sessions, list) {
		f = find(s, task);
		if (!f)
			continue;
		WRITE_ONCE(f->active, true);
		if (!session_follows(s))
			continue;
		local_irq_save(flags);
		session_switch(s, true);
		local_irq_restore(flags);
	}
	rcu_read_unlock();
}

/* Called within the scheduler, with interrupts off; `prev` is still current. */
static void switched(void *data, bool preempt, struct task_struct *prev,
		     struct task_struct *next, unsigned int prev_state)
{
	struct session *s;

	rcu_read_lock();
	list_for_each_entry_rcu(s, &sessions, list) {
		waits_switched(s, prev, next, prev_state);
		if (session_follows(s))
			session_switch(s, tasks_has(s, next));
	}
	rcu_read_unlock();
}

/* Called with the task's pi_lock held and interrupts off.  If a thread wakes itself,
 * interrupts may be on. */
static void waking(void *data, struct task_struct *task)
{
	unsigned long flags;
	struct session *s;

	local_irq_save(flags);
	rcu_read_lock();
	list_for_each_entry_rcu(s, &sessions, list)
		waits_woken(s, task);
	rcu_read_unlock();
	local_irq_restore(flags);
}

static void freed(void *data, struct task_struct *task)
{
	unsigned long flags;
	struct session *s;
	struct followed *f;

	rcu_read_lock();
	list_for_each_entry_rcu(s, &sessions, list) {
		if (!find(s, task))
			continue;
		spin_lock_irqsave(&s->task_lock, flags);
		f = find(s, task);
		if (f) {
			s->ntasks -= f->named;
			hlist_del_rcu(&f->node);
			kfree_rcu(f, rcu);
		}
		spin_unlock_irqrestore(&s->task_lock, flags);
	}
	rcu_read_unlock();
}

static struct {
	const char *name;
	void *fn;
	struct tracepoint *tp;
	bool on;
} hooks[] = {
	{ "sched_process_fork", forked },
	{ "sched_process_exec", execed },
	{ "sched_process_free", freed },
};

/* Each context switch and wakeup has a cost, so these tracepoints, one for each WATCH_*,
 * are used only while needed. */
static struct {
	const char *name;
	void *fn;
	struct tracepoint *tp;
	unsigned int users;
} watched[] = {
	{ "sched_switch", switched },
	{ "sched_waking", waking },
};

static DEFINE_MUTEX(watch_lock);	/* guards watched[].users */

static void unwatch(unsigned int what)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(watched); i++)
		if (what >> i & 1 && !--watched[i].users)
			tracepoint_probe_unregister(watched[i].tp,
						    watched[i].fn, NULL);
}

int tasks_watch(unsigned int what)
{
	unsigned int i;
	int r = 0;

	mutex_lock(&watch_lock);
	for (i = 0; i < ARRAY_SIZE(watched) && !r; i++) {
		if (!(what >> i & 1))
			continue;
		if (!watched[i].users)
			r = tracepoint_probe_register(watched[i].tp,
						      watched[i].fn, NULL);
		if (!r)
			watched[i].users++;
		else
			unwatch(what & ((1u << i) - 1));
	}
	mutex_unlock(&watch_lock);
	return r;
}

void tasks_unwatch(unsigned int what)
{
	mutex_lock(&watch_lock);
	unwatch(what);
	mutex_unlock(&watch_lock);
}

static void hook_found(struct tracepoint *tp, void *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(watched); i++)
		if (!strcmp(tp->name, watched[i].name))
			watched[i].tp = tp;
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tp->name, hooks[i].name))
			hooks[i].tp = tp;
}

int tasks_init(void)
{
	unsigned int i;
	int r = 0;

	for_each_kernel_tracepoint(hook_found, NULL);
	for (i = 0; i < ARRAY_SIZE(watched); i++) {
		if (watched[i].tp)
			continue;
		pr_err("tally: this kernel has no tracepoint %s\n",
		       watched[i].name);
		return -ENOENT;
	}
	for (i = 0; i < ARRAY_SIZE(hooks) && !r; i++) {
		if (!hooks[i].tp) {
			pr_err("tally: this kernel has no tracepoint %s\n",
			       hooks[i].name);
			r = -ENOENT;
			break;
		}
		r = tracepoint_probe_register(hooks[i].tp, hooks[i].fn, NULL);
		hooks[i].on = !r;
	}
	if (r)
		tasks_exit();
	return r;
}

void tasks_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i].on)
			tracepoint_probe_unregister(hooks[i].tp, hooks[i].fn,
						    NULL);
	tracepoint_synchronize_unregister();
}
