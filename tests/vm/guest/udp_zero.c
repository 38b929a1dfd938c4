/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Sends datagrams over IPv6 whose checksum comes out as 0. A sender must write 0xffff in its place,
 * because 0 says that there is no checksum; receivers drop such datagrams.
 *
 *	udp_zero receive			ends when one has arrived
 *	udp_zero send FROM TO
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 4000
#define TIMES 100

static struct sockaddr_in6 place(const char *address)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };

	inet_pton(AF_INET6, address, &at.sin6_addr);
	return at;
}

static uint32_t add(uint32_t sum, const struct in6_addr *address)
{
	for (int i = 0; i < 16; i += 2)
		sum += (uint32_t)address->s6_addr[i] << 8 | address->s6_addr[i + 1];
	return sum;
}

int main(int count, char **words)
{
	struct sockaddr_in6 from = place(count == 4 ? words[2] : "::");
	struct sockaddr_in6 to = place(count == 4 ? words[3] : "::");
	int file = socket(AF_INET6, SOCK_DGRAM, 0);
	unsigned char word[2];
	uint32_t sum;

	if (file < 0 || bind(file, (struct sockaddr *)&from, sizeof(from)) != 0) {
		perror("udp_zero");
		return 1;
	}
	if (count == 2)
		return recv(file, word, sizeof(word), 0) != sizeof(word);
	/* Addresses, length, protocol, ports, length: with this word the sum is 0xffff. */
	sum = add(add(10 + IPPROTO_UDP + 2 * PORT + 10, &from.sin6_addr), &to.sin6_addr);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	sum = 0xffff - sum;
	word[0] = sum >> 8;
	word[1] = sum & 0xff;
	for (int i = 0; i < TIMES; i++) {
		if (sendto(file, word, sizeof(word), 0, (struct sockaddr *)&to, sizeof(to)) < 0)
			perror("sendto");
		usleep(20000);
	}
	return 0;
}
