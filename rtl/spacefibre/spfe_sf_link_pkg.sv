// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Words, rows, parameters and events of the data link layer (ECSS-E-ST-50-11C, 5.7).
package spfe_sf_link_pkg;
  import spfe_sf_pkg::*;
  /* verilator lint_off UNUSEDPARAM */  // A module that uses the package uses some of it.

  // Words of a segment and of an FCT with a multiplier of 1.
  localparam int unsigned SegmentWords = 64;
  // Data words of an idle frame.
  localparam int unsigned IdleWords = 64;
  // Rows after which the bandwidth credits are updated if no segment ends.
  localparam int unsigned UpdateRows = 66;
  // Items that may be unacknowledged at most, for FCTs, and for data frames.
  localparam int unsigned Items = 127;
  localparam int unsigned FctItems = 124;
  localparam int unsigned FrameItems = 116;
  // Broadcast messages held in each direction, and not acknowledged.
  localparam int unsigned Broadcasts = 8;

  // A word that holds only an EEP.
  localparam word_t EepWord = '{k: 4'hF, bits: {Fill, Fill, Fill, Eep}};
  // PAD fills up the last row of a data frame.
  localparam word_t PadWord = '{k: 4'hF, bits: {Fill, Fill, Fill, Comma}};
  localparam word_t RetryWord = '{k: 4'h1, bits: {16'h0000, 8'h87, Comma}};

  // Symbol 1 of control words.
  localparam logic [7:0] NameSdf = 8'h50;
  localparam logic [7:0] NameSbf = 8'h5D;
  localparam logic [7:0] NameSif = 8'h44;
  localparam logic [7:0] NameAck = 8'hA2;
  localparam logic [7:0] NameNack = 8'hBB;
  localparam logic [7:0] NameFull = 8'h6F;

  /// Kind of a received word for the data link layer.
  typedef enum logic [3:0] {
    LinkNothing,  // nothing, a word of another layer, or an unknown control word
    LinkData,
    LinkSdf,
    LinkEdf,
    LinkSbf,
    LinkEbf,
    LinkSif,
    LinkFct,
    LinkAck,
    LinkNack,
    LinkFull,
    LinkRetry,
    LinkRxErr
  } link_kind_e;

  /// Content of a row. The same control word goes on all lanes; only data is distributed.
  typedef enum logic [2:0] {
    RowNone,
    RowControl,
    RowSdf,
    RowEdf,
    RowData,
    RowRxErr  // received rows only
  } row_kind_e;

  /// Content of a word that a user writes to a virtual channel (5.3.9).
  typedef enum logic [2:0] {
    WordData,
    WordFill,
    WordEnd,
    WordIllegal,
    WordIllegalEnd  // illegal, and with an end marker
  } content_e;

  /// Reply that is due to the far end.
  typedef enum logic [1:0] {
    ReplyNone,
    ReplyAck,
    ReplyNack
  } reply_e;

  /// State of the link reset (5.7.10).
  typedef enum logic [1:0] {
    RstConfiguration,
    RstNearEnd,
    RstCheckFarEnd,
    RstInitialised
  } link_state_e;

  /// A broadcast message.
  typedef struct packed {
    logic lost;  // received: messages before it were dropped, because there was no room
    logic late;
    logic delayed;
    logic [7:0] kind;  // B_TYPE
    logic [7:0] channel;
    logic [63:0] data;  // byte 0 in bits 7:0
  } broadcast_t;

  /// A data frame, or a part of one, in an output buffer.
  typedef struct packed {
    logic [4:0] vc;
    logic [15:0] start;  // position of the first word; unused bits are 0
    logic [10:0] words;
  } segment_t;

  /// What spfe_sf_recovery has to send.
  typedef struct packed {
    logic [7:0] seq;  // number of the last item sent, with the polarity
    logic [7:0] next_seq;  // number of the next item
    logic empty;  // everything sent is acknowledged
    logic frame_pending;  // a data frame waits for a resend
    segment_t frame;  // this one
    logic frame_room;  // a new one has room
    logic fct_pending;  // an FCT waits for a resend
    logic [4:0] fct_vc;  // of this channel
    logic fct_room;  // a new one has room
    logic broadcast_pending;  // a broadcast message waits for a resend
    logic broadcast_new;  // a new one waits and has credit
    logic broadcast_room;  // a new one has room
    broadcast_t message;  // the next one
  } pending_t;

  /// What spfe_sf_transmit sends with the row that it decides on in this cycle.
  typedef struct packed {
    logic row;  // a row is decided; otherwise all fields but charge and charge_vc are 0
    logic reply;  // ACK or NACK
    logic broadcast_new;  // SBF of a new message
    logic broadcast;  // EBF
    logic fct;  // FCT
    logic fct_new;  // it is new
    logic [4:0] fct_vc;  // its channel
    logic frame_new;  // SDF of a new segment
    segment_t segment;  // this one
    logic frame;  // EDF
    logic data;  // data row of a new segment
    logic retry;
    logic full;
    logic idle;  // SIF
    logic charge;  // a new segment is in progress
    logic [4:0] charge_vc;  // its channel
  } sent_t;

  /// An ACK or NACK for spfe_sf_recovery.
  typedef struct packed {
    logic [7:0] look;  // number of an ACK or NACK that is checked; the rest is a cycle later
    logic [7:0] seq;  // number
    logic ack;  // acknowledges; also with nack
    logic nack;  // the rest is to be sent again with the other polarity
  } ack_t;

  /// Parameters of the data link layer (table 5-36). Commands last one cycle.
  typedef struct packed {
    logic interface_reset;  // command
    logic link_reset;  // command
    logic data_scrambled;  // taken over at a link reset
    logic [18:0] broadcast_rows;  // rows for each broadcast frame: 4 / bandwidth; 0 stops them
    logic [5:0] time_slot;  // current time-slot
    logic [23:0] idle_limit;  // rows at full credit that count as under-use
    logic routing_switch;  // capability
  } link_param_t;

  /// Parameters of a virtual channel (table 5-36).
  typedef struct packed {
    logic [3:0] priority_level;  // 0 is the highest
    // Rows of the link for each row of this channel, in 256ths: 256 / expected bandwidth. 0 stops
    // the channel.
    logic [24:0] price;
    logic [63:0] time_slots;  // time-slots in which the channel may send
    logic continuous;  // continuous mode
  } vc_param_t;

  /// Events of the data link layer, each for one cycle; a register of the MIB keeps or counts them.
  typedef struct packed {
    logic rxerr;
    logic crc16_error;
    logic crc8_error;
    logic frame_error;
    logic sequence_error;
    logic protocol_error;  // resets the link
    logic input_overflow;  // resets the link
    logic far_end_reset;  // the far end asked for a link reset
    logic recovery;  // a valid NACK was received
    logic broadcast_dropped;
    logic ram_corrected;
    logic ram_failed;
    logic sent_frame;
    logic sent_broadcast;
    logic sent_fct;
    logic sent_ack;
    logic sent_nack;
    logic sent_full;
    logic sent_retry;
    logic sent_idle;
    logic got_frame;
    logic got_broadcast;
    logic got_fct;
    logic got_ack;
    logic got_nack;
    logic got_full;
    logic got_retry;
    logic got_idle;
  } link_event_t;

  /// Status of the data link layer (table 5-37).
  typedef struct packed {
    link_state_e state;
    logic recovery_empty;  // everything sent is acknowledged
    logic [8:0] broadcast_credit;
    link_event_t ev;
  } link_status_t;

  /// Status of a virtual channel (table 5-37); events last one cycle.
  typedef struct packed {
    logic has_credit;  // FCT credit is there
    logic under_use;  // the bandwidth credit has been full for longer than the limit
    logic ev_over_use;  // a segment took the bandwidth credit below the threshold
    logic ev_credit_overflow;  // FCT credit was lost
    logic ev_input_overflow;  // a frame did not fit into the input buffer
  } vc_status_t;

  /// Kind of a received word. An unknown control word is ignored.
  function automatic link_kind_e link_kind(input word_t word);
    link_kind_e kind;
    logic characters;
    kind = LinkNothing;
    // Data characters, end markers and Fill only.
    characters = 1'b1;
    for (int unsigned i = 0; i < 4; i++) begin
      case (word.bits[8*i+:8])
        Fill, Eop, Eep: ;
        default: characters &= !word.k[i];
      endcase
    end
    if (characters) kind = LinkData;
    if (word.k == 4'h1) begin
      case (word.bits[7:0])
        KEdf: kind = LinkEdf;
        KEbf: kind = LinkEbf;
        KFct: kind = LinkFct;
        KError: if (word.bits == '0) kind = LinkRxErr;
        Comma: begin
          case (word.bits[15:8])
            NameSdf: kind = LinkSdf;
            NameSbf: kind = LinkSbf;
            NameSif: kind = LinkSif;
            NameAck: kind = LinkAck;
            NameNack: kind = LinkNack;
            NameFull: kind = LinkFull;
            8'h87: kind = LinkRetry;
            default: ;
          endcase
        end
        default: ;
      endcase
    end
    return kind;
  endfunction

  /// A word of an output buffer that stands for an EEP, made of any word. No data word and no end
  /// of a packet has this symbol.
  function automatic word_t eep_mark(input word_t word);
    word_t mark;
    mark = word;
    mark.k[3] = 1'b1;
    mark.bits[31] = 1'b0;
    return mark;
  endfunction

  /// Whether the word stands for an EEP.
  function automatic logic is_eep_mark(input word_t word);
    return word.k[3] && !word.bits[31];
  endfunction

  /// Content of a word from a user.
  function automatic content_e content(input word_t word);
    logic data;
    logic ends;
    logic illegal;
    data = 1'b0;
    ends = 1'b0;
    illegal = 1'b0;
    for (int unsigned i = 0; i < 4; i++) begin
      if (word.k[i] && word.bits[8*i+:8] == Fill) begin
      end else if (word.k[i] && (word.bits[8*i+:8] == Eop || word.bits[8*i+:8] == Eep)) begin
        illegal |= ends;
        ends = 1'b1;
      end else begin
        illegal |= word.k[i] || ends;
        data = 1'b1;
      end
    end
    if (illegal) return ends ? WordIllegalEnd : WordIllegal;
    if (ends) return WordEnd;
    return data ? WordData : WordFill;
  endfunction
endpackage
