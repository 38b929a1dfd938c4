/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Round trips of small messages over a connection, with blocking calls.
 *
 *   rounds server ADDRESS PORT           answers one client
 *   rounds client ADDRESS PORT COUNT     prints the median and the 99.9th percentile in us
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* WARM round trips come first: a connection moves to memory meanwhile. */
enum { MESSAGE = 64, WARM = 2000 };

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void round_trips(int fd, size_t count)
{
    char data[MESSAGE] = {0};
    uint64_t *times = calloc(count, sizeof *times);
    for (size_t i = 0; i < WARM + count; i++) {
        uint64_t start = now();
        if (send(fd, data, MESSAGE, 0) != MESSAGE) fail("send");
        if (recv(fd, data, MESSAGE, MSG_WAITALL) != MESSAGE) fail("recv");
        if (i >= WARM) times[i - WARM] = now() - start;
    }
    qsort(times, count, sizeof *times, compare);
    printf("%.1f %.1f\n", (double)times[count / 2] / 1000, (double)times[count * 999 / 1000] / 1000);
    free(times);
}

int main(int count, char **words)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    char data[MESSAGE];
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (count < 4 || inet_pton(AF_INET, words[2], &address.sin_addr) != 1) {
        fprintf(stderr, "usage: rounds server ADDRESS PORT | client ADDRESS PORT COUNT\n");
        return 2;
    }
    address.sin_port = htons((uint16_t)atoi(words[3]));
    if (strcmp(words[1], "server") == 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("bind");
        if (listen(fd, 1) < 0) fail("listen");
        int client = accept(fd, NULL, NULL);
        if (client < 0) fail("accept");
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        while (recv(client, data, MESSAGE, MSG_WAITALL) == MESSAGE)
            if (send(client, data, MESSAGE, 0) != MESSAGE) fail("send");
        close(client);
    } else {
        if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        round_trips(fd, count > 4 ? (size_t)atol(words[4]) : 10000);
    }
    close(fd);
    return 0;
}
