// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types between the parts of the receive engine.
package spfe_host_rx_pkg;
  import spfe_pkg::*;
  import spfe_host_pkg::*;

  /// A buffer that was posted, or an entry that is wrong.
  typedef struct packed {
    address_t address;
    logic [31:0] length;
    logic [15:0] position;
    status_e status;
  } buffer_t;

  /// Bytes to write, and a completion behind them.
  typedef struct packed {
    logic [7:0] index;  // of the queue
    address_t address;
    logic [15:0] domain;
    logic [12:0] bytes;  // 0: none
    logic completes;
    job_t job;  // also for its buffer, if it does not complete
  } piece_t;

  /// Of spfe_host_rx_move.
  typedef enum logic [3:0] {
    MoveRest,
    MoveLoad,
    MoveBegin,
    MoveLimit,
    MoveGather,
    MovePut,
    MoveHeader,
    MovePutHeader,
    MovePublish,
    MoveRefuse,
    MoveRelease,
    MoveReleaseLook,
    MoveFull,
    MoveDrop,
    MoveStore
  } move_e;

  /// Of spfe_host_rx_move.
  typedef struct packed {
    logic [15:0] domain;
    logic [31:0] used_entries;  // entries of the submission ring that were used
    logic [3:0] number;  // of the buffer or run
    address_t address;  // of the buffer or of the bytes of the record
    logic [31:0] length;  // of the buffer, or the most of the record
    logic [31:0] fill;
    logic [15:0] position;  // of the buffer
    address_t area;
    logic [31:0] size;
    logic [16:0] most_credits;
    logic [16:0] credits;  // completions that may be written
    logic [31:0] head;  // where the next record begins
    logic [31:0] used;  // bytes of the area
    logic wrapped;  // the record is the first one behind a wrap
    logic run_wrapped;
    logic [31:0] run_bytes;
    logic [15:0] run_records;
  } move_t;

  /// What spfe_host_rx_gather is to do.
  typedef struct packed {
    logic take;  // takes bytes and end markers
    logic [12:0] room;  // bytes that may be taken
    logic inside_packet;  // otherwise an end marker counts only behind bytes
    logic flush;  // gives out what is in the beat, and empties it
  } gather_t;

  /// What spfe_host_rx_gather has found.
  typedef struct packed {
    logic [4:0] bytes;  // that are taken in this cycle
    logic ends;  // an end marker follows them
    logic eep;  // it is EEP
    logic more;  // another byte follows them, for which there is no room
    logic empty;  // there is nothing to look at
  } found_t;
endpackage
