#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that are replaced, deleted or modified while they run, in their own
# namespaces, without a file, or as another user: names never come from another file,
# and unresolved code has a reason.
T_ALONE=${T_ALONE:-2}
. "$top_srcdir/tests/lib.sh"

cd "$T_TMP" || exit 1
t_needs perf
root=$([ "$(id -u)" -eq 0 ] && echo yes)

# A program (or library) whose time is all in the function WORK.
cat >work.c <<'END'
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void WORK(double seconds)
{
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	do {
		for (int i = 0; i < 2000000; i++)
			sink += (unsigned long)i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	} while ((double)(b.tv_sec - a.tv_sec) +
		 (double)(b.tv_nsec - a.tv_nsec) / 1e9 < seconds);
}
#ifdef MAIN
int main(int argc, char **argv)
{
	WORK(argc > 1 ? atof(argv[1]) : 0.1);
	return 0;
}
#endif
END
cc() { command ${CC:-cc} -O1 -g "$@"; }
prog() { # FUNCTION FILE OPTIONS…
	f=$1 out=$2; shift 2
	cc -DMAIN -DWORK=$f work.c -o $out "$@"
}
if ! prog probe_work probe 2>err; then
	t_skip_all "recording" "cannot compile: $(head -1 err)"
fi
# Image and function of what has enough samples to matter.  Files of one name are
# told apart by build-id or, without one, by a number, here [#].
rows() { # FILE
	"$TALLY" report --format=csv --no-header -s image,symbol "$1" \
		2>rows.err | awk -F, 'NR > 1 && $3 > 20 { sub(/.*\//, "", $1)
		sub(/\+0x.*/, "+", $2); print $1, $2 }' |
		sed 's/\[#[0-9]*\]/[#]/g' | sort -u | grep -v -F '[kernel]'
}
# How the reports mark FILE among others of its name.
mark() {
	built=$(LC_ALL=C readelf -n "$1" | awk '/Build ID/ { print $3 }')
	echo "[$(echo "${built:-#}" | cut -c1-8)]"
}
# Does the reason why there is no name stand in the file?
why() { "$TALLY" dump "$1" | sed -n 's/^image .*path="[^"]*'"$2"'".* reason="\([^"]*\)".*/\1/p'; }
# All recordings are a.tally: none passes for one that failed.
record() {
	rm -f a.tally
	timeout 120 "$TALLY" record -q -F 4000 -e cpu-clock:u "$@"
}
# Waits until process PID runs the program NAME of this folder.
started() { # PID NAME
	t_until sh -c '[ "$(readlink /proc/$1/exe)" = "$2" ]' sh $1 "$PWD/$2"
	sleep 0.2
}
attach() { # FILE PID
	record --duration 0.3 -o $1 -p $2
	kill $2
	wait $2 2>/dev/null
}
id=-Wl,--build-id no_id=-Wl,--build-id=none

# Replaced and deleted, with and without build-id, before the recorder looks.
for how in $id $no_id; do
	with=$([ $how = $id ] && echo with || echo without)
	prog old_work old $how
	prog new_work new $how
	cp old app
	./app 10 & pid=$!
	started $pid app
	cp new app.tmp && mv app.tmp app
	attach a.tally $pid
	t_is "a program that was replaced keeps its names ($with build-id)" \
		"$(rows a.tally)" "app old_work"
	cp old app
	./app 10 & pid=$!
	started $pid app
	rm app
	attach a.tally $pid
	t_is "one that was deleted, too ($with build-id)" \
		"$(rows a.tally)" "app old_work"
	# While it is recorded, again and again under one name.
	cat >again.sh <<'END'
for f in old new old new; do
	rm -f app; cp $f app; ./app 0.1
done
END
	record -o a.tally -- sh again.sh
	t_is "programs that follow each other under one name ($with build-id)" \
		"$(rows a.tally | grep -v "^\[vdso\]")" "$(sort <<END
app $(mark new) new_work
app $(mark old) old_work
END
)"
	# The same inode, written to: the old content is nowhere any more.
	cat >over.sh <<'END'
cp old app; ./app 0.1; sleep 0.1; cat new >app; ./app 0.1
END
	rm -f app
	record -o a.tally -- sh over.sh
	t_is "one that is written over gives its names to no other ($with)" \
		"$(rows a.tally)" "$(sort <<END
app $(mark new) new_work
app $(mark old) app $(mark old)+
END
)"
done
t_like "and says why it has none" "$(why a.tally app)" \
	'written to while it was recorded'
# A file with the time of the old one is still another file.
cp old app
./app 10 & pid=$!
started $pid app
cp new app.new
touch -r app app.new
mv app.new app
attach a.tally $pid
t_is "dates do not matter" "$(rows a.tally)" "app old_work"

# Libraries.
cat >plug.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *lib = dlopen(argv[1], RTLD_NOW);
	void (*work)(double) = lib ? (void (*)(double))dlsym(lib, argv[2])
				   : NULL;

	if (argc < 4 || !work) {
		puts(dlerror());
		return 1;
	}
	puts("ready");
	fflush(stdout);
	work(atof(argv[3]));
	return 0;
}
END
cc plug.c -o plug -ldl
lib() { cc -shared -fPIC -DWORK=$1 work.c -o $2 $3; }
lib lib_old_work old.so $no_id
lib lib_new_work new.so $no_id
cp old.so lib.so
./plug ./lib.so lib_old_work 10 >ready & pid=$!
t_until [ -s ready ]
cp new.so tmp.so && mv tmp.so lib.so
attach a.tally $pid
if [ "$root" ]; then
	t_is "a library that was replaced" "$(rows a.tally)" \
		"lib.so lib_old_work"
else
	t_is "a library that was replaced gets no wrong names" \
		"$(rows a.tally)" "lib.so lib.so+"
fi

# Files without a name in any directory.
cat >memfd.py <<'END'
import os, sys
def copy(path):
    fd = os.memfd_create("no-file", 0)
    with open(path, "rb") as f:
        os.write(fd, f.read())
    return "/proc/self/fd/%d" % fd
if sys.argv[1] == "exec":
    os.execve(copy("old"), ["old", "0.1"], os.environ)
os.execv("./plug", ["./plug", copy("old.so"), "lib_old_work", "0.1"])
END
record -o a.tally -- python3 memfd.py exec
t_like "a program in a memfd" "$(rows a.tally)" '^memfd:no-file old_work$'
record -o a.tally -- python3 memfd.py dlopen >ready
t_like "a library in a memfd" "$(rows a.tally)" '^memfd:no-file lib_old_work$'

# Scripts run under their own name.
printf '#!/bin/sh\ni=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done\n' \
	>script.sh
chmod +x script.sh
record -o a.tally -- ./script.sh
t_is "a script has its own name" "$("$TALLY" report --format=csv --no-header \
	-s comm a.tally | awk -F, 'NR > 1 && $2 > 20 { print $1 }')" script.sh

# Code without a file.
cat >jit.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* mov $2e8, %ecx; 1: dec %ecx; jne 1b; ret */
static const unsigned char code[] = { 0xb9, 0, 0xc2, 0xeb, 0x0b, 0xff, 0xc9,
				      0x75, 0xfc, 0xc3 };
int main(int argc, char **argv)
{
	int how = MAP_PRIVATE | MAP_ANONYMOUS, fd = -1;
	size_t n = 4096;
	void *p;

	if (argc > 1 && !strcmp(argv[1], "zero")) {
		fd = open("/dev/zero", O_RDWR);
		how = MAP_SHARED;
	} else if (argc > 1 && !strcmp(argv[1], "huge")) {
		how |= MAP_HUGETLB;
		n = 2 << 20;
	} else if (argc > 1 && !strcmp(argv[1], "memfd")) {
		fd = memfd_create("jit-cache", 0);
		how = MAP_SHARED;
		if (ftruncate(fd, 4096) < 0)
			return 1;
	}
	p = mmap(NULL, n, PROT_READ | PROT_WRITE, how, fd, 0);
	if (p == MAP_FAILED || (memcpy(p, code, sizeof(code)),
				mprotect(p, n, PROT_READ | PROT_EXEC))) {
		perror(argv[1]);
		return 77;
	}
	((void (*)(void))p)();
	return 0;
}
END
if [ "$(uname -m)" = x86_64 ] && cc jit.c -o jit 2>err; then
	for how in anon zero; do
		record -o a.tally -- ./jit $how
		t_is "generated code ($how) is nobody's" "$(rows a.tally)" \
			"[anon] [anon]+"
	done
	record -o a.tally -- ./jit memfd
	t_is "generated code (memfd) is nobody's" "$(rows a.tally)" \
		"memfd:jit-cache memfd:jit-cache+"
	huge=/proc/sys/vm/nr_hugepages
	was=$(cat $huge 2>/dev/null)
	if [ "$root" ] && [ "$was" = 0 ]; then
		t_cleanup "echo 0 >$huge"
		echo 2 >$huge 2>/dev/null
	fi
	if record -o a.tally -- ./jit huge 2>err; then
		t_is "generated code (huge pages) is nobody's" \
			"$(rows a.tally)" "[anon] [anon]+"
	else
		t_skip "generated code in huge pages" "$(head -1 err)"
	fi
else
	t_skip "generated code" "made for x86-64"
fi

# Where other files have the same names.
prog outer_work outer $no_id
prog inner_work inner $no_id
mkdir -p place
cp outer place/prog
cat >inside.sh <<'END'
./place/prog 0.1
mount -t tmpfs none place && cp inner place/prog || exit 9
./place/prog 0.1
END
if unshare -m sh -c 'mount -t tmpfs none place' 2>err; then
	record -o a.tally -- unshare -m sh inside.sh
	t_is "a path that is another file inside (mount namespace)" \
		"$(rows a.tally)" "prog [#] inner_work
prog [#] outer_work"
else
	t_skip "a mount namespace" "$(head -n 1 err)"
fi
if unshare -U -r -m -p -f sh -c 'mount -t tmpfs none place' 2>err; then
	record -o a.tally -- unshare -U -r -m -p -f sh inside.sh
	t_is "… and in user, mount and pid namespaces" \
		"$(rows a.tally)" "prog [#] inner_work
prog [#] outer_work"
	cat >inside2.sh <<'END'
mount -t tmpfs none place && cp inner place/prog || exit 9
echo ready; exec ./place/prog 10
END
	: >ready
	unshare -U -r -m -p -f --kill-child sh inside2.sh >ready & pid=$!
	t_until grep -q ready ready
	sleep 0.5
	child=$(cat /proc/$pid/task/$pid/children 2>/dev/null)
	if [ "$child" ]; then
		record --duration 0.5 -o a.tally -p ${child% }
		t_is "… and of a process that runs already" \
			"$(rows a.tally)" "prog inner_work"
	fi
	# unshare does not end by other signals while its child runs
	kill -KILL $pid
	wait $pid 2>/dev/null
else
	t_skip "user, mount and pid namespaces" "$(head -1 err)"
fi
if [ "$root" ]; then
	mkdir -p jail/place
	prog inner_work jail/place/prog $no_id -static
	cp outer place/prog
	# (Only the process leads to the second file: on a busy machine it has to live until
	# the recorder opens that.)
	cat >jail.sh <<'END'
"$PWD/place/prog" 0.1
chroot jail /place/prog 0.5
END
	record -o a.tally -- sh jail.sh
	t_is "chroot" "$(rows a.tally)" "prog inner_work
prog outer_work"
	mkdir -p low up work all
	cp inner low/prog
	if mount -t overlay none -o lowerdir=low,upperdir=up,workdir=work all \
		2>err; then
		record -o a.tally -- all/prog 0.1
		t_is "a file of an overlay's lower layer" "$(rows a.tally)" \
			"prog inner_work"
		cp outer all/prog
		record -o a.tally -- all/prog 0.1
		t_is "one of its upper layer" "$(rows a.tally)" \
			"prog outer_work"
		all/prog 10 & pid=$!
		started $pid all/prog
		rm all/prog; cp inner all/prog
		attach a.tally $pid
		t_is "one that is replaced there" "$(rows a.tally)" \
			"prog outer_work"
		umount all
	else
		t_skip "overlay" "$(head -1 err)"
	fi
	if mkdir -p disk && truncate -s 200M disk.img &&
		mkfs.btrfs -q disk.img >err 2>&1 &&
		mount -o loop disk.img disk 2>err; then
		cp inner disk/prog
		record -o a.tally -- disk/prog 0.1
		t_is "a file on btrfs" "$(rows a.tally)" "prog inner_work"
		umount disk
	else
		t_skip "btrfs" "$(head -1 err)"
	fi
	# The recorder itself in namespaces: what is outside is not ours.
	if unshare -p -f --mount-proc true 2>err; then
		./outer 10 & pid=$!
		timeout 120 unshare -p -f --mount-proc "$TALLY" record -q -a -F 4000 \
			-e cpu-clock:u -o a.tally -- ./inner 0.1
		kill $pid
		wait $pid 2>/dev/null
		t_like "recording all from a pid namespace: its own" \
			"$(rows a.tally)" '^inner inner_work$'
		t_lacks "… gets no names from others' addresses" "$(rows a.tally)" outer
	else
		t_skip "recording all from a pid namespace" "$(head -n 1 err)"
	fi
	timeout 120 unshare -p -f "$TALLY" record -q -F 4000 -e cpu-clock:u -o a.tally \
		-- ./inner 0.1 2>err
	t_is "a /proc of another pid namespace" "$(rows a.tally)" \
		"inner inner_work"
	"$TALLY" record -q -o a.tally -- true
else
	t_skip "chroot, overlay and pid namespaces" "needs root"
fi

# Whom one may not look at.
t_settings
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
as_nobody() { timeout 120 $nobody "$@"; }
if [ "$root" ] && chmod 755 . && as_nobody true 2>/dev/null &&
	cp "$TALLY" tally-copy && mkdir -m 777 open &&
	as_nobody ./tally-copy record -q -o open/p.tally -- true 2>err; then
	prog secret_work secret
	chmod 711 secret
	record -o a.tally -- setpriv --reuid 65534 --regid 65534 \
		--clear-groups ./secret 0.1
	t_is "root records an unreadable program" "$(rows a.tally)" \
		"secret secret_work"
	cp secret suid
	chown 65534 suid && chmod 4755 suid
	record -a -o a.tally -- ./suid 0.1
	t_like "and, with -a, a setuid one" "$(rows a.tally)" \
		'^suid secret_work$'
	for f in secret suid; do
		chown 0 $f; chmod 4711 $f
		[ $f = secret ] && chmod 711 $f
		as_nobody ./tally-copy record -F 4000 -e cpu-clock:u \
			-o open/p.tally -- ./$f 0.1 2>err
		t_is "as another user $f runs" $? 0
		t_like "and that it cannot be recorded is said" \
			"$(cat err)" "not recorded: $f .*root with -a"
		t_like "and is in the file" \
			"$(./tally-copy info open/p.tally)" "not_recorded.*$f"
		t_like "… as the reason for having no samples" \
			"$(cat err)" "no samples: .*could be recorded.*; not recorded: $f"
	done
	as_nobody ./tally-copy record -F 4000 -e cpu-clock:u -o open/p.tally -- \
		sh -c './suid 0.1; ./suid 0.1; sleep 3
		i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' 2>err
	t_like "one that ended long ago is named, once" "$(cat err)" \
		"not recorded: suid \\(.*root with -a"
	t_like "… and at the head of a report" \
		"$(./tally-copy report --no-tui open/p.tally)" '^# Not recorded: suid$'
	cp old open/mine
	$nobody open/mine 10 & pid=$!
	started $pid open/mine
	rm open/mine
	as_nobody ./tally-copy record -q -F 4000 -e cpu-clock:u \
		--duration 0.3 -o open/p.tally \
		-p $pid
	kill $pid
	wait $pid 2>/dev/null
	t_is "users get the names of a deleted program of theirs" \
		"$(rows open/p.tally)" "mine old_work"
	: >ready
	$nobody ./plug ./old.so lib_old_work 10 >ready & pid=$!
	t_until [ -s ready ]
	cp new.so tmp.so; mv tmp.so old.so
	as_nobody ./tally-copy record -q -F 4000 -e cpu-clock:u \
		--duration 0.3 -o open/p.tally \
		-p $pid
	kill $pid
	wait $pid 2>/dev/null
	t_is "but not those of a library that was replaced" \
		"$(rows open/p.tally)" "old.so old.so+"
	t_like "and why" "$(why open/p.tally old.so)" \
		'was replaced after the program started .*only root can open'
else
	t_skip "other users" "needs root, setpriv and what users may record"
fi
exec 9<&-

# A container whose program leads to a file outside once it runs: by an absolute link
# to another program with the same build ID, and by a FIFO.
cat >lead.c <<'END'
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
void WORK(double seconds);
int main(int argc, char **argv)
{
	unlink("/prog");
	if (argc > 2 ? symlink(argv[2], "/prog") : mkfifo("/prog", 0600))
		return 9;
	WORK(atof(argv[1]));
	return 0;
}
END
same_id=-Wl,--build-id=0x1234567890123456789012345678901234567890
mkdir -p jail
if [ "$root" ] && cc -static -DWORK=true_work lead.c work.c -o true $same_id 2>err &&
   prog decoy_work decoy -static $same_id && cp true jail/prog &&
   chroot jail /prog 0 2>err; then
	rm -f jail/prog
	cp true jail/prog
	record -o a.tally -- chroot jail /prog 0.1 "$PWD/decoy"
	t_is "a program in a container that leads to a file outside" \
		"$(rows a.tally)" "prog true_work"
	rm -f jail/prog
	cp true jail/prog
	t_run "… and to a FIFO" timeout 30 "$TALLY" record -q -F 4000 \
		-e cpu-clock:u -o a.tally -- chroot jail /prog 0.1
	t_is "… has its own names" "$(rows a.tally)" "prog true_work"
	rm -f jail/prog
	cp true jail/prog
	chroot jail /prog 30 "$PWD/decoy" & pid=$!
	t_until sh -c '[ -L jail/prog ]'
	attach a.tally $pid
	t_is "… and if it runs already" "$(rows a.tally)" "prog true_work"
else
	t_skip "a container that leads outside" "needs root and static programs"
fi

# Gone before anybody could look: no names, but the reason.
cat >quick.sh <<'END'
mount -t tmpfs none place && cp inner place/brief && ./place/brief 0.02
END
if ! unshare -m sh quick.sh 2>err; then
	t_skip "a file and its process that are gone at once" \
		"$(head -n 1 err)"
else
	record -o a.tally -- unshare -m sh -c 'sleep 0.5; sh quick.sh'
	got=$(rows a.tally)
	if [ "$got" = "brief inner_work" ]; then
		t_ok "a file and its process that are gone at once: seen" 0
	else
		t_like "a file and its process that are gone at once: why" \
			"$(why a.tally brief)" 'ended before it could be opened'
	fi
fi
t_done
