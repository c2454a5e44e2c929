#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of functions in other languages, from the program to the report.
. "$top_srcdir/tests/lib.sh"
cd "$T_TMP" || exit 1

if ! "$TALLY" record --source=perf -q -o try.tally -- true 2>rec.err; then
	t_skip_all "languages" "cannot record here: $(head -n 1 rec.err)"
fi

prog=prog
# Where the time of PROGRAM goes, by name.
hot() { # PROGRAM…
	"$TALLY" record -q -o prog.tally -- "$@" >log 2>&1 &&
		"$TALLY" report --no-pager --top 3 prog.tally 2>>log
	cat log
}
try() { # NAME TOOL ERE COMPILER…: makes $prog
	name=$1 tool=$2 want=$3
	shift 3
	if ! command -v "$tool" >/dev/null 2>&1; then
		t_skip "$name" "$tool is not installed"
	elif ! "$@" >compile.log 2>&1; then
		t_skip "$name" "$tool does not work here: $(tail -n 1 compile.log)"
	else
		t_like "$name" "$(hot ./$prog)" "$want"
	fi
}

cat >geo.ads <<'X'
package Geo is
   function Area (N : Integer) return Integer;
   function Area (N : Float) return Float;
end Geo;
X
cat >geo.adb <<'X'
package body Geo is
   function Area (N : Float) return Float is
   begin
      return N * N;
   end Area;
   function Area (N : Integer) return Integer is
      R : Integer := N;
   begin
      for I in 1 .. 100_000_000 loop
         R := (R * 3 + I) mod 1001;
      end loop;
      return R;
   end Area;
end Geo;
X
cat >main.adb <<'X'
with Geo;
procedure Main is
begin
   if Geo.Area (3) = 12345 or Geo.Area (1.5) < 0.0 then
      raise Program_Error;
   end if;
end Main;
X
try "Ada" gnatmake '% +prog +geo\.area$' gnatmake -q -g main.adb -o prog

# Each of two functions has its own name.
if [ -x prog ]; then
	cat >two.adb <<'X'
procedure Two is
   N : Integer := 3;
   procedure First is
   begin
      for I in 1 .. 60_000_000 loop
         N := (N * 3 + I) mod 1001;
      end loop;
   end First;
   procedure Second is
   begin
      for I in 1 .. 30_000_000 loop
         N := (N * 7 + I) mod 1001;
      end loop;
   end Second;
begin
   First;
   Second;
end Two;
X
	gnatmake -q -g two.adb >compile.log 2>&1
	log=$(hot ./two)
	t_like "Ada's first function" "$log" '% +two +two\.first$'
	t_like "and its second" "$log" '% +two +two\.second$'
else
	t_skip "two functions of Ada" "no program was made"
fi

cat >m.f90 <<'X'
module shapes
contains
  integer function area(n) result(r)
    integer, intent(in) :: n
    integer :: i
    r = n
    do i = 1, 100000000
      r = mod(r * 3 + i, 1001)
    end do
  end function
end module
program main
  use shapes
  print *, area(command_argument_count())
end program
X
try "Fortran" gfortran '% +prog +shapes::area$' gfortran -g m.f90 -o prog

cat >m.d <<'X'
module shapes;
struct Box(T)
{
	T v;
	T area(T k)
	{
		foreach (i; 0 .. 100_000_000)
			k = (k * 3 + v + i) % 1001;
		return k;
	}
}
extern (C) int main(int argc, char** argv)
{
	return Box!int(argc).area(3) == 12345;
}
X
try "D" gdc '% +prog +shapes\.Box!\(…\)\.Box\.area\(…\)$' gdc -g m.d -o prog

cat >m.go <<'X'
package main

type box[T int | int64] struct{ v T }

//go:noinline
func (b *box[T]) area(k T) T {
	for i := T(0); i < 100000000; i++ {
		k = (k*3 + b.v + i) % 1001
	}
	return k
}

// Work for the collector, whose threads run on stacks of the runtime.
var kept [100][]byte

func main() {
	for i := 0; i < 100000; i++ {
		kept[i%100] = make([]byte, 10000)
	}
	b := &box[int]{3}
	if b.area(1) == 12345 {
		panic("no")
	}
}
X
GO111MODULE=off GOCACHE=$PWD/cache GOFLAGS=
export GO111MODULE GOCACHE GOFLAGS
prog=goprog
try "Go" go '% +goprog +main\.\(\*box\[…\]\)\.area$' \
	env HOME="$PWD" go build -o goprog m.go
if [ -x goprog ]; then
	"$TALLY" record -q -g -F 4000 -o go.tally -- ./goprog >go.log 2>&1
	t_lacks "its threads begin where Go's runtime begins them" \
		"$("$TALLY" info go.tally)" 'return address is not code'
else
	t_skip "the begin of Go's threads" "no program was made"
fi
t_done
