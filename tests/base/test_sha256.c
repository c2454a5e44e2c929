// SPDX-License-Identifier: GPL-2.0-or-later
/* The examples of FIPS 180-4 (NIST's SHA256.pdf and SHA256Short messages) and of
 * RFC 4648 §10. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/sha256.h"

static void hash_is(const char *text, size_t n, const char *want)
{
	uint8_t hash[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1];

	sha256(text, n, hash);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", hash[i]);
	assert_string_equal(hex, want);
}

static void test_sha256(void **state)
{
	static char million[1000000];

	(void)state;
	hash_is("", 0, "e3b0c44298fc1c149afbf4c8996fb924"
		       "27ae41e4649b934ca495991b7852b855");
	hash_is("abc", 3, "ba7816bf8f01cfea414140de5dae2223"
			  "b00361a396177a9cb410ff61f20015ad");
	hash_is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		56, "248d6a61d20638b8e5c026930c3e6039"
		    "a33ce45964ff2167f6ecedd419db06c1");
	memset(million, 'a', sizeof(million));
	hash_is(million, sizeof(million), "cdc76e5c9914fb9281a1c7e284d73e67"
					  "f1809a48a497200e046d39ccc7112cd0");
}

static void test_base64(void **state)
{
	static const char *const want[] = { "",     "Zg==",     "Zm8=",
					    "Zm9v", "Zm9vYg==", "Zm9vYmE=",
					    "Zm9vYmFy" };
	struct buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		buf_reset(&out);
		base64(&out, "foobar", i);
		assert_string_equal(buf_cstr(&out), want[i]);
	}
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
