//! Bugs planted in the core are found. Each needs a build of its own, so this is not for every run:
//! `cargo test --manifest-path rtl/sim/Cargo.toml --features planted --test planted`.
//!
//! `PLANTED=rdma` in the environment chooses the bugs of one test, and `PLANTED_BUG=TEXT` those
//! with TEXT in their file or in what they replace. `-- --nocapture` shows each outcome at once.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// File of rtl/, its text, what becomes of it, and the test that has to notice.
const BUGS: [(&str, &str, &str, &str); 83] = [
    (
        "endpoint/spfe_ep_chars_rx.sv",
        "at_q <= char_i[8] ? '0 : at_q + 2'd1;",
        "at_q <= at_q + 2'd1;",
        "wires",
    ),
    (
        "endpoint/spfe_ep_chars_tx.sv",
        "assign step = words_valid_i && (fill || char_ready_i);",
        "assign step = words_valid_i;",
        "wires",
    ),
    (
        "endpoint/spfe_ep_wire.sv",
        "if (code[5:0] != last_q[5:0] + 6'd1)",
        "if (code != last_q + 8'd1)",
        "wires",
    ),
    (
        "endpoint/spfe_ep_queue_check.sv",
        "~(wired ? InterruptFilter : BroadcastFilter)",
        "~BroadcastFilter",
        "wires",
    ),
    (
        "endpoint/spfe_ep_map.sv",
        "channel = 16'(first_channel(Shape, p));",
        "channel = 16'(p);",
        "wires",
    ),
    (
        "endpoint/spfe_ep_port_cmd.sv",
        "assign known = wired ? 64'd1 << MIB_ITEM_LINK_RESET\n      : (MIB_RW_MASK",
        "assign known = (MIB_RW_MASK",
        "wires",
    ),
    (
        "endpoint/spfe_ep_message.sv",
        "next = wanted && !looked_q ? Fetch : Store;",
        "next = Store;",
        "endpoint",
    ),
    ("spacefibre/spfe_sf_receive.sv", "lost_q <= !message_ready;", "lost_q <= 1'b0;", "link"),
    (
        "spacefibre/spfe_sf_link_reset.sv",
        "state_d = RstNearEnd;\n              lane_reset = 1'b1;",
        "state_d = RstNearEnd;",
        "link",
    ),
    (
        "rdma/spfe_rdma_respond.sv",
        "response_q.request.key[31:12] == revoke_index_i) revoked_q <= 1'b1;",
        "response_q.request.key[31:12] == revoke_index_i) revoked_q <= 1'b0;",
        "target",
    ),
    (
        "endpoint/spfe_ep_target_cmd.sv",
        "if (op_i == OpForce && (fixed || !is_set)) next = Finish;",
        "if (op_i == OpForce) next = Finish;",
        "target",
    ),
    (
        "endpoint/spfe_ep_target_tx.sv",
        "tx_count_o[vc] = CountWidth'(1);",
        "tx_count_o[vc] = CountWidth'(word_i.k == '0);",
        "target",
    ),
    (
        "spacewire/spfe_sw_step.sv",
        "over = wait_over_i && !enters_o;",
        "over = wait_over_i;",
        "spacewire",
    ),
    (
        "spacewire/spfe_sw_port.sv",
        "spilling_q <= held_q ? !held_char_q[8] : !(tx_takes && tx_i[8]);",
        "spilling_q <= 1'b1;",
        "spacewire",
    ),
    (
        "spacewire/spfe_sw_codes.sv",
        "if (!time_q && acknowledges_q != '0)",
        "if (acknowledges_q != '0)",
        "spacewire",
    ),
    (
        "spacefibre/spfe_sf_align.sv",
        "if (!arrival_i[l].fits || word_i[l].bits[19:16] != count) begin",
        "if (!arrival_i[l].fits) begin",
        "multilane",
    ),
    (
        "spacefibre/spfe_sf_align.sv",
        "heard = heard_q & ~fresh_i;\n    receiving =",
        "heard = heard_q;\n    receiving =",
        "multilane",
    ),
    (
        "spacefibre/spfe_sf_align.sv",
        "if (judged == RowRxErr && !not_ready && ready_q <",
        "if (judged == RowRxErr && !not_ready && ready_q <=",
        "multilane",
    ),
    ("spacefibre/spfe_sf_row_judge.sv", "gap |= data[l] && seen_pad;", "", "multilane"),
    (
        "spacefibre/spfe_sf_row_tx.sv",
        "else if (asked_q && position_q == 3'(BetweenAligns - 1)) slot = SlotActive;",
        "",
        "multilane",
    ),
    (
        "spacefibre/spfe_sf_lane_sets.sv",
        "else if (both_ways) rx_only[l] = 1'b1;",
        "else rx_only[l] = 1'b1;",
        "multilane",
    ),
    ("spacefibre/spfe_sf_row_rx.sv", "if (row_i == RowRxErr) in_d = InNone;", "", "multilane"),
    ("host/spfe_host_complete.sv", "&& !behind[15]) second_q", ") second_q", "queues"),
    ("host/spfe_host_rx_gather.sv", "(gather_i.inside_packet || taken != '0)", "1'b1", "queues"),
    (
        "host/spfe_host_tx_words.sv",
        "(fails || fails_q || failed) &&",
        "(fails || failed) &&",
        "queues",
    ),
    (
        "host/spfe_host_lines.sv",
        "state_q != Rest && job_q == JobNeed",
        "state_q != Rest && job_q == JobNeed && !need_value_q",
        "queues",
    ),
    (
        "host/spfe_host_ring.sv",
        "prefix_q && entry.phase == phase_of(position + 32'(beats_q), settings.log2)",
        "prefix_q && entry.phase != '0",
        "queues",
    ),
    ("host/spfe_host_rx_room.sv", "&& entry.bytes <= move_i.used", "", "queues"),
    ("spacefibre/spfe_sf_word_sync.sv", "errors_d = 4'(bad_i);", "errors_d = '0;", "lane"),
    (
        "spacefibre/spfe_sf_lane_seen.sv",
        "init3: last.init3 == 2'd3",
        "init3: last.init3 >= 2'd2",
        "lane",
    ),
    (
        "spacefibre/spfe_sf_lane_next.sv",
        "else if (seen_i.init1 && !rx_only_i)",
        "else if (seen_i.init1)",
        "lane",
    ),
    (
        "spacefibre/spfe_sf_receive.sv",
        "if (!error_q || seq[7] == negative_q)",
        "if (!error_q)",
        "link",
    ),
    ("spacefibre/spfe_sf_receive.sv", "bwords > 2'd2", "bwords > 2'd3", "link"),
    ("spacefibre/spfe_sf_transmit.sv", "GapWidth'(AckGap) :", "GapWidth'(AckGap + 1) :", "link"),
    (
        "spacefibre/spfe_sf_transmit.sv",
        "if (frame_q == FrameIdle) frame_d = FrameNone;",
        "",
        "link",
    ),
    ("spacefibre/spfe_sf_qos.sv", "price_q << 1 : price_q", "price_q : price_q", "link"),
    ("spacefibre/spfe_sf_broadcast_tx.sv", "if (late_sent_i) late_q <= '1;", "", "link"),
    (
        "spacefibre/spfe_sf_recovery.sv",
        "if (ack_i.nack) sent = same_q ? head_q : acked;",
        "if (ack_i.nack) sent = acked;",
        "link",
    ),
    ("endpoint/spfe_ep_regions.sv", "&& first_q.ask.domain == 16'(region.domain)", "", "endpoint"),
    (
        "endpoint/spfe_ep_regions.sv",
        "(SizeBits + 1)'(first_q.ask.address.offset) +",
        "(SizeBits + 1)'(first_q.ask.address.offset[31:0]) +",
        "endpoint",
    ),
    (
        "rdma/spfe_rdma_decide.sv",
        "offset > region_i.bytes - room",
        "offset > region_i.bytes",
        "rdma",
    ),
    (
        "rdma/spfe_rdma_decide.sv",
        "peer_o.open = 1'b0;\n      peer_o.told = 1'b1;",
        "peer_o.open = 1'b0;",
        "rdma",
    ),
    ("rdma/spfe_rdma_receive.sv", " || found != ~crc32_q", "", "rdma"),
    ("rdma/spfe_rdma_peers.sv", "read.used < least_q", "read.used > least_q", "rdma"),
    ("rdma/spfe_rdma_respond.sv", "response_q.place + before_q[15:0]", "before_q[15:0]", "rdma"),
    ("rdma/spfe_rmap_receive.sv", "'0 : bytes_q[23:0] - 24'd1;", "'0 : bytes_q[23:0];", "rdma"),
    (
        "rdma/spfe_rmap_receive.sv",
        "if (complete) drop_q <= crc == '0 ? DropNone : DropCrc;",
        "if (complete) drop_q <= DropNone;",
        "rdma",
    ),
    ("rdma/spfe_rmap_target.sv", "if (op_q == RunRead && body.cut) ending = RmapEep;", "", "rdma"),
    (
        "rdma/spfe_rmap_target.sv",
        "revoke_index_i == region_index_o) revoked_q <= 1'b1;",
        "revoke_index_i == region_index_o) revoked_q <= 1'b0;",
        "rdma",
    ),
    (
        "rdma/spfe_rmap_target.sv",
        ".reply_valid_i(state_q == Reply && command.instruction.reply)",
        ".reply_valid_i(state_q == Reply)",
        "rdma",
    ),
    (
        "rdma/spfe_rmap_reply.sv",
        "reply_i.command.instruction.path_words != '0 ? 4'd1 : 4'd0;",
        "'0;",
        "rdma",
    ),
    (
        "rdma/spfe_rmap_decide.sv",
        "offset <= region_i.bytes - taken",
        "offset <= region_i.bytes",
        "rdma",
    ),
    (
        "rdma/spfe_rmap_access.sv",
        "if (memory_i.rd_last && memory_i.rd_error) error_q <= 1'b1;",
        "",
        "rdma",
    ),
    ("rdma/spfe_rmap_access.sv", "(state_q == Byte && !under_way_q)", "state_q == Byte", "rdma"),
    ("rdma/spfe_rdma_merge.sv", "sends_q ? second_q : !side_valid_i[0]", "side_valid_i[1]", "rdma"),
    (
        "rdma/spfe_rdma_target.sv",
        ".start_i(idle && !fence_valid_i)",
        ".start_i(!fence_valid_i)",
        "rdma",
    ),
    (
        "rdma/spfe_rdma_works.sv",
        "retry_q <= retry_q | (sent_q & behind);",
        "retry_q <= retry_q;",
        "initiator",
    ),
    (
        "rdma/spfe_rdma_works.sv",
        "if (do_i.ring) ends_q[Width'(place_o-1'b1)] <= 1'b1;",
        "",
        "initiator",
    ),
    ("rdma/spfe_rdma_cut.sv", "owes_q <= 1'b1;", "owes_q <= 1'b0;", "pair"),
    (
        "rdma/spfe_rdma_judge.sv",
        "if (header.address != 64'(progress_i.arrived)) verdict_o",
        "if (1'b0) verdict_o",
        "initiator",
    ),
    (
        "rdma/spfe_rdma_pair_time.sv",
        "deadline_q <= latest + (timeout_ns_i << repeated_i);",
        "deadline_q <= latest + timeout_ns_i;",
        "initiator",
    ),
    (
        "rdma/spfe_rdma_pair_do.sv",
        "tries > 6'(pair_i.retries)",
        "tries >= 6'(pair_i.retries)",
        "initiator",
    ),
    (
        "rdma/spfe_rdma_segment.sv",
        "header_o.flags.solicited = last_o && work_i.solicited;",
        "header_o.flags.solicited = work_i.solicited;",
        "initiator",
    ),
    (
        "rdma/spfe_rdma_results.sv",
        "|| (ended_valid_i && wrong && requests_q != '0)",
        "",
        "initiator",
    ),
    (
        "rdma/spfe_rdma_pair_counts.sv",
        "assign sends = step_i inside {StepSend, StepProbe, StepConnect};",
        "assign sends = step_i inside {StepSend, StepConnect};",
        "initiator",
    ),
    (
        "rdma/spfe_rdma_pair_counts.sv",
        "index_q == (all_q ? 6'd63 : PAIR_COUNTER_NEAR[5:0])",
        "index_q == (all_q ? 6'd63 : PAIR_COUNTER_INVALID[5:0])",
        "initiator",
    ),
    (
        "rdma/spfe_rdma_pair_next.sv",
        "TakeFail, TakeMissing, TakePause, TakeAgain, TakeNothing}",
        "TakeFail, TakeMissing, TakeAgain, TakeNothing}",
        "initiator",
    ),
    (
        "rdma/spfe_rdma_pair_next.sv",
        "step_o = may_i.gives_up ? StepGivesUp : may_i.blocked",
        "step_o = may_i.blocked",
        "initiator",
    ),
    (
        "rdma/spfe_rdma_pair_counts.sv",
        "else if (handled_i.repeated) other = PAIR_COUNTER_TARGET_REPEATED[5:0];",
        "",
        "receiver",
    ),
    (
        "rdma/spfe_rdma_pair_counts.sv",
        "DropForInitiator, DropFull}) other_event = 1'b0;",
        "DropForInitiator, DropNotOurs}) other_event = 1'b0;",
        "receiver",
    ),
    ("rdma/spfe_rdma_move.sv", "turn = at_q[3:0] - skip_q[3:0];", "turn = at_q[3:0];", "initiator"),
    ("rdma/spfe_rdma_accept.sv", "open_i && told_q != total_i &&", "1'b0 &&", "receiver"),
    (
        "rdma/spfe_rdma_accept.sv",
        "decision.status == SfrpTooLong && !peer_q.failed",
        "decision.status == SfrpTooLong",
        "receiver",
    ),
    (
        "rdma/spfe_rdma_accept.sv",
        "words_i.offset + (48'd8 << cq_log2_i) +",
        "words_i.offset +",
        "receiver",
    ),
    (
        "rdma/spfe_rdma_accept.sv",
        "if (decision_q.action == DoWrite && header.address[31:0] == '0)",
        "if (decision_q.action == DoWrite)",
        "receiver",
    ),
    (
        "rdma/spfe_rdma_decide.sv",
        "else if (Receives && header.address[63:32] > buffer_bytes_i)",
        "else if (Receives && header.length > buffer_bytes_i)",
        "receiver",
    ),
    ("rdma/spfe_rdma_buffers.sv", "if (kept_o && kept_good_o) total_q", "total_q", "receiver"),
    (
        "rdma/spfe_rdma_answer.sv",
        "next.path_bytes = response_i.request.path_bytes[4:0];",
        "next.path_bytes = '0;",
        "receiver",
    ),
    ("endpoint/spfe_ep_events.sv", "if (enabled_q[index_q]) due_q", "due_q", "endpoint"),
    ("endpoint/spfe_ep_region_cmd.sv", "if (misplaced) wrong_q <= 1'b1;", "", "endpoint"),
    ("endpoint/spfe_ep_queues.sv", "held[i] == scan_i", "1'b0", "endpoint"),
    ("endpoint/spfe_ep_message.sv", "receives ? !gives :", "receives ? 1'b0 :", "endpoint"),
    (
        "endpoint/spfe_ep_regs.sv",
        "state_q == WriteWord && rdata.writable",
        "state_q == WriteWord",
        "endpoint",
    ),
];

fn run(program: &str, arguments: &[&str], directory: &Path) -> std::process::Output {
    let output = Command::new(program).args(arguments).current_dir(directory).output();
    output.unwrap_or_else(|error| panic!("{program} cannot be run: {error}"))
}

/// Runs a test with the core below a directory. Returns whether it passed, and what it said.
fn run_test(test: &str, root: &Path) -> (bool, String) {
    let output = Command::new(env!("CARGO"))
        .args(["test", "--features", "planted", "--test", test])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("SPFE_SIM_ROOT", root)
        .output()
        .expect("cargo can be run");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Plants a bug in a copy of the core, runs its test, and takes the bug out again.
fn plant((file, from, to, test): (&str, &str, &str, &str), copy: &Path) -> &'static str {
    let path = copy.join("rtl").join(file);
    let text = std::fs::read_to_string(&path).expect("can be read");
    if text.matches(from).count() != 1 {
        return "NOT IN THE FILE ONCE";
    }
    std::fs::write(&path, text.replace(from, to)).expect("can be written");
    let (passed, said) = run_test(test, copy);
    std::fs::write(&path, text).expect("can be written");
    // A core that does not build fails its test, too.
    if said.contains("build.sh: ") {
        println!("{said}");
        "DOES NOT BUILD"
    } else if !passed && said.contains("panicked") && said.contains("seed") {
        "found"
    } else {
        "MISSED"
    }
}

#[test]
fn planted_bugs_are_found() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..").canonicalize().expect("exists");
    let copy = root.join("target/rtl/planted");
    let choice = |name| std::env::var(name).unwrap_or_default();
    let (chosen, part) = (choice("PLANTED"), choice("PLANTED_BUG"));
    let bugs: Vec<_> = BUGS
        .into_iter()
        .filter(|bug| chosen.is_empty() || chosen == bug.3)
        .filter(|bug| bug.0.contains(&part) || bug.1.contains(&part))
        .collect();
    assert!(!bugs.is_empty(), "no bug is chosen");
    // Without a bug the tests pass; otherwise they would find anything.
    let tests: BTreeSet<_> = bugs.iter().map(|bug| bug.3).collect();
    for test in tests {
        let (passed, said) = run_test(test, &root);
        assert!(passed, "the test {test} fails without a planted bug:\n{said}");
    }
    // Models from earlier runs stay.
    std::fs::create_dir_all(&copy).expect("can be made");
    assert!(run("rm", &["-rf", "rtl", "tools"], &copy).status.success());
    let arguments = ["-r", "rtl", "tools", copy.to_str().expect("is text")];
    assert!(run("cp", &arguments, &root).status.success());
    let mut wrong = Vec::new();
    for bug in bugs {
        let outcome = plant(bug, &copy);
        println!("{}: {:?}: {outcome}", bug.0, bug.1);
        if outcome != "found" {
            wrong.push((bug.0, bug.1, outcome));
        }
    }
    assert!(wrong.is_empty(), "not found: {wrong:#?}");
}
