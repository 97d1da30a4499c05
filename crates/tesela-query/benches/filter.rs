//! How many stored documents of about 1 KB one core filters in a second. Run with `cargo bench -p tesela-query`.
//!
//! The goal is 300,000 a second for a whole unindexed scan, storage included, so a simple predicate alone must be far
//! above it.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::time::Instant;
use tesela_model::document::Document;
use tesela_model::json::Value;
use tesela_query::{CompileContext, CompiledQuery, Execution, ExecutionOptions, Flow};

const DOCUMENTS: usize = 20_000;
const ROUNDS: usize = 20;

fn document(index: usize) -> Document {
    let filler: String = (0..12)
        .map(|field| format!(r#""field{field}":"some text that fills the document up to a kilobyte {index}","#))
        .collect();
    let text = format!(
        r#"{{"id":"item-{index}","pk":"p{}",{filler}"a":{{"x":1,"b":{}}},"price":{}.5,"tags":["red","t{}","blue"],"name":"item number {index}","_rid":"abc","_ts":1700000000}}"#,
        index % 100,
        index % 1000,
        index % 500,
        index % 50,
    );
    Document::encode(text.as_bytes()).expect("valid JSON")
}

fn main() {
    let documents: Vec<Document> = (0..DOCUMENTS).map(document).collect();
    let bytes: usize = documents.iter().map(|document| document.text().len()).sum();
    println!("{} documents of {} bytes on average", DOCUMENTS, bytes / DOCUMENTS);
    for text in [
        "SELECT * FROM c WHERE c.a.b = 5",
        "SELECT * FROM c WHERE c.price > 100 AND c.price < 102",
        "SELECT c.id FROM c WHERE c.pk = @pk AND STARTSWITH(c.name, 'item number 1')",
        "SELECT * FROM c WHERE ARRAY_CONTAINS(c.tags, 't7')",
        "SELECT * FROM c WHERE c.name LIKE '%er 77%'",
        "SELECT VALUE COUNT(1) FROM c",
        "SELECT c.pk, COUNT(1) AS n, AVG(c.price) AS p FROM c GROUP BY c.pk",
        "SELECT TOP 10 c.id, c.price FROM c ORDER BY c.price DESC",
        "SELECT VALUE t FROM c JOIN t IN c.tags WHERE t = 't7'",
        "SELECT * FROM c",
    ] {
        let query = tesela_sql::parse(text).expect("the query parses");
        let parameters = [("@pk".to_owned(), Value::from("p17"))];
        let compiled = CompiledQuery::compile(&query, &parameters, &CompileContext::default()).expect("it binds");
        let start = Instant::now();
        let mut rows = 0;
        for _ in 0..ROUNDS {
            let mut execution = Execution::new(&compiled, ExecutionOptions::default());
            for (rid, document) in documents.iter().enumerate() {
                if execution.push(document.root(), rid as u64).expect("it runs") == Flow::Enough {
                    break;
                }
            }
            rows += execution.finish().expect("it runs").len();
        }
        let each = start.elapsed().as_nanos() as f64 / (DOCUMENTS * ROUNDS) as f64;
        println!("{:>9.0} documents/s  {each:>7.0} ns  {:>7} rows  {text}", 1e9 / each, rows / ROUNDS);
    }
}
