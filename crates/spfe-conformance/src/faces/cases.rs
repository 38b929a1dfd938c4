//! The cases of the suite of faces.

use super::{Agent, Ends, FaceCase, Step, checksum, failed, pattern};
use spfe::{Status, StatusClass};

macro_rules! face_cases {
    ($($name:ident),* $(,)?) => {
        /// Every case.
        pub const CASES: &[FaceCase] =
            &[$(FaceCase { name: stringify!($name), run: $name }),*];
    };
}

face_cases! {
    a_status_has_one_name_class_and_errno,
    packets_of_every_size_arrive_whole,
    packets_of_both_directions_pass_each_other,
    a_group_arrives_in_order,
    a_burst_is_as_many_packets,
    a_packet_is_gathered_from_parts,
    a_path_goes_in_front,
    an_error_end_arrives_as_one,
    pieces_make_one_packet,
    slots_are_filled_and_released,
    packed_records_are_packets,
    channels_do_not_mix,
    a_deadline_passes_and_nothing_is_lost,
    a_wait_is_for_a_number_of_packets,
    a_wait_is_cancelled,
    a_descriptor_announces_a_packet,
    a_channel_has_one_owner,
    a_channel_opens_again_after_closing,
    what_does_not_exist_is_refused,
    an_empty_packet_is_refused,
    a_reset_ends_queues,
    broadcast_messages_arrive,
    time_codes_arrive,
    interrupts_arrive,
    the_information_base_has_priorities,
    rmap_reads_writes_and_modifies,
    an_rmap_target_refuses_a_wrong_key,
    rdma_writes_reads_and_adds,
    rdma_outside_a_region_is_refused,
    a_space_packet_is_as_written,
}

/// Limit of a wait that must succeed, ms: only a defect reaches it.
const SOON: u32 = 30_000;

fn of(length: usize, seed: u32, end: &str, status: &str) -> String {
    format!("{length} {} {end} {status}", checksum(&pattern(seed, 0, length)))
}

/// The next packet at queue `queue` of an agent is the one of a seed.
fn receives(agent: &mut Agent, queue: u32, length: usize, seed: u32) -> Step {
    agent.is(format!("recv {queue} {SOON}"), of(length, seed, "eop", "OK"))
}

/// Queue 0: virtual channel 0 from `a` to `b`.
fn channel(ends: &mut Ends) -> Step {
    ends.b.ok("rx 0 0 64 4096")?;
    ends.a.ok("tx 0 0 256")?;
    Ok(())
}

fn a_status_has_one_name_class_and_errno(ends: &mut Ends) -> Step {
    for status in Status::ALL {
        let class = match status.class() {
            StatusClass::Ok => "ok",
            StatusClass::Local => "local",
            StatusClass::Remote => "remote",
            StatusClass::Link => "link",
            StatusClass::Usage => "usage",
        };
        let expected = format!("{} {class} {}", status.name(), status.errno());
        for agent in [&mut ends.a, &mut ends.b] {
            agent.is(format!("status {}", status.raw()), &expected)?;
        }
    }
    Ok(())
}

fn packets_of_every_size_arrive_whole(ends: &mut Ends) -> Step {
    channel(ends)?;
    let sizes = [1, 2, 3, 7, 8, 9, 63, 64, 65, 255, 256, 4095, 4096, 4097, 16384, 16385, 150_000];
    for (seed, length) in sizes.into_iter().enumerate() {
        let seed = seed as u32;
        ends.a.ok(format!("send 0 eop {length} {seed}"))?;
        receives(&mut ends.b, 0, length, seed)?;
        ends.a.ok(format!("drain 0 {SOON}"))?;
    }
    Ok(())
}

fn packets_of_both_directions_pass_each_other(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.a.ok("rx 1 0 64 4096")?;
    ends.b.ok("tx 1 0 256")?;
    for seed in 0..16 {
        ends.a.ok(format!("send 0 eop 1000 {seed}"))?;
        ends.b.ok(format!("send 1 eop 2000 {}", seed + 100))?;
    }
    for seed in 0..16 {
        receives(&mut ends.b, 0, 1000, seed)?;
        receives(&mut ends.a, 1, 2000, seed + 100)?;
    }
    Ok(())
}

fn a_group_arrives_in_order(ends: &mut Ends) -> Step {
    channel(ends)?;
    for count in [1, 2, 17, 60] {
        ends.a.ok(format!("group 0 {count} 333 {count}"))?;
        for number in 0..count {
            receives(&mut ends.b, 0, 333, count + number)?;
        }
        ends.a.ok(format!("drain 0 {SOON}"))?;
    }
    Ok(())
}

fn a_burst_is_as_many_packets(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.a.ok("burst 0 24 32 40 9")?;
    for number in 0..40 {
        let sum = checksum(&pattern(9, number * 32, 24));
        ends.b.is(format!("recv 0 {SOON}"), format!("24 {sum} eop OK"))?;
    }
    Ok(())
}

fn a_packet_is_gathered_from_parts(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.a.ok("gather 0 4 10 5000 1 77")?;
    receives(&mut ends.b, 0, 5088, 4)
}

fn a_path_goes_in_front(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.a.ok("path 0 0102030405 100 6")?;
    let bytes = [vec![1, 2, 3, 4, 5], pattern(6, 0, 100)].concat();
    ends.b.is(format!("recv 0 {SOON}"), format!("105 {} eop OK", checksum(&bytes)))
}

fn an_error_end_arrives_as_one(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.a.ok("send 0 eep 500 1")?;
    ends.b.is(format!("recv 0 {SOON}"), of(500, 1, "eep", "PACKET_CUT"))?;
    ends.a.ok("send 0 eop 500 2")?;
    receives(&mut ends.b, 0, 500, 2)
}

fn pieces_make_one_packet(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.a.ok("send 0 more 300 1")?;
    ends.a.ok("send 0 more 200 2")?;
    ends.a.ok("send 0 eop 100 3")?;
    let bytes = [pattern(1, 0, 300), pattern(2, 0, 200), pattern(3, 0, 100)].concat();
    ends.b.is(format!("recv 0 {SOON}"), format!("600 {} eop OK", checksum(&bytes)))
}

fn slots_are_filled_and_released(ends: &mut Ends) -> Step {
    ends.b.ok("pooled-rx 0 0 16 1024")?;
    ends.a.ok("pooled-tx 0 0 16 1024")?;
    // Several laps of the rings, alone and in groups, so that every slot is used again.
    for lap in 0..20 {
        ends.a.ok(format!("send 0 eop 1000 {lap}"))?;
        receives(&mut ends.b, 0, 1000, lap)?;
        ends.a.ok(format!("drain 0 {SOON}"))?;
        ends.a.ok(format!("group 0 7 {} {lap}", 1 + lap))?;
        for number in 0..7 {
            receives(&mut ends.b, 0, 1 + lap as usize, lap + number)?;
        }
        ends.a.ok(format!("drain 0 {SOON}"))?;
    }
    ends.a.refuses("send 0 eop 1025 1", "TOO_LONG")
}

fn packed_records_are_packets(ends: &mut Ends) -> Step {
    ends.b.ok("packed 0 0 65536")?;
    ends.a.ok("tx 0 0 256")?;
    for round in 0..10 {
        ends.a.ok(format!("group 0 50 {} {round}", 20 + round))?;
        for number in 0..50 {
            receives(&mut ends.b, 0, 20 + round as usize, round + number)?;
        }
        ends.a.ok(format!("drain 0 {SOON}"))?;
    }
    Ok(())
}

fn channels_do_not_mix(ends: &mut Ends) -> Step {
    for vc in 0..3 {
        ends.b.ok(format!("rx {vc} {vc} 64 4096"))?;
        ends.a.ok(format!("tx {vc} {vc} 256"))?;
    }
    for number in 0..10 {
        for vc in [2, 0, 1] {
            ends.a.ok(format!("send {vc} eop {} {vc}", 100 + number))?;
        }
    }
    for vc in 0..3 {
        for number in 0..10 {
            receives(&mut ends.b, vc, 100 + number, vc)?;
        }
    }
    Ok(())
}

fn a_deadline_passes_and_nothing_is_lost(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.b.refuses("recv 0 0", "TIMED_OUT")?;
    ends.b.refuses("recv 0 20", "TIMED_OUT")?;
    ends.a.ok("send 0 eop 10 1")?;
    receives(&mut ends.b, 0, 10, 1)?;
    ends.b.refuses("recv 0 0", "TIMED_OUT")
}

fn a_wait_is_for_a_number_of_packets(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.a.ok("group 0 2 100 1")?;
    ends.b.ok(format!("wait 0 2 {SOON}"))?;
    ends.b.refuses("wait 0 3 20", "TIMED_OUT")?;
    ends.a.ok("send 0 eop 100 3")?;
    ends.b.ok(format!("wait 0 3 {SOON}"))?;
    (1..4).try_for_each(|seed| receives(&mut ends.b, 0, 100, seed))
}

fn a_wait_is_cancelled(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.b.refuses(format!("cancelled-wait 0 {SOON}"), "CANCELLED")?;
    ends.a.ok("send 0 eop 100 1")?;
    receives(&mut ends.b, 0, 100, 1)
}

fn a_descriptor_announces_a_packet(ends: &mut Ends) -> Step {
    ends.b.ok("rx-event 0 0 64 4096")?;
    ends.a.ok("tx 0 0 256")?;
    ends.b.refuses("await 0 20", "TIMED_OUT")?;
    for seed in 0..5 {
        ends.a.ok(format!("send 0 eop 100 {seed}"))?;
        ends.b.ok(format!("await 0 {SOON}"))?;
        receives(&mut ends.b, 0, 100, seed)?;
    }
    Ok(())
}

fn a_channel_has_one_owner(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.a.refuses("tx 1 0 256", "BUSY")?;
    ends.b.refuses("rx 1 0 64 4096", "BUSY")?;
    ends.a.ok("send 0 eop 100 1")?;
    receives(&mut ends.b, 0, 100, 1)
}

fn a_channel_opens_again_after_closing(ends: &mut Ends) -> Step {
    for seed in 0..5 {
        channel(ends)?;
        ends.a.ok(format!("send 0 eop 100 {seed}"))?;
        receives(&mut ends.b, 0, 100, seed)?;
        ends.a.ok(format!("drain 0 {SOON}"))?;
        ends.a.ok("close 0")?;
        ends.b.ok("close 0")?;
    }
    Ok(())
}

fn what_does_not_exist_is_refused(ends: &mut Ends) -> Step {
    ends.a.refuses("tx 0 99 256", "BAD_VC")?;
    ends.a.refuses("rx 0 99 64 4096", "BAD_VC")?;
    ends.a.refuses("open /dev/spfe-that-is-not", "NOT_FOUND")?;
    ends.a.refuses("open nonsense", "BAD_FIELD")
}

fn an_empty_packet_is_refused(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.a.refuses("send 0 eop 0 1", "EMPTY")?;
    ends.a.ok("send 0 eop 100 1")?;
    receives(&mut ends.b, 0, 100, 1)
}

fn a_reset_ends_queues(ends: &mut Ends) -> Step {
    channel(ends)?;
    ends.b.ok("reset")?;
    ends.b.refuses(format!("recv 0 {SOON}"), "DEVICE_RESET")?;
    ends.b.ok("close 0")?;
    ends.b.ok("rx 0 0 64 4096")?;
    ends.a.ok("send 0 eop 100 1")?;
    receives(&mut ends.b, 0, 100, 1)
}

fn broadcast_messages_arrive(ends: &mut Ends) -> Step {
    ends.b.ok("messages 0")?;
    ends.a.ok("messages 0")?;
    for number in 0..20 {
        let message = format!("{number} {} 01020304050607{number:02x}", 2 * number);
        ends.a.ok(format!("message 0 {message}"))?;
        ends.b.is(format!("next-message 0 {SOON}"), message)?;
    }
    ends.b.refuses("next-message 0 10", "TIMED_OUT")
}

fn time_codes_arrive(ends: &mut Ends) -> Step {
    ends.b.ok("time-codes 0")?;
    ends.a.ok("time-codes 0")?;
    for number in 60..70 {
        let code = format!("{} {}", number % 64, number % 4);
        ends.a.ok(format!("time-code 0 {code}"))?;
        ends.b.is(format!("next-time-code 0 {SOON}"), code)?;
    }
    ends.a.refuses("time-code 0 64 0", "BAD_FIELD")
}

fn interrupts_arrive(ends: &mut Ends) -> Step {
    ends.b.ok("interrupts 0")?;
    ends.a.ok("interrupts 0")?;
    for number in 0..32 {
        let code = format!("{number} {}", number % 2);
        ends.a.ok(format!("interrupt 0 {code}"))?;
        ends.b.is(format!("next-interrupt 0 {SOON}"), code)?;
    }
    ends.a.refuses("interrupt 0 32 0", "BAD_FIELD")?;
    ends.b.refuses("next-interrupt 0 10", "TIMED_OUT")
}

fn the_information_base_has_priorities(ends: &mut Ends) -> Step {
    let found = ends.a.ok("mib priority.3")?.concat();
    ends.b.is("mib priority.3", found)?;
    ends.a.refuses("mib colour", "NOT_FOUND")
}

fn rmap_reads_writes_and_modifies(ends: &mut Ends) -> Step {
    ends.b.ok("target 0 4096 65536 32")?;
    ends.a.ok("rmap 0 0 32")?;
    for (seed, length) in [1, 4, 100, 4000].into_iter().enumerate() {
        let seed = seed as u32;
        ends.a.ok(format!("rmap-write 0 4100 {length} {seed}"))?;
        let sum = checksum(&pattern(seed, 0, length));
        ends.a.is(format!("rmap-read 0 4100 {length}"), format!("{length} {sum}"))?;
    }
    ends.a.ok("rmap-write 0 4096 4 0")?;
    ends.a.is("rmap-modify 0 4096 ffff0000 0ff00000", "00070e15")?;
    let sum = checksum(&[0x0f, 0xf7, 0x0e, 0x15]);
    ends.a.is("rmap-read 0 4096 4", format!("4 {sum}"))
}

fn an_rmap_target_refuses_a_wrong_key(ends: &mut Ends) -> Step {
    ends.b.ok("target 0 4096 65536 32")?;
    ends.a.ok("rmap 0 0 33")?;
    ends.a.refuses("rmap-write 0 4100 4 1", "RMAP_REFUSED:3")
}

fn rdma_writes_reads_and_adds(ends: &mut Ends) -> Step {
    ends.b.ok("server 0 1M")?;
    ends.a.ok("rdma 0 0")?;
    for (seed, length) in [1, 8, 1000, 100_000].into_iter().enumerate() {
        let seed = seed as u32;
        ends.a.ok(format!("rdma-write 0 4096 {length} {seed}"))?;
        let sum = checksum(&pattern(seed, 0, length));
        ends.a.is(format!("rdma-read 0 4096 {length}"), format!("{length} {sum}"))?;
    }
    ends.a.is("rdma-add 0 0 5", 0)?;
    ends.a.is("rdma-add 0 0 7", 5)?;
    ends.a.is("rdma-add 0 0 0", 12)
}

fn rdma_outside_a_region_is_refused(ends: &mut Ends) -> Step {
    ends.b.ok("server 0 1M")?;
    ends.a.ok("rdma 0 0")?;
    ends.a.refuses("rdma-write 0 1048570 100 1", "REFUSED")
}

fn a_space_packet_is_as_written(ends: &mut Ends) -> Step {
    for (apid, count, length, seed) in [(0, 0, 1, 1), (2047, 16383, 65, 2), (100, 7, 2000, 3)] {
        let written = ends.a.ok(format!("space-packet {apid} {count} {length} {seed}"))?.concat();
        // Logical address, protocol, reserved, user; then the primary header (CCSDS 133.0-B).
        let header = format!("fe020000{:04x}{:04x}{:04x}", apid, 0xc000 | count, length - 1);
        if !written.starts_with(&header) {
            return failed(format!("'{written}' does not begin with '{header}'"));
        }
        let sum = checksum(&pattern(seed, 0, length));
        let expected = format!("{apid} {count} {length} {sum}");
        ends.b.is(format!("read-space-packet {written}"), expected)?;
    }
    ends.b.refuses("read-space-packet fe01000000", "BAD_FIELD")
}
