// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally stat`: counts events while a program runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "cmd/event_options.h"
#include "cmd/open.h"
#include "count/count.h"

struct stat_opts {
	struct count_options count;	/* times: NOT_GIVEN if they are not given */
	struct opt_strs events, metrics;
	const char *output;
	int format;		/* enum format */
	bool quiet, keep_busy;
};

#define NOT_GIVEN (-1.0)
#define AT(field) offsetof(struct stat_opts, field)

static const struct opt stat_opt_table[] = {
	OPT_TITLE("What to count"),
	{ OPT_TAGGED, 'e', "event", "EVENT[,EVENT...]", AT(events),
	  "Count these events, as in \"tally record\"; {EVENT,EVENT} are "
	  "counted at the same time. May be repeated. Default: CPU time, "
	  "context switches, migrations, page faults, and if available cycles, "
	  "instructions, branches and branch misses." },
	{ OPT_TAGGED, 0, "filter", "EXPRESSION", AT(events),
	  "Count the tracepoints of the last --event only if their fields "
	  "match: 'prev_pid > 100 && prev_comm == \"sh\"'." },
	{ OPT_STRS, 0, "metrics", "METRIC[,METRIC...]", AT(metrics),
	  "Show these metrics and count the events they need; \"tally list "
	  "metrics\" explains them; none shows none. Default: all whose events "
	  "are counted." },
	{ OPT_FLAG, 0, "user", NULL, AT(count.user_only), "Count in user space only." },
	{ OPT_FLAG, 0, "kernel", NULL, AT(count.kernel_only),
	  "Count in the kernel only." },
	KEEP_BUSY_OPTION_ROW(AT(keep_busy)),
	{ OPT_FLAG, 0, "by-mode", NULL, AT(count.by_mode),
	  "Count processor events and page faults separately in user space and "
	  "in the kernel." },
	{ OPT_FLAG, 0, "no-group", NULL, AT(count.no_group),
	  "Count each event by itself, including those of one metric." },
	{ OPT_FLAG, 0, "no-merge", NULL, AT(count.no_merge),
	  "Show each unit (uncore_cbox_0 ...) and kind of core separately "
	  "instead of their sum." },
	OPT_TITLE("What to observe"),
	TARGET_OPTION_ROWS(struct stat_opts, count.target, count.inherit, "Count",
			   "count", " in"),
	OPT_TITLE("When"),
	{ OPT_UINT, 'r', "repeat", "N", AT(count.repeat),
	  "Run the command N times; show the mean and the variation between "
	  "runs." },
	{ OPT_MILLIS, 'I', "interval", "MS|TIME", AT(count.interval),
	  "Print the counts of every interval of MS milliseconds (or TIME: "
	  "500ms, 2s)." },
	{ OPT_DELAY, 0, "delay", "TIME", AT(count.delay),
	  "Start counting this long after the command starts: 500ms, 0.5s, 2m; "
	  "a number below 10 is in seconds." },
	{ OPT_SECONDS, 0, "duration", "TIME", AT(count.duration),
	  "Stop after this time, and end the command with SIGTERM." },
	{ OPT_STR, 0, "control", "fifo:FIFO[,FIFO]|fd:N[,N]", AT(count.control),
	  "Read commands from a FIFO or descriptor: enable, disable, stop, "
	  "ping; the second one receives \"ack\" for each. --delay -1 starts "
	  "switched off." },
	OPT_TITLE("Output"),
	{ OPT_CHOICE, 0, "format", "text|json|csv", AT(format),
	  "Output format. Default: text." },
	{ OPT_STR, 'o', "output", "FILE", AT(output),
	  "Write to FILE. Default: standard error; without a command, standard "
	  "output." },
	{ OPT_FLAG, 'q', "quiet", NULL, AT(quiet),
	  "Print only the counts and errors." },
	OPT_END
};

enum format { TEXT, JSON, CSV };

/* The output of the counts. */
struct printer {
	struct cmd_io *io;
	FILE *out;
	const char *output;	/* name of the file, or NULL */
	struct outfile file;	/* the file behind `out` if `output` is set */
	enum format format;
	bool silent;		/* suppress notices */
	bool failed;		/* the error of writing has been shown */
	struct count_show show;
	struct buf text;
	struct json json;
};

static void print(struct printer *p)
{
	if (p->text.n)
		fwrite(p->text.p, 1, p->text.n, p->out);
	fflush(p->out);
	buf_reset(&p->text);
}

static void notice(void *ctx, const char *text)
{
	struct printer *p = ctx;

	if (!p->silent)
		cmd_notice(p->io, "%s", text);
}

static void tick(void *ctx, const struct count_result *r,
		 const struct count_value *v, uint64_t elapsed_ns,
		 uint64_t since_ns)
{
	struct printer *p = ctx;

	switch (p->format) {
	case JSON:
		count_json_interval(&p->json, r, v, elapsed_ns, since_ns);
		break;
	case CSV:
		count_csv_interval(&p->text, r, v, elapsed_ns, since_ns);
		break;
	case TEXT:
		count_text_interval(&p->text, r, v, elapsed_ns, since_ns);
		break;
	}
	print(p);
}

static void begin(struct printer *p)
{
	p->json = json_on(&p->text);
	if (p->format == JSON)
		count_json_begin(&p->json, &p->show);
	else if (p->format == CSV)
		count_csv_begin(&p->text);
	/* Without intervals, a run that ends before counting begins writes
	 * nothing. */
	if (p->show.intervals)
		print(p);
}

static int finish(struct printer *p, const struct count_result *r,
		  struct error *err)
{
	switch (p->format) {
	case JSON:
		count_json_end(&p->json, r, &p->show);
		buf_u8(&p->text, '\n');
		break;
	case CSV:
		count_csv_end(&p->text, r);
		break;
	case TEXT:
		count_text(&p->text, r, &p->show);
		break;
	}
	if (p->text.failed)
		return error_nomem(err);
	print(p);
	if (p->output && ferror(p->out))
		return error_errno(err, errno, "cannot write %s", p->output);
	return 0;
}

static int printer_open(struct printer *p, const struct stat_opts *o,
			char *const *command, struct error *err)
{
	int fd;

	p->format = (enum format)o->format;
	p->show.command = command;
	p->show.intervals = o->count.interval != NOT_GIVEN;
	p->out = command ? p->io->err : p->io->out;
	/* Notices must not be mixed with this output. */
	p->silent = o->quiet || (p->format != TEXT && !o->output && command);
	if (!o->output)
		return 0;
	if (outfile_open(&p->file, o->output, false, err) < 0)
		return -err->code;
	p->output = o->output;
	/* The file is visible from the start, so that intervals can be followed
	 * (tail -f). */
	if (p->show.intervals && outfile_place(&p->file, err) < 0)
		return -err->code;
	fd = fcntl(p->file.fd, F_DUPFD_CLOEXEC, 3);
	p->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (p->out)
		return 0;
	if (fd >= 0)
		close(fd);
	return error_errno(err, errno, "cannot write %s", o->output);
}

/* Closes what printer_open opened.  rc is the result so far; the file is kept if
 * it is not negative. */
static int printer_close(struct printer *p, int rc, struct error *err)
{
	if (p->output && p->out && fclose(p->out) && rc >= 0)
		rc = error_errno(err, errno, "cannot write %s", p->output);
	if (p->output && rc >= 0 && outfile_close(&p->file, err) < 0)
		rc = -err->code;
	outfile_drop(&p->file);
	return rc;
}

static int check(const struct stat_opts *o, struct error *err)
{
	const struct opt_rule rules[] = {
		{ !o->count.repeat, "-r must be at least 1" },
		{ o->count.duration != NOT_GIVEN && !(o->count.duration > 0),
		  "--duration requires a time above 0" },
		{ o->count.interval != NOT_GIVEN && o->count.interval < 0.001,
		  "-I must be at least 1 millisecond" },
		{ o->count.interval > 1e6, "-I must be at most 1,000,000,000 milliseconds" },
		{ o->count.delay < 0 && !o->count.control,
		  "--delay -1 requires --control, to switch the counters on" },
	};

	return options_obey(rules, COUNT(rules), err);
}

typedef VEC(struct metric_use) metric_list;

/* Parses METRIC,METRIC… or none. */
static int parse_metrics(const struct stat_opts *o, metric_list *out,
			 bool *none, struct error *err)
{
	char word[METRIC_NAME_MAX];
	struct metric_use use;

	for (size_t i = 0; i < o->metrics.n; i++) {
		const char *s = o->metrics.v[i];

		for (;; s++) {
			size_t n = strcspn(s, ",");
			int r;

			if (n >= sizeof(word))
				return error_set(err, ERR_USAGE, "metric "
						 "\"%.20s…\" is longer than %d "
						 "characters", s,
						 METRIC_NAME_MAX - 1);
			memcpy(word, s, n);
			word[n] = 0;
			*none |= !strcmp(word, "none");
			r = strcmp(word, "none") ? metric_parse(word, &use, err)
						 : 1;
			if (r < 0)
				return r;
			if (!r && vec_push(out, use) < 0)
				return error_nomem(err);
			s += n;
			if (!*s)
				break;
		}
	}
	if (*none && out->n)
		return error_set(err, ERR_USAGE, "--metrics none excludes "
				 "other metrics");
	return 0;
}

/* Counts and prints.  *wait_status is that of the command's last run. */
static int count_and_print(struct printer *p, const struct count_options *co,
			   int *wait_status, struct error *err)
{
	struct count_result result;
	int r, status = 0;

	begin(p);
	r = count(co, &result, err);
	if (!r)
		r = finish(p, &result, err);
	if (result.exec_status) {
		cmd_notice(p->io, "%s", err->msg);
		r = 0;
		status = result.exec_status;
	} else if (!r && co->command) {
		*wait_status = result.runs.v[result.runs.n - 1].wait_status;
	}
	count_result_fini(&result);
	return r < 0 ? r : status;
}

static int stat_run(struct cmd_io *io, void *opts, int argc, char **argv,
		    struct error *err)
{
	struct stat_opts *o = opts;
	struct count_options *co = &o->count;
	struct event_list events = { 0 };
	metric_list metrics = { 0 };
	struct printer p = { .io = io, .file = { .fd = -1 } };
	struct busy busy = { 0 };
	int wait_status = 0;
	int r = check(o, err);

	co->command = argc > 0 ? argv : NULL;
	co->target.command = argc > 0;
	co->target.repeat = co->repeat;
	co->notice = notice;
	co->tick = tick;
	co->ctx = &p;
	if (!r)
		r = cmd_events(&o->events, &events, err);
	if (!r)
		r = parse_metrics(o, &metrics, &co->no_metrics, err);
	co->events = &events;
	co->metrics = metrics.v;
	co->nmetrics = metrics.n;
	if (!r)
		r = printer_open(&p, o, co->command, err);
	if (!r && o->keep_busy)
		r = busy_begin(&busy, err);
	if (!r)
		r = count_and_print(&p, co, &wait_status, err);
	busy_end(&busy);
	r = printer_close(&p, r, err);
	buf_fini(&p.text);
	vec_fini(&metrics);
	event_list_fini(&events);
	/* The command may have been killed by a signal, by which tally then ends,
	 * too. */
	return r ? r : cmd_pass_status(io, wait_status);
}

const struct command cmd_stat = {
	.name = "stat",
	.summary = "count events while a program runs",
	.args = "[--] [COMMAND [ARGS...]]",
	.opts = stat_opt_table,
	.opts_size = sizeof(struct stat_opts),
	.defaults = &(const struct stat_opts){
		.count = { .repeat = 1, .interval = NOT_GIVEN, .duration = NOT_GIVEN,
			   .inherit = true },
	},
	.stop_at_arg = true,
	.run = stat_run,
};
