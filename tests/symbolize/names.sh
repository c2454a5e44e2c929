# SPDX-License-Identifier: GPL-2.0-or-later
# Readable names of whole libraries and of what compilers emit; expected values
# from nm -C.
. "$top_srcdir/tests/lib.sh"

namecat=$(cd "$top_builddir/tests/symbolize" && pwd)/namecat
src=$(cd "$top_srcdir/tests/symbolize" && pwd)
cd "$T_TMP" || exit 1

have() { command -v "$1" >/dev/null 2>&1; }

# The names of a file as nm -C and as we write them are the same; but for what nm
# leaves as it is, and for commas that binutils leaves where packs are empty.
same_names() { # LEAST NM-ARGUMENTS…
	least=$1
	shift
	nm -p "$@" 2>/dev/null | sed 's/^.* //; s/@.*//' >mangled
	nm -pC "$@" 2>/dev/null |
		sed 's/^ *[0-9a-f]* *[A-Za-z] //; s/@@*[A-Z][A-Za-z_0-9.]*$//' >want
	"$namecat" <mangled >got || return 1
	paste -d '\001' mangled want got | awk -F '\001' -v least="$least" '
	!/^_[ZR]/ { next }
	{ n++; rust = $1 ~ /^_R|17h[0-9a-f]+E/ }
	rust { gsub(/ \[clone [^]]*\]/, "", $3) }
	$2 == $3 || $2 == $1 { next }
	{ while (sub(/<, /, "<", $2) || sub(/\(, /, "(", $2) ||
		 sub(/, , /, ", ", $2)) ; }
	$2 == $3 { next }
	{ bad++; print $1; print "  want " $2; print "  got  " $3 }
	END {
		print n " names, " bad + 0 " differ"
		exit !(n >= least && bad == 0)
	}'
}

# All of them became readable.
none_left() {
	! grep -E '^_(Z|R)' got
}

lib=$(${CXX:-c++} -print-file-name=libstdc++.so 2>/dev/null)
if [ -r "$lib" ]; then
	t_run 'libstdc++: as nm -C says' same_names 4000 -D "$lib"
	t_run 'libstdc++: all are readable' none_left
else
	t_skip 'libstdc++: as nm -C says' 'no C++ compiler'
	t_skip 'libstdc++: all are readable' 'no C++ compiler'
fi
for cxx in g++ clang++; do
	for flags in '-std=c++17 -O0' '-std=c++20 -O0' '-std=c++20 -O2'; do
		if have $cxx && $cxx -w $flags -c "$src/names.cpp" -o n.o 2>log; then
			t_run "$cxx $flags: as nm -C says" same_names 60 n.o
			t_run "$cxx $flags: all are readable" none_left
		else
			t_skip "$cxx $flags: as nm -C says" \
				"no $cxx that compiles it"
			t_skip "$cxx $flags: all are readable" \
				"no $cxx that compiles it"
		fi
	done
done

cat >n.rs <<'END'
use std::fmt::Debug;
pub trait Shape { fn area(&self) -> f64; }
pub struct Sq<T, const N: usize>(pub [T; N]);
impl<T: Debug, const N: usize> Shape for Sq<T, N> {
    fn area(&self) -> f64 { format!("{:?}", self.0).len() as f64 }
}
pub mod größe { pub fn mögen(n: &mut i32) -> impl Fn(i32) -> i32 + '_ {
    move |x| x + *n } }
pub fn call(f: fn(&str, (u8,)) -> char) -> char { f("a", (1,)) }
pub fn dynamic(v: Vec<Box<dyn Shape + Send>>) -> f64 {
    v.iter().map(|s| s.area()).sum() }
pub struct Ch<const C: char, const B: bool, const I: i8>;
impl<const C: char, const B: bool, const I: i8> Ch<C, B, I> {
    #[inline(never)] pub fn show(&self) -> String { format!("{C}{B}{I}") }
}
pub fn all() -> f64 {
    let mut n = 3;
    let s: Box<dyn Shape + Send> = Box::new(Sq([1u8, 2]));
    Ch::<'x', true, { -7 }>.show();
    let m = größe::mögen(&mut n)(4);
    m as f64 + dynamic(vec![s])
        + call(|a, b| (a.len() as u8 + b.0) as char) as u32 as f64
}
END
# Newer compilers keep the old names for those who try unstable options.
for style in legacy v0; do
	if have rustc && { rustc --crate-type lib --crate-name n --emit obj \
			-C symbol-mangling-version=$style -o r.o n.rs ||
		RUSTC_BOOTSTRAP=1 rustc --crate-type lib --crate-name n \
			--emit obj -C symbol-mangling-version=$style \
			-Z unstable-options -o r.o n.rs; } >log 2>&1; then
		t_run "rustc, $style names: as nm -C says" same_names 20 r.o
		t_run "rustc, $style names: all are readable" none_left
	else
		t_skip "rustc, $style names: as nm -C says" \
			'no rustc that has these names'
		t_skip "rustc, $style names: all are readable" \
			'no rustc that has these names'
	fi
done
t_done
