# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libcli.a
libcli_a_SOURCES = \
	src/cli/at_files.c \
	src/cli/at_files.h \
	src/cli/commands.c \
	src/cli/commands.h \
	src/cli/complete.c \
	src/cli/complete.h \
	src/cli/guard.c \
	src/cli/guard.h \
	src/cli/options.c \
	src/cli/options.h \
	src/cli/perf_options.c \
	src/cli/perf_options.h \
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
src_tally_SOURCES = src/cli/main.c src/cli/memory.c src/cli/memory.h
src_tally_LDADD = libcli.a $(TALLY_LIBS) $(CURSES_LIBS)
src_tally_CPPFLAGS = $(AM_CPPFLAGS) $(WATCH_OWN)
src_tally_LDFLAGS = $(WATCHED_ALLOCATIONS)
# Allocations that src/cli/memory.c watches where it cannot watch all.
WATCH_OWN =
WATCHED_ALLOCATIONS =
if SANITIZERS
WATCH_OWN += -DWATCH_OWN_ALLOCATIONS
WATCHED_ALLOCATIONS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup \
	-Wl,--wrap=strndup,--wrap=asprintf,--wrap=vasprintf,--wrap=fopen \
	-Wl,--wrap=fdopen,--wrap=opendir,--wrap=realpath,--wrap=getcwd \
	-Wl,--wrap=mmap
endif

# Completions, in the shells' usual folders.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_zshcompletion_DATA = src/cli/completion/_tally
dist_fishcompletion_DATA = src/cli/completion/tally.fish
EXTRA_DIST += src/cli/completion/tally.bash
install-data-hook:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)'
	$(INSTALL_DATA) '$(srcdir)/src/cli/completion/tally.bash' \
		'$(DESTDIR)$(bashcompletiondir)/tally'

# For programs that call an addr2line by its path.
install-exec-hook:
	cd '$(DESTDIR)$(bindir)' && \
		rm -f tally-addr2line && $(LN_S) tally tally-addr2line
uninstall-hook:
	rm -f '$(DESTDIR)$(bindir)/tally-addr2line' \
		'$(DESTDIR)$(bashcompletiondir)/tally'
