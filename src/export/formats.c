// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of formats.  Each format is a row here and a file that writes
 * it. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "export/formats.h"

#include <string.h>

#include "base/nearest.h"

static const struct export_format formats[] = {
	{ "folded", "folded", "one line per stack: flamegraph.pl, inferno",
	  EXPORT_NAMES, export_folded },
	{ "pprof", "pb.gz", "go tool pprof, Pyroscope, Parca, Polar Signals",
	  EXPORT_GZIP | EXPORT_PARTS, export_pprof },
	{ "otlp", "otlp.pb", "collectors of OpenTelemetry, Pyroscope, Parca",
	  EXPORT_PARTS, export_otlp },
	{ "speedscope", "speedscope.json", "www.speedscope.app",
	  0, export_speedscope },
	{ "firefox", "profile.json", "profiler.firefox.com",
	  0, export_firefox },
	{ "callgrind", "callgrind", "kcachegrind, callgrind_annotate",
	  0, export_callgrind },
	{ "perf-script", "perf.txt", "tools that read the text of perf script",
	  EXPORT_NAMES, export_perf_script },
	{ "cpuprofile", "cpuprofile", "Chrome's developer tools, VS Code",
	  0, export_cpuprofile },
	{ "chrome", "trace.json", "ui.perfetto.dev, chrome://tracing",
	  0, export_chrome },
	{ "csv", "csv", "spreadsheets: a record for each thread and stack",
	  0, export_csv },
#ifdef HAVE_SQLITE
	{ "sqlite", "db", "sqlite3 and other readers of its databases",
	  EXPORT_FILE, export_sqlite },
#endif
	{ "llvm", "prof", "clang -fprofile-sample-use, llvm-profdata",
	  0, export_llvm },
	{ "bolt", "fdata", "llvm-bolt -data",
	  0, export_bolt },
	{ "go-pgo", "pgo", "go build -pgo: profile-guided optimization",
	  EXPORT_GZIP, export_go_pgo },
};

const struct export_format *export_formats(size_t *n)
{
	*n = COUNT(formats);
	return formats;
}

int export_format_find(const char *name, const struct export_format **out,
		       struct error *err)
{
	struct nearest near = nearest_to(name);
	const char *best;

	for (size_t i = 0; i < COUNT(formats); i++) {
		if (!strcmp(formats[i].name, name)) {
			*out = &formats[i];
			return 0;
		}
		nearest_try(&near, formats[i].name);
	}
	best = nearest_best(&near);
	if (best)
		return error_set(err, ERR_USAGE, "--format '%s': no such "
				 "format; did you mean '%s'?", name, best);
	return error_set(err, ERR_USAGE, "--format '%s': no such format; "
			 "'tally export --list-formats' lists them", name);
}
