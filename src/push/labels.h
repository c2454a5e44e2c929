/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PUSH_LABELS_H
#define TALLY_PUSH_LABELS_H
/*
 * Assigns each thread of a recording to a service, and labels to each service:
 *
 *	service_name	as given, or LABEL_SERVICE
 *	host		the recorded machine
 *	container, pod	names of the control group
 *	revision	the commit that was checked out, if a command was recorded
 *	…		as given now or when recording
 *
 * OTLP has its own names for these: service.name, host.name, container.id,
 * k8s.pod.uid and vcs.ref.head.revision.
 */
#include "base/strtab.h"
#include "export/export.h"
#include "profile/thread_labels.h"
#include "push/push.h"

struct services {
	struct strtab str;
	uint32_t *group_of;		/* group by thread of the profile */
	struct export_group *groups;	/* labels are sorted and have unique names */
	size_t ngroups;
	struct export_label *labels;	/* labels of all groups */
};

/* Assigns the threads of a profile to services.  `given` labels replace those of
 * the recording.  `otlp` selects OTLP's names.  Returns 0 or -ERR_NOMEM. */
int services_init(struct services *s, const struct profile *p,
		  const struct push_label *given, size_t n, bool otlp,
		  struct error *err);
void services_fini(struct services *s);

/* Appends the name of an event's metric, the value of the label __name__. */
void label_metric(const struct profile *p, uint32_t event, struct buf *out);

#endif
