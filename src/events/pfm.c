// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks event names up in libpfm4. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "events/pfm.h"

#ifdef HAVE_LIBPFM
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

int pfm_event_parse(const char *word, struct event_spec *e, struct error *err)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	int r;

	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	arg.attr = &attr;
	arg.size = sizeof(arg);
	if (pfm_initialize() != PFM_SUCCESS)
		return 0;
	r = pfm_get_os_event_encoding(word, PFM_PLM0 | PFM_PLM3,
				      PFM_OS_PERF_EVENT_EXT, &arg);
	switch (r) {
	case PFM_SUCCESS:
		break;
	case PFM_ERR_ATTR:
	case PFM_ERR_ATTR_VAL:
	case PFM_ERR_ATTR_SET:
	case PFM_ERR_UMASK:
	case PFM_ERR_FEATCOMB:
		return error_set(err, ERR_USAGE, "event \"%s\": %s (libpfm4)",
				 word, pfm_strerror(r));
	case PFM_ERR_NOMEM:
		return error_set(err, ERR_NOMEM, "out of memory for events");
	default:
		return 0;
	}
	e->type = attr.type;
	e->config = attr.config;
	e->config1 = attr.config1;
	e->config2 = attr.config2;
	e->exclude_user = attr.exclude_user;
	e->exclude_kernel = attr.exclude_kernel;
	e->exclude_hv = attr.exclude_hv;
	e->exclude_host = attr.exclude_host;
	e->exclude_guest = !attr.exclude_host;
	e->precise = attr.precise_ip & 3;
	return 1;
}
#else
int pfm_event_parse(const char *word, struct event_spec *e, struct error *err)
{
	(void)word, (void)e, (void)err;
	return 0;
}
#endif
