// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The terminal as a screen, by ncurses: see screen.h.
 *
 * ncurses restores the terminal when the program is stopped, but not when it
 * crashes.  For SIGINT and SIGTERM it calls exit(2) within the handler.  tally
 * therefore handles these signals itself and keeps the sequences and settings that
 * restore the terminal.  The handler needs only a write and a tcsetattr(3), which
 * are safe in a handler (signal-safety(7)).  Then the signal takes its normal
 * effect.
 */
#define NCURSES_WIDECHAR 1
/* before term.h, which defines common words as macros */
#include "base/vec.h"
#include "cli/screen.h"

#include <curses.h>
#include <term.h>

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

enum { LEAVE_BYTES = 512, ESCAPE_MS = 50 };

/* The data that a handler needs.  A process has one terminal. */
static struct {
	volatile sig_atomic_t open;
	struct termios before;
	struct winsize drawn;	/* terminal size at the last check */
	char leave[LEAVE_BYTES];
	size_t leave_n;
	bool color;
	bool busy;		/* ncurses code is running */
	int watched;		/* descriptor, or -1 */
	bool news;		/* it was readable at the last wait */
	SCREEN *curses;
} term;

static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV,
			      SIGABRT, SIGFPE, SIGILL, SIGBUS, SIGSYS };
enum { DEADLY = COUNT(deadly) };
static struct sigaction old_actions[DEADLY];

void screen_restore(void)
{
	ssize_t n;

	if (!term.open)
		return;
	term.open = 0;
	n = write(STDOUT_FILENO, term.leave, term.leave_n);
	(void)n;
	tcsetattr(STDOUT_FILENO, TCSANOW, &term.before);
}

static void on_deadly(int sig)
{
	int saved = errno;

	screen_restore();
	signal(sig, SIG_DFL);
	raise(sig);
	errno = saved;
}

/* The previous handler (cli/guard.c) replaces missing pages of truncated files.
 * Only faults that it considers fatal reach SIG_DFL, where it is too late for the
 * terminal.  So find out here whether this one is fatal. */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	const struct sigaction *before = NULL;

	for (int i = 0; i < DEADLY; i++)
		if (deadly[i] == SIGBUS)
			before = &old_actions[i];
	if (info->si_code != BUS_ADRERR || !before ||
	    !(before->sa_flags & SA_SIGINFO) || !before->sa_sigaction) {
		on_deadly(sig);
		return;
	}
	before->sa_sigaction(sig, info, context);
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_deadly };
	struct sigaction bus = { .sa_sigaction = on_sigbus,
				 .sa_flags = SA_SIGINFO };

	sigfillset(&sa.sa_mask);
	sigfillset(&bus.sa_mask);
	for (int i = 0; i < DEADLY; i++) {
		sigaction(deadly[i], NULL, &old_actions[i]);
		if (deadly[i] == SIGBUS)
			sigaction(SIGBUS, &bus, NULL);
		else if (!(old_actions[i].sa_flags & SA_SIGINFO) &&
			 old_actions[i].sa_handler == SIG_DFL)
			sigaction(deadly[i], &sa, NULL);
	}
}

bool screen_is_busy(void)
{
	return term.busy;
}

static void release_signals(void)
{
	for (int i = 0; i < DEADLY; i++)
		sigaction(deadly[i], &old_actions[i], NULL);
}

static void add_leave(const char *sequence)
{
	size_t n;

	if (!sequence || sequence == (char *)-1)
		return;
	n = strlen(sequence);
	if (n > sizeof(term.leave) - term.leave_n)
		return;
	memcpy(term.leave + term.leave_n, sequence, n);
	term.leave_n += n;
}

static void save_terminal(void)
{
	char *cup = tigetstr((char *)"cup");

	term.leave_n = 0;
	add_leave("\033[?1000l\033[?1002l\033[?1006l");	/* disable xterm's mouse
							 * reporting */
	add_leave(tigetstr((char *)"sgr0"));
	add_leave(tigetstr((char *)"cnorm"));
	add_leave(tigetstr((char *)"rmkx"));
	/* If there is no other screen to return to, the following output must not
	 * begin within a partly drawn row. */
	if (cup && cup != (char *)-1) {
		add_leave(tiparm(cup, LINES - 1, 0));
		add_leave(tigetstr((char *)"el"));
	}
	add_leave(tigetstr((char *)"rmcup"));
}

/* Names are UTF-8, as in all of tally's output, regardless of the locale. */
static void choose_locale(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
}

static void begin_colors(bool color)
{
	term.color = color && has_colors() && start_color() == OK;
	if (!term.color)
		return;
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_GREEN, -1);
	init_pair(3, COLOR_YELLOW, -1);
	init_pair(4, COLOR_CYAN, -1);
}

bool screen_only_prints(void)
{
	const char *name = getenv("TERM");
	bool known;
	int why;

	if (!name || !*name)
		return true;
	/* A view that is drawn from top to bottom needs "cup".  Without
	 * del_curterm, newterm(3) would use the data that was loaded here. */
	term.busy = true;
	known = setupterm(name, STDOUT_FILENO, &why) != ERR;
	if (known) {
		known = tigetstr((char *)"cup") != NULL;
		del_curterm(cur_term);
	}
	term.busy = false;
	return !known;
}

const char *screen_lacks(void)
{
	const char *name = getenv("TERM");

	if (!name || !*name)
		return "TERM is not set";
	if (!strcmp(name, "dumb"))
		return "the terminal cannot position the cursor (TERM=dumb)";
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return "input and output must be a terminal";
	if (screen_only_prints())
		return "terminfo does not know this terminal (TERM); try "
		       "\"TERM=xterm-256color tally report\"";
	return NULL;
}

static void size(void *ctx, int *rows, int *width)
{
	(void)ctx;
	getmaxyx(stdscr, *rows, *width);
}

static attr_t attributes(unsigned int look)
{
	attr_t a = A_NORMAL;

	a |= look & STYLE_BOLD ? A_BOLD : 0;
	a |= look & STYLE_DIM ? A_DIM : 0;
	a |= look & STYLE_REVERSE ? A_REVERSE : 0;
	return a;
}

static short pair(unsigned int look)
{
	if (!term.color || (look & STYLE_REVERSE))
		return 0;
	return look & STYLE_HOT ? 1 : look & STYLE_WARM ? 2
	       : look & STYLE_WARN ? 3 : look & STYLE_LINK ? 4 : 0;
}

static void row(void *ctx, int at, size_t n, const char *const *text,
		const unsigned int *look)
{
	(void)ctx;
	if (move(at, 0) == ERR)
		return;
	term.busy = true;
	attr_set(A_NORMAL, 0, NULL);
	clrtoeol();
	for (size_t i = 0; i < n; i++) {
		attr_set(attributes(look[i]), pair(look[i]), NULL);
		addstr(text[i]);
	}
	attr_set(A_NORMAL, 0, NULL);
	term.busy = false;
}

static void show(void *ctx, int cursor_row, int cursor_column)
{
	(void)ctx;
	term.busy = true;
	move(cursor_row, cursor_column);
	refresh();
	term.busy = false;
}

static uint32_t mouse_key(struct screen_event *e)
{
	MEVENT m;

	if (getmouse(&m) != OK)
		return SCREEN_OTHER;
	e->row = m.y;
	e->column = m.x;
	if (m.bstate & BUTTON1_DOUBLE_CLICKED)
		return SCREEN_DOUBLE_CLICK;
	if (m.bstate & (BUTTON1_CLICKED | BUTTON1_PRESSED))
		return SCREEN_CLICK;
#ifdef BUTTON5_PRESSED
	if (m.bstate & BUTTON4_PRESSED)
		return SCREEN_WHEEL_UP;
	if (m.bstate & BUTTON5_PRESSED)
		return SCREEN_WHEEL_DOWN;
#endif
	return SCREEN_OTHER;
}

static uint32_t named_key(wint_t c, struct screen_event *e)
{
	switch (c) {
	case KEY_UP: return SCREEN_UP;
	case KEY_DOWN: return SCREEN_DOWN;
	case KEY_LEFT: return SCREEN_LEFT;
	case KEY_RIGHT: return SCREEN_RIGHT;
	case KEY_PPAGE: return SCREEN_PAGE_UP;
	case KEY_NPAGE: return SCREEN_PAGE_DOWN;
	case KEY_HOME: return SCREEN_HOME;
	case KEY_END: return SCREEN_END;
	case KEY_ENTER: return SCREEN_ENTER;
	case KEY_BACKSPACE: return SCREEN_BACKSPACE;
	case KEY_BTAB: return SCREEN_BACK_TAB;
	case KEY_F(1): return SCREEN_F1;
	case KEY_RESIZE: return SCREEN_RESIZE;
	case KEY_MOUSE: return mouse_key(e);
	}
	return SCREEN_OTHER;
}

/* Returns whether the terminal has hung up, so that every read fails immediately. */
static bool hung_up(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char c;

	if (poll(&p, 1, 0) <= 0)
		return false;
	return (p.revents & (POLLHUP | POLLERR | POLLNVAL)) ||
	       (p.revents & POLLIN && read(STDIN_FILENO, &c, 0) < 0);
}

static bool is_resized(void)
{
	struct winsize now = term.drawn;
	bool is;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &now);
	is = now.ws_row != term.drawn.ws_row ||
	     now.ws_col != term.drawn.ws_col;
	term.drawn = now;
	return is;
}

/* Reads a key like get_wch, which checks for a new size before it waits.  A resize
 * in between would be noticed only at the next key.  A resize during drawing can
 * leave the drawing of the old size. */
static int wait_key(wint_t *c)
{
	struct pollfd p[] = { { .fd = STDIN_FILENO, .events = POLLIN },
			      { .fd = term.watched, .events = POLLIN } };
	sigset_t winch, before;
	int rc;

	term.news = false;
	timeout(0);
	rc = get_wch(c);
	if (rc != ERR)
		return rc;
	sigemptyset(&winch);
	sigaddset(&winch, SIGWINCH);
	sigprocmask(SIG_BLOCK, &winch, &before);
	if (!is_resized() && ppoll(p, 2, NULL, &before) > 0)
		term.news = p[1].revents && !p[0].revents;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return get_wch(c);
}

static struct screen_event key(void *ctx)
{
	struct screen_event e = { .key = SCREEN_OTHER };
	wint_t c;
	int rc;

	(void)ctx;
	term.busy = true;
	rc = wait_key(&c);
	term.busy = false;
	if (rc == ERR && term.news)
		e.key = SCREEN_NEWS;
	else if (rc == ERR)
		e.key = hung_up() ? SCREEN_CLOSED : SCREEN_RESIZE;
	else if (rc == KEY_CODE_YES)
		e.key = named_key(c, &e);
	else if (c == '\r' || c == '\n')
		e.key = SCREEN_ENTER;
	else if (c == '\t')
		e.key = SCREEN_TAB;
	else if (c == 27)
		e.key = SCREEN_ESCAPE;
	else if (c == 127 || c == 8)
		e.key = SCREEN_BACKSPACE;
	else if (c == 12) {	/* ^L */
		clearok(curscr, TRUE);
		e.key = SCREEN_RESIZE;
	} else {
		e.key = (uint32_t)c;
	}
	/* terminals rearrange their text differently on a resize */
	if (rc == KEY_CODE_YES && e.key == SCREEN_RESIZE)
		clearok(curscr, TRUE);
	return e;
}

static void watch(void *ctx, int fd)
{
	(void)ctx;
	term.watched = fd;
}

static const struct screen_ops curses_ops = {
	.size = size, .row = row, .show = show, .key = key, .watch = watch,
};

int screen_open(bool color, struct screen *out, struct error *err)
{
	const char *lacks = screen_lacks();

	if (lacks)
		return error_set(err, ERR_UNSUPPORTED, "%s", lacks);
	choose_locale();
	if (tcgetattr(STDOUT_FILENO, &term.before) < 0)
		return error_errno(err, errno, "terminal");
	/* before ncurses, which keeps existing signal handlers */
	catch_signals();
	term.busy = true;
	term.curses = newterm(NULL, stdout, stdin);
	if (!term.curses) {
		term.busy = false;
		release_signals();
		return error_set(err, ERR_UNSUPPORTED,
				 "ncurses does not know this terminal: TERM is "
				 "'%s'", getenv("TERM"));
	}
	set_term(term.curses);
	save_terminal();
	term.open = 1;
	term.watched = -1;
	is_resized();
	begin_colors(color);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	mousemask(BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED
#ifdef BUTTON5_PRESSED
		  | BUTTON5_PRESSED
#endif
		  , NULL);
	mouseinterval(200);
	term.busy = false;
	*out = (struct screen){ &curses_ops, NULL };
	return 0;
}

void screen_close(void)
{
	if (!term.curses)
		return;
	term.busy = true;
	mousemask(0, NULL);
	endwin();
	term.open = 0;
	release_signals();
	delscreen(term.curses);
	term.busy = false;
	term.curses = NULL;
}
