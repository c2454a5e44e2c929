#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings sent to servers of all protocols, which check each byte against the
# published definitions; servers that fail in all ways; a spool that is full, shared, or
# whose process is killed.
. "$top_srcdir/tests/lib.sh"
cd "$T_TMP" || exit 1

# The Python that has protobuf's module may not be the first one.
for PY in python3 /usr/bin/python3 ''; do
	[ -n "$PY" ] && $PY -c 'import google.protobuf' 2>/dev/null && break
done
if [ -z "$PY" ] || ! command -v protoc >/dev/null; then
	t_skip_all "servers that check what is sent" \
		"apt-get install protobuf-compiler python3-protobuf"
fi
if "$TALLY" push pyroscope+http://127.0.0.1:1 --spool none 2>&1 |
		grep -q 'without libcurl\|needs libcurl'; then
	t_skip_all "sending" "no libcurl"
fi

serve() { # NAME [OPTION…]: a server, with its port in $port
	name=$1
	shift
	rm -rf "$name/port"
	$PY "$top_srcdir/tests/push/server.py" "$name" "$@" >"$name.out" 2>&1 &
	server=$!
	t_cleanup "kill $server 2>/dev/null"
	t_until test -s "$name/port" || cat "$name.out"
	port=$(cat "$name/port")
}
field() { # FILE EXPRESSION: of all requests that were taken, as Python sees them
	$PY -c '
import json, sys
log = [json.loads(l) for l in open(sys.argv[1])]
got = [g for r in log for g in r.get("got", [])]
print(eval(sys.argv[2]))' "$1" "$2"
}
push() { "$TALLY" push "$@" 2>err; }

# Two programs for some three seconds, of which they sleep most.
cat >two.sh <<'END'
end=$(($(date +%s) + 3))
sh -c 'while [ $(date +%s) -lt '$end' ]; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.1; done' &
while [ "$(date +%s)" -lt $end ]; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.1; done
wait
END
if ! "$TALLY" record -q -g -o r.tally -- sh two.sh 2>err; then
	t_skip_all "a recording" "$(tail -n 1 err)"
fi
weight() { "$TALLY" report --format=json -s comm "$1" | $PY -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
print(*[sum(r["self"][k] for r in rows) for k in ("samples", "weight")])'; }
want=$(weight r.tally)
set -- $want
samples=$1 weight=$2

serve http
url=http://127.0.0.1:$port

# --- each protocol takes all samples, once
for to in pyroscope+$url pyroscope+$url/ingest parca+$url otlp+$url; do
	rm -f http/log
	t_run "$to" "$TALLY" push "$to" --window 1s --label team=a.b \
		--label service_name=shop --tenant t7 r.tally
	t_is "… takes what was recorded" "$(field http/log \
		'sum(g["weight"] for g in got)')" "$weight"
	case $to in otlp*) ;; *) t_is "… and as many samples" "$(field http/log \
		'sum(g["count"] for g in got)')" "$samples";; esac
	t_is "… in windows of a second" "$(field http/log \
		'all(g["duration"] <= 10**9 and g["time"] // 10**9 == (g["time"] + g["duration"] - 1) // 10**9 for g in got) and len({g["time"] for g in got}) >= 3')" True
	t_is "… for the tenant" "$(field http/log '{r["tenant"] for r in log}')" \
		"{'t7'}"
done
t_is "OTLP: what is told of the service" "$(field http/log '{(
	g["resource"]["service.name"], g["resource"]["team"],
	g["resource"]["os.type"], "host.name" in g["resource"]) for g in got}')" \
	"{('shop', 'a.b', 'linux', True)}"
rm -f http/log
push pyroscope+$url r.tally
t_is "without labels the service is the command" \
	"$(field http/log '{g["labels"]["service_name"] for g in got}')" "{'sh'}"
t_is "threads have their names" \
	"$(field http/log '"sh" in [c for g in got for c in g["comms"]]')" True
t_like "it says what was sent" "$(cat err)" \
	"^tally: sent [0-9]+ requests? with $(echo "$samples" |
	sed ':a;s/\B[0-9]\{3\}\>/,&/;ta') samples"

# --- labels of the recording, which options replace
"$TALLY" record -q --label canary=yes --label region.zone=eu -o labels.tally -- sh -c \
	'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' 2>err || cat err
rm -f http/log
push pyroscope+$url labels.tally
t_is "labels of the recording" "$(field http/log \
	'{(g["labels"].get("canary"), g["labels"].get("region_zone")) for g in got}')" "{('yes', 'eu')}"
rm -f http/log
push pyroscope+$url --label canary=no labels.tally
t_is "… are replaced by those of the command" "$(field http/log \
	'{(g["labels"].get("canary"), g["labels"].get("region_zone")) for g in got}')" "{('no', 'eu')}"
rm -f http/log
push otlp+$url --label os.type=mine labels.tally
t_is "OTLP: … under their own names, each once" "$(field http/log \
	'{(g["resource"].get("canary"), g["resource"].get("region.zone"), g["resource"]["os.type"]) for g in got}')" \
	"{('yes', 'eu', 'mine')}"
rm -f http/log
push pyroscope+$url/ingest --label 'service_name=user@1000 {a}' labels.tally
t_is "/ingest: a service whose name it does not accept" "$(field http/log \
	'{g["labels"]["service_name"] for g in got}')" "{'user@1000 _a_'}"

# --- by gRPC
if $PY -c 'import grpc' 2>/dev/null; then
	serve grpc --grpc
	for to in parca otlp; do
		rm -f grpc/log
		t_run "$to by gRPC" "$TALLY" push "$to+grpc://127.0.0.1:$port" \
			--window 1s r.tally
		t_is "… takes what was recorded" "$(field grpc/log \
			'sum(g["weight"] for g in got)')" "$weight"
	done
	echo grpc:14 >grpc/faults
	rm -f grpc/log
	t_run "UNAVAILABLE is tried again" "$TALLY" push \
		"otlp+grpc://127.0.0.1:$port" r.tally
	t_is "… and all is there" "$(field grpc/log \
		'sum(g["weight"] for g in got)')" "$weight"
	echo grpc:3 >grpc/faults
	push "parca+grpc://127.0.0.1:$port" r.tally
	t_is "INVALID_ARGUMENT is not" $? 1
	t_like "… and told" "$(cat err)" 'gRPC status 3: told to say grpc:3'
	echo partial >grpc/faults
	push "otlp+grpc://127.0.0.1:$port" r.tally
	t_is "profiles that were left out" $? 1
	t_like "… are reported" "$(cat err)" 'rejected 3 profiles: three too many'

	# Names that the server looks up, in what was uploaded.
	cp "$top_srcdir/tests/workload/known_cost.c" .
	mkdir debug debug/.build-id
	${CC:-cc} -O2 -g -pthread -Wl,--build-id=0xabcdef0123456789 -o cost \
		known_cost.c 2>err || cat err
	mkdir debug/.build-id/ab
	objcopy --only-keep-debug cost debug/.build-id/ab/cdef0123456789.debug
	strip -o known_cost cost
	"$TALLY" record -q -g --debug-dir debug -o cost.tally -- ./known_cost 1 \
		2>err >/dev/null || cat err
	to=parca+grpc://127.0.0.1:$port
	rm -f grpc/log
	# with the names of the recording's own symbols there is nothing to upload
	push $to --window 1h cost.tally
	t_is "names are sent, unless asked otherwise" "$(field grpc/log \
		'sorted(f for g in got for f in g["functions"] if f.startswith("cost_")), [g["unnamed"] for g in got], [r for r in log if "should" in r]')" \
		"(['cost_02', 'cost_08', 'cost_15', 'cost_25', 'cost_50'], [[]], [])"
	rm -f grpc/log
	t_run "addresses for the server to look up" "$TALLY" push $to --window 1h \
		--symbols=server --debug-dir debug cost.tally
	t_is "… by build ID" "$(field grpc/log \
		'"abcdef0123456789" in {u[0] for g in got for u in g["unnamed"]}')" True
	t_is "… and no name of that program" "$(field grpc/log \
		'[f for g in got for f in g["functions"] if f.startswith("cost_")]')" "[]"
	t_is "its debug file is uploaded" "$(cmp debug/.build-id/ab/cdef0123456789.debug \
		grpc/abcdef0123456789.debug && echo same)" same
	t_is "… once" "$(field grpc/log \
		'[list(r)[1:2] for r in log if "abcdef0123456789" in r.values()]')" \
		"[['should'], ['initiate'], ['upload'], ['finished']]"
	t_is "… and has the names" "$(field grpc/log \
		'" ".join({hex(u[1]) for g in got for u in g["unnamed"] if u[0] == "abcdef0123456789"})' |
		xargs addr2line -f -e grpc/abcdef0123456789.debug | sed -n 's/^cost_/&/p' |
		sort -u | tr '\n' ' ')" "cost_02 cost_08 cost_15 cost_25 cost_50 "
	rm -f grpc/log
	push otlp+grpc://127.0.0.1:$port --window 1h --symbols=server cost.tally
	t_is "OTLP: addresses as well" "$(field grpc/log \
		'got[0]["unnamed"] > 0 and not [f for f in got[0]["functions"] if f.startswith("cost_")]')" True
	t_is "… without uploads" "$(field grpc/log '[r for r in log if "should" in r]')" "[]"
	again_with() { # FILE CONTENT: another server, which has DIR/FILE
		kill $server
		rm -rf grpc
		mkdir grpc
		echo "$2" >"grpc/$1"
		serve grpc --grpc
		push parca+grpc://127.0.0.1:$port --window 1h --symbols=server \
			--debug-dir debug cost.tally
		t_is "$1: the samples are sent" "$?" 0
	}
	again_with have abcdef0123456789
	t_is "what the server has is not uploaded" "$(field grpc/log \
		'[list(r)[1] for r in log if "abcdef0123456789" in r.values()]')" "['should']"
	again_with signed yes
	t_like "another way of uploading is reported" "$(cat err)" \
		'debug information of .*known_cost is not uploaded: the server wants'
	again_with no-debuginfo yes
	t_like "a server without that service is reported" "$(cat err)" \
		'no debug information is uploaded: gRPC status 12'
	"$TALLY" push $to --symbols=yes cost.tally 2>err
	t_is "--symbols has two values" $? 2
else
	t_skip "gRPC" "apt-get install python3-grpcio"
fi

# --- servers that fail
again() { # FAULT…: all samples are there in the end
	rm -f http/log
	printf '%s\n' "$@" >http/faults
	t_run "$*: tried again" "$TALLY" push "pyroscope+$url" --timeout 1s r.tally
	t_is "… and all is there" "$(field http/log \
		'sum({g["uuid"]: g["weight"] for g in got}.values())')" "$weight"
}
again 503
again 429:2
t_is "… not before the time that the server named" "$(field http/log \
	'log[1]["at"] - log[0]["at"] >= 2')" True
again 500 502 504 408
again reset
again slow
again lost
t_is "… and what came twice has one id" "$(field http/log \
	'len(got) - len({g["uuid"] for g in got})')" 1
echo 429:3600 >http/faults
push "pyroscope+$url" --retry-for 1s r.tally
t_is "a delay that is longer than the patience ends it" $? 1
printf 'always=503\n' >http/faults
push "pyroscope+$url" --retry-for 1s r.tally
t_is "a server that stays away" $? 1
t_like "… is named, and why" "$(tail -n 1 err)" "$url: HTTP status 503"
for fault in 400 401 404 302; do
	echo $fault >http/faults
	rm -f http/log
	push "pyroscope+$url" --window 1h r.tally
	t_is "$fault is not tried again" \
		"$? $(field http/log 'len(log)')" "1 1"
done
t_like "a redirection is not followed" "$(cat err)" "use its current URL"
echo partial >http/faults
push "otlp+$url" r.tally
t_is "partial success" $? 1
t_like "… is reported" "$(cat err)" 'rejected 3 profiles: three too many'
: >http/faults
push pyroscope+http://127.0.0.1:1 --retry-for 0.1s r.tally
t_like "nothing listens" "$(cat err)" "127.0.0.1:1: .*[Cc]onnect"
push pyroscope+http://no.such.host.invalid --retry-for 0.1s r.tally
t_like "no such host" "$(cat err)" "resolve host"

# --- limits
serve small --max 5000
rm -f small/log
push "pyroscope+http://127.0.0.1:$port" r.tally
t_is "smaller requests for a server that takes less" "$(field small/log \
	'sum(g["count"] for g in got)')" "$samples"
rm -f small/log
push "otlp+http://127.0.0.1:$port" r.tally
t_is "… also by OTLP" "$(field small/log \
	'sum(g["weight"] for g in got)')" "$weight"
t_is "… where each has an id of its own" "$(field small/log \
	'len({g["id"] for g in got}) == len(got) > 1')" True

# --- secrets
printf 'hunter2\n' >token
rm -f http/log
push "pyroscope+$url" --token-file token r.tally
t_is "a token of a file" "$(field http/log \
	'{r["authorization"] for r in log}')" "{'Bearer hunter2'}"
rm -f http/log
TALLY_PUSH_TOKEN='Basic dTpw' push "pyroscope+$url" r.tally
t_is "… of the environment" "$(field http/log \
	'{r["authorization"] for r in log}')" "{'Basic dTpw'}"
echo echo401 >http/faults
TALLY_PUSH_TOKEN=hunter2 push "pyroscope+$url" r.tally
t_like "a server that repeats the token is quoted without it" "$(cat err)" \
	'status 401: no such token: \[token\]'
t_lacks "… everywhere" "$(cat err)" 'hunter2'
echo html >http/faults
push "otlp+$url" r.tally
t_is "a web page is no acceptance" $? 1
t_like "… and reported as such" "$(cat err)" 'web page'
TALLY_PUSH_TOKEN=hunter2 push "pyroscope+http://127.0.0.1:1" --retry-for 0.1s \
	--spool spool.t r.tally
t_lacks "nothing says it" "$(cat err; cat spool.t/*.push)" 'hunter2'
push "pyroscope+http://me:hunter2@127.0.0.1:1" r.tally
t_is "a password in a URL is refused" $? 2
t_lacks "… and not repeated" "$(cat err)" 'hunter2'
printf 'a\nb\n' >two-lines
push "pyroscope+$url" --token-file two-lines r.tally
t_is "a token of two lines is none" $? 2

# --- TLS
if command -v openssl >/dev/null &&
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem \
	-days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
	>/dev/null 2>&1; then
	serve tls --tls cert.pem key.pem
	t_run "TLS with the server's own certificate" "$TALLY" push \
		"pyroscope+https://localhost:$port" --ca cert.pem r.tally
	t_is "… takes what was recorded" "$(field tls/log \
		'sum(g["count"] for g in got)')" "$samples"
	rm -f tls/log
	push "pyroscope+https://localhost:$port" r.tally
	t_is "a certificate without a trusted issuer" $? 1
	t_like "… is told at once" "$(cat err)" "certificate"
	push "pyroscope+https://127.0.0.1:$port" --ca cert.pem r.tally
	t_is "a certificate of another name" $? 1
	t_is "… and nothing was sent" "$([ -e tls/log ]; echo $?)" 1
else
	t_skip "TLS" "no openssl"
fi

# --- a spool
away=pyroscope+http://127.0.0.1:1
t_run "what cannot be sent is kept" "$TALLY" push $away --spool spool \
	--retry-for 0.1s --window 1s r.tally
t_ok "… in files" "$([ "$(ls spool/*.push | wc -l)" -ge 3 ]; echo $?)"
largest=$(wc -c spool/*.push | awk '$2 != "total" && $1 > n { n = $1 } END { print n }')
rm -f http/log
printf '503\n' >http/faults
t_run "… and sent later" "$TALLY" push "pyroscope+$url" --spool spool
t_is "… all of it" "$(field http/log 'sum(g["count"] for g in got)')" "$samples"
t_is "… oldest first" "$(field http/log \
	'[g["time"] for g in got] == sorted(g["time"] for g in got)')" True
t_is "… and is no longer there" "$(find spool -name '*.push' | wc -l | tr -d ' ')" 0
push $away --spool spool --retry-for 0.1s r.tally
push "otlp+$url" --spool spool
t_is "a spool for another protocol" $? 2
t_ok "… is left alone" "$(ls spool/*.push >/dev/null 2>&1; echo $?)"
push "parca+$url" --spool spool
t_is "Parca takes what Pyroscope was to get" "$? $(find spool -name '*.push' |
	wc -l | tr -d ' ')" "0 0"
push $away --spool tiny --spool-size $((largest + 100)) --retry-for 0.1s --window 1s r.tally
t_is "a spool that is too small" $? 1
t_like "… says what it lost" "$(tail -n 1 err)" "dropped because the spool was full"

# Killed at any time: an entry is whole or not there, and none is lost that was
# told to be kept.
rm -rf spool
i=0
while [ $i -lt 12 ]; do
	i=$((i + 1))
	"$TALLY" push $away --spool spool --retry-for 5m --window 1s r.tally \
		2>/dev/null &
	victim=$!
	sleep "0.$(printf %02d $((i * 3)))"
	kill -9 $victim 2>/dev/null
	wait $victim 2>/dev/null
done
"$TALLY" push $away --spool spool --retry-for 0.1s --window 1s r.tally 2>err
kept=$(find spool -name '*.push' | wc -l)
rm -f http/log
t_run "a spool whose owners were killed is sent" "$TALLY" push \
	"pyroscope+$url" --spool spool
t_is "… every file of it" "$(field http/log 'len(log)')" "$((kept))"
t_is "… and every window" "$(field http/log \
	'sum({g["uuid"]: g["count"] for g in got}.values())')" "$samples"

# A disk that is full while requests are kept.
if [ "$(id -u)" = 0 ] && mkdir disk && mount -t tmpfs \
		-o size=$(((largest + 8191) / 4096 * 4))k none disk \
		2>/dev/null; then
	t_cleanup "umount $T_TMP/disk"
	push $away --spool disk/spool --retry-for 0.1s --window 1s r.tally
	t_is "a full disk loses the oldest" $? 1
	t_like "… and says so" "$(tail -n 1 err)" "dropped because the spool was full|No space"
	rm -f http/log
	push "pyroscope+$url" --spool disk/spool
	t_like "… what is left is whole" "$(tail -n 1 err)" "^tally: sent [1-9]"
	dd if=/dev/zero of=disk/other bs=4k count=10000 2>/dev/null
	rm -f http/log
	t_run "a disk without room for any request" "$TALLY" push "pyroscope+$url" \
		--spool disk/spool --window 1s r.tally
	t_is "… is no obstacle while the server is there" "$(field http/log \
		'sum(g["count"] for g in got)')" "$samples"
	push $away --spool disk/spool --retry-for 0.1s --window 1s r.tally
	t_is "… and loses requests while it is away" $? 1
	t_like "… which is said, with the reason" "$(cat err)" "No space left"
else
	t_skip "a full disk" "no tmpfs can be mounted here"
fi
if [ "$(id -u)" != 0 ]; then
	push $away --spool spool --retry-for 0.1s r.tally
	chmod 0 spool/*.push
	rm -f http/log
	push "pyroscope+$url" --spool spool r.tally
	t_is "a request that cannot be read is left out" "$? $(field http/log \
		'sum(g["count"] for g in got)')" "1 $samples"
else
	t_skip "a request that cannot be read" "root can read it"
fi
rm -f spool/*.push
"$TALLY" push $away --spool spool --retry-for 60s r.tally 2>/dev/null &
owner=$!
t_until sh -c 'ls spool/*.push >/dev/null'
push $away --spool spool --retry-for 0.1s r.tally
t_is "a spool that another process sends" $? 2
t_like "… is named" "$(cat err)" "spool: another tally"
kill $owner
wait $owner 2>/dev/null
t_done
