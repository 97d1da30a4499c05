//! The tesela binary: `tesela serve` (the default) and its tools.

mod cert;
mod engine;
mod serve;
mod settings;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// A partitioned document database that speaks the Azure Cosmos DB for NoSQL protocol.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: settings::ServeArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server (also without a command)
    Serve(Box<settings::ServeArgs>),
    /// Print the server's certificate (PEM), to be trusted by clients
    Cert(cert::CertArgs),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        None => serve::run(arguments.serve),
        Some(Command::Serve(args)) => serve::run(*args),
        Some(Command::Cert(args)) => cert::run(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tesela: {error}");
            ExitCode::FAILURE
        }
    }
}
