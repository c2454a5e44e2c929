/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_CGROUP_PATH_H
#define TALLY_BASE_CGROUP_PATH_H
/*
 * The names in the path of a control group (cgroups(7)): its container, its
 * Kubernetes or podman pod, and its systemd service.  Paths come from other
 * machines and programs, so any bytes are accepted.  A part without a known
 * shape is ignored.
 *
 *	container	docker-ID.scope, /docker/ID, nerdctl-ID.scope,
 *			cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope,
 *			libpod-payload-ID, SLICE:PREFIX:ID, a 64-digit ID below a
 *			pod: ID
 *			machine-NAME.scope, systemd-nspawn@NAME.service,
 *			lxc.payload.NAME, /lxc/NAME: NAME
 *	pod		podUID and …-podUID.slice below kubepods: UID;
 *			machine-libpod_pod_ID.slice: ID
 *	service		the innermost NAME.service inside the innermost container
 *
 * Names keep the escapes of systemd (\x2d) resolved.  The service of a user
 * (user@1000.service) is that of its own processes only.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum {
	CGROUP_PATH_MAX = 4096,		/* longer paths are cut */
	CGROUP_NAME_MAX = 256,		/* a name with its NUL; longer ones are
					 * ignored */
	CGROUP_ID_DIGITS = 64,		/* of a container's ID */
	CGROUP_ID_SHORT = 12,		/* … of its usual short form */
};

/* Each is "" if the path does not have it. */
struct cgroup_names {
	char container[CGROUP_NAME_MAX], pod[CGROUP_NAME_MAX],
		service[CGROUP_NAME_MAX];
};

void cgroup_names(const char *path, struct cgroup_names *out);
/* Returns whether a container's name is an ID that may be shortened to its first
 * CGROUP_ID_SHORT digits. */
bool cgroup_is_id(const char *container);

/*
 * Appends the path of a process from the text of its /proc/PID/cgroup: that of
 * version 2 of the hierarchy or, if that one is the root, the deepest one.
 * Appends nothing if there is none, and at most CGROUP_PATH_MAX bytes.
 */
void cgroup_path_of(const char *text, size_t n, struct buf *out);

#endif
