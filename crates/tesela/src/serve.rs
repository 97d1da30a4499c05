//! `tesela serve`: open the store, load the catalog, listen, drain on a signal.

use crate::engine::Engine;
use crate::settings::{DirectorySettings, Durability, ServeArgs, Settings, Throttle};
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use tesela_env::Env;
use tesela_gateway::Gateway;
use tesela_gateway::account::Account;
use tesela_gateway::authorize::directory::Directory;
use tesela_gateway::authorize::{Authorizer, KeyTexts};
use tesela_gateway::listen::{ListenOptions, serve};
use tesela_gateway::tls::{CertificateSource, Tls};
use tesela_router::catalog::{Catalog, CatalogOptions};
use tesela_router::{Background, Router, SplitOptions};
use tesela_store::{MemoryStore, Store};
use tesela_store_embedded::{EmbeddedStore, Options};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

pub fn run(args: ServeArgs) -> Result<(), Box<dyn Error>> {
    let settings = Settings::resolve(args)?;
    let filter = EnvFilter::try_from_env("TESELA_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run_server(settings))
}

async fn run_server(settings: Settings) -> Result<(), Box<dyn Error>> {
    let env = Env::real();
    let engine = open_engine(&settings)?;
    let catalog = Catalog::open(engine.clone(), env.clone(), CatalogOptions::default()).await?;
    let router = Arc::new(Router::with_splits(engine.clone(), env.clone(), catalog, split_options(&settings)));
    let tls = Arc::new(Tls::new(certificate_source(&settings), env.now().unix_seconds() as i64));
    let account = Account { consistency: settings.consistency, ..Account::default() };
    let gateway = Arc::new(Gateway::new(router.clone(), authorizer(&settings)?, account, Some(tls.clone())));
    let address = SocketAddr::new(settings.host, settings.port);
    let listener = TcpListener::bind(address).await.map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let maps = tokio::spawn(router.clone().keep_maps());
    let background = Background::start(router);
    // Before anybody is told that the server is ready: from then on a signal means an orderly end.
    let stop = stop_signal()?;
    announce(&settings, listener.local_addr()?);
    let options = ListenOptions { tls: Some(tls), ..ListenOptions::default() };
    let stopped = serve(listener, gateway, options, stop).await;
    if stopped.cut_connections > 0 {
        tracing::warn!(
            connections = stopped.cut_connections,
            "connections were cut because their requests did not finish"
        );
    }
    // A split under way is begun anew after the next start.
    maps.abort();
    background.stop().await;
    engine.flush().await?;
    Ok(())
}

fn authorizer(settings: &Settings) -> Result<Authorizer, Box<dyn Error>> {
    let authorizer = Authorizer::new(&KeyTexts {
        primary: settings.key.clone(),
        secondary: settings.secondary_key.clone(),
        primary_read_only: settings.read_only_keys.first().cloned(),
        secondary_read_only: settings.read_only_keys.get(1).cloned(),
    })?;
    let Some(DirectorySettings { jwks, issuer, audience }) = &settings.directory else { return Ok(authorizer) };
    let unusable = |reason: String| format!("cannot use the key file {}: {reason}", jwks.display());
    let text = std::fs::read_to_string(jwks).map_err(|error| unusable(error.to_string()))?;
    let directory = Directory::new(&text, issuer.clone(), audience.clone());
    Ok(authorizer.with_directory(directory.map_err(|error| unusable(error.to_string()))?))
}

fn split_options(settings: &Settings) -> SplitOptions {
    let default = SplitOptions::default();
    SplitOptions {
        partition_bytes_max: settings.partition_bytes_max.unwrap_or(default.partition_bytes_max),
        copy_bytes_per_second: settings.split_bytes_per_second,
        ..default
    }
}

fn open_engine(settings: &Settings) -> Result<Engine, Box<dyn Error>> {
    if settings.ephemeral {
        return Ok(Engine::Memory(MemoryStore::new()));
    }
    let durability = match settings.durability {
        Durability::Sync => tesela_store_embedded::Durability::Sync,
        Durability::Buffered => tesela_store_embedded::Durability::Buffered,
    };
    Ok(Engine::Embedded(EmbeddedStore::open(&settings.data, Options { durability, ..Options::default() })?))
}

fn certificate_source(settings: &Settings) -> CertificateSource {
    match &settings.cert {
        Some((certificate, key)) => CertificateSource::Files { certificate: certificate.clone(), key: key.clone() },
        None if settings.ephemeral => CertificateSource::Ephemeral { extra_names: settings.san.clone() },
        None => CertificateSource::SelfSigned { folder: settings.data.clone(), extra_names: settings.san.clone() },
    }
}

/// What a person needs to connect, and one line that tells programs that the server accepts requests.
fn announce(settings: &Settings, address: SocketAddr) {
    let key = if settings.uses_well_known_key() { settings.key.as_str() } else { "<your key>" };
    let throttle = match settings.throttle {
        Throttle::On => "on",
        Throttle::Shadow => "shadow",
        Throttle::Off => "off",
    };
    let storage = match (settings.ephemeral, settings.durability) {
        (true, _) => "memory only".to_owned(),
        (false, Durability::Sync) => format!("{} (every write synced)", settings.data.display()),
        (false, Durability::Buffered) => format!("{} (writes buffered)", settings.data.display()),
    };
    println!("endpoint           http://{address}/ and https://{address}/");
    println!("key                {key}");
    println!("connection string  AccountEndpoint=http://{address}/;AccountKey={key};");
    println!("storage            {storage}");
    println!("tesela {} ready at http://{address}/ (throttle {throttle})", env!("CARGO_PKG_VERSION"));
}

/// Resolves on SIGTERM or Ctrl-C.
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
