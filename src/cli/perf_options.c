// SPDX-License-Identifier: GPL-2.0-or-later
/* The options and commands of perf that tally recognizes: see perf_options.h. */
#include "cli/perf_options.h"

#include <string.h>

#include "base/vec.h"

#define ALWAYS NULL, NULL, NULL
#define HINT(text) NULL, NULL, text
#define NO_BRANCHES HINT("branch stacks (LBR) are not recorded; -g records " \
			 "call stacks without them")
#define NO_DATA HINT("addresses of data are not recorded, only those of code")
#define NO_REGS HINT("registers are not kept; -g unwinds stacks with them " \
		     "while recording")
#define OWN_RINGS HINT("buffer sizes follow from the memory that may be " \
		       "locked; \"tally doctor\" shows how to allow more")
#define NO_TRACE HINT("processor traces (Intel PT, CoreSight) are not " \
		      "recorded")
#define NO_TYPES HINT("data types are not supported")
#define NO_TPEBS HINT("retire latencies are not recorded while counting")
#define OWN_LINES HINT("lines and inlined functions are in the recording")
#define NO_GTK HINT("--html writes a page for the browser; \"tally report\" is the " \
		    "interactive view on a terminal")
#define ALL_WAITS HINT("--wait records waits of any length")
#define MODES HINT("-s symbol --samples shows numbers; kernel and user space " \
		   "have separate rows")
#define LOOK "report annotate diff"

const struct perf_option perf_options[] = {
	/* for record and stat */
	{ "record stat", 'D', "delay", 'y', "delay", NULL, NULL },
	{ "record stat", 'G', NULL, 'y', "cgroup", NULL, NULL },
	{ "record stat", 'i', NULL, 'n', "no-inherit", NULL, NULL },
	{ "record stat", 0, "all-user", 'n', "user", NULL, NULL },
	{ "record stat", 0, "all-kernel", 'n', "kernel", NULL, NULL },
	{ "record stat", 0, "for-each-cgroup", 'y', HINT("record or count one "
	  "control group at a time: --cgroup PATH") },
	{ "record stat", 0, "group", 'n', HINT("write events of a group in "
	  "braces: -e '{cycles,instructions}'") },
	{ "record", 'u', "uid", 'y', HINT("name the processes: -p $(pgrep -d, "
	  "-u USER)") },
	{ "record", 0, "user-callchains", 'n', HINT("--user samples user space "
	  "only") },
	{ "record", 0, "kernel-callchains", 'n', HINT("--kernel samples the "
	  "kernel only") },
	{ "record", 'T', "timestamp", 'n', ALWAYS },
	{ "record", 'P', "period", 'n', ALWAYS },
	{ "record", 'B', "no-buildid", 'n', ALWAYS },
	{ "record", 'N', "no-buildid-cache", 'n', ALWAYS },
	{ "record", 0, "buildid", 'n', ALWAYS },
	{ "record stat", 0, "inherit", 'n', ALWAYS },
	{ "record", 'z', "compression-level", 'o', ALWAYS },
	{ "record", 0, "sample-cpu", 'n', ALWAYS },
	{ "record", 0, "sample-identifier", 'n', ALWAYS },
	{ "record", 0, "buildid-all", 'n', ALWAYS },
	{ "record", 0, "buildid-mmap", 'n', ALWAYS },
	{ "record", 0, "timestamp-boundary", 'n', ALWAYS },
	{ "record", 0, "kcore", 'n', ALWAYS },
	{ "record", 0, "no-buffering", 'n', ALWAYS },
	{ "record", 0, "tail-synthesize", 'n', ALWAYS },
	{ "record", 0, "synth", 'y', ALWAYS },
	{ "record", 0, "num-thread-synthesize", 'y', ALWAYS },
	{ "record", 0, "proc-map-timeout", 'y', ALWAYS },
	{ "record", 0, "affinity", 'y', ALWAYS },
	{ "record", 0, "aio", 'o', ALWAYS },
	{ "record", 0, "threads", 'o', ALWAYS },
	{ "record", 0, "mmap-flush", 'y', ALWAYS },
	{ "record", 'm', "mmap-pages", 'y', OWN_RINGS },
	{ "record", 'r', "realtime", 'y', HINT("run it with chrt -f PRIORITY "
	  "tally record ...") },
	{ "record", 'b', "branch-any", 'n', NO_BRANCHES },
	{ "record", 'j', "branch-filter", 'y', NO_BRANCHES },
	{ "record", 'd', "data", 'n', NO_DATA },
	{ "record", 0, "data-mmap", 'n', NO_DATA },
	{ "record", 0, "sample-mem-info", 'n', NO_DATA },
	{ "record", 0, "phys-data", 'n', NO_DATA },
	{ "record", 0, "data-page-size", 'n', NO_DATA },
	{ "record", 0, "code-page-size", 'n', HINT("sizes of pages are not "
	  "recorded") },
	{ "record", 'W', "weight", 'n', HINT("latencies of loads are not "
	  "recorded") },
	{ "record", 0, "transaction", 'n', HINT("transactions are not "
	  "recorded") },
	{ "record", 'I', "intr-regs", 'o', NO_REGS },
	{ "record", 0, "user-regs", 'o', NO_REGS },
	{ "record", 'R', "raw-samples", 'n', HINT("fields of tracepoints are "
	  "not stored; --filter selects samples by them") },
	{ "record", 'n', "no-samples", 'n', HINT("\"tally stat\" counts "
	  "without samples") },
	{ "record", 's', "stat", 'n', HINT("\"tally stat -t TID\" counts in "
	  "single threads; \"tally report -s tid\" shows samples by thread") },
	{ "record", 'S', "snapshot", 'o', NO_TRACE },
	{ "record", 0, "aux-sample", 'o', NO_TRACE },
	{ "record", 'k', "clockid", 'y', HINT("times are always of "
	  "CLOCK_MONOTONIC") },
	{ "record", 0, "clang-path", 'y', HINT("BPF sources are not events") },
	{ "record", 0, "clang-opt", 'y', HINT("BPF sources are not events") },
	{ "record", 0, "off-cpu", 'n', "wait", NULL, NULL },
	{ "record", 0, "off-cpu-thresh", 'y', ALL_WAITS },
	{ "record", 0, "switch-events", 'n', "wait", NULL, NULL },
	{ "record", 0, "switch-output-event", 'y', HINT("--switch-output takes "
	  "a size, a time or \"signal\"; --control takes \"snapshot\"") },
	{ "record", 0, "namespaces", 'n', HINT("processes are distinguished by "
	  "PID; -p and --cgroup select those of a container") },
	{ "record", 0, "all-cgroups", 'n', HINT("--cgroup PATH records one "
	  "control group") },
	{ "record", 0, "no-bpf-event", 'n', HINT("BPF programs are always "
	  "named where they are sampled") },
	{ "record", 0, "per-thread", 'n', HINT("threads are always "
	  "distinguished; -t TID --no-inherit records single threads") },
	{ "record", 0, "running-time", 'n', HINT("\"tally info\" shows how "
	  "long each event ran") },
	{ "record", 0, "strict-freq", 'n', HINT("an unavailable rate is "
	  "lowered with a note; \"tally doctor\" shows the limit") },
	{ "record", 0, "exclude-perf", 'n', HINT("\"tally report --comm\" "
	  "selects programs; tally itself is named tally") },
	{ "record", 0, "dry-run", 'n', HINT("\"tally doctor\" shows what would "
	  "work") },
	{ "record", 0, "debuginfod", 'o', HINT("\"tally symbolize\" adds debug "
	  "information later, --debug-dir now") },
	{ "record", 0, "timestamp-filename", 'n', HINT("use -o "
	  "\"profile.$(date +%F-%T).tally\"; --switch-output does this by "
	  "itself") },
	{ "record", 0, "setup-filter", 'y', HINT("BPF filters are not "
	  "supported") },
	{ "record", 0, "overwrite", 'n', HINT("--switch-output=10s "
	  "--switch-max-files 2 keeps the last seconds only") },
	{ "record", 0, "latency", 'n', "latency", NULL, NULL },

	{ "stat", 0, "timeout", 'y', "duration", NULL, NULL },
	{ "stat", 0, "interval-print", 'y', "interval", NULL, NULL },
	{ "stat", 'M', NULL, 'y', "metrics", NULL, NULL },
	{ "stat", 'j', "json-output", 'n', "format", "json", NULL },
	{ "stat", 'x', "field-separator", 'y', "format", "csv", NULL },
	{ "stat", 0, "metric-no-group", 'n', "no-group", NULL, NULL },
	{ "stat", 0, "metric-no-threshold", 'n', ALWAYS },
	{ "stat", 0, "record-tpebs", 'n', NO_TPEBS },
	{ "stat", 0, "tpebs-mode", 'y', NO_TPEBS },
	{ "stat", 0, "affinity", 'n', ALWAYS },
	{ "stat", 0, "no-affinity", 'n', ALWAYS },
	{ "stat", 0, "hide-zero-events", 'n', HINT("-e EVENT,EVENT chooses "
	  "events; --format=json is for selecting afterwards") },
	{ "stat", 0, "pmu-filter", 'y', HINT("name the unit: -e "
	  "cpu_core/cycles/; --no-merge shows each unit") },
	{ "stat", 0, "metric-no-merge", 'n', "no-merge", NULL, NULL },
	{ "stat", 'A', "no-aggr", 'n', HINT("-C CPU counts on one processor; "
	  "--no-merge shows each unit") },
	{ "stat", 'B', "big-num", 'n', ALWAYS },
	{ "stat", 0, "no-big-num", 'n', HINT("--format=csv has plain numbers") },
	{ "stat", 0, "scale", 'n', ALWAYS },
	{ "stat", 0, "no-scale", 'n', HINT("--format=json has the raw count "
	  "and how long it ran") },
	{ "stat", 0, "hybrid-merge", 'n', ALWAYS },
	{ "stat", 'v', "verbose", 'n', ALWAYS },
	{ "stat", 0, "summary", 'n', ALWAYS },
	{ "stat", 0, "no-csv-summary", 'n', ALWAYS },
	{ "stat", 'd', "detailed", 'n', HINT("name the events: -e L1-dcache-"
	  "loads,L1-dcache-load-misses; \"tally list\" shows them") },
	{ "stat", 'g', NULL, 'n', HINT("write events of a group in braces: -e "
	  "'{cycles,instructions}'") },
	{ "stat", 'n', "null", 'n', HINT("-e task-clock --metrics none counts "
	  "almost nothing") },
	{ "stat", 'S', "sync",
	  'n', HINT("run it first: sync; tally stat ...") },
	{ "stat", 'T', "transaction", 'n', HINT("transactions are not "
	  "counted") },
	{ "stat", 0, "append", 'n', HINT("-o /dev/stdout >>FILE appends") },
	{ "stat", 0, "log-fd", 'y', HINT("-o /dev/fd/N writes there") },
	{ "stat", 0, "cputype", 'y', HINT("name the unit: -e cpu_core/cycles/; "
	  "--no-merge shows each kind of core") },
	{ "stat", 0, "interval-clear", 'n', HINT("\"watch\" clears the "
	  "screen") },
	{ "stat", 0, "interval-count", 'y', HINT("--duration TIME ends it") },
	{ "stat", 0, "metric-only", 'n', HINT("--format=json has the metrics "
	  "separately") },
	{ "stat", 0, "per-core", 'n', HINT("-C CPU,CPU counts on the "
	  "processors of one core") },
	{ "stat", 0, "per-die", 'n', HINT("-C counts on the processors of one "
	  "die") },
	{ "stat", 0, "per-socket", 'n', HINT("-C counts on the processors of "
	  "one socket; --no-merge shows each uncore unit") },
	{ "stat", 0, "per-node", 'n', HINT("-C counts on the processors of one "
	  "node") },
	{ "stat", 0, "per-cache", 'o', HINT("-C counts on the processors of "
	  "one cache") },
	{ "stat", 0, "per-cluster", 'n', HINT("-C counts on the processors of "
	  "one cluster") },
	{ "stat", 0, "per-thread", 'n', HINT("-t TID counts in one thread") },
	{ "stat", 0, "percore-show-thread", 'n', HINT("-C CPU counts on one "
	  "processor") },
	{ "stat", 0, "pre", 'y', HINT("-- sh -c 'PREPARE; exec PROGRAM' runs "
	  "it first, and counts it, too") },
	{ "stat", 0, "post", 'y', HINT("-- sh -c 'PROGRAM; AFTER' runs it "
	  "afterwards, and counts it, too") },
	{ "stat", 0, "table", 'n', HINT("--format=json has each run") },
	{ "stat", 0, "topdown", 'n', HINT("\"tally list metrics\" shows what "
	  "can be computed here") },
	{ "stat", 0, "td-level", 'y', HINT("\"tally list metrics\" shows what "
	  "can be computed here") },
	{ "stat", 0, "iostat", 'o', HINT("\"tally list metrics\" shows what "
	  "can be computed here") },
	{ "stat", 0, "smi-cost", 'n', HINT("-e msr/smi/ counts them") },
	{ "stat", 0, "bpf-counters", 'n', HINT("events are counted without "
	  "BPF") },
	{ "stat", 0, "bpf-attr-map", 'o', HINT("events are counted without "
	  "BPF") },
	{ "stat", 'b', "bpf-prog", 'y', HINT("BPF programs are not counted "
	  "separately; \"tally record -a\" samples them by name") },

	/* for report, annotate and diff */
	{ "report diff", 'd', "dsos", 'y', "image", NULL, NULL },
	{ "report diff", 'S', "symbols", 'y', "symbol", NULL, NULL },
	{ "report", 0, "symbol-filter", 'y', "symbol", NULL, NULL },
	{ "report", 'c', "comms", 'y', "comm", NULL, NULL },
	{ "diff", 0, "comms", 'y', "comm", NULL, NULL },
	{ "diff", 0, "dso", 'y', "image", NULL, NULL },
	{ "report", 'G', "inverted", 'n', "call-graph", "callees", NULL },
	{ "report", 0, "stdio", 'n', "no-tui", NULL, NULL },
	{ "report", 0, "stdio2", 'n', "no-tui", NULL, NULL },
	{ "report annotate", 0, "stdio-color", 'o', "color", NULL, NULL },
	{ "report", 0, "show-nr-samples", 'n', "samples", NULL, NULL },
	{ "annotate", 0, "show-nr-samples", 'n', "samples", NULL, NULL },
	{ "report", 0, "samples", 'y', HINT("it shows numbers; \"tally dump\" "
	  "shows each sample") },
	{ "report", 0, "column-widths", 'y', HINT("-w COLUMNS cuts whole "
	  "lines") },
	{ "report", 0, "full-source-path", 'n', "full-names", NULL, NULL },
	{ "annotate", 'P', "full-paths", 'n', "full-names", NULL, NULL },
	{ "annotate", 0, "disassembler-style", 'y', "syntax", NULL, NULL },
	{ "annotate", 0, "no-source", 'n', "asm", NULL, NULL },
	{ LOOK, 'f', "force", 'n', ALWAYS },
	{ LOOK, 'q', "quiet", 'n', ALWAYS },
	{ LOOK, 'v', "verbose", 'n', ALWAYS },
	{ "annotate", 0, "stdio", 'n', ALWAYS },
	{ "annotate", 0, "stdio2", 'n', ALWAYS },
	{ "annotate", 'l', "print-line", 'n', ALWAYS },
	{ "annotate", 0, "skip-missing", 'n', ALWAYS },
	{ "annotate", 0, "skip-empty", 'n', ALWAYS },
	{ "report annotate", 0, "demangle", 'n', ALWAYS },
	{ "report annotate", 0, "no-demangle", 'n', HINT("\"tally dump\" shows "
	  "mangled names") },
	{ "report annotate", 0, "demangle-kernel", 'n', ALWAYS },
	{ "report annotate", 0, "ignore-vmlinux", 'n', ALWAYS },
	{ "report", 0, "header", 'n', ALWAYS },
	{ "report", 0, "skip-empty", 'n', ALWAYS },
	{ "report annotate", 0, "gtk", 'n', NO_GTK },
	{ "report", 0, "no-source", 'n', ALWAYS },
	{ "annotate", 0, "tui", 'n', HINT("\"tally report\" is the "
	  "interactive view; key a annotates a function there") },
	{ "report annotate", 'k', "vmlinux", 'y', HINT("\"tally symbolize "
	  "--help\": it adds a kernel's symbols to a recording") },
	{ LOOK, 0, "kallsyms", 'y', HINT("a recording contains the symbols of "
	  "the recorded kernel") },
	{ LOOK, 'm', "modules", 'n', HINT("a recording contains the symbols of "
	  "modules") },
	{ LOOK, 0, "symfs", 'y', HINT("a recording contains its symbols; "
	  "--debug-dir DIR finds debug files") },
	{ LOOK, 'D', "dump-raw-trace", 'n', HINT("\"tally dump\" shows every "
	  "record") },
	{ "report annotate", 0, "group", 'n', HINT("events are shown one after "
	  "the other; -e EVENT selects one") },
	{ "report", 0, "group-sort-idx",
	  'y', HINT("-e EVENT selects an event") },
	{ "report annotate", 0, "itrace", 'o', NO_TRACE },
	{ "report annotate", 0, "objdump", 'y', HINT("tally disassembles the "
	  "code in the recording itself (annotate --asm)") },
	{ "report annotate", 0, "addr2line", 'y', OWN_LINES },
	{ "report", 0, "addr2line-style", 'y', OWN_LINES },
	{ "report", 0, "unwind-style", 'y', HINT("stacks are unwound while "
	  "recording") },
	{ "report annotate", 0, "asm-raw", 'n', HINT("bytes of instructions "
	  "are not shown; annotate --asm shows their addresses") },
	{ "report annotate", 0, "no-asm-raw", 'n', ALWAYS },
	{ "report annotate", 0, "prefix", 'y', HINT("--source-map FROM=TO sets "
	  "the location of sources") },
	{ "report annotate", 0, "prefix-strip", 'y', HINT("--source-map "
	  "FROM=TO sets the location of sources") },
	{ "report annotate", 0, "percent-type", 'y', HINT("percentages are "
	  "relative to the selected samples (annotate: also to the whole "
	  "recording)") },
	{ "report diff", 0, "percentage", 'y', HINT("percentages are relative "
	  "to the samples selected by --comm, --pid, --tid and --time; --image "
	  "and --symbol do not change them") },
	{ "report annotate", 0, "show-total-period", 'n', HINT("--samples "
	  "shows numbers; --format=json has weights") },
	{ "annotate", 's', "symbol", 'y', HINT("omit the option: tally "
	  "annotate [FILE] SYMBOL") },
	{ "annotate", 'd', "dsos", 'y', HINT("omit the option: tally annotate "
	  "[FILE] IMAGE") },
	{ "annotate", 0, "data-type", 'o', NO_TYPES },
	{ "annotate", 0, "type-stat", 'n', NO_TYPES },
	{ "annotate", 0, "insn-stat", 'n', NO_TYPES },
	{ "annotate", 0, "code-with-type", 'n', NO_TYPES },
	{ "report", 'F', "fields", 'y', HINT("-s KEY,KEY selects columns; "
	  "--samples adds numbers of samples") },
	{ "report", 'H', "hierarchy", 'n', HINT("-s KEY,KEY groups by several; "
	  "the page (--html) folds and unfolds") },
	{ "report", 'p', "parent", 'y', HINT("--symbol NAME -g shows its "
	  "callers") },
	{ "report", 'x', "exclude-other", 'n', HINT("--symbol NAME shows only "
	  "those") },
	{ "report", 0, "ignore-callees", 'y', HINT("the page (--html) can hide "
	  "functions") },
	{ "report diff", 't', "field-separator", 'y', "format", "csv", NULL },
	{ "report", 'T', "threads", 'n', HINT("-s tid shows threads") },
	{ "report", 'U', "hide-unresolved", 'n', HINT("unresolved code is in "
	  "separate rows; --missing shows what would resolve it") },
	{ "report", 'M', NULL, 'y', HINT("use \"tally annotate -M\"") },
	{ "report", 0, "disassembler-style", 'y', HINT("use \"tally annotate "
	  "-M\"") },
	{ "report", 'I', "show-info", 'n', HINT("\"tally info\" shows it") },
	{ "report", 0, "header-only", 'n', HINT("\"tally info\" shows it") },
	{ "report", 0, "stats", 'n', HINT("\"tally info\" shows it") },
	{ "report", 0, "tasks", 'n', HINT("-s pid,tid,comm shows them; \"tally "
	  "dump\" has their parents") },
	{ "report", 0, "mmaps", 'n', HINT("\"tally info\" shows images, "
	  "\"tally dump\" everything") },
	{ "report", 'b', "branch-stack", 'n', NO_BRANCHES },
	{ "report", 0, "branch-history", 'n', NO_BRANCHES },
	{ "report", 0, "stitch-lbr", 'n', NO_BRANCHES },
	{ "report", 0, "total-cycles", 'n', NO_BRANCHES },
	{ "report", 0, "mem-mode", 'n', NO_DATA },
	{ "report", 0, "max-stack", 'y', HINT("stacks are stored completely") },
	{ "report", 0, "disable-order", 'n', HINT("a recording is in order") },
	{ "report", 0, "ns", 'n', HINT("--format=json has nanoseconds") },
	{ "report", 0, "pretty", 'y', HINT("use --format=json or csv for "
	  "programs") },
	{ "report", 0, "raw-trace", 'n', HINT("\"tally dump\" shows every "
	  "record") },
	{ "report", 0, "show-cpu-utilization", 'n', MODES },
	/* as manual pages before Linux 6 have it */
	{ "report", 0, "showcpuutilization", 'n', MODES },
	{ "report", 0, "show-ref-call-graph", 'n', HINT("each event has its "
	  "own stacks") },
	{ "report", 0, "show-on-off-events", 'n', HINT("--time START,END "
	  "selects a time range") },
	{ "report", 0, "switch-on", 'y', HINT("--time START,END selects a time "
	  "range") },
	{ "report", 0, "switch-off", 'y', HINT("--time START,END selects a "
	  "time range") },
	{ "report", 0, "time-quantum", 'y', HINT("the timeline of the page "
	  "(--html) shows when") },
	{ "report", 0, "socket-filter", 'y', HINT("-C CPU,CPU selects "
	  "processors") },
	{ "report", 0, "latency", 'n', HINT("\"tally record --latency\" "
	  "records it; the report is then sorted by it") },
	{ "report", 0, "parallelism", 'y', HINT("the timeline of --html shows "
	  "how many threads ran at any time") },
	{ "diff", 'b', "baseline-only", 'n', HINT("--order old lists first "
	  "what the baseline had") },
	{ "diff", 'c', "compute", 'y', HINT("--order change|growth|ratio sets "
	  "the order, --normalise what is compared") },
	{ "diff", 'F', "formula", 'n', HINT("man tally-diff explains how each "
	  "column is computed") },
	{ "diff", 'p', "period", 'n', HINT("--samples shows numbers; "
	  "--format=json has weights") },
	{ "diff", 0, "cycles-hist", 'n', NO_BRANCHES },
	{ "diff", 0, "stream", 'n', NO_BRANCHES },
	{ NULL, 0, NULL, 0, NULL, NULL, NULL }
};

bool perf_option_is_of(const struct perf_option *o, const struct command *cmd)
{
	size_t n = strlen(cmd->name);

	for (const char *s = o->commands; *s; s += strspn(s, " ")) {
		size_t m = strcspn(s, " ");

		if (m == n && !strncmp(s, cmd->name, n))
			return true;
		s += m;
	}
	return false;
}

const char *perf_command_hint(const char *name)
{
	static const struct {
		const char *name, *hint;
	} rows[] = {
		{ "top", "tally record -a, and tally report" },
		{ "script", "tally dump, or tally report --format=json" },
		{ "evlist", "tally info" },
		{ "buildid-list", "tally info" },
		{ "buildid-cache", "tally symbolize" },
		{ "archive",
		  "nothing to do: a recording contains its symbols" },
		{ "inject", "nothing to do: generated code is named while "
			    "recording" },
		{ "config", "tally has no settings" },
		{ "version", "tally --version" },
		{ "test", "tally doctor" },
		{ "trace", "tally record -e 'syscalls:sys_enter_*' -g" },
		{ "sched", "tally record --wait, and tally report" },
		{ "lock", "tally record --wait, and tally report" },
		{ "timechart", "tally record --wait, and tally report --html" },
		{ "daemon", "tally record --continuous" },
		{ "data", "tally export" },
		{ "kmem", "tally record -e 'kmem:*' -g" },
		{ "kallsyms", "tally addr2line" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(name, rows[i].name))
			return rows[i].hint;
	return NULL;
}
