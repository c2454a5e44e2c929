# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libcli.a
libcli_a_SOURCES = \
	src/cli/commands.c \
	src/cli/commands.h \
	src/cli/guard.c \
	src/cli/guard.h \
	src/cli/help.c \
	src/cli/option_values.c \
	src/cli/options.c \
	src/cli/options.h \
	src/cli/terminal.c \
	src/cli/terminal.h
bin_PROGRAMS += src/tally
src_tally_SOURCES = src/cli/main.c
src_tally_LDADD = libcli.a $(TALLY_LIBS)
