/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a program sees of stream sockets, as lines of text.
 *
 *   trace server ADDRESS PORT     waits for the client; prints its side
 *   trace client ADDRESS PORT     prints the other side
 *
 * The text depends on the rules of sockets only: not on times, buffer sizes, or how a stream is cut.
 * So it is the same over any path. A control connection keeps the two sides in step.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE = 24 << 20, ROUNDS = 500, WARM = 12 };

static int control = -1, listener = -1, is_server;
static struct sockaddr_in address;
static const char *scenario = "start";

static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%s: ", scenario);
    vprintf(format, args);
    printf("\n");
    fflush(stdout);
    va_end(args);
}

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", scenario, what, strerror(errno));
    exit(1);
}

static const char *name(int error)
{
    switch (error) {
    case 0: return "0";
    case EAGAIN: return "EAGAIN";
    case EPIPE: return "EPIPE";
    case ECONNRESET: return "ECONNRESET";
    case EINTR: return "EINTR";
    case EBADF: return "EBADF";
    case ENOTCONN: return "ENOTCONN";
    default: return strerror(error);
    }
}

/* Prints the result of a call: its value, or its error. */
static void result(const char *what, ssize_t value)
{
    int error = errno;
    if (value < 0)
        say("%s %s", what, name(error));
    else
        say("%s %zd", what, value);
}

/* Both sides come here before either of them goes on. */
static void step(void)
{
    char byte = 's';
    if (send(control, &byte, 1, MSG_NOSIGNAL) != 1 || recv(control, &byte, 1, 0) != 1)
        fail("the other side is gone");
}

static void pause_ms(int ms) { usleep((useconds_t)ms * 1000); }

static void write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail("write");
        at += n;
        size -= (size_t)n;
    }
}

static void read_all(int fd, void *data, size_t size)
{
    char *at = data;
    while (size > 0) {
        ssize_t n = read(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail("read");
        at += n;
        size -= (size_t)n;
    }
}

/* Bytes of a stream, so that a lost or moved byte shows. */
static unsigned char pattern(uint64_t at, unsigned seed)
{
    uint64_t x = (at + seed) * 0x9e3779b97f4a7c15u;
    return (unsigned char)(x >> 56);
}

static void send_pattern(int fd, size_t total, unsigned seed)
{
    static const size_t sizes[] = {1, 65536, 1000, 7, 131072, 4096, 300000, 33};
    unsigned char *data = malloc(300000);
    size_t done = 0, turn = seed;
    while (done < total) {
        size_t size = sizes[turn++ % 8];
        if (size > total - done) size = total - done;
        for (size_t i = 0; i < size; i++) data[i] = pattern(done + i, seed);
        write_all(fd, data, size);
        done += size;
    }
    free(data);
}

static void receive_pattern(int fd, size_t total, unsigned seed)
{
    static const size_t sizes[] = {65536, 100, 200000, 1, 8192};
    unsigned char *data = malloc(200000);
    size_t done = 0, turn = 0;
    while (done < total) {
        size_t size = sizes[turn++ % 5];
        if (size > total - done) size = total - done;
        ssize_t n = recv(fd, data, size, 0);
        if (n <= 0) {
            say("stream ended at %zu of %zu: %s", done, total, n < 0 ? name(errno) : "end");
            break;
        }
        for (ssize_t i = 0; i < n; i++) {
            if (data[i] != pattern(done + (size_t)i, seed)) {
                say("byte %zu is wrong", done + (size_t)i);
                free(data);
                return;
            }
        }
        done += (size_t)n;
    }
    say("received %zu bytes, all right", done);
    free(data);
}

/* A few bytes both ways, so slowly that a connection can meanwhile move. */
static void warm_up(int fd)
{
    char byte = 'w';
    for (int i = 0; i < WARM; i++) {
        if (is_server) {
            read_all(fd, &byte, 1);
            write_all(fd, &byte, 1);
        } else {
            write_all(fd, &byte, 1);
            read_all(fd, &byte, 1);
            pause_ms(1);
        }
    }
}

/* A connection that has carried a few bytes both ways. */
static int open_connection(void)
{
    int fd;
    if (is_server) {
        fd = accept(listener, NULL, NULL);
    } else {
        fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
    }
    if (fd < 0) fail("connection");
    warm_up(fd);
    return fd;
}

static void nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

static void print_poll(int fd, short events, int timeout)
{
    struct pollfd one = {.fd = fd, .events = events};
    int n = poll(&one, 1, timeout);
    say("poll %d%s%s%s%s%s", n, one.revents & POLLIN ? " IN" : "", one.revents & POLLOUT ? " OUT" : "",
        one.revents & POLLRDHUP ? " RDHUP" : "", one.revents & POLLHUP ? " HUP" : "",
        one.revents & POLLERR ? " ERR" : "");
}

static void print_epoll(int epoll, int timeout)
{
    struct epoll_event events[4];
    int n = epoll_wait(epoll, events, 4, timeout);
    if (n <= 0) {
        result("epoll_wait", n);
        return;
    }
    for (int i = 0; i < n; i++)
        say("epoll %llx%s%s%s%s", (unsigned long long)events[i].data.u64,
            events[i].events & EPOLLIN ? " IN" : "", events[i].events & EPOLLOUT ? " OUT" : "",
            events[i].events & EPOLLRDHUP ? " RDHUP" : "", events[i].events & EPOLLHUP ? " HUP" : "");
}

static void blocking(int fd)
{
    char data[5000] = "hello";
    if (is_server) {
        read_all(fd, data, 5);
        say("got %.5s", data);
        write_all(fd, data, sizeof data);
    } else {
        write_all(fd, data, 5);
        result("recv with MSG_WAITALL", recv(fd, data, sizeof data, MSG_WAITALL));
    }
    step();
    close(fd);
}

static void *sender(void *argument)
{
    send_pattern(*(int *)argument, LARGE, is_server ? 3 : 4);
    return NULL;
}

static void both_ways(int fd)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sender, &fd);
    receive_pattern(fd, LARGE, is_server ? 4 : 3);
    pthread_join(thread, NULL);
    step();
    close(fd);
}

static void one_way(int fd)
{
    if (is_server) {
        receive_pattern(fd, LARGE, 5);
        result("at the end", recv(fd, &(char){0}, 1, 0));
    } else {
        send_pattern(fd, LARGE, 5);
        close(fd);
    }
    step();
    if (is_server) close(fd);
}

static void without_blocking(int fd)
{
    char data[65536] = {0};
    size_t total = 0, got = 0;
    ssize_t n;
    nonblocking(fd);
    result("recv with nothing there", recv(fd, data, 10, 0));
    step();
    if (is_server) {
        step();
        fcntl(fd, F_SETFL, 0);
        read_all(control, &total, sizeof total);
        while (got < total && (n = recv(fd, data, sizeof data, 0)) > 0) got += (size_t)n;
        say("read all of it: %d", got == total);
        step();
    } else {
        while ((n = send(fd, data, sizeof data, 0)) > 0) total += (size_t)n;
        result("send into a full buffer", n);
        print_poll(fd, POLLOUT, 0);
        step();
        write_all(control, &total, sizeof total);
        print_poll(fd, POLLOUT, 10000);
        step();
        result("send", send(fd, data, 10, 0));
    }
    if (is_server) result("recv", recv(fd, data, 10, MSG_WAITALL));
    step();
    close(fd);
}

static void polled(int fd)
{
    char data[100] = {0};
    if (is_server) {
        print_poll(fd, POLLIN, 0);
        print_poll(fd, POLLIN | POLLOUT, 0);
        step();
        print_poll(fd, POLLIN, 10000);
        print_poll(fd, POLLIN, 10000);
        result("recv", recv(fd, data, 4, 0));
        print_poll(fd, POLLIN, 10);
        step();
        print_poll(fd, POLLIN | POLLRDHUP, 10000);
        result("recv", recv(fd, data, sizeof data, 0));
        print_poll(fd, POLLIN | POLLRDHUP | POLLOUT, 0);
    } else {
        step();
        pause_ms(20);
        result("send", send(fd, "abcd", 4, 0));
        step();
        pause_ms(20);
        shutdown(fd, SHUT_WR);
        print_poll(fd, POLLIN | POLLOUT, 0);
    }
    step();
    close(fd);
}

static void selected(int fd)
{
    char byte = 'x';
    fd_set in, out;
    struct timeval time = {0, 10000};
    FD_ZERO(&in);
    FD_SET(fd, &in);
    FD_ZERO(&out);
    FD_SET(fd, &out);
    if (is_server) {
        result("select for nothing", select(fd + 1, &in, NULL, NULL, &time));
        say("in the set: %d", FD_ISSET(fd, &in) != 0);
        step();
        time.tv_sec = 10;
        FD_SET(fd, &in);
        result("select", select(fd + 1, &in, NULL, NULL, &time));
        say("in the set: %d", FD_ISSET(fd, &in) != 0);
        FD_SET(fd, &in);
        result("select for both", select(fd + 1, &in, &out, NULL, NULL));
        read_all(fd, &byte, 1);
    } else {
        step();
        pause_ms(20);
        write_all(fd, &byte, 1);
    }
    step();
    close(fd);
}

static void epoll_level(int fd)
{
    char data[10];
    if (is_server) {
        int epoll = epoll_create1(EPOLL_CLOEXEC);
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u64 = 0xabcdef0123};
        result("add", epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
        print_epoll(epoll, 10);
        step();
        print_epoll(epoll, 10000);
        print_epoll(epoll, 10000);
        result("recv", recv(fd, data, 2, MSG_WAITALL));
        print_epoll(epoll, 0);
        result("recv", recv(fd, data, 2, MSG_WAITALL));
        print_epoll(epoll, 0);
        event.events = EPOLLIN | EPOLLOUT;
        result("modify", epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event));
        print_epoll(epoll, 10000);
        event.events = EPOLLIN | EPOLLRDHUP;
        epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
        step();
        print_epoll(epoll, 10000);
        result("recv", recv(fd, data, 2, 0));
        result("delete", epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL));
        print_epoll(epoll, 0);
        close(epoll);
    } else {
        step();
        pause_ms(20);
        write_all(fd, "abcd", 4);
        step();
        pause_ms(20);
        close(fd);
    }
    step();
    if (is_server) close(fd);
}

static void epoll_edge(int fd)
{
    char data[100];
    if (is_server) {
        int epoll = epoll_create1(0);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = 77};
        nonblocking(fd);
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
        print_epoll(epoll, 0);
        step();
        print_epoll(epoll, 10000);
        print_epoll(epoll, 20);
        result("recv of a part", recv(fd, data, 1, 0));
        print_epoll(epoll, 20);
        step();
        print_epoll(epoll, 10000);
        result("recv of the rest", recv(fd, data, sizeof data, 0));
        result("recv", recv(fd, data, sizeof data, 0));
        print_epoll(epoll, 20);
        event.events = EPOLLIN | EPOLLONESHOT;
        epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
        step();
        print_epoll(epoll, 10000);
        print_epoll(epoll, 20);
        epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
        print_epoll(epoll, 10000);
        event.events = EPOLLIN | EPOLLET;
        result("recv", recv(fd, data, 2, MSG_WAITALL));
        epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
        print_epoll(epoll, 0);
        step();
        print_epoll(epoll, 10000);
        result("recv", recv(fd, data, 2, 0));
        close(epoll);
    } else {
        step();
        pause_ms(20);
        write_all(fd, "abc", 3);
        step();
        pause_ms(20);
        write_all(fd, "de", 2);
        step();
        pause_ms(20);
        write_all(fd, "fg", 2);
        step();
        pause_ms(20);
        shutdown(fd, SHUT_WR);
    }
    step();
    close(fd);
}

static void epoll_rounds(int fd)
{
    char byte = 'r';
    int epoll = epoll_create1(0), good = 0;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    nonblocking(fd);
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    for (int i = 0; i < ROUNDS; i++) {
        if (!is_server) write_all(fd, &byte, 1);
        if (epoll_wait(epoll, &event, 1, 10000) != 1 || event.data.fd != fd) fail("epoll_wait");
        good += recv(fd, &byte, 1, 0) == 1;
        if (is_server) write_all(fd, &byte, 1);
    }
    say("%d of %d rounds", good, ROUNDS);
    close(epoll);
    step();
    close(fd);
}

static void half_close(int fd)
{
    char data[100];
    if (is_server) {
        result("recv", recv(fd, data, 3, MSG_WAITALL));
        result("recv at the end", recv(fd, data, 3, 0));
        result("recv at the end", recv(fd, data, 3, 0));
        send_pattern(fd, 3000000, 6);
        close(fd);
    } else {
        write_all(fd, "end", 3);
        result("shutdown", shutdown(fd, SHUT_WR));
        result("send", send(fd, "x", 1, MSG_NOSIGNAL));
        receive_pattern(fd, 3000000, 6);
        result("recv at the end", recv(fd, data, 3, 0));
    }
    step();
    if (!is_server) close(fd);
}

static void time_outs(int fd)
{
    char data[70000] = {0};
    struct timeval time = {0, 30000};
    if (is_server) {
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
        result("recv", recv(fd, data, 3, 0));
        step();
        step();
    } else {
        ssize_t n;
        step();
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
        /* A send may move a part, and the kernel may find more room later. */
        while ((n = send(fd, data, sizeof data, 0)) > 0) {}
        result("send", n);
        step();
    }
    close(fd);
    step();
}

static void flags(int fd)
{
    char data[10] = {0};
    int waiting = 0;
    if (is_server) {
        result("recv with MSG_DONTWAIT", recv(fd, data, 10, MSG_DONTWAIT));
        step();
        print_poll(fd, POLLIN, 10000);
        result("recv with MSG_PEEK", recv(fd, data, 3, MSG_PEEK));
        say("peeked %.3s", data);
        ioctl(fd, FIONREAD, &waiting);
        say("FIONREAD %d", waiting);
        result("recv with MSG_TRUNC", recv(fd, NULL, 2, MSG_TRUNC));
        result("recv", recv(fd, data, 2, 0));
        say("then %.2s", data);
        result("recv with MSG_WAITALL", recv(fd, data, 6, MSG_WAITALL));
        say("%.6s", data);
    } else {
        step();
        write_all(fd, "abcdef", 6);
        pause_ms(30);
        write_all(fd, "ghij", 4);
    }
    step();
    close(fd);
}

static void vectors(int fd)
{
    char a[3], b[7] = {0};
    struct iovec parts[2] = {{a, sizeof a}, {b, sizeof b}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    if (is_server) {
        print_poll(fd, POLLIN, 10000);
        result("readv", readv(fd, parts, 2));
        say("%.3s %.7s", a, b);
        step();
        result("recvmsg", recvmsg(fd, &message, MSG_WAITALL));
        say("%.3s %.7s flags %x name %d", a, b, message.msg_flags, (int)message.msg_namelen);
    } else {
        memcpy(a, "one", 3);
        memcpy(b, "two....", 7);
        result("writev", writev(fd, parts, 2));
        step();
        result("sendmsg", sendmsg(fd, &message, MSG_NOSIGNAL));
        result("sendto", sendto(fd, "tail", 4, 0, NULL, 0));
    }
    step();
    if (is_server) result("recvfrom", recvfrom(fd, b, 4, MSG_WAITALL, NULL, NULL));
    struct mmsghdr one = {.msg_hdr = {.msg_iov = parts, .msg_iovlen = 2}};
    if (is_server) {
        result("recvmmsg", recvmmsg(fd, &one, 1, MSG_WAITALL, NULL));
        say("%u bytes: %.3s %.7s", one.msg_len, a, b);
    } else {
        result("sendmmsg", sendmmsg(fd, &one, 1, MSG_NOSIGNAL));
        say("%u bytes", one.msg_len);
    }
    step();
    close(fd);
    step();
}

static void duplicates(int fd)
{
    char data[10] = {0};
    if (is_server) {
        for (int i = 0; i < 5; i++) {
            read_all(fd, data, 4);
            say("got %.4s", data);
        }
        result("recv at the end", recv(fd, data, 1, 0));
    } else {
        int one = dup(fd), two = fcntl(fd, F_DUPFD_CLOEXEC, 50), three = dup2(fd, 60);
        int four = dup3(fd, 61, O_CLOEXEC);
        say("numbers %d %d", three, four);
        write_all(one, "dup1", 4);
        close(fd);
        write_all(two, "dup2", 4);
        write_all(three, "dup3", 4);
        close(one);
        close(two);
        write_all(four, "dup4", 4);
        result("dup2 over a duplicate", dup2(four, three));
        close(four);
        write_all(60, "last", 4);
        close(60);
        result("write to a closed descriptor", write(60, "x", 1));
    }
    step();
    if (is_server) close(fd);
}

static void forked(int fd)
{
    char data[100] = {0};
    if (is_server) {
        for (int i = 0; i < 3; i++) {
            read_all(fd, data, 6);
            say("got %.6s", data);
            write_all(fd, "go", 2);
        }
        result("recv at the end", recv(fd, data, 1, 0));
    } else {
        write_all(fd, "before", 6);
        read_all(fd, data, 2);
        pid_t child = fork();
        if (child == 0) {
            write_all(fd, "child.", 6);
            read_all(fd, data, 2);
            close(fd);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        write_all(fd, "parent", 6);
        read_all(fd, data, 2);
        close(fd);
    }
    step();
    if (is_server) close(fd);
}

/* A child serves the connection, as many servers do; the parent only closes it. */
static void served(int fd)
{
    if (is_server) {
        pid_t child = fork();
        if (child == 0) {
            receive_pattern(fd, 2000000, 8);
            send_pattern(fd, 2000000, 9);
            exit(0);
        }
        close(fd);
        waitpid(child, NULL, 0);
    } else {
        send_pattern(fd, 2000000, 8);
        receive_pattern(fd, 2000000, 9);
        result("recv at the end", recv(fd, &(char){0}, 1, 0));
        close(fd);
    }
    step();
}

static void *reader(void *argument)
{
    receive_pattern(*(int *)argument, 300000, 10);
    return NULL;
}

static void threads(int fd)
{
    pthread_t thread;
    if (is_server) {
        pthread_create(&thread, NULL, reader, &fd);
        pause_ms(20);
        send_pattern(fd, 300000, 11);
        pthread_join(thread, NULL);
    } else {
        receive_pattern(fd, 300000, 11);
        send_pattern(fd, 300000, 10);
    }
    step();
    close(fd);
}

static void unread(int fd)
{
    char data[100] = {0};
    if (is_server) {
        write_all(fd, data, sizeof data);
        step();
        step();
        pause_ms(50);
        result("recv", recv(fd, data, 10, 0));
        result("recv again", recv(fd, data, 10, 0));
        result("send", send(fd, data, 10, MSG_NOSIGNAL));
        close(fd);
    } else {
        step();
        print_poll(fd, POLLIN, 10000);
        close(fd);
        step();
    }
    step();
}

static volatile sig_atomic_t signals;
static void on_signal(int number)
{
    (void)number;
    signals++;
}

static void broken_pipe(int fd)
{
    char data[10] = {0};
    signal(SIGPIPE, on_signal);
    signals = 0;
    if (is_server) {
        step();
        pause_ms(50);
        print_poll(fd, POLLIN | POLLRDHUP, 10000);
        result("recv at the end", recv(fd, data, 10, 0));
        result("first send", send(fd, data, 10, 0));
        pause_ms(50);
        result("second send", send(fd, data, 10, MSG_NOSIGNAL));
        say("signals %d", (int)signals);
        result("third send", write(fd, data, 10));
        say("signals %d", (int)signals);
        close(fd);
    } else {
        close(fd);
        step();
    }
    signal(SIGPIPE, SIG_DFL);
    step();
}

static void killed(int fd)
{
    char data[10];
    if (is_server) {
        result("recv", recv(fd, data, 4, MSG_WAITALL));
        result("recv after the death", recv(fd, data, 4, 0));
        close(fd);
    } else {
        pid_t child = fork();
        if (child == 0) {
            write_all(fd, "dead", 4);
            raise(SIGKILL);
        }
        close(fd);
        waitpid(child, NULL, 0);
    }
    step();
}

static void interrupted(int fd)
{
    char data[10];
    struct itimerval soon = {.it_value = {0, 30000}}, never = {0};
    struct sigaction action = {.sa_handler = on_signal};
    signals = 0;
    if (is_server) {
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &soon, NULL);
        result("recv", recv(fd, data, 1, 0));
        action.sa_flags = SA_RESTART;
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &soon, NULL);
        step();
        result("recv with SA_RESTART", recv(fd, data, 1, 0));
        setitimer(ITIMER_REAL, &never, NULL);
        say("signals %d", (int)signals);
    } else {
        step();
        pause_ms(100);
        write_all(fd, "x", 1);
    }
    step();
    close(fd);
}

static void options(int fd)
{
    int value = -1;
    socklen_t size = sizeof value;
    struct sockaddr_in peer;
    socklen_t peer_size = sizeof peer;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &size);
    say("SO_ERROR %d", value);
    getpeername(fd, (struct sockaddr *)&peer, &peer_size);
    say("peer of family %d, port is ours: %d", peer.sin_family, peer.sin_port == address.sin_port);
    value = 1;
    result("TCP_NODELAY", setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, sizeof value));
    step();
    close(fd);
}

enum { FILE_BYTES = 500000, FIRST = 100000 };

static void send_file(int fd, int file, off_t *at, off_t end)
{
    while (*at < end)
        if (sendfile(fd, file, at, (size_t)(end - *at)) <= 0) fail("sendfile");
}

/* The first part is more than a connection carries before it moves. */
static void from_file(int fd)
{
    if (is_server) {
        receive_pattern(fd, FIRST, 12);
        warm_up(fd);
        receive_pattern(fd, FILE_BYTES - FIRST, 12 + FIRST);
    } else {
        FILE *file = tmpfile();
        for (size_t i = 0; i < FILE_BYTES; i++) fputc(pattern(i, 12), file);
        fflush(file);
        off_t at = 0;
        send_file(fd, fileno(file), &at, FIRST);
        warm_up(fd);
        send_file(fd, fileno(file), &at, FILE_BYTES);
        say("sendfile is at %ld", (long)at);
        fclose(file);
    }
    step();
    close(fd);
}

/* The stream moves while its last bytes on TCP are not read. The reader asks epoll after each read
   that brings less than it has room for, as it may. */
static void epoll_short_reads(int fd)
{
    enum { UNREAD = 1000 };
    unsigned char *data = calloc(1, FIRST);
    size_t total = 0, got = 0;
    ssize_t n;
    int waiting = 0;
    if (!is_server) {
        write_all(fd, data, FIRST);
        for (int i = 0; i < WARM; i++) {
            pause_ms(1);
            read_all(fd, data, 1);
        }
        step();
        nonblocking(fd);
        while ((n = send(fd, data, FIRST, 0)) > 0) total += (size_t)n;
        write_all(control, &total, sizeof total);
    } else {
        read_all(fd, data, FIRST - UNREAD);
        for (int i = 0; i < WARM; i++) {
            write_all(fd, data, 1);
            pause_ms(1);
        }
        step();
        read_all(control, &total, sizeof total);
        total += UNREAD;
        /* The other connection may be faster than this one. */
        for (int i = 0; i < 10000 && waiting <= UNREAD; i++) {
            ioctl(fd, FIONREAD, &waiting);
            pause_ms(1);
        }
        say("FIONREAD sees more than the first part: %d", waiting > UNREAD);
        int epoll = epoll_create1(0);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET};
        nonblocking(fd);
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
        while (got < total && epoll_wait(epoll, &event, 1, 10000) == 1)
            while ((n = recv(fd, data, FIRST, 0)) > 0) {
                got += (size_t)n;
                if (n < FIRST) break;
            }
        say("read all of it: %d", got == total);
        close(epoll);
    }
    step();
    free(data);
    close(fd);
}

static void buffered(int fd)
{
    char line[100];
    FILE *file = fdopen(fd, "r+");
    for (int i = 0; i < 20; i++) {
        if (!is_server) {
            fprintf(file, "line %d\n", i);
            fflush(file);
        }
        if (fgets(line, sizeof line, file) == NULL) fail("fgets");
        if (is_server) {
            fputs(line, file);
            fflush(file);
        }
    }
    say("last %s", strtok(line, "\n"));
    step();
    fclose(file);
}

static const struct {
    const char *name;
    void (*run)(int fd);
} all[] = {
    {"blocking", blocking},       {"both ways", both_ways},       {"one way", one_way},
    {"nonblocking", without_blocking}, {"poll", polled},          {"select", selected},
    {"epoll level", epoll_level}, {"epoll edge", epoll_edge},     {"epoll rounds", epoll_rounds},
    {"half-close", half_close},   {"time-outs", time_outs},       {"flags", flags},
    {"vectors", vectors},         {"duplicates", duplicates},     {"fork", forked},
    {"served by a child", served}, {"threads", threads},          {"unread data", unread},
    {"broken pipe", broken_pipe}, {"killed", killed},             {"signals", interrupted},
    {"options", options},         {"sendfile", from_file},        {"stdio", buffered},
    {"short reads", epoll_short_reads},
};

int main(int count, char **words)
{
    int on = 1;
    /* As nginx does: what a library wants of the environment it must have read before. */
    clearenv();
    if (count < 4) {
        fprintf(stderr, "usage: trace server|client ADDRESS PORT [SCENARIO]\n");
        return 2;
    }
    is_server = strcmp(words[1], "server") == 0;
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)atoi(words[3]));
    if (inet_pton(AF_INET, words[2], &address.sin_addr) != 1) fail("address");
    if (is_server) {
        listener = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0) fail("bind");
        if (listen(listener, 8) < 0) fail("listen");
        fprintf(stderr, "ready\n");
        control = accept(listener, NULL, NULL);
    } else {
        control = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(control, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
    }
    setsockopt(control, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (count > 4 && strcmp(words[4], all[i].name) != 0) continue;
        scenario = all[i].name;
        step();
        all[i].run(open_connection());
    }
    close(control);
    return 0;
}
