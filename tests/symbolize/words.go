// SPDX-License-Identifier: GPL-2.0-or-later
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
)

type shape interface{ area() float64 }
type sq struct{ a float64 }

func (s sq) area() float64   { return s.a * s.a }
func (s *sq) grow(f float64) { s.a *= f }

func each[T any](v []T, f func(T)) {
	for _, x := range v {
		f(x)
	}
}

func main() {
	m := map[string]int{}
	for _, w := range strings.Fields(strings.Repeat("a b c ", 1000)) {
		m[w]++
	}
	k := []string{}
	for w := range m {
		k = append(k, w)
	}
	sort.Slice(k, func(i, j int) bool { return m[k[i]] > m[k[j]] })
	b, _ := json.Marshal(m)
	s := &sq{2}
	s.grow(3)
	each(k, func(x string) { fmt.Fprintln(os.Stderr, x) })
	fmt.Println(k, string(b), shape(s).area())
}
