// SPDX-License-Identifier: GPL-2.0-or-later
/* Recognizes suffixes of clones: see clones.h. */
#include "symbolize/demangle/clones.h"

#include <stdbool.h>
#include <string.h>

#include "base/vec.h"

static const char *const suffixes[] = {
	"isra", "constprop", "part", "cold", "clone", "lto_priv",
	"localalias", "llvm", "__uniq", "ifunc", "simdclone", "specialized",
	"argprom", "argelim", "retelim",
};

static bool is_suffix(const char *s)
{
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		size_t n = strlen(suffixes[i]);

		if (!strncmp(s, suffixes[i], n) && (!s[n] || s[n] == '.'))
			return true;
	}
	return false;
}

size_t clone_base(const char *name)
{
	/* a name never starts with a suffix */
	for (const char *p = *name ? name + 1 : name; *p; p++)
		if (*p == '.' && is_suffix(p + 1))
			return (size_t)(p - name);
	return strlen(name);
}
