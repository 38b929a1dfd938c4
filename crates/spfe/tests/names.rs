//! Names of devices that do not exist.

use spfe::{Endpoint, Error, Status};

#[test]
fn a_device_that_does_not_exist_is_not_a_syntax_error() {
    for (name, status) in
        [("virtual:uri-test/7", Status::NotFound), ("unix:/no/such/0", Status::DeviceGone)]
    {
        let error = Endpoint::open(name).map(drop).unwrap_err();
        assert!(matches!(error, Error::Device { .. }), "{error:?}");
        assert_eq!(error.status(), Some(status), "{error}");
    }
}
