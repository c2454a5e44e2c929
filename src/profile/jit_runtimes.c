// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists runtimes that generate code: see jit_runtimes.h. */
#include "profile/jit_runtimes.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "profile/model.h"

struct runtime {
	const char *file;	/* base name, without a version */
	const char *image;
	const char *advice;
};

static const struct runtime runtimes[] = {
	{ "node", PROF_IMAGE_JAVASCRIPT, "V8 (JavaScript), without names: run node with "
	  "--perf-basic-prof, or --perf-prof for lines; tally record node … does the "
	  "former" },
	{ "nodejs", PROF_IMAGE_JAVASCRIPT, NULL },
	{ "libnode.so", PROF_IMAGE_JAVASCRIPT, NULL },
	{ "libjvm.so", "[jvm]", "Java, without names in the program's memory: run "
	  "java with -agentpath:…/libperf-jvmti.so or -XX:+DumpPerfMapAtExit" },
	{ "libcoreclr.so", PROF_IMAGE_DOTNET, ".NET, without names: run it with "
	  "DOTNET_PerfMapEnabled=3, as tally record dotnet … does" },
	{ "beam.smp", "[erlang]", "Erlang, without names: run it with "
	  "ERL_FLAGS='+JPperf true'" },
	{ "libmonosgen", "[mono]", "Mono, without names: run mono with --jitmap" },
	{ "mono-sgen", "[mono]", NULL },
	{ "luajit", "[luajit]", "LuaJIT, which names its code if it was built with "
	  "LUAJIT_USE_PERFTOOLS" },
	{ "libluajit", "[luajit]", NULL },
	{ "ruby", "[ruby jit]", "Ruby (YJIT), without names: run ruby 3.3 or later with "
	  "--yjit-perf" },
	{ "libruby", "[ruby jit]", NULL },
	{ "opcache.so", "[php jit]", "PHP, without names: run php with "
	  "-d opcache.jit_debug=0x30" },
	{ "libwasmtime", "[wasm]", "wasmtime, without names: configure it with "
	  "ProfilingStrategy::JitDump" },
	{ "wasmtime", "[wasm]", "wasmtime, without names: run it with "
	  "--profile=jitdump" },
	{ "libLLVM", "[llvm]", "LLVM, without names: its user has to register a perf "
	  "listener (PostgreSQL: jit_profiling_support=on)" },
};

enum { RUNTIMES = COUNT(runtimes) };

static int is_called(const char *name, const char *want)
{
	size_t n = strlen(want);

	return !strncmp(name, want, n) &&
	       (!name[n] || name[n] == '.' || name[n] == '-' || name[n] == ' ' ||
		isdigit((unsigned char)name[n]));
}

const char *jit_runtime_image(const char *path, unsigned int *rank)
{
	const char *slash = strrchr(path, '/');

	for (unsigned int i = 0; slash && i < RUNTIMES; i++)
		if (is_called(slash + 1, runtimes[i].file)) {
			*rank = i;
			return runtimes[i].image;
		}
	return NULL;
}

const char *jit_runtime_advice(const char *image)
{
	for (size_t i = 0; i < RUNTIMES; i++)
		if (runtimes[i].advice && !strcmp(runtimes[i].image, image))
			return runtimes[i].advice;
	return NULL;
}
