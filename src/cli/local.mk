# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libcli.a
libcli_a_SOURCES = \
	src/cli/at_files.c \
	src/cli/at_files.h \
	src/cli/commands.c \
	src/cli/commands.h \
	src/cli/guard.c \
	src/cli/guard.h \
	src/cli/help.c \
	src/cli/option_values.c \
	src/cli/options.c \
	src/cli/options.h \
	src/cli/screen.h \
	src/cli/terminal.c \
	src/cli/terminal.h
if CURSES
libcli_a_SOURCES += src/cli/screen_curses.c
EXTRA_DIST += src/cli/screen_none.c
else
libcli_a_SOURCES += src/cli/screen_none.c
EXTRA_DIST += src/cli/screen_curses.c
endif
bin_PROGRAMS += src/tally
src_tally_SOURCES = src/cli/main.c
src_tally_LDADD = libcli.a $(TALLY_LIBS) $(CURSES_LIBS)

# For programs that call an addr2line by its path.
install-exec-hook:
	cd '$(DESTDIR)$(bindir)' && \
		rm -f tally-addr2line && $(LN_S) tally tally-addr2line
uninstall-hook:
	rm -f '$(DESTDIR)$(bindir)/tally-addr2line'
