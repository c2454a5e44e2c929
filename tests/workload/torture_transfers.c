// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transfers that block until all is done, and are cut short by signals only:
 * write(2), send(2), recv(2) with MSG_WAITALL, getrandom(2), memory's devices, copies
 * between files.
 */
#include "torture.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SIZE = 1 << 20, ROUNDS = 10, PIECE = 4000,
	FILE_SIZE = 16 * SIZE,	/* takes several milliseconds to copy */
};

static uint8_t data[SIZE];

static ssize_t by_write(int fd)
{
	return write(fd, data, SIZE);
}

static ssize_t by_writev(int fd)
{
	struct iovec v[] = { { data, 1000 }, { data + 1000, SIZE / 2 - 1000 },
			     { data + SIZE / 2, SIZE / 2 } };

	return writev(fd, v, 3);
}

static ssize_t by_send(int fd)
{
	return send(fd, data, SIZE, MSG_NOSIGNAL);
}

static ssize_t by_sendmsg(int fd)
{
	struct iovec v[] = { { data, SIZE - 5 }, { data + SIZE - 5, 5 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	return sendmsg(fd, &m, 0);
}

static ssize_t by_sendfile(int fd)
{
	int file = memfd_create("data", MFD_CLOEXEC);
	ssize_t n = write(file, data, SIZE);
	off_t at = 0;

	if (n == SIZE)
		n = sendfile(fd, file, &at, SIZE);
	close(file);
	return at == SIZE ? n : -1;
}

static uint32_t sum_of(const uint8_t *p, size_t n, uint32_t sum)
{
	while (n--)
		sum = sum * 31 + *p++;
	return sum;
}

/* The other side takes it in small pieces. */
static uint32_t drain(int fd)
{
	uint8_t piece[PIECE];
	uint32_t sum = 0;
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) > 0)
		sum = sum_of(piece, (size_t)n, sum);
	return sum;
}

static void send_all(const char *name, ssize_t (*by)(int), int socket)
{
	int ends[2], back[2], wrong = 0;
	uint32_t sum = 0, theirs = 1;
	int pid;

	if ((socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends)
		    : pipe(ends)) < 0 || pipe(back) < 0)
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(ends[1]);
		sum = drain(ends[0]);
		if (write(back[1], &sum, sizeof(sum)) < 0)
			_exit(1);
		_exit(0);
	}
	close(ends[0]);
	for (int i = 0; i < ROUNDS; i++)
		wrong += by(ends[1]) != SIZE;
	close(ends[1]);
	if (read(back[0], &theirs, sizeof(theirs)) < 0)
		theirs = 1;
	waitpid(pid, NULL, 0);
	close(back[0]);
	close(back[1]);
	for (int i = 0; i < ROUNDS; i++)
		sum = sum_of(data, SIZE, sum);
	printf("%s: %d short, the bytes %s\n", name, wrong,
	       sum == theirs ? "are right" : "differ");
}

static void receive_all(void)
{
	int ends[2], wrong = 0, pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (int i = 0; i < ROUNDS * SIZE / 4096; i++)
			if (send(ends[1], data, 4096, 0) != 4096)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < ROUNDS; i++)
		wrong += recv(ends[0], data, SIZE, MSG_WAITALL) != SIZE;
	close(ends[0]);
	close(ends[1]);
	printf("recv: %d short\n", wrong);
	show_child("sender", pid);
}

/* The ways to copy FILE_SIZE bytes from the beginning of a file to that of another.
 * Each returns how many were copied, or -1 if an offset is wrong afterwards. */
static ssize_t by_range(int from, int to)
{
	ssize_t n = copy_file_range(from, NULL, to, NULL, FILE_SIZE, 0);

	return lseek(from, 0, SEEK_CUR) == n && lseek(to, 0, SEEK_CUR) == n
	       ? n : -1;
}

static ssize_t by_range_at(int from, int to)
{
	off_t in = 0, out = 0;
	ssize_t n = copy_file_range(from, &in, to, &out, FILE_SIZE, 0);

	return in == n && out == n && !lseek(from, 0, SEEK_CUR) &&
	       !lseek(to, 0, SEEK_CUR) ? n : -1;
}

/* More than there is: the end of the file ends it. */
static ssize_t by_range_end(int from, int to)
{
	return copy_file_range(from, NULL, to, NULL, 2ul * FILE_SIZE, 0);
}

static ssize_t by_file(int from, int to)
{
	ssize_t n = sendfile(to, from, NULL, FILE_SIZE);

	return lseek(from, 0, SEEK_CUR) == n && lseek(to, 0, SEEK_CUR) == n
	       ? n : -1;
}

static ssize_t by_file_at(int from, int to)
{
	off_t in = 0;
	ssize_t n = sendfile(to, from, &in, FILE_SIZE);

	return in == n && !lseek(from, 0, SEEK_CUR) ? n : -1;
}

static ssize_t by_splice(int from, int to)
{
	ssize_t all = 0, n, m = 1;
	off_t out = 0;
	int ends[2];

	if (pipe(ends) < 0 || fcntl(ends[1], F_SETPIPE_SZ, SIZE) < 0)
		return -1;
	while (m > 0 && (n = splice(from, NULL, ends[1], NULL, SIZE, 0)) > 0) {
		m = splice(ends[0], NULL, to, &out, (size_t)n + 1, 0);
		if (m != n)
			all = -1;
		all += m;
	}
	close(ends[0]);
	close(ends[1]);
	return out == all ? all : -1;
}

static void copy_all(const char *name, ssize_t (*by)(int, int))
{
	int from = memfd_create("from", MFD_CLOEXEC), wrong = 0;
	int to = memfd_create("to", MFD_CLOEXEC), differ = 0;
	static uint8_t got[SIZE];

	for (int i = 0; i < FILE_SIZE / SIZE; i++)
		if (write(from, data, SIZE) != SIZE)
			wrong++;
	for (int i = 0; i < ROUNDS; i++) {
		lseek(from, 0, SEEK_SET);
		lseek(to, 0, SEEK_SET);
		wrong += by(from, to) != FILE_SIZE;
	}
	lseek(to, 0, SEEK_SET);
	for (int i = 0; i < FILE_SIZE / SIZE; i++)
		differ += read(to, got, SIZE) != SIZE ||
			  memcmp(got, data, SIZE);
	differ += read(to, got, SIZE) != 0;
	printf("%s: %d short, %d parts differ\n", name, wrong, differ);
	close(from);
	close(to);
}

static void discard_all(void)
{
	int from = memfd_create("from", MFD_CLOEXEC), wrong = 0;
	int null = open("/dev/null", O_WRONLY);

	if (ftruncate(from, 4l * FILE_SIZE) < 0)
		return;
	for (int i = 0; i < ROUNDS; i++) {
		off_t at = 0;

		wrong += sendfile(null, from, &at, 4ul * FILE_SIZE) !=
			 4l * FILE_SIZE;
	}
	printf("sendfile, null: %d short\n", wrong);
	close(from);
	close(null);
}

static void read_zeros(void)
{
	int zero = open("/dev/zero", O_RDONLY), wrong[5] = { 0 };
	uint8_t *room = malloc(FILE_SIZE);
	struct iovec v[2] = { { room, SIZE }, { room + SIZE, FILE_SIZE - SIZE } };

	if (!room)
		return;
	for (int i = 0; i < ROUNDS; i++) {
		memset(room, 1, FILE_SIZE);
		wrong[0] += read(zero, room, FILE_SIZE) != FILE_SIZE;
		wrong[1] += readv(zero, v, 2) != FILE_SIZE;
		wrong[2] += pread(zero, room, FILE_SIZE, 5) != FILE_SIZE;
		wrong[3] += preadv(zero, v, 2, 5) != FILE_SIZE;
		wrong[4] += preadv2(zero, v, 2, -1, 0) != FILE_SIZE;
		for (int j = 0; j < FILE_SIZE; j += PIECE)
			wrong[0] += room[j] != 0;
	}
	printf("zeros: %d %d %d %d %d short\n", wrong[0], wrong[1], wrong[2],
	       wrong[3], wrong[4]);
	close(zero);
	free(room);
}

void torture_transfers(void)
{
	int wrong = 0;

	for (size_t i = 0; i < SIZE; i++)
		data[i] = (uint8_t)(i * i >> 7);
	send_all("write", by_write, 0);
	send_all("writev", by_writev, 0);
	send_all("write, socket", by_write, 1);
	send_all("send", by_send, 1);
	send_all("sendmsg", by_sendmsg, 1);
	send_all("sendfile", by_sendfile, 1);
	receive_all();
	copy_all("copy_file_range", by_range);
	copy_all("copy_file_range, offsets", by_range_at);
	copy_all("copy_file_range, to the end", by_range_end);
	copy_all("sendfile, file", by_file);
	copy_all("sendfile, file, offset", by_file_at);
	copy_all("splice, file", by_splice);
	discard_all();
	for (int i = 0; i < ROUNDS; i++)
		wrong += getrandom(data, SIZE, 0) != SIZE;
	printf("getrandom: %d short\n", wrong);
	read_zeros();
}
