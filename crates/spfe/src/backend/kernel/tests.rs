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
