// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types between the parts of the transmit engine.
package spfe_host_tx_pkg;
  import spfe_pkg::*;

  /// A part of a submission on its way to a virtual channel.
  typedef struct packed {
    logic [7:0] index;  // of the queue
    logic [87:0] bytes_inline;  // bytes of an INLINE entry
    logic read;  // the bytes come from memory
    logic [12:0] bytes;  // their number
    logic [10:0] room;  // words that it may need in the buffer of the channel, as beats
    logic ends;  // an end marker follows
    logic eep;  // it is EEP
    logic last;  // the submission ends
    logic signals;  // it asks for a completion
    logic report;  // what was sent before it is reported first
    logic burst;  // it is of a burst
    logic cut;  // the queue stops: an open packet ends with EEP, and nothing is told
    status_e status;  // what is wrong with the submission
    logic [15:0] prior;  // position of the entry before the submission
    logic [15:0] position;  // of its last entry
  } part_t;

  /// What became of a part.
  typedef struct packed {
    logic [7:0] index;
    logic [12:0] bytes;  // given to the channel
    logic ends;
    logic last;
    logic signals;
    logic report;
    logic burst;
    logic cut;
    status_e status;
    logic [15:0] prior;
    logic [15:0] position;
  } note_t;

  /// The submission of a queue that is being checked or sent.
  typedef struct packed {
    logic [15:0] domain;
    logic [31:0] position;  // of the next submission
    logic active;  // it was checked
    logic skips;  // it is wrong: its entries are being passed over
    logic [1:0] fixed;  // it has so many entries; 0: up to one without CHAIN
    status_e status;  // what is wrong with it
    logic [15:0] prior;  // position of the entry before it
    logic [4:0] element;  // entry of it that is being sent
    logic [4:0] count;  // its entries
    logic [31:0] done;  // bytes of that entry, or of the packet of a burst, that are under way
    logic burst;
    logic reported;  // what was sent before the burst
    logic [15:0] left;  // packets of the burst
    logic [47:0] offset;  // of its next packet
    logic [31:0] stride;
  } plan_t;

  /// What spfe_host_tx_plan does.
  typedef enum logic [3:0] {
    PlanRest,
    PlanLoad,
    PlanPeek,
    PlanLook,
    PlanCheck,
    PlanWhole,
    PlanTimes,
    PlanCheckBurst,
    PlanSend,
    PlanRead,
    PlanPut,
    PlanSkip,
    PlanSkipLook,
    PlanStore
  } plan_e;
endpackage
