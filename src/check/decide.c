// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a check from judgement to verdict: see check.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/search.h"
#include "base/text.h"
#include "check/check_internal.h"
#include "compare/moves.h"
#include "views/query/match.h"

/* --- rows by name, and their costs in each run */

/* Compares units with qsort_r(3). */
static int by_name(const void *a, const void *b, void *runs)
{
	const struct check_runs *r = runs;
	const struct check_unit *x = &r->units.v[*(const uint32_t *)a];
	const struct check_unit *y = &r->units.v[*(const uint32_t *)b];

	return check_compare_funcs(r, x->func, y->func) ?:
	       check_compare_str(r, x->base, y->base) ?:
	       ascending(x->line, y->line);
}

/* Merges units of equal names into one row; `row_of` receives the row of each
 * unit. */
static int make_rows(struct check *c, uint32_t *order, uint32_t *row_of)
{
	struct check_runs *r = &c->runs;
	size_t n = r->units.n;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	sort_rows_r(order, n, by_name, r);
	for (size_t i = 0; i < n; i++) {
		struct check_row row = { .unit = r->units.v[order[i]],
					 .partner = PROF_NONE };

		if ((!i || by_name(&order[i - 1], &order[i], r)) &&
		    vec_push(&c->rows, row) < 0)
			return -ERR_NOMEM;
		row_of[order[i]] = (uint32_t)c->rows.n - 1;
	}
	/* from here on, units are numbered like rows */
	for (size_t i = 0; i < r->files.n; i++)
		for (size_t k = 0; k < r->files.v[i].keys.keys.n; k++)
			r->files.v[i].unit[k] =
				row_of[r->files.v[i].unit[k]];
	return 0;
}

static int build_rows(struct check *c, struct error *err)
{
	size_t n = c->runs.units.n + 1;
	uint32_t *order = calloc(n, 2 * sizeof(*order));
	int rc = order ? make_rows(c, order, order + n) : -ERR_NOMEM;

	free(order);
	if (rc < 0)
		return error_nomem(err);
	c->per_sample = check_per_sample(&c->runs);
	c->cost = check_self_costs(&c->runs, true, c->rows.n, c->per_sample);
	return c->cost ? 0 : error_nomem(err);
}

/* Adds a cell once to each row on its stack. */
static void add_stack(struct check *c, const struct check_file *f,
		      const struct compare_cell *cell, double *run,
		      uint32_t *seen, uint32_t mark)
{
	const struct profile *p = f->p;
	double w = (double)cell->weight / c->per_sample;
	uint32_t node = cell->stack, row;

	row = check_leaf(f, node) == PROF_NONE
		      ? PROF_NONE : f->unit[check_leaf(f, node)];
	if (row != PROF_NONE) {
		seen[row] = mark;
		run[row] += w;
	}
	for (; node; node = p->nodes.v[node].parent) {
		uint32_t loc = p->nodes.v[node].loc, s;

		if (prof_is_mark(loc))
			continue;
		for (s = f->keys.head[loc]; s != PROF_NONE;
		     s = f->keys.steps[s].outer) {
			row = f->keys.steps[s].fk == PROF_NONE
				      ? PROF_NONE
				      : f->unit[f->keys.steps[s].fk];
			if (row == PROF_NONE || seen[row] == mark)
				continue;
			seen[row] = mark;
			run[row] += w;
		}
	}
}

static int sum_inclusive(struct check *c, struct error *err)
{
	size_t n = c->rows.n - 1;	/* without the row of small functions */
	uint32_t *seen = calloc(n + 1, sizeof(*seen)), mark = 0;
	int rc = seen ? 0 : -ERR_NOMEM;

	c->inclusive_cost = calloc(c->runs.runs.n * n + 1, sizeof(double));
	if (!c->inclusive_cost)
		rc = -ERR_NOMEM;
	for (size_t i = 0; !rc && i < c->runs.files.n; i++) {
		const struct check_file *f = &c->runs.files.v[i];

		for (size_t k = 0; k < f->cells.n; k++)
			add_stack(c, f, &f->cells.v[k], c->inclusive_cost +
				  f->cells.v[k].run * n, seen, ++mark);
	}
	free(seen);
	return rc < 0 ? error_nomem(err) : 0;
}

/* --- judging them */

/* Work that the kernel does for a program whenever the machine permits.  Its cost
 * depends on other programs, on where memory lies, and on the hypervisor. */
static bool is_housekeeping(const char *name)
{
	static const char *const words[] = {
		/* scheduling */
		"*schedule*", "finish_task_switch*", "__switch_to*",
		"prepare_task_switch", "pick_next_*", "put_prev_*", "set_next_*",
		"try_to_wake_up", "ttwu_*", "wake_up_*", "select_task_rq*",
		"enqueue_*", "dequeue_*", "update_curr*", "update_load_avg*",
		"*load_balance*", "newidle_balance*", "sched_*", "resched_*",
		"check_preempt_*", "task_tick_*", "reweight_*",
		/* interrupts and timers */
		"asm_sysvec_*", "sysvec_*", "asm_common_interrupt",
		"common_interrupt", "irqentry_*", "irq_*", "*softirq*",
		"*hrtimer*", "tick_*", "*timer_softirq*", "update_process_times",
		"rcu_*", "*smp_call_function*", "*flush_tlb*", "native_apic_*",
		"x2apic_*", "native_irq_return_iret",
		/* page faults */
		"*page_fault", "do_user_addr_fault", "*handle_mm_fault",
		"do_anonymous_page", "do_fault*", "do_wp_page", "wp_page_*",
		"do_read_fault*", "do_cow_fault*", "filemap_map_*",
		"filemap_fault", "next_uptodate_*", "clear_page*",
		"__alloc_pages*", "get_page_from_freelist", "rmqueue*",
		"free_unref_page*", "zap_pte_range", "*_rmap", "lru_*",
		"*mem_cgroup_charge*", "charge_memcg", "error_entry",
		"sync_regs",
		/* idle */
		"*idle*", "*safe_halt", "cpu_startup_entry",
	};

	for (size_t i = 0; i < COUNT(words); i++)
		if (match_word(words[i], name))
			return true;
	return false;
}

static uint8_t noise_of(const struct check *c, uint32_t func)
{
	const struct compare_func *f = &c->runs.match.funcs.v[func];

	if (!f->kernel)
		return JUDGE_STEADY;
	return is_housekeeping(check_str(&c->runs, f->name)) &&
			       !(c->o.gate_kernel && c->interleaved)
		       ? JUDGE_NOISE : JUDGE_UNSTEADY;
}

/* Finds functions whose code is known to have changed.  Returns 0 or -ERR_NOMEM. */
static int find_changed(struct check *c, bool *changed)
{
	struct compare_match *m = &c->runs.match;

	for (size_t i = 0; i < c->rows.n; i++) {
		uint32_t func = c->rows.v[i].unit.func;
		const struct code_ngrams *was, *is;

		if (!check_func_named(&c->runs, func))
			continue;
		was = compare_code_of(m, func, COMPARE_OLD);
		is = compare_code_of(m, func, COMPARE_NEW);
		changed[i] = was && is && mnemonic_overlap(was, is) < 1;
	}
	return m->failed ? -ERR_NOMEM : 0;
}

static int run_judge(struct check *c, struct error *err)
{
	size_t n = c->rows.n;
	struct arrays a = { 0 };
	uint8_t *noise = arrays_new(&a, n, sizeof(*noise));
	bool *changed = arrays_new(&a, n, sizeof(*changed));
	struct check_row small = { .unit = { .func = PROF_NONE },
				   .partner = PROF_NONE };
	struct judge_input in = { c->runs.nbase, c->runs.nnew, n, c->cost,
				  noise, NULL, NULL, changed };
	double ref[2] = { 0, 0 };
	int rc = 0;

	if (a.failed || find_changed(c, changed) < 0)
		rc = error_nomem(err);
	for (size_t i = 0; !rc && i < n; i++)
		noise[i] = noise_of(c, c->rows.v[i].unit.func);
	if (!rc)
		rc = judge_run(&in, &c->o.judge, &c->judge, err);
	arrays_fini(&a);
	if (!rc && vec_push(&c->rows, small) < 0)
		rc = error_nomem(err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < c->rows.n; i++)
		c->rows.v[i].j = c->judge.rows[i];
	for (size_t r = 0; r < c->runs.runs.n; r++)
		ref[r >= in.nbase] += c->judge.reference[r] /
				(double)(r >= in.nbase ? in.nnew : in.nbase);
	c->scale = ref[1] > 0 ? ref[0] / ref[1] : 1;
	return 0;
}

static int run_inclusive(struct check *c, struct error *err)
{
	struct judge_input in = { c->runs.nbase, c->runs.nnew, c->rows.n - 1,
				  NULL, NULL, c->judge.totals,
				  c->judge.reference, NULL };
	int rc = sum_inclusive(c, err);

	in.cost = c->inclusive_cost;
	return rc < 0 ? rc
		      : judge_run(&in, &c->o.judge, &c->inclusive, err);
}

static void set_statuses(struct check *c)
{
	static const enum check_status of[] = {
		[JUDGE_SMALL] = CHECK_SMALL, [JUDGE_SAME] = CHECK_SAME,
		[JUDGE_SUSPECT] = CHECK_SUSPECT,
		[JUDGE_REGRESSED] = CHECK_SLOWER,
		[JUDGE_IMPROVED] = CHECK_FASTER,
		[JUDGE_NEW] = CHECK_ADDED, [JUDGE_REMOVED] = CHECK_REMOVED,
	};

	for (size_t i = 0; i < c->rows.n; i++) {
		c->rows.v[i].status = of[c->rows.v[i].j.status];
		c->rows.v[i].fails = c->rows.v[i].j.gates;
	}
	c->total_unclear = c->judge.total.gates && c->judge.drifted &&
			   !c->interleaved;
	c->total_fails = c->judge.total.gates && !c->total_unclear;
}

static void allow_row(struct check *c, struct check_row *r)
{
	struct buf name = { 0 };
	const struct allowed *a;

	check_row_name(c, r, &name);
	a = allow_find(c->o.allow, buf_cstr(&name), r->unit.func == PROF_NONE
		? "" : check_str(&c->runs,
				 c->runs.match.funcs.v[r->unit.func].name),
		r->j.ratio);
	buf_fini(&name);
	if (!a)
		return;
	r->status = CHECK_ALLOWED;
	r->fails = false;
	r->reason = a->reason;
}

static void allow_known(struct check *c)
{
	const struct allowed *a;

	for (size_t i = 0; i < c->rows.n; i++)
		if (c->rows.v[i].fails || c->rows.v[i].status == CHECK_SUSPECT)
			allow_row(c, &c->rows.v[i]);
	if (!c->total_fails && !c->total_unclear)
		return;
	a = allow_find(c->o.allow, "[total]", "", c->judge.total.ratio);
	if (a) {
		c->total_fails = c->total_unclear = false;
		c->total_reason = a->reason;
	}
}

/* --- slower rows whose code was moved from other functions (compare/moves.h) */

enum { CHANCE_ONE_IN = 20 };

static double gain(const struct check *c, const struct check_row *r)
{
	return check_now(c, r) - r->j.base;
}

static bool cost_fell(const struct check *c, const struct check_row *r)
{
	if (gain(c, r) >= 0)
		return false;
	return r->status == CHECK_FASTER || r->status == CHECK_REMOVED ||
	       (r->status == CHECK_SAME && r->j.change.df > 0 &&
		r->j.p_faster * CHANCE_ONE_IN <= 1);
}

static bool related(void *ctx, size_t gained, size_t lost)
{
	struct check *c = ctx;
	uint32_t a = c->rows.v[gained].unit.func, b = c->rows.v[lost].unit.func;

	/* lines of one function are related */
	return a == b || compare_related(&c->runs.match, a, b);
}

/* The increase must be as large and as significant as that of a slower function. */
static bool costs_more(void *ctx, const size_t *rows, size_t n)
{
	struct check *c = ctx;
	const struct judge_options *o = &c->o.judge;
	struct judge_sum s;

	if (judge_group(&c->judge, rows, n, &s) < 0) {
		c->runs.match.failed = true;
		return true;
	}
	return !(s.ratio <= 1 + o->threshold || s.p > o->alpha);
}

static struct move_item item_of(void *ctx, size_t row)
{
	const struct check *c = ctx;
	const struct check_row *r = &c->rows.v[row];
	struct move_item x = { MOVE_NONE, 0 };

	/* unnamed code cannot be matched */
	if (!check_func_named(&c->runs, r->unit.func))
		return x;
	x.gain = gain(c, r);
	if (cost_fell(c, r))
		x.kind = MOVE_LOSS;
	else if (r->status == CHECK_ADDED)
		x.kind = MOVE_NEW;
	else if (r->status == CHECK_SLOWER || r->status == CHECK_SUSPECT)
		x.kind = MOVE_GAIN;
	return x;
}

static void set_moved(struct check *c, const size_t *from)
{
	for (size_t i = 0; i < c->rows.n; i++) {
		struct check_row *r = &c->rows.v[i];

		r->partner = PROF_NONE;
		if (r->status == CHECK_SAME && check_row_renamed(c, r))
			r->status = CHECK_MOVED;
		if (from[i] == MOVE_FROM_NONE)
			continue;
		r->partner = (uint32_t)from[i];
		r->status = CHECK_MOVED;
		r->fails = false;
	}
}

static int find_moved(struct check *c, struct error *err)
{
	struct moves moves = { c->rows.n, c, item_of, related, costs_more };
	size_t *from;
	int rc = moves_find(&moves, &from);

	if (c->runs.match.failed)
		rc = -ERR_NOMEM;
	if (!rc)
		set_moved(c, from);
	free(from);
	return rc ? error_nomem(err) : 0;
}

/* --- verdict, order and notes */

static int rank(const struct check_row *r)
{
	static const int order[] = {
		[CHECK_SLOWER] = 1, [CHECK_SUSPECT] = 3, [CHECK_ALLOWED] = 4,
		[CHECK_MOVED] = 5, [CHECK_ADDED] = 6, [CHECK_REMOVED] = 7,
		[CHECK_FASTER] = 8, [CHECK_SAME] = 9, [CHECK_SMALL] = 10,
	};

	return r->fails ? 0 : order[r->status];
}

struct placed {
	int rank;
	double weight;
	uint32_t row;
};

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return ascending(x->rank, y->rank) ?:
	       descending(x->weight, y->weight) ?:
	       ascending(x->row, y->row);
}

/* Orders rows: failing ones by their increase, then others by the size of their
 * change, then unchanged ones by cost. */
static int order_rows(struct check *c)
{
	struct placed *p = calloc(c->rows.n + 1, sizeof(*p));
	int rc = 0;

	if (!p)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < c->rows.n; i++) {
		const struct check_row *r = &c->rows.v[i];

		p[i] = (struct placed){ rank(r), r->j.share, i };
		if (p[i].rank < 9)
			p[i].weight = fabs(check_now(c, r) - r->j.base);
	}
	sort_rows(p, c->rows.n, by_place);
	for (size_t i = 0; !rc && i < c->rows.n; i++)
		rc = vec_push(&c->order, p[i].row);
	free(p);
	return rc;
}

/* Computes the sensitivity.  The kernel's own work fails no check and is left out,
 * as is the sum of all small functions, which names none. */
static int find_sensitivity(struct check *c)
{
	bool *asked = calloc(c->rows.n + 1, sizeof(*asked));
	double want;

	if (!asked)
		return -ERR_NOMEM;
	for (size_t i = 0; i < c->rows.n; i++)
		asked[i] = c->rows.v[i].unit.func != PROF_NONE &&
			   noise_of(c, c->rows.v[i].unit.func) != JUDGE_NOISE;
	want = c->o.require_mde < 0 ? INFINITY : c->o.require_mde;
	c->sensitivity = judge_sensitivity(&c->judge, asked, want);
	if (c->o.runs_most)
		c->step = judge_step(&c->judge, asked, want, c->o.runs_planned,
				     c->o.runs_most);
	free(asked);
	return 0;
}

static void decide(struct check *c)
{
	for (size_t i = 0; i < c->rows.n; i++)
		c->failing += c->rows.v[i].fails;
	c->verdict = CHECK_PASS;
	if (c->broken)
		c->verdict = CHECK_BROKEN;
	else if (c->failing || c->total_fails)
		c->verdict = CHECK_REGRESSED;
	else if (c->o.require_mde >= 0 &&
		 (c->total_unclear || c->sensitivity.mde > c->o.require_mde))
		c->verdict = CHECK_INCONCLUSIVE;
}

static int note_noise(struct check *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->rows.n; i++)
		n += c->rows.v[i].status == CHECK_SUSPECT &&
		     c->rows.v[i].unit.func != PROF_NONE &&
		     noise_of(c, c->rows.v[i].unit.func) == JUDGE_NOISE;
	return !n ? 0 : check_note(c, "%zu of the suspects %s kernel overhead "
				   "(scheduling, interrupts, page faults, "
				   "idle), which never fails a check%s", n,
				   n == 1 ? "is" : "are", c->interleaved
				   ? " without --gate-kernel" : "");
}

bool check_settled(const struct check *c)
{
	return c->verdict == CHECK_REGRESSED || c->verdict == CHECK_BROKEN ||
	       c->step != JUDGE_MORE;
}

/* Notes why no more runs were recorded. */
static int note_end(struct check *c)
{
	const char *why = check_settled(c)
		? c->step == JUDGE_BLIND && c->verdict == CHECK_INCONCLUSIVE
			? "more runs would not be enough" : "the verdict is "
							    "certain"
		: c->o.out_of_time ? "out of time; the verdict is not certain"
				   : "the verdict is not certain";

	return check_note(c, "%zu of at most %zu runs on each side: %s; each "
			  "interim analysis uses alpha %.2g", c->runs.nnew,
			  c->o.runs_most, why, c->o.judge.alpha);
}

static int note_limits(struct check *c)
{
	size_t files = 0;	/* of the recording with the most */
	int rc = note_noise(c);

	if (!rc && c->o.runs_most)
		rc = note_end(c);
	if (rc < 0)
		return rc;
	if (c->judge.single)
		rc = check_note(c, "single run on each side: run-to-run noise "
				"is assumed (%g%%), not measured; record at "
				"least 5 runs per side", 100 * 0.02);
	else if (c->runs.nbase < 3)
		rc = check_note(c, "only %zu baseline run%s: the noise "
				"estimate is poor; record at least 5 runs per "
				"side",
				c->runs.nbase, plural(c->runs.nbase, "s"));
	if (!rc && !c->o.judge.same_machine)
		rc = check_note(c, "the machines differ (%s): only shares are "
				"compared, and the total cannot fail the check",
				c->machine.v[0]);
	for (size_t i = 0; i < c->runs.files.n; i++)
		if (c->runs.files.v[i].lines.by_number > files)
			files = c->runs.files.v[i].lines.by_number;
	if (!rc && c->o.runs.by_line && files)
		rc = check_note(c, "lines of %zu source file%s are matched by "
				"number: their text is not available on both "
				"sides (record --embed-source, or --repo)",
				files, plural(files, "s"));
	if (!rc && !c->judge.tested)
		rc = check_note(c, "no function has enough samples to be "
				"tested");
	return rc;
}

int check_decide(struct check *c, struct error *err)
{
	int rc = check_runs_finish(&c->runs, &c->o.runs, err);

	if (!rc && (!c->runs.nbase || !c->runs.nnew))
		rc = error_set(err, ERR_USAGE, "both sides need recordings");
	if (!rc)
		rc = check_comparable(c, err) ?:
		     build_rows(c, err) ?:
		     run_judge(c, err);
	if (rc < 0)
		return rc;
	set_statuses(c);
	rc = check_evidence(c, err) ?: find_moved(c, err);
	if (!rc && c->o.allow)
		allow_known(c);
	if (!rc && c->o.inclusive)
		rc = run_inclusive(c, err);
	if (rc < 0)
		return rc;
	if (!c->o.any_outcome && check_outcome(c) < 0)
		return error_nomem(err);
	if (find_sensitivity(c) < 0)
		return error_nomem(err);
	decide(c);
	if (order_rows(c) < 0 || note_limits(c) < 0)
		return error_nomem(err);
	return 0;
}
