// SPDX-License-Identifier: GPL-2.0-or-later
/* `tally record`: options, their checks, and the summary at the end. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/text.h"
#include "cmd/event_options.h"
#include "cmd/open.h"
#include "cmd/record_continuous.h"
#include "cmd/source_options.h"
#include "record/timer/program_kind.h"
#include "record/choose/sources.h"
#include "record/record.h"

struct record_opts {
	struct opt_strs events, debug_dirs;
	const char *control, *rotate, *max_size, *wait;
	const char *output, *callgraph, *vmlinux, *source, *embed_source;
	struct target_options target;
	bool inherit, user, kernel, symbols, graph, quiet,
	     verbose, runtime_env, force, latency, verify_stacks, keep_busy;
	uint64_t freq, period, repeat, max_files;
	double duration, delay;
	struct continuous_opts continuous;
};

#define NOT_GIVEN (UINT64_MAX - 1)
#define NO_END (-1.0)
#define AT(field) offsetof(struct record_opts, field)

static const struct opt record_opt_table[] = {
	OPT_TITLE("What to record"),
	TARGET_OPTION_ROWS(struct record_opts, target, inherit, "Record", "record", ""),
	OPT_TITLE("How to sample"),
	{ OPT_TAGGED, 'e', "event", "EVENT[,EVENT...]", AT(events),
	  "Sample these events; \"tally list\" lists them. May be repeated. "
	  "Default: cycles at the highest precision, or cpu-clock on a machine "
	  "without hardware counters." },
	{ OPT_TAGGED, 0, "filter", "EXPRESSION", AT(events),
	  "Sample the tracepoints of the last --event only if their fields "
	  "match: 'prev_pid > 100 && prev_comm == \"sh\"'." },
	{ OPT_RATE, 'F', "freq", "HZ|max", AT(freq),
	  "Sampling rate in Hz for each event and processor; max is the "
	  "highest rate the kernel allows. Default: 999." },
	{ OPT_UINT, 'c', "count", "PERIOD", AT(period),
	  "Take a sample every PERIOD events instead of at a rate." },
	{ OPT_FLAG, 'g', NULL, NULL, AT(graph),
	  "Record call stacks; the same as --call-graph=auto." },
	{ OPT_STR, 0, "call-graph", "auto|dwarf[,BYTES]|fp|none", AT(callgraph),
	  "How to record call stacks: auto and dwarf unwind a copy of the "
	  "stack (at most BYTES) with the program's unwind tables, or frame "
	  "pointers where there are none; fp follows frame pointers only. "
	  "Default: none." },
	{ OPT_FLAG, 0, "verify-stacks", NULL, AT(verify_stacks),
	  "With --source=kmod: also copy the stacks that the kernel module "
	  "unwinds, unwind the copies, and print how many stacks differ." },
	{ OPT_OPTSTR, 0, "wait", "all", AT(wait),
	  "Also record where threads wait and how long: the events blocked and "
	  "runnable (waiting for a processor), in nanoseconds; as root also "
	  "waking, what ended the waits. Implies -g. With all, the stacks of all "
	  "waits, even if that takes more than some 2 % of a processor." },
	{ OPT_FLAG, 0, "latency", NULL, AT(latency),
	  "Also record wall-clock time as the event latency: each moment is "
	  "divided among the running threads, or belongs to the wait that ends "
	  "first. Implies --wait." },
	{ OPT_FLAG, 0, "user", NULL, AT(user), "Sample user space only." },
	{ OPT_FLAG, 0, "kernel", NULL, AT(kernel), "Sample the kernel only." },
	KEEP_BUSY_OPTION_ROW(AT(keep_busy)),
	{ OPT_STR, 0, "source", "auto|perf|kmod|timer|ptrace", AT(source),
	  "Source of samples: perf events of the kernel, tally's kernel "
	  "module, or, unprivileged, timers inside the program or ptrace. "
	  "Default: auto, the best available source for the request; timers "
	  "for Python programs." },
	OPT_TITLE("When"),
	{ OPT_DELAY, 0, "delay", "TIME", AT(delay),
	  "Start sampling this long after the command starts: 500ms, 0.5s, 2m; "
	  "a number below 10 is in seconds." },
	{ OPT_SECONDS, 0, "duration", "TIME", AT(duration),
	  "End the recording after this time (500ms, 10s, 2m; a number is in "
	  "seconds), and end the command with SIGTERM." },
	{ OPT_UINT, 0, "repeat", "N", AT(repeat),
	  "Run the command N times and store each run separately in one "
	  "file." },
	{ OPT_STR, 0, "control", "fifo:FIFO[,FIFO]|fd:N[,N]", AT(control),
	  "Read commands from a FIFO or descriptor: enable, disable (both also "
	  "with an event), snapshot, stop, ping, evlist; the second one "
	  "receives \"ack\" for each. --delay -1 starts switched off." },
	OPT_TITLE("Output"),
	{ OPT_STR, 'o', "output", "FILE", AT(output),
	  "Write to FILE; an existing recording is renamed to FILE.old. "
	  "Default: profile.tally." },
	{ OPT_OPTSTR, 0, "switch-output", "signal|SIZE|TIME", AT(rotate),
	  "Continue in another file on SIGUSR2 and \"snapshot\", at a size "
	  "(100M) or after a time (30s, 5m); finished files are named "
	  "FILE.TIME. Default: signal." },
	{ OPT_UINT, 0, "switch-max-files", "N", AT(max_files),
	  "Keep only the last N finished files." },
	{ OPT_STRS, 0, "label", "NAME=VALUE", AT(continuous.send.labels),
	  "Store this label in the recording, for -s label and --label of "
	  "other commands and for servers (may be repeated)." },
	{ OPT_STR, 0, "max-size", "SIZE", AT(max_size),
	  "End the recording when the file reaches this size (10M, 1G), not "
	  "counting symbols." },
	OPT_ROW_FORCE(AT(force)),
	{ OPT_STR, 'k', "vmlinux", "FILE", AT(vmlinux),
	  "ELF file of the kernel with debug information. Default: found by "
	  "build ID." },
	{ OPT_NOFLAG, 0, "no-symbols", NULL, AT(symbols),
	  "Do not symbolize; the first reader or \"tally symbolize\" does "
	  "it." },
	EMBED_OPTION_ROW(AT(embed_source),
		"Store the source lines of hot functions, so that \"tally "
		"annotate\" can show them anywhere."),
	DEBUG_DIR_ROW("", AT(debug_dirs)),
	OPT_ROW_QUIET(AT(quiet)),
	{ OPT_FLAG, 'v', "verbose", NULL, AT(verbose),
	  "Print more about the recording when it ends." },
	{ OPT_NOFLAG, 0, "no-runtime-env", NULL, AT(runtime_env),
	  "Do not set NODE_OPTIONS, ERL_FLAGS, DOTNET_PerfMapEnabled or "
	  "PYTHONPERFSUPPORT for programs that need it to name their functions." },
	CONTINUOUS_OPTION_ROWS(struct record_opts, continuous),
	OPT_END
};

static void progress(void *ctx, const char *text)
{
	struct cmd_messages *s = ctx;

	if (!s->quiet && s->io->progress)
		s->io->progress(s->io, text);
}

static int parse_source(const char *text, const struct source_type **out,
			struct error *err)
{
	struct buf names = { 0 };

	*out = source_find(text);
	if (*out || !strcmp(text, "auto"))
		return 0;
	source_names(&names);
	error_set(err, ERR_USAGE, "--source must be %s, not \"%s\"",
		  buf_cstr(&names), text);
	buf_fini(&names);
	return -ERR_USAGE;
}

/* Parses the value of dwarf,BYTES. */
static int copy_size(const char *text, uint32_t *bytes, struct error *err)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' ||
	    n < SOURCE_COPY_MIN || n > SOURCE_COPY_MAX)
		return error_set(err, ERR_USAGE, "--call-graph=dwarf,BYTES "
				 "takes %d to %d bytes, not \"%s\"",
				 SOURCE_COPY_MIN, SOURCE_COPY_MAX, text);
	*bytes = (uint32_t)((n + 7) & ~7ull);
	return 0;
}

static int call_graph(const struct record_opts *o, struct record_options *ro,
		      struct error *err)
{
	bool graph = o->graph || o->wait || o->latency ||
		     continuous_asked(&o->continuous);
	const char *how = o->callgraph ? o->callgraph : graph ? "auto" : "none";

	ro->callchain = strcmp(how, "none") != 0;
	ro->copy_stacks = !strcmp(how, "auto") || !strncmp(how, "dwarf", 5);
	ro->verify_stacks = o->verify_stacks;
	if (o->verify_stacks && (!ro->copy_stacks ||
	    !ro->source || ro->source != source_find("kmod")))
		return error_set(err, ERR_USAGE, "--verify-stacks is for stacks "
				 "that the kernel module unwinds: "
				 "--source=kmod -g");
	if (!strncmp(how, "dwarf,", 6))
		return copy_size(how + 6, &ro->copy_bytes, err);
	if (strcmp(how, "auto") && strcmp(how, "dwarf") && strcmp(how, "fp") &&
	    strcmp(how, "none"))
		return error_set(err, ERR_USAGE, "--call-graph must be auto, "
				 "dwarf, dwarf,BYTES, fp or none, not \"%s\"",
				 how);
	return 0;
}

/* Enables sampling of a Python, PHP or Ruby program's own functions if no event was
 * requested.  They appear in call stacks only. */
static void interpreted_program(const struct record_opts *o,
			   struct record_options *ro)
{
	bool fits = !ro->source || ro->source->frames_of_launched ||
		    ro->source->frames_of_running;
	bool may = fits && !ro->latency &&
		   !ro->events->n && !ro->tids && !ro->cpus &&
		   !ro->cgroup && !ro->all_cpus && !ro->kernel_only &&
		   (ro->callchain || !o->callgraph);

	ro->python = may &&
		     (ro->pids ? !ro->command && processes_are_python(ro->pids)
			       : ro->command && program_is_python(ro->command));
	may &= !ro->waits && !ro->pids && ro->command &&
	       (!ro->source || ro->source->frames_of_launched);
	ro->language = ro->python ? "Python"
		       : may && program_is_php(ro->command) ? "PHP"
		       : may && program_is_ruby(ro->command) ? "Ruby" : NULL;
	if (ro->language && !o->callgraph)
		ro->callchain = ro->copy_stacks = true;
}

enum { SETTING_MAX = 600 };	/* room in launch_start, beside a source's settings */

/* A runtime that names its functions if a variable of its environment says so. */
struct runtime_env {
	bool (*runs)(char *const *command);
	const char *name, *value;
	const char *own;	/* the user's value is extended unless it contains this;
				 * NULL: it is kept */
	bool in_command;	/* the command's arguments may also contain it */
	const char *gives;
};

static const struct runtime_env runtimes[] = {
	{ program_runs_node, "NODE_OPTIONS", PROGRAM_NODE_OPTIONS, "--perf-", true,
	  "JavaScript functions" },
	{ program_is_erlang, "ERL_FLAGS", PROGRAM_ERLANG_FLAGS, "+JPperf", false,
	  "Erlang functions" },
	{ program_is_dotnet, "DOTNET_PerfMapEnabled", "3", NULL, false,
	  ".NET methods" },
	{ program_is_python, "PYTHONPERFSUPPORT", "1", NULL, false,
	  "Python functions (3.12 and later)" },
};

/* Returns whether the user has already decided about the runtime's names. */
static bool user_decided(const struct runtime_env *r, char *const *command)
{
	const char *old = getenv(r->name);

	for (; r->in_command && *command; command++)
		if (strstr(*command, r->own))
			return true;
	return old && (!r->own || strstr(old, r->own));
}

/* Appends an environment setting that makes the command's runtime name its
 * functions.  Appends nothing if there is none or the user has set it already. */
static void runtime_setting(const struct record_opts *o,
			    struct record_options *ro, struct buf *out)
{
	bool python = !ro->python && ro->callchain &&
		      (!ro->source || ro->source->sees_kernel);
	const struct runtime_env *r = NULL;
	char text[SETTING_MAX + 128];
	const char *old;

	if (!o->runtime_env || !ro->command || ro->kernel_only)
		return;
	for (size_t i = 0; i < COUNT(runtimes) && !r; i++)
		if ((python || runtimes[i].runs != program_is_python) &&
		    runtimes[i].runs(ro->command))
			r = &runtimes[i];
	if (!r || user_decided(r, ro->command))
		return;
	old = getenv(r->name);
	buf_printf(out, "%s=%s%s%s", r->name, old ? old : "", old && *old ? " " : "",
		   r->value);
	if (out->n > SETTING_MAX || out->failed) {
		buf_reset(out);
		return;
	}
	ro->setting = buf_cstr(out);
	snprintf(text, sizeof(text), "setting %s for the command, to name its "
		 "%s (--no-runtime-env turns this off)", ro->setting, r->gives);
	cmd_message(ro->ctx, text);
}

static int check(const struct record_opts *o, struct error *err)
{
	bool waits = o->wait || o->latency;
	const struct opt_rule rules[] = {
		{ o->continuous.config, "--config must be the first option" },
		{ !o->freq, "-F requires a rate above 0" },
		{ !o->period, "-c requires a period above 0" },
		{ o->freq != NOT_GIVEN && o->period != NOT_GIVEN,
		  "-F and -c exclude each other: use either a rate or a period" },
		{ o->output && !strcmp(o->output, "-"),
		  "-o -: standard output belongs to the command: name a file" },
		{ o->delay < 0 && !o->control,
		  "--delay -1 requires --control, to switch sampling on" },
		{ o->wait && *o->wait && strcmp(o->wait, "all"),
		  "--wait has only one value, --wait=all" },
		{ waits && o->callgraph && !strcmp(o->callgraph, "none"),
		  "--call-graph=none cannot be combined with --wait, which records "
		  "call stacks" },
		{ waits && o->target.cpus,
		  "--wait and -C exclude each other: time on other processors would "
		  "count as waiting" },
		{ o->latency && o->control,
		  "--latency and --control exclude each other: time without sampling "
		  "cannot be divided among threads" },
		{ o->duration != NO_END && !(o->duration > 0),
		  "--duration requires a time above 0" },
		{ !o->repeat, "--repeat must be at least 1" },
	};
	int rc = options_obey(rules, COUNT(rules), err);

	if (!rc && o->vmlinux && access(o->vmlinux, R_OK) != 0)
		rc = error_errno(err, errno, "--vmlinux %s", o->vmlinux);
	return rc || continuous_asked(&o->continuous)
	       ? rc : continuous_check_unused(&o->continuous, err);
}

static int rotation(const struct record_opts *o, struct record_options *ro,
		    struct error *err)
{
	struct record_switch *t = &ro->rotate;
	double seconds;
	bool bare;

	if (o->max_size && !size_parse(o->max_size, &ro->max_bytes))
		return error_set(err, ERR_USAGE, "--max-size '%s': not a size; "
				 "use for example 512K, 10M or 1G",
				 o->max_size);
	t->max_files = o->max_files;
	t->on = o->rotate != NULL;
	if (!t->on)
		return !o->max_files ? 0
		       : error_set(err, ERR_USAGE, "--switch-max-files "
				   "requires --switch-output");
	if (o->repeat > 1)
		return error_set(err, ERR_USAGE, "--switch-output and --repeat "
				 "exclude each other");
	t->by_signal = !*o->rotate || !strcmp(o->rotate, "signal");
	if (t->by_signal || size_parse(o->rotate, &t->bytes))
		return 0;
	if (!duration_parse(o->rotate, strlen(o->rotate), &seconds, &bare) ||
	    bare || seconds < 0.01 || seconds > 1e9)
		return error_set(err, ERR_USAGE, "--switch-output '%s': use "
				 "signal, a size (512K, 100M, 1G) or a time "
				 "(30s, 5m, 1h)", o->rotate);
	t->every_ns = (uint64_t)(seconds * 1e9);
	return 0;
}

static void summary(struct cmd_io *io, const char *output, bool verbose,
		    const struct record_result *r)
{
	struct buf b = { 0 };

	text_count(&b, r->samples);
	buf_printf(&b, " sample%s", plural(r->samples, "s"));
	if (r->lost) {
		buf_str(&b, ", ");
		text_count(&b, r->lost);
		buf_str(&b, " lost");
	}
	if (r->throttled)
		buf_printf(&b, ", throttled %llu times",
			   (unsigned long long)r->throttled);
	if (r->runs != 1)
		buf_printf(&b, ", %llu runs", (unsigned long long)r->runs);
	if (r->files) {
		buf_printf(&b, " in %llu file%s, the last is ",
			   (unsigned long long)r->files, plural(r->files, "s"));
		text_safe(&b, r->last);
	} else {
		buf_str(&b, " in ");
		text_safe(&b, output);
	}
	buf_printf(&b, " (%.1f KB)", (double)r->bytes / 1024);
	fprintf(io->err, "tally: %s\n", buf_cstr(&b));
	if (verbose)
		fprintf(io->err, "tally: %llu records arrived late, %llu "
			"bytes of "
			"the rings were damaged\n",
			(unsigned long long)r->late,
			(unsigned long long)r->damaged);
	buf_fini(&b);
}

/* Says so if the frames that the recording was to show could not be read.  A few
 * samples may all be from the start or end of the interpreter. */
static void no_interpreted(struct cmd_io *io, const struct record_options *ro,
			   const struct record_result *r)
{
	enum { FEW = 20 };

	if (ro->language && r->samples > FEW && !r->interpreted)
		fprintf(io->err, "tally: no sample has %s functions: %s\n",
			ro->language, ro->python
			? "tally reads CPython 3.8 to 3.15, but no free-threaded builds"
			: !strcmp(ro->language, "PHP")
			? "tally reads PHP 8.2 and 8.4, but no builds with threads"
			: "tally reads Ruby 3.1");
}

/* Appends tally's own command line, as far as the options contain it. */
static void arguments(struct buf *out)
{
	char *argv[2] = { NULL, NULL }, text[65536];
	FILE *f = fopen("/proc/self/cmdline", "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = 0;
	for (size_t i = 0; i < n; i += strlen(text + i) + 1) {
		if (i)
			buf_u8(out, ' ');
		argv[0] = text + i;
		shell_quote(out, argv);
	}
}

/* Owns what record_options point to. */
struct prepared {
	struct event_list events;
	struct source_access sources;
	struct buf args, dirs, setting;
	struct cmd_push labels;
	VEC(struct record_label) stored;
};

static void prepared_fini(struct prepared *p)
{
	event_list_fini(&p->events);
	source_access_fini(&p->sources);
	buf_fini(&p->args);
	buf_fini(&p->dirs);
	buf_fini(&p->setting);
	cmd_push_fini(&p->labels);
	vec_fini(&p->stored);
}

static int prepare_labels(const struct record_opts *o, struct prepared *p,
			  struct record_options *ro, struct error *err)
{
	int r = cmd_push_labels(&o->continuous.send, &p->labels, err);

	for (size_t i = 0; !r && i < p->labels.labels.n; i++)
		if (vec_push(&p->stored, (struct record_label){
			    p->labels.labels.v[i].name,
			    p->labels.labels.v[i].value }))
			r = error_nomem(err);
	ro->labels = p->stored.v;
	ro->nlabels = p->stored.n;
	return r;
}

/* Completes the options that need parsing or memory. */
static int prepare(struct record_opts *o, struct prepared *p,
		   struct record_options *ro, struct error *err)
{
	int r = cmd_embed(o->embed_source, &p->sources, err);

	if (!r)
		r = check(o, err);
	if (!r)
		r = prepare_labels(o, p, ro, err);
	if (!r)
		r = parse_source(o->source, &ro->source, err);
	if (!r)
		r = call_graph(o, ro, err);
	if (!r)
		r = rotation(o, ro, err);
	if (!r)
		r = cmd_events(&o->events, &p->events, err);
	if (!r)
		r = cmd_debug_dirs(&o->debug_dirs, &p->dirs, err);
	if (!r) {
		interpreted_program(o, ro);
		runtime_setting(o, ro, &p->setting);
	}
	arguments(&p->args);
	ro->arguments = buf_cstr(&p->args);
	ro->debug_dirs = buf_cstr(&p->dirs);
	return r;
}

static int record_run_cmd(struct cmd_io *io, void *opts, int argc, char **argv,
			  struct error *err)
{
	struct record_opts *o = opts;
	struct cmd_messages messages = { io, o->quiet };
	struct prepared p = { .stored = { 0 } };
	struct record_result result = { 0 };
	struct busy busy = { 0 };
	bool continuous = continuous_asked(&o->continuous);
	struct record_options ro = {
		.output = o->output ? o->output : "profile.tally", .force = o->force,
		.command = argc > 0 ? argv : NULL,
		.pids = o->target.pids, .tids = o->target.tids, .cpus = o->target.cpus,
		.cgroup = o->target.cgroup, .vmlinux = o->vmlinux,
		.all_cpus = o->target.all_cpus, .inherit = o->inherit,
		.descendants = o->target.descendants,
		.user_only = o->user, .kernel_only = o->kernel,
		.waits = o->wait || o->latency, .latency = o->latency,
		.each_wait = o->wait && *o->wait,
		.symbols = o->symbols,
		.embed_source = o->embed_source ? &p.sources : NULL,
		.events = &p.events,
		.freq = o->freq != NOT_GIVEN ? o->freq
			: continuous ? CONTINUOUS_RATE : 999,
		.default_rate = o->freq == NOT_GIVEN && o->period == NOT_GIVEN,
		.period = o->period == NOT_GIVEN ? 0 : o->period,
		.repeat = o->repeat,
		.duration = o->duration == NO_END ? 0 : o->duration,
		.delay = o->delay,
		.control = o->control,
		.version = PACKAGE_VERSION, .notice = cmd_message,
		.progress = io->err_tty ? progress : NULL, .ctx = &messages,
	};
	int r = prepare(o, &p, &ro, err);

	if (!r && o->keep_busy)
		r = busy_begin(&busy, err);
	if (!r)
		r = continuous ? continuous_record(io, &o->continuous, &ro,
						   o->output, err)
			       : record(&ro, &result, err);
	busy_end(&busy);
	prepared_fini(&p);
	if (r < 0 && !result.exec_status)
		return r;
	if (result.exec_status) {
		cmd_notice(io, "%s", err->msg);
		return result.exec_status;
	}
	if (!o->quiet && !continuous) {
		summary(io, ro.output, o->verbose, &result);
		no_interpreted(io, &ro, &result);
	}
	return ro.command ? cmd_pass_status(io, result.wait_status) : 0;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "sample a program or running processes and write a "
			"recording",
	.args = "[--] [COMMAND [ARGS...]]",
	.opts = record_opt_table,
	.opts_size = sizeof(struct record_opts),
	.defaults = &(const struct record_opts){
		.continuous = CONTINUOUS_DEFAULTS, .source = "auto",
		.freq = NOT_GIVEN, .period = NOT_GIVEN, .duration = NO_END, .repeat = 1,
		.inherit = true, .symbols = true, .runtime_env = true,
	},
	.stop_at_arg = true,
	.run = record_run_cmd,
};
