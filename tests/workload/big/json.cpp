// SPDX-License-Identifier: GPL-2.0-or-later
#include "parts.h"

#include <string>

#include <nlohmann/json.hpp>

std::uint64_t part_json(std::uint64_t seed)
{
	nlohmann::json doc = nlohmann::json::array();
	std::uint64_t sum = 0;

	for (int i = 0; i < 1200; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		doc.push_back({ { "id", i },
				{ "name", "n" + std::to_string(seed >> 40) },
				{ "value", double(seed >> 11) * 0x1p-53 },
				{ "tags", { "a", "b", seed >> 60, nullptr } },
				{ "deep", { { "x", { { "y", { 1, 2, 3 } } } } } } });
	}
	for (int i = 0; i < 3; i++) {
		std::string text = doc.dump(i);
		auto again = nlohmann::json::parse(text);
		auto packed = nlohmann::json::to_cbor(again);

		sum += text.size() + packed.size() +
			(nlohmann::json::from_cbor(packed) == doc);
	}
	return sum;
}
