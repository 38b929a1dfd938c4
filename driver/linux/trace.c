// SPDX-License-Identifier: GPL-2.0-only
/* spfe: instantiates the tracepoints of spfe_trace.h. */
#define CREATE_TRACE_POINTS
#include "spfe_trace.h"
