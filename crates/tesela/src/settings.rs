//! What a user can set, and where it comes from: a flag, else its `TESELA_*` variable, else the configuration file, else
//! the default.

use clap::{Args, ValueEnum};
use serde::Deserialize;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use tesela_gateway::authorize::EMULATOR_KEY;
use tesela_gateway::handlers::session::Consistency;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// A write is on disk (fsync) before it is acknowledged.
    Sync,
    /// A write is acknowledged before it is on disk; a crash may lose the last moments.
    Buffered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Throttle {
    On,
    Shadow,
    Off,
}

/// The flags of `tesela serve`. The configuration file (TOML) has the same names.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServeArgs {
    /// Address to listen on [default: 127.0.0.1]
    #[arg(long, env = "TESELA_HOST")]
    pub host: Option<IpAddr>,
    /// Port for HTTP and HTTPS alike; 0 takes a free one [default: 8081]
    #[arg(long, env = "TESELA_PORT")]
    pub port: Option<u16>,
    /// Data folder [default: ./tesela-data]
    #[arg(long, value_name = "DIR", env = "TESELA_DATA")]
    pub data: Option<PathBuf>,
    /// Keep everything in memory; nothing survives a restart
    #[arg(long, env = "TESELA_EPHEMERAL", num_args = 0..=1, default_missing_value = "true")]
    pub ephemeral: Option<bool>,
    /// Account key, base64 [default: the well-known emulator key, on loopback only]
    #[arg(long, env = "TESELA_KEY", hide_env_values = true)]
    pub key: Option<String>,
    /// A second account key that is accepted too
    #[arg(long, env = "TESELA_SECONDARY_KEY", hide_env_values = true)]
    pub secondary_key: Option<String>,
    /// A key that may only read
    #[arg(long, env = "TESELA_READ_ONLY_KEY", hide_env_values = true)]
    pub read_only_key: Option<String>,
    /// A second key that may only read
    #[arg(long, env = "TESELA_SECONDARY_READ_ONLY_KEY", hide_env_values = true)]
    pub secondary_read_only_key: Option<String>,
    /// Accept the well-known key on an address that others can reach
    #[arg(long, env = "TESELA_ALLOW_DEFAULT_KEY", num_args = 0..=1, default_missing_value = "true")]
    pub allow_default_key: Option<bool>,
    /// When a write counts as done [default: sync]
    #[arg(long, value_enum, env = "TESELA_DURABILITY")]
    pub durability: Option<Durability>,
    /// Whether requests over the provisioned throughput are refused [default: shadow with the well-known key or --ephemeral, else on]
    #[arg(long, value_enum, env = "TESELA_THROTTLE")]
    pub throttle: Option<Throttle>,
    /// Consistency level of the account: Strong, BoundedStaleness, Session, ConsistentPrefix or Eventual [default: Session]
    #[arg(long, value_name = "LEVEL", env = "TESELA_CONSISTENCY")]
    pub consistency: Option<String>,
    /// Public keys (JWKS) of an issuer whose signed tokens are accepted
    #[arg(long, value_name = "FILE", env = "TESELA_AAD_JWKS")]
    pub aad_jwks: Option<PathBuf>,
    /// Name of that issuer: the claim `iss` of its tokens
    #[arg(long, value_name = "NAME", env = "TESELA_AAD_ISSUER")]
    pub aad_issuer: Option<String>,
    /// Audience that stands for this server: the claim `aud` of its tokens
    #[arg(long, value_name = "NAME", env = "TESELA_AAD_AUDIENCE")]
    pub aad_audience: Option<String>,
    /// Bytes of items a physical partition may hold before it is split [default: 50 GB]
    #[arg(long, value_name = "BYTES", env = "TESELA_PARTITION_BYTES_MAX")]
    pub partition_bytes_max: Option<u64>,
    /// How many bytes a second a split may copy [default: as fast as it goes]
    #[arg(long, value_name = "BYTES", env = "TESELA_SPLIT_BYTES_PER_SECOND")]
    pub split_bytes_per_second: Option<u64>,
    /// Certificate chain (PEM) to use instead of a self-signed one
    #[arg(long, value_name = "FILE", requires = "cert_key", env = "TESELA_CERT")]
    pub cert: Option<PathBuf>,
    /// Private key (PEM) of --cert
    #[arg(long, value_name = "FILE", requires = "cert", env = "TESELA_CERT_KEY")]
    pub cert_key: Option<PathBuf>,
    /// Further names or addresses for the self-signed certificate
    #[arg(long, value_name = "NAME", value_delimiter = ',', env = "TESELA_SAN")]
    #[serde(default)]
    pub san: Vec<String>,
    /// File with the same settings, in TOML
    #[arg(long, value_name = "FILE", env = "TESELA_CONFIG")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
}

/// The settings in force.
#[derive(Clone, Debug)]
pub struct Settings {
    pub host: IpAddr,
    pub port: u16,
    pub data: PathBuf,
    pub ephemeral: bool,
    pub key: String,
    pub secondary_key: Option<String>,
    pub read_only_keys: Vec<String>,
    pub durability: Durability,
    pub throttle: Throttle,
    pub consistency: Consistency,
    pub directory: Option<DirectorySettings>,
    /// Where `None`, the default of the service.
    pub partition_bytes_max: Option<u64>,
    pub split_bytes_per_second: Option<u64>,
    pub cert: Option<(PathBuf, PathBuf)>,
    pub san: Vec<String>,
}

/// Whose directory tokens are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectorySettings {
    pub jwks: PathBuf,
    pub issuer: String,
    pub audience: String,
}

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("'{name}' is none of the consistency levels Strong, BoundedStaleness, Session, ConsistentPrefix, Eventual")]
    UnknownConsistency { name: String },
    #[error("directory tokens need all three of --aad-jwks, --aad-issuer and --aad-audience")]
    DirectoryIncomplete,
    #[error("cannot read the configuration file {path}: {reason}")]
    Unreadable { path: PathBuf, reason: String },
    #[error(
        "refusing to listen on {host} with the well-known key: anyone who reaches this address could read and write everything.\n\
         Set a key of your own (--key, base64), or say --allow-default-key if that is what you want"
    )]
    DefaultKeyExposed { host: IpAddr },
}

impl Settings {
    pub fn resolve(args: ServeArgs) -> Result<Self, SettingsError> {
        let file = match &args.config {
            Some(path) => read_file(path)?,
            None => ServeArgs::default(),
        };
        let host = args.host.or(file.host).unwrap_or(IpAddr::from([127, 0, 0, 1]));
        let key = args.key.or(file.key).unwrap_or_else(|| EMULATOR_KEY.to_owned());
        let well_known = key == EMULATOR_KEY;
        let allowed = args.allow_default_key.or(file.allow_default_key).unwrap_or(false);
        if well_known && !host.is_loopback() && !allowed {
            return Err(SettingsError::DefaultKeyExposed { host });
        }
        let ephemeral = args.ephemeral.or(file.ephemeral).unwrap_or(false);
        let quiet = if well_known || ephemeral { Throttle::Shadow } else { Throttle::On };
        let read_only =
            [args.read_only_key.or(file.read_only_key), args.secondary_read_only_key.or(file.secondary_read_only_key)];
        Ok(Self {
            host,
            port: args.port.or(file.port).unwrap_or(8081),
            data: args.data.or(file.data).unwrap_or_else(|| PathBuf::from("tesela-data")),
            ephemeral,
            key,
            secondary_key: args.secondary_key.or(file.secondary_key),
            read_only_keys: read_only.into_iter().flatten().collect(),
            durability: args.durability.or(file.durability).unwrap_or(Durability::Sync),
            throttle: args.throttle.or(file.throttle).unwrap_or(quiet),
            consistency: consistency(args.consistency.or(file.consistency))?,
            directory: directory(
                args.aad_jwks.or(file.aad_jwks),
                args.aad_issuer.or(file.aad_issuer),
                args.aad_audience.or(file.aad_audience),
            )?,
            partition_bytes_max: args.partition_bytes_max.or(file.partition_bytes_max),
            split_bytes_per_second: args.split_bytes_per_second.or(file.split_bytes_per_second),
            cert: args.cert.or(file.cert).zip(args.cert_key.or(file.cert_key)),
            san: if args.san.is_empty() { file.san } else { args.san },
        })
    }

    pub fn uses_well_known_key(&self) -> bool {
        self.key == EMULATOR_KEY
    }
}

fn consistency(name: Option<String>) -> Result<Consistency, SettingsError> {
    match name {
        None => Ok(Consistency::Session),
        Some(name) => Consistency::from_name(&name).ok_or(SettingsError::UnknownConsistency { name }),
    }
}

fn directory(
    jwks: Option<PathBuf>,
    issuer: Option<String>,
    audience: Option<String>,
) -> Result<Option<DirectorySettings>, SettingsError> {
    match (jwks, issuer, audience) {
        (None, None, None) => Ok(None),
        (Some(jwks), Some(issuer), Some(audience)) => Ok(Some(DirectorySettings { jwks, issuer, audience })),
        _ => Err(SettingsError::DirectoryIncomplete),
    }
}

fn read_file(path: &Path) -> Result<ServeArgs, SettingsError> {
    let unreadable = |reason: String| SettingsError::Unreadable { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    toml::from_str(&text).map_err(|error| unreadable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_emulators() {
        let settings = Settings::resolve(ServeArgs::default()).unwrap();
        assert_eq!((settings.host.to_string().as_str(), settings.port), ("127.0.0.1", 8081));
        assert!(settings.uses_well_known_key());
        assert_eq!((settings.durability, settings.throttle), (Durability::Sync, Throttle::Shadow));
    }

    #[test]
    fn consistency_is_one_of_the_five() {
        let resolve = |name: &str| {
            let args = ServeArgs { consistency: Some(name.to_owned()), ..Default::default() };
            Settings::resolve(args).map(|settings| settings.consistency)
        };
        assert_eq!(Settings::resolve(ServeArgs::default()).unwrap().consistency, Consistency::Session);
        assert_eq!(resolve("boundedstaleness").unwrap(), Consistency::BoundedStaleness);
        assert!(matches!(resolve("Strongest"), Err(SettingsError::UnknownConsistency { .. })));
    }

    #[test]
    fn an_issuer_is_named_whole_or_not_at_all() {
        let part = ServeArgs { aad_issuer: Some("https://issuer".into()), ..Default::default() };
        assert!(matches!(Settings::resolve(part.clone()), Err(SettingsError::DirectoryIncomplete)));
        let whole = ServeArgs { aad_jwks: Some("keys.json".into()), aad_audience: Some("tesela".into()), ..part };
        let directory = Settings::resolve(whole).unwrap().directory.unwrap();
        assert_eq!((directory.issuer.as_str(), directory.audience.as_str()), ("https://issuer", "tesela"));
        assert_eq!(Settings::resolve(ServeArgs::default()).unwrap().directory, None);
    }

    #[test]
    fn the_well_known_key_stays_on_loopback() {
        let exposed = ServeArgs { host: Some(IpAddr::from([0, 0, 0, 0])), ..Default::default() };
        assert!(matches!(Settings::resolve(exposed.clone()), Err(SettingsError::DefaultKeyExposed { .. })));
        assert!(Settings::resolve(ServeArgs { allow_default_key: Some(true), ..exposed.clone() }).is_ok());
        let own = Settings::resolve(ServeArgs { key: Some("b3du".into()), ..exposed }).unwrap();
        assert_eq!(own.throttle, Throttle::On);
    }

    #[test]
    fn flags_beat_the_file_and_the_file_beats_defaults() {
        let folder = std::env::temp_dir().join(format!("tesela-settings-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("tesela.toml");
        std::fs::write(&path, "port = 9000\ndurability = \"buffered\"\nsan = [\"db\"]\n").unwrap();
        let args = ServeArgs { config: Some(path.clone()), durability: Some(Durability::Sync), ..Default::default() };
        let settings = Settings::resolve(args).unwrap();
        assert_eq!(
            (settings.port, settings.durability, settings.san.as_slice()),
            (9000, Durability::Sync, &["db".to_owned()][..])
        );
        std::fs::write(&path, "prot = 9000\n").unwrap();
        let args = ServeArgs { config: Some(path), ..Default::default() };
        assert!(Settings::resolve(args).unwrap_err().to_string().contains("prot"), "an unknown name is refused");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
