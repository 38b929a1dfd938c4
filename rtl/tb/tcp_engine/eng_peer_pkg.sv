// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Peer of the random test: a minimal TCP that sends and receives a number of bytes and then
/// closes. The test loses, duplicates and reorders segments in both directions.
package eng_peer_pkg;
  import spfe_tcp_pkg::*;
  import eng_env_pkg::*;

  typedef enum int {
    PeerIdle,
    PeerSynSent,
    PeerSynRcvd,
    PeerOpen,
    PeerDone
  } peer_state_e;

  /* verilator lint_off DECLFILENAME */
  class Peer;
    peer_state_e state = PeerIdle;
    ip_t ip;
    port_t port, lport;
    seq_t iss, una, nxt, rcv;
    int to_send;  // bytes not yet sent for the first time
    int got;  // bytes received in order
    int mss;
    bit close_first, fin_sent, fin_acked, fin_seen;
    bit want_close = 0;
    bit keeps;  // buffers out-of-order segments
    bit hurry;  // sends data right after the handshake
    int wnd = 20000, timer = 0, again = 0;
    bit paused = 0;
    bit reset_seen;
    segment_t out[$];
    seq_t held[$], held_end[$];
    bit held_fin[$];

    function new(ip_t ip_, port_t port_, port_t lport_, seq_t iss_, int bytes, int mss_);
      ip = ip_;
      port = port_;
      lport = lport_;
      iss = iss_;
      to_send = bytes;
      mss = mss_;
      close_first = $urandom_range(1) != 0;
      keeps = $urandom_range(1) != 0;
      hurry = $urandom_range(1) != 0;
    endfunction

    function void emit(string flags, seq_t seq, int len);
      segment_t s;
      s = '{
          sip: ip, sport: port, dport: lport, seq: seq, ack: rcv, flags: fl(flags), len: len,
          wnd: paused ? 0 : wnd, mss: flags[0] == "S" ? mss : 0, ws: -1
      };
      out.push_back(s);
    endfunction

    function void connect();
      state = PeerSynSent;
      una = iss;
      nxt = iss + 1;
      emit("S", iss, 0);
      timer = 0;
    endfunction

    /// Sends at most `n` segments, as far as the window allows.
    function void push(int n);
      int len;
      if (una == nxt) timer = 0;
      for (int i = 0; i < n && state == PeerOpen && to_send > 0 && int'(nxt - una) < 20000; i++)
      begin
        len = $urandom_range(1460, 1);
        if (len > to_send) len = to_send;
        to_send -= len;
        // The last segment may carry FIN.
        if (to_send == 0 && want_close && !fin_sent) begin
          emit("FA", nxt, len);
          nxt += len + 1;
          fin_sent = 1;
        end else begin
          emit("A", nxt, len);
          nxt += len;
        end
      end
      if (state == PeerOpen && to_send == 0 && want_close && !fin_sent) begin
        emit("FA", nxt, 0);
        nxt += 1;
        fin_sent = 1;
      end
    endfunction

    /// Called once per tick.
    function void tick();
      int len;
      if (state inside {PeerIdle, PeerDone}) return;
      timer++;
      if (timer >= 60) begin
        timer = 0;
        if (una != nxt) again++;
        if (state == PeerSynSent) emit("S", iss, 0);
        else if (state == PeerSynRcvd) emit("SA", iss, 0);
        else if (una != nxt) begin
          len = int'(nxt - una) - int'(fin_sent);
          if (len > 1460) len = 1460;
          if (len > 0) emit("A", una, len);
          else emit("FA", una, 0);
        end
      end
    endfunction

    function void keep(frame_t f);
      if (!keeps || f.len == 0 && !f.flags.fin) return;
      held.push_back(f.seq);
      held_end.push_back(f.seq + f.len);
      held_fin.push_back(f.flags.fin);
    endfunction

    /// Accepts data or FIN from `seq` to `stop` if it is in order.
    function bit in_order(seq_t seq, seq_t stop, bit fin);
      if (fin_seen || !seq_le(seq, rcv) || !seq_lt(rcv, stop + int'(fin))) return 0;
      got += int'(stop - rcv);
      rcv = stop;
      if (fin) begin
        rcv += 1;
        fin_seen = 1;
      end
      return 1;
    endfunction

    function void drain();
      bit more;
      more = 1;
      while (more) begin
        more = 0;
        for (int i = 0; i < held.size(); i++) more |= in_order(held[i], held_end[i], held_fin[i]);
      end
      for (int i = 0; i < held.size(); i++) begin
        if (seq_le(held_end[i], rcv)) begin
          held.delete(i);
          held_end.delete(i);
          held_fin.delete(i);
          i--;
        end
      end
    endfunction

    function void take(frame_t f);
      if (f.bad) return;
      if (f.flags.rst) begin
        if (state == PeerSynSent && !(f.flags.ack && f.ack == iss + 1)) return;
        if (state inside {PeerSynRcvd, PeerOpen} && f.seq != rcv) return;
        reset_seen = 1;
        state = PeerDone;
        return;
      end
      case (state)
        PeerIdle: begin
          if (f.flags.syn && !f.flags.ack) begin
            state = PeerSynRcvd;
            rcv = f.seq + 1;
            una = iss;
            nxt = iss + 1;
            timer = 0;
            emit("SA", iss, 0);
          end
        end
        PeerSynSent: begin
          if (f.flags.syn && f.flags.ack && f.ack == iss + 1) begin
            state = PeerOpen;
            rcv = f.seq + 1;
            una = f.ack;
            timer = 0;
            // Otherwise the first data segment completes the handshake.
            if (!hurry || to_send == 0 || $urandom_range(1) != 0) emit("A", nxt, 0);
            if (hurry) push(4);
          end
        end
        PeerSynRcvd, PeerOpen: begin
          if (f.flags.syn) begin
            if (state == PeerSynRcvd) emit("SA", iss, 0);
            else emit("A", nxt, 0);
            return;
          end
          if (!f.flags.ack) return;
          if (seq_lt(nxt, f.ack)) $fatal(1, "ACK %0d is above SND.NXT %0d of the peer", f.ack, nxt);
          if (seq_lt(una, f.ack)) begin
            una = f.ack;
            timer = 0;
            if (state == PeerSynRcvd) begin
              state = PeerOpen;
              if (hurry) push(4);
            end
            if (fin_sent && una == nxt) fin_acked = 1;
          end
          if (state != PeerOpen) return;
          if (f.len != 0 || f.flags.fin) begin
            if (!(paused && f.len != 0)) begin
              if (in_order(f.seq, f.seq + f.len, f.flags.fin)) drain();
              else if (seq_lt(rcv, f.seq)) keep(f);
            end
            emit("A", nxt, 0);
          end else if (seq_lt(f.seq, rcv)) begin
            emit("A", nxt, 0);  // window probe
          end
        end
        PeerDone: begin
          // TIME-WAIT answers unacceptable segments (RFC 9293, 3.10.7.4, first step). That is a
          // retransmitted FIN, or a window probe: nothing else arrives if the ACK of the FIN was
          // lost and the window announced before it was 0.
          if (seq_lt(f.seq, rcv)) emit("A", nxt, 0);
        end
        default: ;
      endcase
      if (state == PeerOpen && fin_seen && fin_acked) state = PeerDone;
    endfunction
  endclass
  /* verilator lint_on DECLFILENAME */
endpackage
