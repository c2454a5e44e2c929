// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs git: see git.h. */
#include "base/git.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/vec.h"

enum { WORDS_MAX = 24 };

/* Returns an environment without git's own variables: git(1) has dozens that
 * name programs, folders and settings (GIT_CONFIG_COUNT …). */
static char **make_env(void)
{
	static const char *const own[] = {
		"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0",
	};
	enum { OWN = COUNT(own) };
	size_t n = 0, k = 0;
	char **env;

	while (environ && environ[n])
		n++;
	env = malloc((n + OWN + 1) * sizeof(*env));
	for (size_t i = 0; env && i < n; i++)
		if (strncmp(environ[i], "GIT_", 4) != 0)
			env[k++] = environ[i];
	for (size_t i = 0; env && i < OWN; i++)
		env[k++] = (char *)own[i];
	if (env)
		env[k] = NULL;
	return env;
}

int git_ask_in(int dir, const char *const *words, size_t n, size_t limit,
	       int ms, struct buf *out, struct error *err)
{
	static const char *const first[] = {
		"git", "--no-pager", "-c", "core.fsmonitor=false", "-c",
		"core.hooksPath=/dev/null", "-c", "log.showSignature=false",
	};
	enum { FIRST = COUNT(first) };
	char *argv[FIRST + WORDS_MAX + 1];
	char **env = make_env();
	size_t k = 0;
	int rc;

	if (!env)
		return error_set(err, ERR_NOMEM, "out of memory to ask git");
	for (size_t i = 0; i < FIRST; i++)
		argv[k++] = (char *)first[i];
	for (size_t i = 0; i < n && i < WORDS_MAX; i++)
		argv[k++] = (char *)words[i];
	argv[k] = NULL;
	rc = child_run(dir, argv, env, limit, ms, out, err);
	free(env);
	return rc;
}

int git_ask(const char *dir, const char *const *words, size_t n, size_t limit,
	    int ms, struct buf *out, struct error *err)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0)
		return error_errno(err, errno, "%s", dir);
	rc = git_ask_in(fd, words, n, limit, ms, out, err);
	close(fd);
	return rc;
}
