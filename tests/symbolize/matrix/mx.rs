// SPDX-License-Identifier: GPL-2.0-or-later
// `bare`: without the standard library, all of which thin LTO would compile.
#![cfg_attr(bare, no_std, no_main)]
pub trait Area {
    fn area(&self, k: i32) -> i32;
}

pub struct Square<T>(pub T);

impl Area for Square<i32> {
    #[inline(never)]
    fn area(&self, k: i32) -> i32 {
        let add = |x: i32| x.wrapping_mul(self.0).wrapping_add(k);
        add(add(k))
    }
}

#[inline(never)]
pub fn total<T: Area>(v: &[T], k: i32) -> i32 {
    let mut s = 0i32;
    for x in v {
        s = s.wrapping_add(x.area(k));
    }
    s
}

#[cfg(bare)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

#[cfg(bare)]
#[no_mangle]
extern "C" fn main(n: i32, _: *const u8) -> i32 {
    let v = [Square(n), Square(3)];
    let mut s = total(&v, n);
    for i in 0..n {
        s = s.wrapping_add(total(&v[..1], i) ^ v[1].area(i));
    }
    (s == 12345) as i32
}

#[cfg(not(bare))]
fn main() {
    let n = std::env::args().count() as i32;
    let v = vec![Square(n), Square(3)];
    if total(&v, n) == 12345 {
        std::process::exit(3);
    }
}
