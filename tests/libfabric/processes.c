/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two processes, and processes that die. */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"

#define BYTES (1 << 20)

enum { TAG_ECHO = 100, TAG_LEGACY = 200, TAG_STOP = 998, TAG_END = 999, TAG_NOBODY = 5000 };
#define LEGACY 100 /* messages that a process sends before it exits without a word */

static uint8_t out[BYTES], in[BYTES];

/* ------------------------------------------------------------------------------------------------
 * The other process: sends every message back
 */

static void introduce(struct end *end, int from, int to)
{
	uint8_t name[16];

	if (write(to, end->name, 16) != 16 || read(from, name, 16) != 16)
		exit(2);
	MUST(fi_av_insert(end->av, name, 1, &end->peer, 0, NULL));
}

int serve(int argc, char **argv)
{
	static uint8_t memory[BYTES], buffer[BYTES];
	struct fi_cq_tagged_entry entry;
	struct fid_mr *mr;
	struct end end;

	if (argc != 3)
		return 2;
	end_open(&end, NULL);
	MUST(fi_mr_reg(end.domain, memory, BYTES, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr,
		       NULL));
	introduce(&end, atoi(argv[1]), atoi(argv[2]));
	if (getenv("SUITE_LEGACY")) {
		int i;

		for (i = 0; i < LEGACY; i++)
			MUST(fi_tinject(end.ep, memory, 100, end.peer, TAG_LEGACY));
		_exit(0);
	}
	for (;;) {
		ssize_t result;

		MUST(fi_trecv(end.ep, buffer, BYTES, NULL, FI_ADDR_UNSPEC, 0, 1023, NULL));
		while ((result = fi_cq_read(end.rx, &entry, 1)) == -FI_EAGAIN)
			if (getppid() == 1)
				return 2;
		MUST(result);
		if (entry.tag == TAG_END)
			break;
		if (entry.tag == TAG_STOP)
			for (;;)
				pause();
		MUST(fi_tsend(end.ep, buffer, entry.len, NULL, end.peer, entry.tag + 1, NULL));
		while ((result = fi_cq_read(end.tx, &entry, 1)) == -FI_EAGAIN)
			;
		MUST(result);
	}
	OK(fi_close(&mr->fid));
	end_close(&end);
	return bad != 0;
}

/* ------------------------------------------------------------------------------------------------
 * This process
 */

static pid_t begin(struct end *end)
{
	int there[2], back[2];
	char from[12], to[12];
	pid_t child;

	if (pipe(there) || pipe(back))
		exit(1);
	snprintf(from, sizeof(from), "%d", there[0]);
	snprintf(to, sizeof(to), "%d", back[1]);
	child = fork();
	if (child == 0) {
		execl("/proc/self/exe", "suite", from, to, (char *)NULL);
		_exit(3);
	}
	introduce(end, back[0], there[1]);
	close(there[0]), close(there[1]), close(back[0]), close(back[1]);
	return child;
}

static int ended(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void echo(struct end *end)
{
	static const size_t sizes[] = {0, 8, 5000, 16384, 50000, BYTES};
	size_t i;
	int a, b;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		fill(out, sizes[i], (unsigned)i);
		memset(in, 0, sizes[i]);
		OK(fi_trecv(end->ep, in, BYTES, NULL, end->peer, TAG_ECHO + 1, 0, &b));
		OK(fi_tsend(end->ep, out, sizes[i], NULL, end->peer, TAG_ECHO, &a));
		done(end->tx, &a);
		done(end->rx, &b);
		CHECK(filled(in, sizes[i], (unsigned)i));
	}
}

static void everything(void)
{
	struct end end;
	uint64_t one = 1, old = 0;
	pid_t child;
	int a, i;

	end_open(&end, NULL);
	child = begin(&end);
	echo(&end);
	fill(out, BYTES, 7);
	OK(fi_write(end.ep, out, BYTES, NULL, end.peer, 0, 1, &a));
	done(end.tx, &a);
	OK(fi_read(end.ep, in, BYTES, NULL, end.peer, 0, 1, &a));
	done(end.tx, &a);
	CHECK(filled(in, BYTES, 7));
	memset(out, 0, 8);
	OK(fi_write(end.ep, out, 8, NULL, end.peer, 0, 1, &a));
	done(end.tx, &a);
	for (i = 0; i < 100; i++) {
		OK(fi_fetch_atomic(end.ep, &one, 1, NULL, &old, NULL, end.peer, 0, 1, FI_UINT64,
				   FI_SUM, &a));
		done(end.tx, &a);
		IS(i, old);
	}
	OK(fi_tinject(end.ep, out, 0, end.peer, TAG_END));
	IS(0, ended(child));
	end_close(&end);
}

/* What waits for a process that dies ends with an error, and nothing else does. */
static void killed(void)
{
	struct fi_cq_tagged_entry entry;
	struct end end;
	fi_addr_t first, self;
	pid_t child;
	int directed, any, sends[200], count, i;

	end_open(&end, NULL);
	IS(1, fi_av_insert(end.av, end.name, 1, &self, 0, NULL));
	child = begin(&end);
	echo(&end);
	first = end.peer;
	OK(fi_trecv(end.ep, in, 100, NULL, end.peer, 1, 0, &directed));
	OK(fi_trecv(end.ep, in, 100, NULL, FI_ADDR_UNSPEC, 2, 0, &any));
	OK(fi_tsend(end.ep, out, BYTES, NULL, end.peer, TAG_NOBODY, &sends[0]));
	OK(fi_tinject(end.ep, out, 0, end.peer, TAG_STOP));
	for (count = 1; count < 200; count++)
		OK(fi_tsend(end.ep, out, 10000, NULL, end.peer, TAG_NOBODY, &sends[count]));
	kill(child, SIGKILL);
	IS(-SIGKILL, ended(child));
	for (i = 0; i < 200; i++) {
		int error = next(end.tx, &entry, NULL, NULL);

		CHECK(error == FI_ECONNABORTED || (error == 0 && entry.op_context != &sends[0]));
		if (error < 0)
			break;
	}
	IS(FI_ECONNABORTED, next(end.rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &directed);
	CHECK(nothing(end.tx) && nothing(end.rx));
	IS(-FI_ECONNABORTED, fi_tsend(end.ep, out, 1, NULL, first, 1, NULL));
	IS(-FI_ECONNABORTED, fi_write(end.ep, out, 1, NULL, first, 0, 1, NULL));
	/* Others are not concerned, nor is the next process at the same node. */
	OK(fi_tinject(end.ep, out, 1, self, 2));
	done(end.rx, &any);
	child = begin(&end);
	echo(&end);
	IS(-FI_ECONNABORTED, fi_tsend(end.ep, out, 1, NULL, first, 1, NULL));
	OK(fi_tinject(end.ep, out, 0, end.peer, TAG_END));
	IS(0, ended(child));
	end_close(&end);
}

/* What a process sent before it ended arrives, also if its end is noticed at the first look. */
static void legacy(void)
{
	struct fi_cq_tagged_entry entry;
	struct end end;
	pid_t child;
	int directed, any, i;

	end_open(&end, NULL);
	/* Every 256th look is for processes that ended, so the next one is. */
	for (i = 0; i < 255; i++)
		IS(-FI_EAGAIN, fi_cq_read(end.tx, &entry, 1));
	setenv("SUITE_LEGACY", "1", 1);
	child = begin(&end);
	unsetenv("SUITE_LEGACY");
	OK(fi_trecv(end.ep, in, 100, NULL, end.peer, 1, 0, &directed));
	for (i = 0; i < LEGACY; i++)
		OK(fi_trecv(end.ep, in, 100, NULL, FI_ADDR_UNSPEC, TAG_LEGACY, 0, &any));
	IS(0, ended(child));
	for (i = 0; i < LEGACY; i++)
		done(end.rx, &any);
	IS(FI_ECONNABORTED, next(end.rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &directed);
	end_close(&end);
}

/* A node that no process is. */
static void nobody(void)
{
	struct fi_cq_tagged_entry entry;
	struct end end;
	fi_addr_t address;
	int a, b;

	end_open(&end, NULL);
	IS(1, fi_av_insertsvc(end.av, "localhost", "3", &address, 0, NULL));
	OK(fi_tsend(end.ep, out, BYTES, NULL, address, 1, &a));
	OK(fi_read(end.ep, in, 8, NULL, address, 0, 1, &b));
	IS(FI_ETIMEDOUT, next(end.tx, &entry, NULL, NULL));
	IS(FI_ETIMEDOUT, next(end.tx, &entry, NULL, NULL));
	end_close(&end);
}

void test_processes(void)
{
	test("two processes", everything);
	test("a process that is killed", killed);
	test("the last messages of a process", legacy);
	setenv("FI_SPFE_TIMEOUT", "300", 1);
	test("a node that nobody is", nobody);
	unsetenv("FI_SPFE_TIMEOUT");
}
