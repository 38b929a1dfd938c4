/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The results of SBN that examples/cfs uses; see sbn_interfaces.h. */
#ifndef SBN_ERROR_H
#define SBN_ERROR_H

#define SBN_SUCCESS 0
#define SBN_ERROR (-1)
#define SBN_IF_EMPTY (-2)

#endif
