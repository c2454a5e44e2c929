// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally record --continuous`: options, their checks, and the start. */
#include "cmd/record_continuous.h"

#include <string.h>

#include "base/vec.h"
#include "continuous/continuous.h"

enum {
	EVERY_S = 600,		/* each file's symbols are looked up anew */
	EVERY_PUSH_S = 60,	/* servers want recent profiles */
	FILE_BYTES = 64 << 20,
};

int continuous_check_unused(const struct continuous_opts *o, struct error *err)
{
	const struct cmd_push_opts *send = &o->send;
	static const struct continuous_opts usual = CONTINUOUS_DEFAULTS;
	const char *name;

	name = o->keep_age != usual.keep_age ? "keep-age"
	       : o->keep_size != usual.keep_size ? "keep-size"
	       : o->keep_free != usual.keep_free ? "keep-free"
	       : o->keep_symbols != usual.keep_symbols ? "keep-symbols"
	       : o->switch_memory != usual.switch_memory ? "switch-memory"
	       : o->renew != usual.renew ? "renew" : NULL;
	if (name)
		return error_set(err, ERR_USAGE, "--%s needs --continuous", name);
	name = send->window != usual.send.window ? "window"
	       : send->timeout != usual.send.timeout ? "timeout"
	       : send->spool_size != usual.send.spool_size ? "spool-size"
	       : send->symbols != SYMBOLS_NOT_GIVEN ? "symbols" : send->tenant ? "tenant"
	       : send->token_file ? "token-file" : send->ca ? "ca"
	       : send->cert ? "cert" : send->key ? "key"
	       : send->spool ? "spool" : NULL;
	return name ? error_set(err, ERR_USAGE, "--%s needs --push", name) : 0;
}

static int check(const struct continuous_opts *o, const struct record_options *ro,
		 struct error *err)
{
	const struct opt_rule rules[] = {
		{ ro->command, "--continuous records running programs: use -a, -p, -t or "
			       "--cgroup instead of a command" },
		{ !ro->all_cpus && !ro->pids && !ro->tids && !ro->cgroup && !ro->cpus,
		  "--continuous needs -a, -p, -t or --cgroup" },
		{ ro->control || ro->latency || ro->repeat > 1 || ro->max_bytes ||
		  ro->delay != 0, "--continuous excludes --control, --latency, "
				  "--repeat, --max-size and --delay" },
		{ ro->rotate.on && ro->rotate.by_signal,
		  "--continuous needs a time or a size for --switch-output: "
		  "--switch-output=5m" },
		{ ro->rotate.max_files, "--switch-max-files: with --continuous, use "
					"--keep-size and --keep-age" },
		{ o->send.symbols != SYMBOLS_NOT_GIVEN && !o->push,
		  "--symbols needs --push" },
		{ o->renew < 1, "--renew must be at least 1s" },
	};

	return options_obey(rules, COUNT(rules), err);
}

int continuous_record(struct cmd_io *io, const struct continuous_opts *o,
		      const struct record_options *ro, const char *dir,
		      struct error *err)
{
	struct continuous_options c = {
		.record = *ro, .dir = dir ? dir : CONTINUOUS_DIR,
		.every_ns = (o->push ? EVERY_PUSH_S : EVERY_S) * 1000000000ull,
		.bytes = FILE_BYTES, .table_bytes = o->switch_memory,
		.renew_ns = (uint64_t)(o->renew * 1e9),
		.keep_ns = (uint64_t)(o->keep_age * 1e9),
		.keep_bytes = o->keep_size, .free_bytes = o->keep_free,
		.symbol_bytes = o->keep_symbols,
		.duration_ns = (uint64_t)(ro->duration * 1e9),
		.notice = ro->notice, .ctx = ro->ctx };
	struct cmd_push push = { .labels = { 0 } };
	struct buf spool = { 0 };
	int rc = check(o, ro, err);

	(void)io;
	if (rc)
		return rc;
	c.record.duration = 0;
	c.record.progress = NULL;
	c.record.calm = true;
	if (ro->rotate.every_ns)
		c.every_ns = ro->rotate.every_ns;
	if (ro->rotate.bytes)
		c.bytes = ro->rotate.bytes;
	if (o->push) {
		rc = cmd_push_prepare(&o->send, o->push, &push, err);
		buf_printf(&spool, "%s/spool", c.dir);
		if (!push.options.spool)
			push.options.spool = buf_cstr(&spool);
		push.options.patience_ns = 5 * 1000000000ull;
		push.options.debug_dirs = ro->debug_dirs;
		push.options.notice = ro->notice;
		push.options.ctx = ro->ctx;
		c.push = &push.options;
		c.record.identified_later = push.options.server_names;
		if (!rc)
			rc = push_check(c.push, err);
		if (!rc && spool.failed)
			rc = error_nomem(err);
	}
	if (!rc)
		rc = continuous_run(&c, err);
	cmd_push_fini(&push);
	buf_fini(&spool);
	return rc;
}
