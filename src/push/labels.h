/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_LABELS_H
#define TALLY_PUSH_LABELS_H
/*
 * Which service each thread of a recording belongs to, and what is told of it:
 *
 *	service_name	as given, or the program
 *	host		the machine that was recorded
 *	revision	the commit that was checked out, of a command's recording
 *	…		as given
 *
 * OTLP has its own names for the first three: service.name, host.name and
 * vcs.ref.head.revision.
 */
#include "base/strtab.h"
#include "export/export.h"
#include "push/push.h"

enum { LABELS_MAX = 20, LABEL_VALUE_MAX = 1024 };

/* "name=value" as users give it: ERR_USAGE says what is wrong.  *name is allocated,
 * *value points into it. */
int label_parse(const char *text, char **name, const char **value,
		struct error *err);

struct services {
	struct strtab str;
	uint32_t *group_of;		/* by thread of the profile */
	struct export_group *groups;	/* sorted labels, each name once */
	size_t ngroups;
	struct export_label *labels;	/* of all groups */
};

int services_init(struct services *s, const struct profile *p,
		  const struct push_label *given, size_t n, bool otlp,
		  struct error *err);
void services_fini(struct services *s);

/* The name of what an event measures, for the label __name__. */
void label_metric(const struct profile *p, uint32_t event, struct buf *out);

#endif
