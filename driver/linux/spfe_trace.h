/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spfe: tracepoints of the control path. The data path bypasses the kernel and has none.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM spfe

#if !defined(SPFE_TRACE_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define SPFE_TRACE_EVENTS_H

#include <linux/tracepoint.h>

#include "spfe_core.h"
#include "spfe_compat.h"

TRACE_EVENT(spfe_command,
	    TP_PROTO(struct spfe_device *spfe, u32 command, u32 index, u32 status, s64 us),
	    TP_ARGS(spfe, command, index, status, us),
	    TP_STRUCT__entry(__string(device, dev_name(&spfe->dev))
			     __field(u32, command)
			     __field(u32, index)
			     __field(u32, status)
			     __field(s64, us)),
	    TP_fast_assign(SPFE_TRACE_DEVICE(spfe);
			   __entry->command = command;
			   __entry->index = index;
			   __entry->status = status;
			   __entry->us = us;),
	    TP_printk("%s command=%u index=%u status=%#x us=%lld", __get_str(device),
		      __entry->command, __entry->index, __entry->status, __entry->us)
);

TRACE_EVENT(spfe_queue,
	    TP_PROTO(struct spfe_device *spfe, bool create, u32 queue, u32 kind, int err),
	    TP_ARGS(spfe, create, queue, kind, err),
	    TP_STRUCT__entry(__string(device, dev_name(&spfe->dev))
			     __field(bool, create)
			     __field(u32, queue)
			     __field(u32, kind)
			     __field(int, err)),
	    TP_fast_assign(SPFE_TRACE_DEVICE(spfe);
			   __entry->create = create;
			   __entry->queue = queue;
			   __entry->kind = kind;
			   __entry->err = err;),
	    TP_printk("%s %s queue=%u kind=%u err=%d", __get_str(device),
		      __entry->create ? "create" : "destroy", __entry->queue, __entry->kind,
		      __entry->err)
);

TRACE_EVENT(spfe_region,
	    TP_PROTO(struct spfe_device *spfe, bool enable, u32 key, u64 size, u32 page_shift,
		     int err),
	    TP_ARGS(spfe, enable, key, size, page_shift, err),
	    TP_STRUCT__entry(__string(device, dev_name(&spfe->dev))
			     __field(bool, enable)
			     __field(u32, key)
			     __field(u64, size)
			     __field(u32, page_shift)
			     __field(int, err)),
	    TP_fast_assign(SPFE_TRACE_DEVICE(spfe);
			   __entry->enable = enable;
			   __entry->key = key;
			   __entry->size = size;
			   __entry->page_shift = page_shift;
			   __entry->err = err;),
	    TP_printk("%s %s key=%#x bytes=%llu page_shift=%u err=%d", __get_str(device),
		      __entry->enable ? "enable" : "disable", __entry->key, __entry->size,
		      __entry->page_shift, __entry->err)
);

TRACE_EVENT(spfe_irq,
	    TP_PROTO(struct spfe_device *spfe, u32 vector, u32 events),
	    TP_ARGS(spfe, vector, events),
	    TP_STRUCT__entry(__string(device, dev_name(&spfe->dev))
			     __field(u32, vector)
			     __field(u32, events)),
	    TP_fast_assign(SPFE_TRACE_DEVICE(spfe);
			   __entry->vector = vector;
			   __entry->events = events;),
	    TP_printk("%s vector=%u events=%u", __get_str(device), __entry->vector,
		      __entry->events)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE spfe_trace
#include <trace/define_trace.h>
