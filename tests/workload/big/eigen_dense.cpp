// SPDX-License-Identifier: GPL-2.0-or-later
#include "parts.h"

#include <random>

#include <Eigen/Dense>
#include <unsupported/Eigen/FFT>
#include <unsupported/Eigen/MatrixFunctions>

std::uint64_t part_matrix(std::uint64_t seed)
{
	std::mt19937_64 rng(seed);
	std::normal_distribution<double> g;
	Eigen::MatrixXd a(60, 60), b(60, 60);
	Eigen::VectorXd x(60);

	for (int i = 0; i < 60; i++) {
		x(i) = g(rng);
		for (int j = 0; j < 60; j++) {
			a(i, j) = g(rng);
			b(i, j) = g(rng);
		}
	}
	Eigen::MatrixXd c = a * b.transpose() + b * a.transpose();
	Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(c);
	Eigen::JacobiSVD<Eigen::MatrixXd> svd(
		a, Eigen::ComputeThinU | Eigen::ComputeThinV);
	Eigen::VectorXd y = (a + 60 * Eigen::MatrixXd::Identity(60, 60))
				    .fullPivLu().solve(x);
	Eigen::MatrixXd e = (c / c.norm()).exp();
	Eigen::FFT<double> fft;
	Eigen::VectorXcd f;

	for (int i = 0; i < 20; i++) {
		fft.fwd(f, Eigen::VectorXd(c.row(i)));
		y(0) += f.norm();
	}
	return static_cast<std::uint64_t>(
		1e3 * std::abs(eigen.eigenvalues()(3) + y.norm() + e.norm() +
			       svd.singularValues()(0)));
}
