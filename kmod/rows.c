// SPDX-License-Identifier: GPL-2.0
/*
 * Unwind tables: tables of images, rows of their code, and their mappings
 * (tally/kmod.h: TABLE, PAGE, SPACE).  Also unwinds stacks at samples.
 *
 * Programs supply all of it.  It is checked once (walk_core.h), after it was copied
 * to memory that programs cannot reach.  Handlers read under RCU, so whatever is
 * removed or replaced is freed after a grace period.  No lock is taken before
 * rows->lock, a mutex.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "tally.h"
#include "walk_core.h"

#define SPACE_BITS	8
#define WINDOW		128		/* bytes of the stack that are read at once */
#define STACK_REACH	(64ull << 20)	/* range above rsp for which such reads are
					 * used */

struct page_block {
	struct rcu_head rcu;
	size_t bytes;
	struct walk_page walk;		/* target of pointers in a table's page[] */
	u8 data[] __aligned(8);
};

struct table {
	struct rcu_head rcu;
	size_t bytes;
	u32 users;			/* number of maps that refer to the table */
	struct walk_table walk;
	const struct walk_page *page[];
};

struct space {
	struct rcu_head rcu;
	struct hlist_node node;
	size_t bytes;
	struct mm_struct *mm;		/* held by mmgrab(), so the pointer stays
					 * unique */
	u32 generation;
	u32 n;
	struct walk_map maps[];
};

struct rows {
	struct mutex lock;
	struct session *s;
	struct table *table[TALLY_TABLES_MAX];
	struct hlist_head spaces[1 << SPACE_BITS];
	u32 nspaces;
	size_t bytes, pages;		/* totals that were charged */
};

static int charge(struct rows *w, size_t bytes)
{
	size_t pages = DIV_ROUND_UP(w->bytes + bytes, PAGE_SIZE);
	int r = pages > w->pages ? pages_charge(w->s, pages - w->pages) : 0;

	if (r)
		return r;
	w->pages = max(w->pages, pages);
	w->bytes += bytes;
	return 0;
}

static void uncharge(struct rows *w, size_t bytes)
{
	size_t pages;

	w->bytes -= bytes;
	pages = DIV_ROUND_UP(w->bytes, PAGE_SIZE);
	pages_release(w->s, w->pages - pages);
	w->pages = pages;
}

/* Returns zeroed memory that is charged, or NULL if the limit is reached. */
static void *block_new(struct rows *w, size_t bytes)
{
	void *p;

	if (charge(w, bytes) < 0)
		return NULL;
	p = kvzalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!p)
		uncharge(w, bytes);
	return p;
}

int rows_new(struct session *s)
{
	struct rows *w = kvzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);

	if (!w)
		return -ENOMEM;
	mutex_init(&w->lock);
	w->s = s;
	s->rows = w;
	return 0;
}

static struct page_block *block_of(const struct walk_page *p)
{
	return p ? container_of(p, struct page_block, walk) : NULL;
}

static void page_drop(struct rows *w, struct page_block *b)
{
	if (!b)
		return;
	uncharge(w, b->bytes);
	kvfree_rcu(b, rcu);
}

static void table_drop(struct rows *w, u32 id)
{
	struct table *t = w->table[id];
	u32 i;

	w->table[id] = NULL;
	for (i = 0; i < t->walk.pages; i++) {
		page_drop(w, block_of(t->page[i]));
		if (i % 1024 == 0)
			cond_resched();
	}
	uncharge(w, t->bytes);
	kvfree_rcu(t, rcu);
}

static void space_users(struct rows *w, const struct space *p, int by)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		container_of(p->maps[i].table, struct table, walk)->users += by;
}

static void space_drop(struct rows *w, struct space *p)
{
	hlist_del_rcu(&p->node);
	w->nspaces--;
	space_users(w, p, -1);
	mmdrop(p->mm);
	uncharge(w, p->bytes);
	kvfree_rcu(p, rcu);
}

/* Frees all tables.  No handler may run any more, and no call may be under way, so the
 * lock is not taken: a SETUP that fails calls this with locks that come after it. */
void rows_free(struct session *s)
{
	struct rows *w = s->rows;
	struct hlist_node *next;
	struct space *p;
	unsigned int i;

	if (!w)
		return;
	for (i = 0; i < ARRAY_SIZE(w->spaces); i++)
		hlist_for_each_entry_safe(p, next, &w->spaces[i], node)
			space_drop(w, p);
	for (i = 0; i < TALLY_TABLES_MAX; i++)
		if (w->table[i])
			table_drop(w, i);
	s->rows = NULL;
	kvfree(w);
}

static int table_set(struct rows *w, const struct tally_table *u)
{
	struct table *t;

	if (u->id >= TALLY_TABLES_MAX || u->pages > TALLY_TABLE_PAGES ||
	    u->flags & ~TALLY_TABLE_GO ||
	    u->base & ((1u << TALLY_PAGE_BITS) - 1))
		return -EINVAL;
	if (w->table[u->id]) {
		if (w->table[u->id]->users)
			return -EBUSY;
		table_drop(w, u->id);
	}
	if (!u->pages)
		return 0;
	t = block_new(w, struct_size(t, page, u->pages));
	if (!t)
		return -ENOMEM;
	t->bytes = struct_size(t, page, u->pages);
	t->walk.base = u->base;
	t->walk.pages = u->pages;
	t->walk.flags = u->flags;
	t->walk.page = t->page;
	w->table[u->id] = t;
	return 0;
}

int rows_table(struct session *s, const struct tally_table *u)
{
	int r;

	mutex_lock(&s->rows->lock);
	r = table_set(s->rows, u);
	mutex_unlock(&s->rows->lock);
	return r;
}

/* Copies a part of a page from a user address.  Returns the place of the next
 * part, or NULL on a fault. */
static u8 *part(u8 *at, u64 from, size_t bytes)
{
	if (bytes && (from != (unsigned long)from ||
		      copy_from_user(at, (const void __user *)(unsigned long)from,
				     bytes)))
		return NULL;
	return at + bytes;
}

static int page_fill(struct page_block *b, const struct tally_page *u)
{
	struct walk_page *p = &b->walk;
	u8 *at = b->data;

	p->nrows = u->nrows;
	p->nwords = u->nwords;
	p->nrules = u->nrules;
	/* Larger elements come first, so that all are aligned. */
	p->rules = (const struct tally_rule *)at;
	at = part(at, u->rules, u->nrules * sizeof(struct tally_rule));
	p->words = (const u32 *)at;
	if (at)
		at = part(at, u->words, u->nwords * sizeof(u32));
	p->starts = (const u16 *)at;
	if (at)
		at = part(at, u->rows, u->nrows * 2 * sizeof(u16));
	if (!at)
		return -EFAULT;
	p->word = p->starts + u->nrows;
	return walk_page_check(p) ? 0 : -EINVAL;
}

static int page_set(struct rows *w, const struct tally_page *u)
{
	const u32 most = 1u << TALLY_PAGE_BITS;
	struct page_block *b, *old;
	struct table *t;
	size_t bytes;
	int r;

	t = u->table < TALLY_TABLES_MAX ? w->table[u->table] : NULL;
	if (!t || u->page >= t->walk.pages || !u->nrows || u->nrows > most ||
	    u->nwords > most || u->nrules > most)
		return -EINVAL;
	bytes = sizeof(*b) + u->nrules * sizeof(struct tally_rule) +
		u->nwords * sizeof(u32) + u->nrows * 2 * sizeof(u16);
	b = block_new(w, bytes);
	if (!b)
		return -ENOMEM;
	b->bytes = bytes;
	r = page_fill(b, u);
	if (r) {
		uncharge(w, bytes);
		kvfree(b);
		return r;
	}
	old = block_of(t->page[u->page]);
	/* Handlers may walk by these rows at once. */
	smp_store_release(&t->page[u->page], &b->walk);
	page_drop(w, old);
	return 0;
}

int rows_page(struct session *s, const struct tally_page *u)
{
	int r;

	mutex_lock(&s->rows->lock);
	r = page_set(s->rows, u);
	mutex_unlock(&s->rows->lock);
	return r;
}

static struct hlist_head *bucket(struct rows *w, const struct mm_struct *mm)
{
	return &w->spaces[hash_ptr(mm, SPACE_BITS)];
}

static struct space *space_find(struct rows *w, const struct mm_struct *mm)
{
	struct space *p;

	hlist_for_each_entry_rcu(p, bucket(w, mm), node,
				 lockdep_is_held(&w->lock))
		if (p->mm == mm)
			return p;
	return NULL;
}

static void space_end(struct rows *w, u32 generation)
{
	struct hlist_node *next;
	struct space *p;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(w->spaces); i++)
		hlist_for_each_entry_safe(p, next, &w->spaces[i], node)
			if (p->generation == generation)
				space_drop(w, p);
}

static int maps_fill(struct rows *w, struct space *p, const struct tally_space *u)
{
	const struct tally_map __user *from =
		(const struct tally_map __user *)(unsigned long)u->maps;
	struct tally_map m;
	u32 i;

	if (u->maps != (unsigned long)u->maps)
		return -EFAULT;
	for (i = 0; i < u->n; i++) {
		if (copy_from_user(&m, from + i, sizeof(m)))
			return -EFAULT;
		if (m.reserved || m.table >= TALLY_TABLES_MAX ||
		    !w->table[m.table])
			return -EINVAL;
		p->maps[i] = (struct walk_map){
			m.start, m.end, m.delta, &w->table[m.table]->walk,
		};
	}
	p->n = u->n;
	return walk_maps_check(p->maps, p->n, TASK_SIZE_MAX) ? 0 : -EINVAL;
}

static struct mm_struct *mm_of(u32 pid)
{
	struct mm_struct *mm = NULL;
	struct task_struct *t;

	rcu_read_lock();
	t = pid <= INT_MAX ? pid_task(find_vpid(pid), PIDTYPE_PID) : NULL;
	if (t)
		get_task_struct(t);
	rcu_read_unlock();
	if (!t)
		return NULL;
	mm = get_task_mm(t);
	put_task_struct(t);
	if (!mm)
		return NULL;
	mmgrab(mm);
	mmput(mm);
	return mm;
}

static int space_set(struct rows *w, const struct tally_space *u)
{
	struct space *p, *old;
	int r;

	if (!u->generation || u->n > TALLY_MAPS_MAX)
		return -EINVAL;
	if (!u->n) {
		space_end(w, u->generation);
		return 0;
	}
	p = block_new(w, struct_size(p, maps, u->n));
	if (!p)
		return -ENOMEM;
	p->bytes = struct_size(p, maps, u->n);
	p->generation = u->generation;
	r = maps_fill(w, p, u);
	p->mm = r ? NULL : mm_of(u->pid);
	if (!r && !p->mm)
		r = -ESRCH;
	old = r ? NULL : space_find(w, p->mm);
	if (!r && !old && w->nspaces >= TALLY_SPACES_MAX) {
		mmdrop(p->mm);
		r = -ENOSPC;
	}
	if (r) {
		uncharge(w, p->bytes);
		kvfree(p);
		return r;
	}
	space_users(w, p, 1);
	hlist_add_head_rcu(&p->node, bucket(w, p->mm));
	w->nspaces++;
	if (old)
		space_drop(w, old);
	return 0;
}

int rows_space(struct session *s, const struct tally_space *u)
{
	int r;

	mutex_lock(&s->rows->lock);
	r = space_set(s->rows, u);
	mutex_unlock(&s->rows->lock);
	return r;
}

size_t rows_bytes(struct session *s)
{
	return s->rows ? READ_ONCE(s->rows->bytes) : 0;
}

/* The program's memory: the stack is read in windows, all else word by word. */
struct window {
	u64 bottom;
	u64 start;
	u32 n;
	u8 bytes[WINDOW];
};

static bool fetch(void *to, u64 addr, unsigned int n)
{
	if (addr >= TASK_SIZE_MAX || n > TASK_SIZE_MAX - addr)
		return false;
	return !copy_from_user_nmi(to, (const void __user *)(unsigned long)addr,
				   n);
}

static bool window_read(void *ctx, u64 addr, void *to, unsigned int n)
{
	struct window *w = ctx;
	u64 off = addr - w->start;

	if (off < w->n && w->n - off >= n) {
		memcpy(to, w->bytes + off, n);
		return true;
	}
	if (addr - w->bottom >= STACK_REACH || !fetch(w->bytes, addr, WINDOW))
		return fetch(to, addr, n);
	w->start = addr;
	w->n = WINDOW;
	memcpy(to, w->bytes, n);
	return true;
}

enum tally_walk rows_walk(struct session *s, const u64 *regs, u64 *pc, u32 max,
			  u32 *n, u32 *generation)
{
	struct window window = { .bottom = regs[7] };
	const struct walk_memory mem = { window_read, &window };
	enum tally_walk end = TALLY_WALK_NO_SPACE;
	struct space *p;

	if (!current->mm)
		return end;
	rcu_read_lock();
	p = space_find(s->rows, current->mm);
	if (p) {
		*generation = p->generation;
		end = walk_user(p->maps, p->n, regs, &mem, pc, max, n);
	}
	rcu_read_unlock();
	return end;
}
