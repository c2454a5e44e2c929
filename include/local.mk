# SPDX-License-Identifier: GPL-2.0-or-later
# For programs of others.
tallyincludedir = $(includedir)/tally
dist_tallyinclude_HEADERS = include/tally/rdpmc.h
