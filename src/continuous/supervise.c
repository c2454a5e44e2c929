// SPDX-License-Identifier: GPL-2.0-or-later
/* The supervisor of a continuous recording: see continuous.h. */
#include "continuous/continuous.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/outfile.h"
#include "continuous/files.h"
#include "continuous/folder.h"
#include "continuous/keeper.h"
#include "continuous/status.h"
#include "launch/proc_read.h"
#include "launch/signals.h"

enum {
	ROUND_MS = 1000,	/* time between two looks at clock, folder and disk */
	CALM_ROUND_MS = 10000,	/* the same when little happens, see round_ms */
	STATUS_MS = 5000,
	BEGIN_S = 60,		/* time a recorder may take until it samples */
	AGAIN_MAX_S = 60,
	KEEPER_END_S = 20,	/* time the keeper may take at the end */
	CLOCK_STEP_S = 1,	/* smaller ones are taken for those of NTP */
	HAND_OVER_S = 2,	/* time in which recorders learn when they hand over */
	STATUS_EXIT_ERROR = 1,
};

struct recorder {
	pid_t pid;		/* process ID; 0: none */
	int slot;
	int to, from;		/* pipes for commands and for answers */
	uint64_t began_ns;
	bool samples;		/* has answered, so it samples */
	bool holds;		/* counts only what follows a time set later */
	bool ending;		/* it was asked to end */
	char said[1100];	/* output that has not been processed yet */
	size_t n;
};

struct supervisor {
	const struct continuous_options *o;
	int dir, lock, signals;
	int clock;		/* is readable after a step of the wall clock and after
				 * a sleep of the machine; -1: this is not known */
	sigset_t before;
	struct recorder r[RECORDERS];
	int current;		/* index in `r`; -1: no recorder samples */
	bool sampled;		/* some recorder has sampled */
	bool stop, paused, finished;
	uint64_t cgroup;	/* inode of the recorded control group; 0: it does
				 * not exist */
	bool renew_now;		/* what recorders have opened was replaced: a new
				 * one takes over at once */
	bool strayed;		/* the folder is gone and cannot be made again */
	bool moved;		/* the keeper ends because of a new folder */
	uint64_t again_ns;	/* earliest time to start a recorder again */
	unsigned int failures;
	pid_t keeper;
	int reports;		/* pipe from the keeper, or -1 */
	uint64_t keeper_again_ns;
	struct keeper_report earlier;	/* totals of keepers that have ended */
	uint64_t began_ns;
	int64_t wall_ns;	/* wall clock when CLOCK_MONOTONIC was 0 */
	struct files files;
	struct continuous_status status;
	double cpu_ended;	/* CPU seconds of processes that have ended */
	struct error failed;	/* error of a recorder that could not begin */
	struct symbol_cache *symbols;	/* or NULL */
};

static void notice(const struct supervisor *s, const char *text)
{
	s->o->notice(s->o->ctx, text);
}

/* Releases the supervisor's resources in a child process. */
static void become_child(const struct supervisor *s, const sigset_t *mask)
{
	sigset_t own = *mask;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (int i = 0; i < RECORDERS; i++) {
		if (s->r[i].to >= 0)
			close(s->r[i].to);
		if (s->r[i].from >= 0)
			close(s->r[i].from);
	}
	if (s->reports >= 0)
		close(s->reports);
	close(s->signals);
	if (s->clock >= 0)
		close(s->clock);
	signals_add_foreign(&own);
	sigprocmask(SIG_SETMASK, &own, NULL);
}

/* Filters a recorder's notices.  status.json reports finished files, and later
 * recorders need not repeat the first one's notices. */
struct child_words {
	const struct continuous_options *o;
	bool first;
};

static void child_notice(void *ctx, const char *text)
{
	const struct child_words *w = ctx;

	if (w->first && strncmp(text, "switched to a new file", 22) != 0)
		w->o->notice(w->o->ctx, text);
}

static void record_child(const struct supervisor *s, int slot, int commands,
			 int answers)
{
	struct record_options ro = s->o->record;
	struct child_words words = { s->o, !s->sampled };
	struct record_result result;
	char name[FILE_NAME_ROOM], control[64], path[4096];
	struct error err = { 0 };
	struct buf text = { 0 };
	int rc;

	become_child(s, &s->before);
	recorder_file(slot, name);
	snprintf(path, sizeof(path), "%s/%s", s->o->dir, name);
	snprintf(control, sizeof(control), "fd:%d,%d", commands, answers);
	ro.output = path;
	ro.control = control;
	ro.notice = child_notice;
	ro.ctx = &words;
	ro.hold = s->current >= 0;
	ro.symbol_cache = s->symbols;
	ro.rotate = (struct record_switch){ .on = true, .bytes = s->o->bytes,
					    .table_bytes = s->o->table_bytes,
					    .every_ns = s->o->every_ns };
	rc = record(&ro, &result, &err);
	if (rc < 0) {
		buf_printf(&text, "error %s\n", err.msg);
		fcntl(answers, F_SETFL, 0);
		if (text.n && write(answers, text.p, text.n) < 0)
			rc = -1;
	}
	_exit(rc < 0 ? STATUS_EXIT_ERROR : 0);
}

static int start_recorder(struct supervisor *s, int slot, struct error *err)
{
	struct recorder *r = &s->r[slot];
	int to[2], from[2];
	int rc = files_adopt(s->dir, slot, err);
	pid_t pid;

	if (rc)
		return rc;
	if (pipe2(to, O_CLOEXEC) < 0)
		return error_errno(err, errno, "pipe");
	if (pipe2(from, O_CLOEXEC) < 0) {
		rc = error_errno(err, errno, "pipe");
		close(to[0]);
		close(to[1]);
		return rc;
	}
	pid = fork();
	if (!pid) {
		close(to[1]);
		close(from[0]);
		record_child(s, slot, to[0], from[1]);
	}
	if (pid < 0)
		rc = error_errno(err, errno, "fork");
	close(to[0]);
	close(from[1]);
	if (rc) {
		close(to[1]);
		close(from[0]);
		return rc;
	}
	fcntl(from[0], F_SETFL, O_NONBLOCK);
	fcntl(to[1], F_SETFL, O_NONBLOCK);
	*r = (struct recorder){ .pid = pid, .slot = slot, .to = to[1],
				.from = from[0], .began_ns = clock_now(),
				.holds = s->current >= 0 };
	/* the recorder answers as soon as it samples */
	if (write(to[1], "ping\n", 5) < 0)
		return 0;	/* it has exited; SIGCHLD follows */
	return 0;
}

static void command(struct recorder *r, const char *line)
{
	if (r->to >= 0 && write(r->to, line, strlen(line)) < 0)
		return;		/* it has exited */
}

static void end_recorder(struct recorder *r)
{
	if (!r->pid || r->ending)
		return;
	r->ending = true;
	/* SIGTERM is for a recorder that does not read commands yet. */
	if (r->samples)
		command(r, "stop\n");
	else
		kill(r->pid, SIGTERM);
}

/* Makes `r` count from a time on until which the others count. */
static void hand_over(struct supervisor *s, struct recorder *r)
{
	uint64_t at = clock_now() + (s->renew_now ? 0 : HAND_OVER_S * SECOND);
	bool others = false;
	char line[48];

	snprintf(line, sizeof(line), "until %llu\n", (unsigned long long)at);
	for (int i = 0; i < RECORDERS; i++) {
		struct recorder *o = &s->r[i];

		if (o == r || !o->pid || o->ending)
			continue;
		if (o->samples) {
			o->ending = others = true;
			command(o, line);
		} else {
			end_recorder(o);
		}
	}
	snprintf(line, sizeof(line), "from %llu\n",
		 others ? (unsigned long long)at : 0ull);
	if (r->holds)
		command(r, line);
}

static void start_keeper(struct supervisor *s)
{
	struct error err = { 0 };
	int report[2];
	sigset_t mask = s->before;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	pid = fork();
	if (!pid) {
		int rc;

		close(report[0]);
		sigaddset(&mask, SIGTERM);
		sigaddset(&mask, SIGINT);
		sigaddset(&mask, SIGHUP);
		become_child(s, &mask);
		signal(SIGPIPE, SIG_IGN);
		rc = keeper_run(s->o, s->symbols, s->dir, report[1], &err);
		if (rc < 0)
			s->o->notice(s->o->ctx, err.msg);
		_exit(rc < 0 ? STATUS_EXIT_ERROR : 0);
	}
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return;
	}
	s->keeper = pid;
	s->reports = report[0];
}

static void read_reports(struct supervisor *s)
{
	struct keeper_report r, *sum = &s->status.keeper_says;
	const struct keeper_report *e = &s->earlier;

	while (s->reports >= 0 && read(s->reports, &r, sizeof(r)) == sizeof(r)) {
		*sum = r;
		status_add(&s->status, e);
		if (!r.last_push_s)
			sum->last_push_s = e->last_push_s;
		sum->push.problem[sizeof(sum->push.problem) - 1] = 0;
	}
}

/* The recorder samples now, so the previous one is no longer needed. */
static void took_over(struct supervisor *s, struct recorder *r)
{
	r->samples = s->sampled = true;
	s->failures = 0;
	if (s->paused)
		command(r, "disable\n");
	hand_over(s, r);
	s->renew_now = false;
	s->current = r->slot;
}

static void read_answers(struct supervisor *s, struct recorder *r)
{
	char *end;
	ssize_t n;

	while (r->from >= 0 && r->n < sizeof(r->said) - 1) {
		n = read(r->from, r->said + r->n, sizeof(r->said) - 1 - r->n);
		if (n <= 0)
			break;
		r->n += (size_t)n;
	}
	while ((end = memchr(r->said, '\n', r->n))) {
		size_t used = (size_t)(end - r->said) + 1;

		*end = 0;
		if (!strcmp(r->said, "ack") && !r->samples && !r->ending)
			took_over(s, r);
		else if (!strncmp(r->said, "error ", 6))
			error_set(&s->failed, ERR_IO, "%s", r->said + 6);
		r->n -= used;
		memmove(r->said, r->said + used, r->n);
	}
	if (r->n == sizeof(r->said) - 1)
		r->n = 0;	/* no valid line is that long */
}

/* Whether no recorder ever began, so that none will. */
static bool never_began(const struct supervisor *s)
{
	return !s->sampled && s->failed.code;
}

static void recorder_ended(struct supervisor *s, struct recorder *r, int status)
{
	bool wanted = r->ending, good = WIFEXITED(status) && !WEXITSTATUS(status);
	unsigned int shift;
	struct error ignored;

	read_answers(s, r);
	close(r->to);
	close(r->from);
	if (s->current == r->slot)
		s->current = -1;
	*r = (struct recorder){ .to = -1, .from = -1, .slot = r->slot };
	files_adopt(s->dir, r->slot, &ignored);
	if (wanted || s->stop)
		return;
	if (!good && never_began(s))
		return;		/* continuous_run returns the reason */
	if (good && !s->o->record.all_cpus && !s->o->record.cgroup) {
		s->finished = true;	/* what was recorded has ended */
		return;
	}
	shift = s->failures < 6 ? s->failures : 6;
	s->failures++;
	s->status.restarts++;
	s->again_ns = clock_now() + (s->sampled && s->failures == 1
					  ? 0 : (1ull << shift) * SECOND);
	if (s->again_ns > clock_now() + AGAIN_MAX_S * SECOND)
		s->again_ns = clock_now() + AGAIN_MAX_S * SECOND;
	notice(s, good ? "recording ended and is begun again"
		       : s->failed.code ? s->failed.msg
		       : "a recorder died and is started again");
}

static void keeper_ended(struct supervisor *s)
{
	read_reports(s);
	s->earlier = s->status.keeper_says;
	close(s->reports);
	s->reports = -1;
	s->keeper = 0;
	s->keeper_again_ns = s->moved ? 0 : clock_now() + 10 * SECOND;
	if (!s->stop && !s->moved)
		notice(s, "the process that reads finished files died and is "
		       "started again");
	s->moved = false;
}

/* Returns the CPU seconds in a process's own account. */
static double seconds_of(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

static void reap(struct supervisor *s)
{
	struct rusage u;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &u)) > 0) {
		s->cpu_ended += seconds_of(&u);
		if (pid == s->keeper)
			keeper_ended(s);
		for (int i = 0; i < RECORDERS; i++)
			if (pid == s->r[i].pid)
				recorder_ended(s, &s->r[i], status);
	}
}

static void take_signals(struct supervisor *s)
{
	struct signalfd_siginfo si;

	while (read(s->signals, &si, sizeof(si)) == sizeof(si))
		if (signal_ends(&si, 0))
			s->stop = true;
	reap(s);
}

/* Returns the CPU seconds of a process and its finished children. */
static double cpu_of(pid_t pid)
{
	unsigned long long user = 0, sys = 0, cuser = 0, csys = 0;
	const char *at = NULL;
	char text[1024];

	if (pid && proc_beginning(text, sizeof(text), "/proc/%d/stat", pid) > 0)
		at = strrchr(text, ')');
	return at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
			    "%llu %llu %llu %llu", &user, &sys, &cuser, &csys) == 4
	       ? (double)(user + sys + cuser + csys) / (double)sysconf(_SC_CLK_TCK) : 0;
}

static uint64_t memory_of(pid_t pid)
{
	/* pages that forked processes share count once, for the supervisor */
	return !pid ? 0
	       : proc_status_of((uint32_t)pid, "RssAnon", 0) * 1024;
}

static void own_usage(struct supervisor *s)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	s->status.cpu_seconds = s->cpu_ended + seconds_of(&u) + cpu_of(s->keeper);
	s->status.memory_bytes = memory_of(getpid()) + memory_of(s->keeper);
	for (int i = 0; i < RECORDERS; i++) {
		s->status.cpu_seconds += cpu_of(s->r[i].pid);
		s->status.memory_bytes += memory_of(s->r[i].pid);
	}
}

static void set_state(struct supervisor *s, const char *state, const char *why)
{
	snprintf(s->status.state, sizeof(s->status.state), "%s", state);
	snprintf(s->status.why, sizeof(s->status.why), "%.500s", why);
}

static void write_status(struct supervisor *s)
{
	struct continuous_status *st = &s->status;
	struct error ignored;
	struct buf text = { 0 };

	read_reports(s);
	if (s->stop || s->finished)
		set_state(s, "ended", never_began(s) ? s->failed.msg : "");
	else if (s->paused)
		set_state(s, "paused", "the disk is nearly full");
	else if (s->current >= 0)
		set_state(s, "recording", s->o->record.cgroup && !s->cgroup
				? "the control group does not exist" : "");
	else
		set_state(s, "starting", s->failed.code ? s->failed.msg : "");
	st->recorder = s->current < 0 ? 0 : (uint64_t)s->r[s->current].pid;
	st->keeper = (uint64_t)s->keeper;
	st->written_s = (uint64_t)time(NULL);
	st->running_s = (clock_now() - s->began_ns) / SECOND;
	st->files = s->files.v.n;
	st->bytes = s->files.bytes;
	st->free_bytes = disk_free(s->dir);
	own_usage(s);
	status_json(st, &text);
	/* on a full disk, the older file stays */
	if (!text.failed)
		outfile_replace(s->dir, "status.json.new", "status.json", 0644, false,
				&(struct iovec){ text.p, text.n }, 1, &ignored);
	buf_fini(&text);
}

static void watch_disk(struct supervisor *s)
{
	struct retention keep = { s->o->keep_ns, s->o->keep_bytes,
				  s->o->free_bytes };
	struct error ignored;
	bool room;

	if (files_update(&s->files, s->dir, &ignored))
		return;
	room = files_retain(&s->files, s->dir, &keep, &s->status.removed);
	if (!room && !s->paused) {
		s->paused = true;
		notice(s, "the disk is nearly full (--keep-free): sampling "
		       "pauses");
		if (s->current >= 0)
			command(&s->r[s->current], "disable\n");
	} else if (s->paused && room &&
		   disk_free(s->dir) > s->o->free_bytes + s->o->free_bytes / 10) {
		s->paused = false;
		notice(s, "the disk has room again: sampling goes on");
		if (s->current >= 0)
			command(&s->r[s->current], "enable\n");
	}
}

/* A control group that was removed and made again, as when a service is restarted, is
 * another one, which a new recorder opens. */
static void watch_cgroup(struct supervisor *s)
{
	uint64_t now = s->o->record.cgroup ? cgroup_inode(s->o->record.cgroup)
					   : 0;

	if (now && now != s->cgroup)
		s->renew_now |= s->sampled;
	s->cgroup = now;
}

/* Goes on in a new folder if the path no longer names the one in use. */
static void watch_folder(struct supervisor *s)
{
	struct error err;
	int dir, lock;

	if (folder_is_at(s->dir, s->o->dir))
		return;
	if (folder_open(s->o->dir, false, &dir, &lock, &err)) {
		if (!s->strayed)
			notice(s, err.msg);
		s->strayed = true;
		return;
	}
	notice(s, "the folder of recordings (-o) was removed or replaced: "
	       "recording goes on in a new one");
	close(s->dir);
	close(s->lock);
	s->dir = dir;
	s->lock = lock;
	s->strayed = false;
	s->renew_now = s->sampled;
	files_fini(&s->files);
	if (s->keeper) {
		s->moved = true;
		kill(s->keeper, SIGTERM);
	}
}

/* A file has one starting time, from which the times of its samples follow.  After a
 * step of the wall clock, or a sleep of the machine, a new file is therefore begun. */
static void watch_clock(struct supervisor *s)
{
	int64_t wall = (int64_t)(clock_read(CLOCK_REALTIME) - clock_now());
	int64_t step = wall - s->wall_ns;

	if (step < CLOCK_STEP_S * (int64_t)SECOND &&
	    step > -CLOCK_STEP_S * (int64_t)SECOND)
		return;
	s->wall_ns = wall;
	for (int i = 0; i < RECORDERS; i++)
		if (s->r[i].pid && s->r[i].samples && !s->r[i].ending)
			command(&s->r[i], "snapshot\n");
}

/* Asks the kernel to report the next step of the wall clock. */
static void await_step(struct supervisor *s)
{
	/* a time that never comes */
	struct itimerspec never = { .it_value.tv_sec = INT64_MAX / SECOND };

	if (timerfd_settime(s->clock, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
			    &never, NULL) < 0) {
		close(s->clock);
		s->clock = -1;
	}
}

static int free_slot(const struct supervisor *s)
{
	for (int i = 0; i < RECORDERS; i++)
		if (!s->r[i].pid)
			return i;
	return -1;
}

/* Starts the recorders that should be running. */
static int keep_recording(struct supervisor *s, struct error *err)
{
	uint64_t now = clock_now();
	int slot = free_slot(s);
	bool beginning = false, renew;

	for (int i = 0; i < RECORDERS; i++) {
		struct recorder *r = &s->r[i];

		if (!r->pid || r->samples || r->ending)
			continue;
		beginning = true;
		if (now - r->began_ns > BEGIN_S * SECOND) {
			kill(r->pid, SIGKILL);
			error_set(&s->failed, ERR_IO, "a recorder did not begin "
				  "within %d seconds", BEGIN_S);
		}
	}
	if (s->stop || s->finished || beginning || slot < 0 || now < s->again_ns)
		return 0;
	renew = s->current >= 0 &&
		(s->renew_now || now - s->r[s->current].began_ns >=
					 s->o->renew_ns) &&
		(!s->o->record.cgroup || s->cgroup);
	return s->current < 0 || renew ? start_recorder(s, slot, err) : 0;
}

/* Each wake-up costs more than what it looks at. */
static int round_ms(const struct supervisor *s)
{
	bool calm = s->current >= 0 && s->keeper && !s->paused && !s->strayed &&
		    s->clock >= 0 && !s->o->record.cgroup &&
		    (!s->o->every_ns ||
		     s->o->every_ns >= 2 * CALM_ROUND_MS * (SECOND / 1000));

	return calm ? CALM_ROUND_MS : ROUND_MS;
}

/* Waits until a process or the user says something, at most until `until`.  Returns
 * whether the wall clock was set. */
static bool wait_for_something(struct supervisor *s, uint64_t until)
{
	struct pollfd p[RECORDERS + 2];
	uint64_t now = clock_now(), left = until > now ? (until - now) / 1000000 : 0;
	int ms = round_ms(s);
	nfds_t n = 0;

	p[n++] = (struct pollfd){ s->signals, POLLIN, 0 };
	p[n++] = (struct pollfd){ s->clock, POLLIN, 0 };
	for (int i = 0; i < RECORDERS; i++)
		if (s->r[i].pid && s->r[i].from >= 0 && !s->r[i].samples)
			p[n++] = (struct pollfd){ s->r[i].from, POLLIN, 0 };
	poll(p, n, left < (uint64_t)ms ? (int)left + 1 : ms);
	for (int i = 0; i < RECORDERS; i++)
		if (s->r[i].pid)
			read_answers(s, &s->r[i]);
	take_signals(s);
	if (!p[1].revents)
		return false;
	await_step(s);
	return true;
}

/* Tells the service manager about a service of "Type=notify", as sd_notify(3) does:
 * "READY=1".  Does nothing where no manager waits for it. */
static void service_notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t n = path ? strlen(path) : 0;
	int fd;

	if (!n || n >= sizeof(to.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(to.sun_path, path, n);
	if (*path == '@')
		to.sun_path[0] = 0;	/* an abstract name */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* Without an answer the manager says that the service did not start. */
	(void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL,
		      (const struct sockaddr *)&to,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	close(fd);
}

static bool recorders_left(const struct supervisor *s)
{
	for (int i = 0; i < RECORDERS; i++)
		if (s->r[i].pid)
			return true;
	return false;
}

static int watch(struct supervisor *s, struct error *err)
{
	uint64_t end = s->o->duration_ns ? clock_now() + s->o->duration_ns
					 : UINT64_MAX;
	uint64_t last = 0, told = 0;
	bool ready = false, stepped = false;
	int rc = 0;

	while (!rc && !s->stop && !s->finished) {
		rc = keep_recording(s, err);
		if (!s->keeper && clock_now() >= s->keeper_again_ns)
			start_keeper(s);
		if (stepped || clock_now() - last >= ROUND_MS * (SECOND / 1000)) {
			last = clock_now();
			watch_folder(s);
			watch_cgroup(s);
			watch_clock(s);
			watch_disk(s);
			if (!told || last - told >= STATUS_MS * (SECOND / 1000)) {
				told = last;
				write_status(s);
			}
		}
		stepped = wait_for_something(s, end);
		if (s->sampled && !ready) {
			ready = true;
			write_status(s);	/* for who starts it and looks */
			service_notify("READY=1");
		}
		if (clock_now() >= end)
			s->stop = true;
		/* The user gets the first one's reason. */
		if (never_began(s) && !recorders_left(s)) {
			*err = s->failed;
			rc = -err->code;
		}
	}
	return rc;
}

/* Stops the recorders and the keeper, which finish and read the last files. */
static void end(struct supervisor *s)
{
	uint64_t until;

	s->stop = true;
	for (int i = 0; i < RECORDERS; i++) {
		/* one that hands over need not wait for that time */
		if (s->r[i].pid && s->r[i].samples)
			s->r[i].ending = false;
		end_recorder(&s->r[i]);
	}
	while (recorders_left(s))
		wait_for_something(s, UINT64_MAX);
	if (s->keeper)
		kill(s->keeper, SIGTERM);
	until = clock_now() + KEEPER_END_S * SECOND;
	while (s->keeper) {
		if (clock_now() > until)
			kill(s->keeper, SIGKILL);
		wait_for_something(s, until);
	}
	watch_disk(s);
	write_status(s);
}

/* Opens the cache of symbols.  Without it, recordings are the same. */
static void open_symbols(struct supervisor *s)
{
	struct buf path = { 0 };
	struct error err;

	if (!s->o->record.symbols || !s->o->symbol_bytes)
		return;
	buf_printf(&path, "%s/symbols", s->o->dir);
	if (!path.failed &&
	    symbol_cache_open(buf_cstr(&path), s->o->symbol_bytes,
			      s->o->free_bytes, &s->symbols, &err) < 0)
		notice(s, err.msg);
	buf_fini(&path);
}

static int prepare(struct supervisor *s, struct error *err)
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	sigset_t set;
	int rc;

	rc = folder_open(s->o->dir, true, &s->dir, &s->lock, err);
	if (rc)
		return rc;
	s->clock = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->clock >= 0)
		await_step(s);
	watch_cgroup(s);
	watch_clock(s);
	for (int slot = 0; !rc && slot < RECORDERS; slot++)
		rc = files_adopt(s->dir, slot, err);
	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(all); i++)
		sigaddset(&set, all[i]);
	signals_add_foreign(&set);
	sigprocmask(SIG_BLOCK, &set, &s->before);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (!rc && s->signals < 0)
		rc = error_errno(err, errno, "signalfd");
	if (!rc)
		open_symbols(s);
	return rc;
}

int continuous_run(const struct continuous_options *o, struct error *err)
{
	struct supervisor s = { .o = o, .dir = -1, .lock = -1, .signals = -1,
				.clock = -1, .reports = -1, .current = -1 };
	void (*pipes)(int);
	int rc;

	for (int i = 0; i < RECORDERS; i++)
		s.r[i] = (struct recorder){ .to = -1, .from = -1, .slot = i };
	sigprocmask(SIG_SETMASK, NULL, &s.before);
	pipes = signal(SIGPIPE, SIG_IGN);
	s.status.pid = (uint64_t)getpid();
	s.status.started_s = (uint64_t)time(NULL);
	s.began_ns = clock_now();
	s.status.pushing = o->push;
	rc = prepare(&s, err);
	if (!rc) {
		rc = watch(&s, err);
		end(&s);
	}
	files_fini(&s.files);
	symbol_cache_close(s.symbols);
	if (s.signals >= 0)
		close(s.signals);
	if (s.clock >= 0)
		close(s.clock);
	if (s.lock >= 0)
		close(s.lock);
	if (s.dir >= 0)
		close(s.dir);
	sigprocmask(SIG_SETMASK, &s.before, NULL);
	signal(SIGPIPE, pipes);
	return rc;
}
