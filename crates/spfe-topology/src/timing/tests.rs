use super::*;

fn timing(rate: &str) -> LinkTiming {
    rate.parse::<LinkRate>().unwrap().timing().unwrap()
}

#[test]
fn a_spacewire_packet_takes_ten_bits_a_byte_and_four() {
    let spw = timing("spw:200M");
    for (bytes, one_way, both) in [
        (1, 8.0 / 14.0, 8.0 / 15.0),
        (2, 16.0 / 24.0, 16.0 / 25.5),
        (60, 480.0 / 604.0, 480.0 / 634.5),
    ] {
        assert!((spw.payload_bps(bytes, false) / 200e6 - one_way).abs() < 1e-6, "{bytes}");
        assert!((spw.payload_bps(bytes, true) / 200e6 - both).abs() < 1e-6, "{bytes}");
    }
    assert_eq!(spw.data_ps(60, true), 604 * 5000);
    assert_eq!(spw.alone_ps(60), 604 * 5000);
    assert_eq!((spw.data_ps(8, false), spw.reply_ps(7, true)), (400_000, 20_000));
}

#[test]
fn no_number_of_bytes_overflows() {
    for rate in ["spw:200M", "4x7.5G", "1x1M", "16x100G"] {
        let link = timing(rate);
        for bytes in [u64::MAX, u64::MAX - 1, u64::MAX / 2, u64::from(u32::MAX)] {
            let (rate_one, rate_both) = (link.payload_bps(bytes, false), link.user_bps(true));
            assert!(rate_one >= rate_both && rate_one <= link.user_bps(false) * 1.001);
            assert!(link.data_ps(bytes, true) >= link.data_ps(bytes - 1, false));
            assert!(link.alone_ps(bytes) >= link.data_ps(1 << 20, false));
            assert!(link.reply_ps(bytes, true) >= link.reply_ps(bytes - 1, true));
        }
    }
}

#[test]
fn a_spacefibre_packet_is_filled_up_to_words() {
    let link = timing("4x7.5G");
    assert_eq!(link.data_ps(4, true), link.data_ps(7, true));
    assert!(link.data_ps(4, true) > link.data_ps(3, true));
    assert!((link.payload_bps(4092, false) / link.user_bps(false) - 4092.0 / 4096.0).abs() < 1e-9);
    assert!((link.user_bps(false) / 1e9 - 22.921).abs() < 0.01);
    assert!((link.user_bps(true) / 1e9 - 22.256).abs() < 0.01);
    // SDF, one row of 16 bytes, EDF; rows of 16/3 ns.
    let row = 40.0 / 7.5 * 5001.0 / 5000.0;
    assert!((link.alone_ps(15) as f64 / 1e3 - 3.0 * row).abs() < 0.01);
    assert!((link.alone_ps(16) as f64 / 1e3 - 4.0 * row).abs() < 0.01);
}
