// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts the options that select samples: see select_options.h. */
#include "cmd/select_options.h"

struct name_list cmd_names(const struct opt_strs *s)
{
	return (struct name_list){ s->v, s->n };
}

struct select_spec cmd_select(const struct select_opts *o)
{
	return (struct select_spec){
		.comms = cmd_names(&o->comms),
		.events = cmd_names(&o->events),
		.labels = cmd_names(&o->labels),
		.pids = o->pids, .tids = o->tids, .cpus = o->cpus,
		.runs = o->runs, .time = o->time,
	};
}
