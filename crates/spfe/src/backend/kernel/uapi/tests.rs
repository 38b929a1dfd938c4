//! The structures and calls against the header.

use super::*;
use std::fmt::Write;
use std::process::Command;

/// Compares sizes, offsets and numbers with those that a C compiler prints from the header.
#[test]
fn structures_and_calls_are_those_of_the_header() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let folder = std::env::temp_dir().join(format!("spfe-uapi-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut source = String::from("#include <linux/spfe.h>\n#include <stddef.h>\n");
    let mut expected = String::new();
    source.push_str("#include <stdio.h>\nint main(void) {\n");
    for (name, size, fields) in STRUCTURES {
        writeln!(source, "printf(\"{name} %zu\\n\", sizeof(struct {name}));").unwrap();
        writeln!(expected, "{name} {size}").unwrap();
        for (field, at) in *fields {
            writeln!(
                source,
                "printf(\"{name}.{field} %zu\\n\", offsetof(struct {name}, {field}));"
            )
            .unwrap();
            writeln!(expected, "{name}.{field} {at}").unwrap();
        }
    }
    for (name, request) in CALLS {
        writeln!(source, "printf(\"{name} %u\\n\", (unsigned)({name}));").unwrap();
        writeln!(expected, "{name} {request}").unwrap();
    }
    for (name, value) in [
        // Of the header; the library also works with older drivers.
        ("SPFE_UAPI_VERSION", 6),
        ("SPFE_INFO_BOUNCE", INFO_BOUNCE),
        ("SPFE_MIB_SET", MIB_SET),
        ("SPFE_PORT_PRIORITY", PORT_PRIORITY),
    ] {
        writeln!(source, "printf(\"{name} %u\\n\", (unsigned){name});").unwrap();
        writeln!(expected, "{name} {value}").unwrap();
    }
    source.push_str("return 0; }\n");
    let (file, program) = (folder.join("uapi.c"), folder.join("uapi"));
    std::fs::write(&file, source).unwrap();
    let built = Command::new("cc")
        .args(["-I", &format!("{root}/driver/linux/uapi"), "-o"])
        .args([&program, &file])
        .output()
        .expect("a C compiler, cc");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let printed = Command::new(&program).output().unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), expected);
    std::fs::remove_dir_all(&folder).unwrap();
}
