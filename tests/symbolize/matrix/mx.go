// SPDX-License-Identifier: GPL-2.0-or-later
package main

import "os"

type mxBox struct{ side, n int }

//go:noinline
func (b *mxBox) mxArea(k int) int {
	add := func(x int) int { return x*b.side + k }
	return add(add(b.n))
}

//go:noinline
func mxSum[T int | float64](v []T) T {
	var s T
	for _, x := range v {
		s += mxTwice(x)
	}
	return s
}

func mxTwice[T int | float64](x T) T { return x * 2 }

func mxRun(n int) int {
	b := &mxBox{n, 3}
	return b.mxArea(n) + mxSum([]int{n, 2}) + int(mxSum([]float64{1, float64(n)}))
}

func main() {
	if mxRun(len(os.Args)) == 12345 {
		os.Exit(3)
	}
}
