// SPDX-License-Identifier: GPL-2.0-or-later
/* Recognizes and writes suffixes of clones: see clones.h and manglings.h. */
#include "symbolize/demangle/clones.h"

#include <stdbool.h>
#include <string.h>

#include "base/vec.h"
#include "symbolize/demangle/manglings.h"

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
	const char *p = *name ? strchr(name + 1, '.') : NULL;

	for (; p; p = strchr(p + 1, '.'))
		if (is_suffix(p + 1))
			return (size_t)(p - name);
	return strlen(name);
}

void demangle_clones(const char *s, const char *end, struct buf *out)
{
	const char *p;

	while (s < end) {
		p = s + 1;
		while (p < end && (*p != '.' || (p + 1 < end && p[1] >= '0' &&
						 p[1] <= '9') ||
				   (p - s == 5 && !memcmp(s, ".llvm", 5))))
			p++;
		buf_str(out, " [clone ");
		buf_bytes(out, s, (size_t)(p - s));
		buf_u8(out, ']');
		s = p;
	}
}
