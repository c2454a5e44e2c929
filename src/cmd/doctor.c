// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally doctor`: shows what this user can record here, and how to enable more. */
#include "record/doctor/doctor.h"

#include "base/json.h"
#include "base/text.h"
#include "cmd/open.h"
#include "cmd/output.h"

struct doctor_opts {
	const char *color;
	int json;
	bool no_pager;
};

static const struct opt doctor_opt_table[] = {
	OPT_ROW_JSON(offsetof(struct doctor_opts, json)),
	OPT_ROW_COLOR(offsetof(struct doctor_opts, color)),
	OPT_ROW_NO_PAGER(offsetof(struct doctor_opts, no_pager)),
	OPT_END
};

static const char *state_word(enum doctor_state s)
{
	static const char *const words[] = { "ok", "limited", "no" };

	return words[s];
}

static const char *own_programs(const struct doctor *d)
{
	if (d->own_user)
		return d->own_kernel ? "user code + kernel" : "user code only";
	if (d->own_timer)
		return d->own_ptrace
			? "user code, by timers inside, otherwise by ptrace"
			: "user code, by timers inside";
	return d->own_ptrace ? "user code, by ptrace" : "no";
}

static void summary(const struct doctor *d, struct buf *out)
{
	buf_printf(out, "own programs: %s; other users' processes: %s; whole "
		   "system: %s; hardware counters: %s; kernel names: %s",
		   own_programs(d), d->others ? "yes" : "no",
		   d->system ? "yes" : "no", d->counters ? "yes"
		   : d->own_user ? "none" : "no",
		   d->kernel_names ? "yes" : "hidden");
}

static void text_check(const struct doctor_check *c, bool color, size_t columns,
		       struct buf *out)
{
	enum { NAME_AT = 9, TEXT_AT = 30 };
	static const char *const colors[] = { "\033[32m", "\033[33m",
					      "\033[31m" };
	struct buf safe = { 0 };

	buf_printf(out, "%s%-*s%s%-*s", color ? colors[c->state] : "", NAME_AT,
		   state_word(c->state), color ? "\033[m" : "",
		   TEXT_AT - NAME_AT, c->name);
	text_safe(&safe, c->found);
	text_wrap(out, buf_cstr(&safe), TEXT_AT, columns);
	if (*c->fix) {
		/* Keep it on one line, so that it can be copied. */
		buf_reset(&safe);
		text_safe(&safe, c->fix);
		buf_printf(out, "%*sfix: %s\n", NAME_AT, "", buf_cstr(&safe));
	}
	buf_fini(&safe);
}

static void text_all(const struct cmd_io *io, const struct doctor *d,
		     bool color, struct buf *out)
{
	size_t columns = io->columns > 60 ? (size_t)io->columns : 100;
	struct doctor_check tty = { .name = "terminal" };

	summary(d, out);
	buf_str(out, "\n\n");
	for (size_t i = 0; i < d->checks.n; i++)
		text_check(&d->checks.v[i], color, columns, out);
	if (io->out_tty)
		doctor_found(&tty, "%d columns, %s colors", io->columns,
			     io->color ? "with" : "without");
	else
		doctor_found(&tty, "none: output goes to a file or pipe, "
			     "without colors and pager");
	text_check(&tty, color, columns, out);
}

static void json_setting(struct json *j, const char *key, long v)
{
	if (v != RIGHTS_UNKNOWN)
		json_int(j, key, v);
}

static void json_all(const struct doctor *d, struct buf *out)
{
	struct json j = json_on(out);

	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	json_object(&j, "can");
	json_bool(&j, "own_programs", d->own_user || d->own_ptrace ||
						  d->own_timer);
	json_bool(&j, "own_user", d->own_user);
	json_bool(&j, "own_kernel", d->own_kernel);
	json_bool(&j, "others", d->others);
	json_bool(&j, "system", d->system);
	json_bool(&j, "counters", d->counters);
	json_bool(&j, "kernel_names", d->kernel_names);
	json_end(&j);
	json_object(&j, "settings");
	json_setting(&j, "perf_event_paranoid", d->rights.paranoid);
	json_setting(&j, "kptr_restrict", d->rights.kptr_restrict);
	json_hex(&j, "capabilities", d->rights.caps);
	json_bool(&j, "user_namespace", d->rights.inner_users);
	json_bool(&j, "pid_namespace", d->rights.inner_pids);
	json_end(&j);
	json_array_lines(&j, "checks");
	for (size_t i = 0; i < d->checks.n; i++) {
		const struct doctor_check *c = &d->checks.v[i];

		json_object(&j, NULL);
		json_str(&j, "name", c->name);
		json_str(&j, "state", state_word(c->state));
		json_str(&j, "found", c->found);
		json_str(&j, "fix", c->fix);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_u8(out, '\n');
}

static int run_doctor(struct cmd_io *io, void *opts, int argc, char **argv,
		      struct error *err)
{
	const struct doctor_opts *o = opts;
	bool color;
	struct buf out = { 0 };
	struct doctor d;
	int rc;

	if (argc > 0)
		return error_set(err, ERR_USAGE, "doctor takes no arguments: "
				 "\"%s\"", argv[0]);
	rc = cmd_color(o->color, io->color, &color, err) ?: doctor_run(&d, ".", err);
	if (rc < 0)
		return rc;
	if (o->json)
		json_all(&d, &out);
	else
		text_all(io, &d, color, &out);
	rc = cmd_output_paged(io, NULL, o->no_pager || o->json, &out, err);
	buf_fini(&out);
	doctor_fini(&d);
	return rc < 0 ? rc
		      : !d.own_user && !d.own_ptrace && !d.own_timer;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "test what you can record on this machine, and how to "
		   "enable more",
	.args = "",
	.opts = doctor_opt_table,
	.opts_size = sizeof(struct doctor_opts),
	.run = run_doctor,
};
