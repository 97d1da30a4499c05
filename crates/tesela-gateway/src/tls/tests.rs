use super::*;

/// 2026-11-15, a moment like any other.
const NOW: i64 = 1_794_700_000;

/// A folder that is gone when the test is.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tesela-tls-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn open(&self, extra: &[&str]) -> Result<Identity, TlsError> {
        let extra: Vec<String> = extra.iter().map(|name| (*name).to_owned()).collect();
        Identity::kept_in(&self.0, &names(&extra), NOW)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_certificate_is_made_once_and_kept() {
    let folder = Folder::new("kept");
    let first = folder.open(&[]).unwrap();
    let again = folder.open(&[]).unwrap();
    assert_eq!(first.certificate_pem, again.certificate_pem);
    assert_eq!(fs::read_to_string(folder.file("cert.pem")).unwrap(), first.certificate_pem);
    for name in LOOPBACK_NAMES.iter().copied().chain(host_name().as_deref()) {
        assert!(again.is_valid_for(name), "{name}");
    }
    assert!(!again.is_valid_for("example.org"));
    assert!(!again.is_valid_for("10.0.0.1"));
    again.into_server_config().unwrap();
}

#[cfg(unix)]
#[test]
fn the_key_is_readable_by_the_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("mode");
    folder.open(&[]).unwrap();
    assert_eq!(fs::metadata(folder.file("key.pem")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_new_name_gets_a_new_certificate_for_the_same_key() {
    let folder = Folder::new("names");
    let first = folder.open(&[]).unwrap();
    let second = folder.open(&["cosmos.example", "10.1.2.3"]).unwrap();
    assert_ne!(first.certificate_pem, second.certificate_pem);
    assert_eq!(first.key, second.key);
    assert!(second.is_valid_for("cosmos.example") && second.is_valid_for("10.1.2.3"));
    let third = folder.open(&[]).unwrap();
    assert_eq!(second.certificate_pem, third.certificate_pem, "names are not taken away again");
}

#[test]
fn damaged_folders_are_refused_not_reset() {
    let folder = Folder::new("damaged");
    folder.open(&[]).unwrap();
    let key = fs::read_to_string(folder.file("key.pem")).unwrap();
    fs::remove_file(folder.file("key.pem")).unwrap();
    assert!(matches!(folder.open(&[]), Err(TlsError::KeyMissing { .. })));
    fs::write(folder.file("key.pem"), "junk").unwrap();
    assert!(matches!(folder.open(&[]), Err(TlsError::NoKey { .. })));
    fs::write(folder.file("key.pem"), key).unwrap();
    fs::write(folder.file("cert.pem"), "junk").unwrap();
    assert!(matches!(folder.open(&[]), Err(TlsError::NoCertificate { .. })));
}

#[test]
fn a_key_without_certificate_is_certified_anew() {
    let folder = Folder::new("half");
    let first = folder.open(&[]).unwrap();
    fs::remove_file(folder.file("cert.pem")).unwrap();
    assert_eq!(folder.open(&[]).unwrap().key, first.key);
}

#[test]
fn files_that_do_not_belong_together_do_not_serve() {
    let (one, other) = (Folder::new("one"), Folder::new("other"));
    one.open(&[]).unwrap();
    other.open(&[]).unwrap();
    let mixed = Identity::read(&one.file("cert.pem"), &other.file("key.pem")).unwrap();
    assert!(matches!(mixed.into_server_config(), Err(TlsError::Unusable(_))));
    let missing = Identity::read(&one.file("nothing.pem"), &one.file("key.pem"));
    assert!(matches!(missing, Err(TlsError::File { action: "read", .. })));
}

#[test]
fn a_name_no_certificate_can_have_is_named() {
    let folder = Folder::new("bad");
    match folder.open(&["näme"]) {
        Err(TlsError::BadName { name }) => assert_eq!(name, "näme"),
        other => panic!("{:?}", other.err()),
    }
}
