//! The server's certificate, and TLS on accepted connections.
//!
//! By default the server makes a certificate for itself on first use and keeps it in the data folder as
//! `cert.pem` and `key.pem` (readable by the owner only), so that clients that were told to trust it still do
//! after a restart. It is valid for the loopback names, the host's name and whatever names the user adds. When
//! a name is asked for that the kept certificate lacks, a new certificate is made for the same key.
//! A user's own certificate and key are taken from their files as they are.
//!
//! Everything is read or made when the first TLS connection or the first request for the certificate comes:
//! a server that is only spoken to in the clear starts without it.
//!
//! Left out: client certificates, and reloading files while running.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tesela_protocol::http_date;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

#[cfg(test)]
mod tests;

const CERTIFICATE_FILE: &str = "cert.pem";
const KEY_FILE: &str = "key.pem";
/// Names every certificate of our own making is valid for.
const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// How long such a certificate is valid, in years. Ours: it is trusted by hand, so expiring is only a trap.
const VALID_YEARS: i64 = 20;
const DAY_SECONDS: i64 = 86_400;
/// In the order of our preference.
const ALPN_PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot {action} {}: {error}", path.display())]
    File { action: &'static str, path: PathBuf, error: io::Error },
    #[error("{} holds no certificate", path.display())]
    NoCertificate { path: PathBuf },
    #[error("{} holds no private key", path.display())]
    NoKey { path: PathBuf },
    #[error("{} exists without {}; restore the key or remove the certificate", certificate.display(), key.display())]
    KeyMissing { certificate: PathBuf, key: PathBuf },
    #[error("{name:?} is no name a certificate can be made for")]
    BadName { name: String },
    #[error("making a certificate failed: {0}")]
    Make(rcgen::Error),
    #[error("certificate and key do not serve TLS: {0}")]
    Unusable(rustls::Error),
    #[error("the handshake failed: {0}")]
    Handshake(io::Error),
    #[error("the client wants TLS, which this listener does not speak")]
    Disabled,
}

/// Where certificate and key come from.
#[derive(Clone, Debug)]
pub enum CertificateSource {
    /// The user's own.
    Files { certificate: PathBuf, key: PathBuf },
    /// Ours, kept in a folder.
    SelfSigned { folder: PathBuf, extra_names: Vec<String> },
    /// Ours, for as long as the process runs.
    Ephemeral { extra_names: Vec<String> },
}

/// TLS for a listener. Cheap until first used.
pub struct Tls {
    source: CertificateSource,
    now_unix_seconds: i64,
    ready: OnceCell<Ready>,
}

struct Ready {
    acceptor: TlsAcceptor,
    certificate_pem: Arc<str>,
}

impl Tls {
    /// `now_unix_seconds` dates a certificate that has to be made.
    pub fn new(source: CertificateSource, now_unix_seconds: i64) -> Self {
        Self { source, now_unix_seconds, ready: OnceCell::new() }
    }

    /// The certificate, for people who want to trust it.
    pub async fn certificate_pem(&self) -> Result<Arc<str>, TlsError> {
        Ok(Arc::clone(&self.ready().await?.certificate_pem))
    }

    /// Does the handshake on a connection.
    pub(crate) async fn accept(&self, stream: TcpStream) -> Result<TlsStream<TcpStream>, TlsError> {
        self.ready().await?.acceptor.accept(stream).await.map_err(TlsError::Handshake)
    }

    async fn ready(&self) -> Result<&Ready, TlsError> {
        self.ready.get_or_try_init(|| async { Ready::open(&self.source, self.now_unix_seconds) }).await
    }
}

impl Ready {
    fn open(source: &CertificateSource, now_unix_seconds: i64) -> Result<Self, TlsError> {
        let identity = match source {
            CertificateSource::Files { certificate, key } => Identity::read(certificate, key)?,
            CertificateSource::SelfSigned { folder, extra_names } => {
                Identity::kept_in(folder, &names(extra_names), now_unix_seconds)?
            }
            CertificateSource::Ephemeral { extra_names } => {
                let key = KeyPair::generate().map_err(TlsError::Make)?;
                Identity::made(&key, &names(extra_names), now_unix_seconds)?
            }
        };
        let certificate_pem = Arc::from(identity.certificate_pem.as_str());
        let acceptor = TlsAcceptor::from(Arc::new(identity.into_server_config()?));
        Ok(Self { acceptor, certificate_pem })
    }
}

/// Certificate chain and key, in all the forms needed.
struct Identity {
    certificate_pem: String,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let certificate_pem = read(certificate)?;
        let key_pem = read(key)?;
        let chain: Vec<_> =
            CertificateDer::pem_slice_iter(certificate_pem.as_bytes()).collect::<Result<_, _>>().unwrap_or_default();
        if chain.is_empty() {
            return Err(TlsError::NoCertificate { path: certificate.to_owned() });
        }
        let key =
            PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).map_err(|_| TlsError::NoKey { path: key.to_owned() })?;
        Ok(Self { certificate_pem, chain, key })
    }

    /// The identity kept in a folder, made where it is missing or lacks a name.
    fn kept_in(folder: &Path, names: &[String], now_unix_seconds: i64) -> Result<Self, TlsError> {
        let (certificate_path, key_path) = (folder.join(CERTIFICATE_FILE), folder.join(KEY_FILE));
        let key = match (certificate_path.exists(), key_path.exists()) {
            (true, true) => {
                let kept = Self::read(&certificate_path, &key_path)?;
                if names.iter().all(|name| kept.is_valid_for(name)) {
                    return Ok(kept);
                }
                KeyPair::from_pem(&read(&key_path)?).map_err(TlsError::Make)?
            }
            (true, false) => return Err(TlsError::KeyMissing { certificate: certificate_path, key: key_path }),
            (false, true) => KeyPair::from_pem(&read(&key_path)?).map_err(TlsError::Make)?,
            (false, false) => {
                let key = KeyPair::generate().map_err(TlsError::Make)?;
                write(&key_path, &key.serialize_pem(), Access::Owner)?;
                key
            }
        };
        let made = Self::made(&key, names, now_unix_seconds)?;
        write(&certificate_path, &made.certificate_pem, Access::Everyone)?;
        Ok(made)
    }

    /// A self-signed certificate. Not a certificate authority: TLS libraries refuse those as a server's own.
    fn made(key: &KeyPair, names: &[String], now_unix_seconds: i64) -> Result<Self, TlsError> {
        let mut params = CertificateParams::default();
        for name in names {
            let one = CertificateParams::new([name.clone()]).map_err(|_| TlsError::BadName { name: name.clone() })?;
            params.subject_alt_names.extend(one.subject_alt_names);
        }
        params.distinguished_name.push(DnType::CommonName, "Tesela");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        // A day's leave for clocks that are behind ours.
        let (year, month, day) = http_date::civil_from_days(now_unix_seconds.div_euclid(DAY_SECONDS) - 1);
        // The 28th exists in every month of every year.
        let date = |year: i64, day: i64| rcgen::date_time_ymd(year as i32, month as u8, day as u8);
        params.not_before = date(year, day);
        params.not_after = date(year + VALID_YEARS, day.min(28));
        let certificate = params.self_signed(key).map_err(TlsError::Make)?;
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key just made is in a known form");
        Ok(Self { certificate_pem: certificate.pem(), chain: vec![certificate.der().clone()], key })
    }

    /// Whether the certificate names a host: the bytes of a subject alternative name are looked for, which spares a
    /// parser and can at worst find them somewhere else.
    fn is_valid_for(&self, name: &str) -> bool {
        const DNS_NAME: u8 = 0x82;
        const IP_ADDRESS: u8 = 0x87;
        let (tag, value) = match name.parse() {
            Ok(std::net::IpAddr::V4(address)) => (IP_ADDRESS, address.octets().to_vec()),
            Ok(std::net::IpAddr::V6(address)) => (IP_ADDRESS, address.octets().to_vec()),
            Err(_) => (DNS_NAME, name.as_bytes().to_vec()),
        };
        let Ok(length) = u8::try_from(value.len()) else { return false };
        let wanted = [&[tag, length], value.as_slice()].concat();
        self.chain.first().is_some_and(|leaf| leaf.windows(wanted.len()).any(|window| window == wanted))
    }

    fn into_server_config(self) -> Result<ServerConfig, TlsError> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(self.chain, self.key))
            .map_err(TlsError::Unusable)?;
        config.alpn_protocols = ALPN_PROTOCOLS.map(<[u8]>::to_vec).into();
        Ok(config)
    }
}

/// The names of a certificate of our own, each once.
fn names(extra: &[String]) -> Vec<String> {
    let mut names: Vec<String> = LOOPBACK_NAMES.map(str::to_owned).into();
    for name in host_name().as_ref().into_iter().chain(extra) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The host's name, where the system tells it without a library. Only names fit for a certificate count.
fn host_name() -> Option<String> {
    let told = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = told.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok())?;
    let name = name.trim().to_ascii_lowercase();
    let is_fit =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.');
    is_fit.then_some(name)
}

fn read(path: &Path) -> Result<String, TlsError> {
    fs::read_to_string(path).map_err(|error| TlsError::File { action: "read", path: path.to_owned(), error })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Owner,
    Everyone,
}

/// Writes a file all or nothing: to a name beside it, then renamed over it.
fn write(path: &Path, text: &str, access: Access) -> Result<(), TlsError> {
    let failed = |error| TlsError::File { action: "write", path: path.to_owned(), error };
    let beside = path.with_extension("new");
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(if access == Access::Owner { 0o600 } else { 0o644 });
    }
    #[cfg(not(unix))]
    let _ = access;
    let mut file = options.open(&beside).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    fs::rename(&beside, path).map_err(failed)
}
