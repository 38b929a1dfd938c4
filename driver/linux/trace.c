// SPDX-License-Identifier: GPL-2.0-only
/* spfe: the bodies of the tracepoints. */
#define CREATE_TRACE_POINTS
#include "spfe_trace.h"
