use super::*;

#[test]
fn a_device_file_that_cannot_be_opened_is_told_apart() {
    for (errno, status, what) in [
        (libc::ENOENT, Status::NotFound, "there is no such device; is the driver loaded?"),
        (libc::EACCES, Status::AccessDenied, "permission denied; its owner and group may use it"),
        (libc::ENXIO, Status::NotFound, "is not a device; did you mean unix:/run/x?"),
    ] {
        let error = not_opened("/run/x", std::io::Error::from_raw_os_error(errno));
        assert_eq!(error.status(), Some(status), "{error}");
        let text = error.to_string();
        assert!(text.contains("/run/x") && text.contains(what), "{text}");
    }
}

#[test]
fn a_refused_call_says_what_is_missing() {
    for (errno, status, what) in [
        (libc::EPERM, Status::AccessDenied, "CAP_NET_ADMIN"),
        (libc::EACCES, Status::AccessDenied, "opened for writing"),
        (libc::EDQUOT, Status::QuotaExceeded, "half of the device's objects"),
        (libc::ENOMEM, Status::NoResources, "RLIMIT_MEMLOCK"),
    ] {
        let source = std::io::Error::from_raw_os_error(errno);
        let error = uapi::error("PORT_SET", format_args!("port 3"), source);
        assert_eq!(error.status(), Some(status), "{error}");
        let text = error.to_string();
        assert!(text.contains("port 3: PORT_SET") && text.contains(what), "{text}");
    }
}
