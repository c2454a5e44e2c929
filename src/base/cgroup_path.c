// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads names from the paths of control groups: see cgroup_path.h. */
#include "base/cgroup_path.h"
#include "base/text.h"
#include "base/vec.h"

#include <string.h>

/* A part of a path. */
struct part {
	const char *s;
	size_t n;
};

static bool is_part(struct part p, const char *text)
{
	return p.n == strlen(text) && !memcmp(p.s, text, p.n);
}

/* Removes a prefix; returns false if the part does not have it or is nothing
 * else. */
static bool skip(struct part *p, const char *prefix)
{
	size_t n = strlen(prefix);

	if (p->n <= n || memcmp(p->s, prefix, n) != 0)
		return false;
	p->s += n;
	p->n -= n;
	return true;
}

static bool skip_end(struct part *p, const char *suffix)
{
	size_t n = strlen(suffix);

	if (p->n <= n || memcmp(p->s + p->n - n, suffix, n) != 0)
		return false;
	p->n -= n;
	return true;
}

static bool is_id(struct part p)
{
	for (size_t i = 0; i < p.n; i++)
		if (text_hex_digit(p.s[i]) < 0)
			return false;
	return p.n == CGROUP_ID_DIGITS;
}

bool cgroup_is_id(const char *container)
{
	return is_id((struct part){ container, strlen(container) });
}

/* Copies a name with systemd's escapes resolved (systemd.unit(5)).  Escapes of
 * other than printable characters stay, and names that are too long are
 * ignored. */
static void copy(struct part p, char out[CGROUP_NAME_MAX])
{
	size_t n = 0;

	*out = 0;
	if (p.n >= CGROUP_NAME_MAX)
		return;
	for (size_t i = 0; i < p.n; i++) {
		int hi = -1, lo = -1;

		if (p.n - i >= 4 && p.s[i] == '\\' && p.s[i + 1] == 'x') {
			hi = text_hex_digit(p.s[i + 2]);
			lo = text_hex_digit(p.s[i + 3]);
		}
		if (hi >= 2 && hi < 8 && lo >= 0 && hi * 16 + lo != 0x7f) {
			out[n++] = (char)(hi * 16 + lo);
			i += 3;
		} else {
			out[n++] = p.s[i];
		}
	}
	out[n] = 0;
}

/* Returns whether a part is a pod of Kubernetes, and cuts it to the UID:
 * podUID below kubepods, or kubepods-burstable-podUID.slice, perhaps with the
 * name of a parent slice before. */
static bool is_kube_pod(struct part *p, bool below_kube)
{
	struct part q = *p;
	const char *kube, *pod;

	if (!skip_end(&q, ".slice"))
		return below_kube && skip(p, "pod");
	kube = memmem(q.s, q.n, "kubepods", 8);
	pod = kube ? memmem(kube, (size_t)(q.s + q.n - kube), "-pod", 4) : NULL;
	if (!pod)
		return false;
	*p = (struct part){ pod, (size_t)(q.s + q.n - pod) };
	return skip(p, "-pod");
}

static void copy_uid(struct part p, char out[CGROUP_NAME_MAX])
{
	copy(p, out);
	/* a slice's name may not contain the dashes of a UID */
	for (char *c = out; *c; c++)
		*c = *c == '_' ? '-' : *c;
}

struct place {
	struct part before;	/* the part before */
	bool kube, pod;		/* below these */
};

/* Returns whether a part is a container, and cuts it to the name. */
static bool is_container(struct part *p, const struct place *at)
{
	static const char *const scopes[] = { "docker-", "nerdctl-",
					      "cri-containerd-", "crio-",
					      "libpod-" };
	struct part q = *p;
	bool scope = skip_end(&q, ".scope");

	if (scope && skip(&q, "machine-"))
		goto found;
	for (size_t i = 0; i < COUNT(scopes); i++)
		if (skip(&q, scopes[i])) {
			/* the monitors crio-conmon-ID and libpod-conmon-ID are
			 * no containers */
			skip(&q, "payload-");
			if (!is_id(q))
				return false;
			goto found;
		}
	if (scope)
		return false;
	if (is_id(q) && (at->pod || is_part(at->before, "docker")))
		goto found;
	if (skip(&q, "lxc.payload.") || (is_part(at->before, "lxc") && q.n))
		goto found;
	if (skip(&q, "systemd-nspawn@") && skip_end(&q, ".service"))
		goto found;
	return false;
found:
	*p = q;
	return true;
}

static void take_part(struct part p, struct place *at,
		      struct cgroup_names *out)
{
	struct part q = p;

	at->kube |= memmem(p.s, p.n, "kubepods", 8) != NULL;
	if (!strncmp(out->service, "user@", 5) && !is_part(p, "init.scope"))
		*out->service = 0;
	if (is_kube_pod(&q, at->kube)) {
		copy_uid(q, out->pod);
		at->pod = *out->pod;
		*out->container = *out->service = 0;
	} else if (skip(&q, "machine-libpod_pod_") && skip_end(&q, ".slice") &&
		   is_id(q)) {
		copy(q, out->pod);
		*out->service = 0;
	} else if (q = p, is_container(&q, at)) {
		copy(q, out->container);
		/* podman puts the containers of a unit into that unit's group */
		if (!memmem(p.s, p.n, "libpod-payload-", 15))
			*out->service = 0;
	} else if (q = p, skip_end(&q, ".service")) {
		copy(q, out->service);
	}
	at->before = p;
}

void cgroup_names(const char *path, struct cgroup_names *out)
{
	struct place at = { .kube = false };
	size_t left = strnlen(path, CGROUP_PATH_MAX);

	*out = (struct cgroup_names){ .container = "" };
	for (const char *end = path + left; path < end;) {
		/* containerd without the systemd driver writes
		 * SLICE:cri-containerd:ID */
		size_t n = 0;

		while (path + n < end && path[n] != '/' && path[n] != ':')
			n++;
		if (n)
			take_part((struct part){ path, n }, &at, out);
		path += n + 1;
	}
}

/* Returns the number of names of a path. */
static size_t depth(struct part p)
{
	size_t n = 0;

	for (size_t i = 0; i + 1 < p.n; i++)
		n += p.s[i] == '/' && p.s[i + 1] != '/';
	return n;
}

/* Splits "ID:CONTROLLERS:PATH". */
static bool split(struct part line, struct part *controllers,
		  struct part *path)
{
	const char *one = memchr(line.s, ':', line.n), *end = line.s + line.n;
	const char *two = one ? memchr(one + 1, ':', (size_t)(end - one - 1))
			      : NULL;

	if (!two)
		return false;
	*controllers = (struct part){ one + 1, (size_t)(two - one - 1) };
	*path = (struct part){ two + 1, (size_t)(end - two - 1) };
	skip_end(path, " (deleted)");
	return path->n && *path->s == '/';
}

void cgroup_path_of(const char *text, size_t n, struct buf *out)
{
	struct part best = { "", 0 };
	size_t deepest = 0;
	bool found = false;

	while (n) {
		const char *end = memchr(text, '\n', n);
		struct part line = { text, end ? (size_t)(end - text) : n };
		struct part controllers, path;

		if (split(line, &controllers, &path)) {
			/* version 2 comes last and wins over equal depth */
			bool unified = !controllers.n && line.n > 2 &&
				       !memcmp(line.s, "0:", 2);
			size_t d = depth(path);

			if (!found || d > deepest || (unified && d)) {
				best = path;
				deepest = unified && d ? SIZE_MAX : d;
				found = true;
			}
		}
		n -= line.n + (end != NULL);
		text += line.n + (end != NULL);
	}
	/* a NUL cannot be part of a path */
	best.n = strnlen(best.s, best.n);
	buf_bytes(out, best.s, best.n < CGROUP_PATH_MAX ? best.n
							: CGROUP_PATH_MAX);
}
