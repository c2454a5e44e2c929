// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transfers that block until all is done, and are cut short by signals only:
 * write(2), send(2), recv(2) with MSG_WAITALL, getrandom(2), memory's devices.
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

enum { SIZE = 1 << 20, ROUNDS = 10, PIECE = 4000 };

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

void torture_transfers(void)
{
	int wrong = 0, zero = open("/dev/zero", O_RDONLY);

	for (size_t i = 0; i < SIZE; i++)
		data[i] = (uint8_t)(i * i >> 7);
	send_all("write", by_write, 0);
	send_all("writev", by_writev, 0);
	send_all("write, socket", by_write, 1);
	send_all("send", by_send, 1);
	send_all("sendmsg", by_sendmsg, 1);
	send_all("sendfile", by_sendfile, 1);
	receive_all();
	for (int i = 0; i < ROUNDS; i++)
		wrong += getrandom(data, SIZE, 0) != SIZE;
	printf("getrandom: %d short\n", wrong);
	wrong = 0;
	for (int i = 0; i < ROUNDS * 10; i++)
		wrong += read(zero, data, SIZE) != SIZE;
	printf("zeros: %d short\n", wrong);
	close(zero);
}
