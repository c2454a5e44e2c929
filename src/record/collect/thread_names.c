// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the names that programs give to their threads. */
#include "record/collect/thread_names.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { NAMES_MAX = 4096, NAME_BYTES = 1024 };

int thread_names_init(struct thread_names *n)
{
	return strtab_init(&n->text);
}

void thread_names_fini(struct thread_names *n)
{
	strtab_fini(&n->text);
}

/* Copies a name without the number of a generated one. */
static void general(char *to, size_t size, const char *name)
{
	static const char generated[] = "Thread-";
	const size_t n = sizeof(generated) - 1;
	const char *rest = name + n;

	if (!strncmp(name, generated, n))
		rest += strspn(rest, "0123456789");
	if (rest > name + n && (!*rest || *rest == ' '))
		snprintf(to, size, "%sN%s", generated, rest);
	else
		snprintf(to, size, "%s", name);
}

int thread_names_give(struct thread_names *n, struct task *t, const char *name)
{
	char shown[NAME_BYTES];
	uint32_t id;

	general(shown, sizeof(shown), name);
	id = strtab_find(&n->text, shown);
	if (id == UINT32_MAX)
		id = n->text.str.n > NAMES_MAX ? 0 : strtab_add(&n->text, shown);
	if (id == UINT32_MAX)
		return -ERR_NOMEM;
	t->given = id;
	return 0;
}

static bool is_beginning(const char *comm, const char *name)
{
	char shown[COMM_MAX + 1];

	general(shown, sizeof(shown), comm);
	return !strncmp(name, shown, strlen(shown));
}

const char *thread_names_shown(const struct thread_names *n, const struct task *t)
{
	const char *given = strtab_get(&n->text, t->given);

	/* The first thread's name is the program's. */
	if (!*given || t->tid == t->pid)
		return NULL;
	return !t->own_comm || is_beginning(t->comm, given) ? given : NULL;
}
