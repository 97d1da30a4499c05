//! `tesela cert`: the certificate clients have to trust.

use clap::Args;
use std::error::Error;
use std::path::PathBuf;
use tesela_env::Env;
use tesela_gateway::tls::{CertificateSource, Tls};

#[derive(Args)]
pub struct CertArgs {
    /// Data folder of the server
    #[arg(long, value_name = "DIR", env = "TESELA_DATA", default_value = "tesela-data")]
    data: PathBuf,
    /// Further names or addresses, when the certificate has to be made
    #[arg(long, value_name = "NAME", value_delimiter = ',', env = "TESELA_SAN")]
    san: Vec<String>,
}

/// Prints the certificate, making it if the server has not yet done so.
pub fn run(args: CertArgs) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(&args.data)?;
    let source = CertificateSource::SelfSigned { folder: args.data, extra_names: args.san };
    let tls = Tls::new(source, Env::real().now().unix_seconds() as i64);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    print!("{}", runtime.block_on(tls.certificate_pem())?);
    Ok(())
}
