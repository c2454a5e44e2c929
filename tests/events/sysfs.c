// SPDX-License-Identifier: GPL-2.0-or-later
#include "sysfs.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* From Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}
 * and arch/x86/events/intel/{core,uncore_snbep}.c. */
static const struct {
	const char *path, *text;
} files[] = {
#define CPU "bus/event_source/devices/cpu/"
	{ CPU "type", "4\n" },
	{ CPU "format/event", "config:0-7\n" },
	{ CPU "format/umask", "config:8-15\n" },
	{ CPU "format/edge", "config:18\n" },
	{ CPU "format/inv", "config:23\n" },
	{ CPU "format/cmask", "config:24-31\n" },
	{ CPU "format/ldlat", "config1:0-15\n" },
	{ CPU "format/offcore_rsp", "config1:0-63\n" },
	{ CPU "format/broken", "config:9-3\n" },
	{ CPU "events/cpu-cycles", "event=0x3c\n" },
	{ CPU "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ CPU "events/topdown-total-slots", "event=0x3c,umask=0x0,any=1\n" },
	{ CPU "events/wants-value", "event=0x10,umask=?\n" },
	{ CPU "events/mem-loads.scale", "2\n" },
#define CBOX "bus/event_source/devices/uncore_cbox_0/"
	{ CBOX "type", "12\n" },
	{ CBOX "format/event", "config:0-7,21\n" },
	{ CBOX "events/clockticks", "event=0xff\n" },
	{ CBOX "cpumask", "0,2-3\n" },
#define POWER "bus/event_source/devices/power/"
	{ POWER "type", "10\n" },
	{ POWER "format/event", "config:0-7\n" },
	{ POWER "events/energy-pkg", "event=0x02\n" },
	{ POWER "events/energy-pkg.scale",
	  "2.3283064365386962890625e-10\n" },
	{ POWER "events/energy-pkg.unit", "Joules\n" },
	{ POWER "events/odd", "event=0x03\n" },
	{ POWER "events/odd.scale", "-nan(x)\n" },
	{ POWER "cpumask", "0\n" },
#define TOPOLOGY(n) "devices/system/cpu/cpu" #n "/topology/physical_package_id"
	{ TOPOLOGY(0), "0\n" }, { TOPOLOGY(1), "0\n" },
	{ TOPOLOGY(2), "1\n" }, { TOPOLOGY(3), "1\n" },
	{ "bus/event_source/devices/msr/type", "9\n" },
	{ "bus/event_source/devices/msr/format/event", "config:0-63\n" },
	{ "bus/event_source/devices/msr/events/tsc", "event=0x00\n" },
	{ "bus/event_source/devices/odd/type", "many\n" },
	{ "kernel/tracing/events/sched/sched_switch/id", "316\n" },
	{ "kernel/tracing/events/sched/sched_switch/format",
	  "name: sched_switch\nID: 316\nformat:\n"
	  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	  "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	  "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n" },
};

static int make_dirs(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
	return 0;
}

int sysfs_put(const struct sysfs *s, const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", s->root, path);
	make_dirs(full);
	f = fopen(full, "w");
	if (!f)
		return -1;
	fputs(text, f);
	return fclose(f);
}

int sysfs_make(struct sysfs *s)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(s->root, sizeof(s->root), "%.40s/tally-sys.XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(s->root))
		return -1;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (sysfs_put(s, files[i].path, files[i].text))
			return -1;
	return 0;
}

static int drop_one(const char *path, const struct stat *st, int kind,
		    struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

void sysfs_drop(struct sysfs *s)
{
	nftw(s->root, drop_one, 16, FTW_DEPTH | FTW_PHYS);
}
