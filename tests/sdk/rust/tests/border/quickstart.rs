//! The quick-start program runs as it stands, over HTTP and over TLS.

use std::process::Command;
use tesela_border_tests::required;

const PRINTED: &str = "created aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb\n\
                       read Yamba Surfboard 850\n\
                       found Yamba Surfboard\n\
                       done\n";

fn run(endpoint: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_quickstart"))
        .args([endpoint, &required("TESELA_KEY")])
        // The SDK's own switch for a server whose certificate nobody vouches for.
        .env("AZURE_COSMOS_EMULATOR_SERVER_CERT_VALIDATION_DISABLED", "true")
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), PRINTED);
}

#[test]
fn over_http() {
    run(&required("TESELA_ENDPOINT"));
}

#[test]
fn over_tls() {
    run(&required("TESELA_HTTPS_ENDPOINT"));
}
