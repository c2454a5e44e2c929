/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CONTINUOUS_SERVICE_H
#define TALLY_CONTINUOUS_SERVICE_H

/* Tells the service manager about a service of "Type=notify", as sd_notify(3) does:
 * "READY=1".  Does nothing where no manager waits for it. */
void service_notify(const char *text);

#endif
