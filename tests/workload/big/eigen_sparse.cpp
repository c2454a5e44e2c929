// SPDX-License-Identifier: GPL-2.0-or-later
#include "parts.h"

#include <cmath>
#include <random>
#include <vector>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <Eigen/SparseQR>

using sparse = Eigen::SparseMatrix<double>;

/* The five-point Laplace matrix of a square grid. */
static sparse laplace(int side)
{
	std::vector<Eigen::Triplet<double>> t;
	sparse m(side * side, side * side);

	for (int i = 0; i < side * side; i++) {
		t.emplace_back(i, i, 4.01);
		if (i % side)
			t.emplace_back(i, i - 1, -1);
		if (i % side != side - 1)
			t.emplace_back(i, i + 1, -1);
		if (i >= side)
			t.emplace_back(i, i - side, -1);
		if (i < side * (side - 1))
			t.emplace_back(i, i + side, -1);
	}
	m.setFromTriplets(t.begin(), t.end());
	return m;
}

std::uint64_t part_sparse(std::uint64_t seed)
{
	sparse m = laplace(32);
	Eigen::VectorXd b = Eigen::VectorXd::Constant(m.rows(),
						      1.0 + seed % 10);
	Eigen::SimplicialLDLT<sparse> ldlt(m);
	Eigen::SparseLU<sparse> lu;
	Eigen::ConjugateGradient<sparse> cg;
	Eigen::BiCGSTAB<sparse, Eigen::IncompleteLUT<double>> bicg;

	lu.compute(m);
	cg.compute(m);
	bicg.compute(m);
	return static_cast<std::uint64_t>(
		1e3 * (ldlt.solve(b).norm() + lu.solve(b).norm() +
		       cg.solve(b).norm() + bicg.solve(b).norm()));
}
