//! Definitions in, normalised definitions or refusals out: the behaviour as data.

use super::*;
use crate::json::{self, Value};

fn parse(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// `{"id":"c","partitionKey":…}` with more properties.
fn with(members: &str) -> Value {
    let comma = if members.is_empty() { "" } else { "," };
    parse(&format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}{comma}{members}}}"#))
}

fn define(members: &str) -> ContainerDefinition {
    ContainerDefinition::from_json(&with(members)).unwrap_or_else(|error| panic!("{error}: {members}"))
}

/// What comes back for one property.
fn echo(members: &str, name: &str) -> String {
    define(members).to_json().get(name).map(json::to_string).unwrap_or_else(|| "absent".to_owned())
}

fn refusal(members: &str) -> String {
    match ContainerDefinition::from_json(&with(members)) {
        Ok(_) => panic!("accepted: {members}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_bare_definition_gets_all_defaults() {
    let wanted = concat!(
        r#"{"id":"c","indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"#,
        r#""excludedPaths":[{"path":"/\"_etag\"/?"}]},"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"#,
        r#""conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/_ts","#,
        r#""conflictResolutionProcedure":""},"geospatialConfig":{"type":"Geography"}}"#,
    );
    assert_eq!(json::to_string(&Value::Object(define("").to_json())), wanted);
}

#[test]
fn indexing_policies_come_back_normalised() {
    let default = (r#"[{"path":"/*"}]"#, r#"[{"path":"/\"_etag\"/?"}]"#);
    for (policy, (included, excluded)) in [
        ("{}", default),
        (r#"{"indexingMode":"Consistent","automatic":true}"#, default),
        // The Rust SDK sends its own default for automatic.
        (r#"{"indexingMode":"consistent","automatic":false}"#, default),
        (r#"{"includedPaths":[],"excludedPaths":[]}"#, default),
        (r#"{"includedPaths":null}"#, default),
        (r#"{"includedPaths":[{"path":"/"}]}"#, default),
        (r#"{"includedPaths":[{"path":"/*","indexes":[{"kind":"Hash","dataType":"String","precision":2}]}]}"#, default),
        (r#"{"includedPaths":[{"path":"/*"},{"path":"/*"}]}"#, default),
        (r#"{"excludedPaths":[{"path":"/_etag/?"}]}"#, (r#"[{"path":"/*"}]"#, r#"[{"path":"/_etag/?"}]"#)),
        (
            r#"{"excludedPaths":[{"path":"/\"systemMetadata\"/*"}]}"#,
            (r#"[{"path":"/*"}]"#, r#"[{"path":"/\"systemMetadata\"/*"},{"path":"/\"_etag\"/?"}]"#),
        ),
        (
            r#"{"includedPaths":[{"path":"/a/?"}],"excludedPaths":[{"path":"/*"}]}"#,
            (r#"[{"path":"/a/?"}]"#, r#"[{"path":"/*"},{"path":"/\"_etag\"/?"}]"#),
        ),
        (r#"{"excludedPaths":[{"path":"/*"}]}"#, ("[]", r#"[{"path":"/*"},{"path":"/\"_etag\"/?"}]"#)),
    ] {
        let wanted = format!(
            r#"{{"indexingMode":"consistent","automatic":true,"includedPaths":{included},"excludedPaths":{excluded}}}"#
        );
        assert_eq!(echo(&format!(r#""indexingPolicy":{policy}"#), "indexingPolicy"), wanted, "{policy}");
    }
    for policy in [
        r#"{"indexingMode":"none"}"#,
        r#"{"indexingMode":"NONE","automatic":false,"includedPaths":[{"path":"/*"}],"excludedPaths":[]}"#,
    ] {
        let wanted = r#"{"indexingMode":"none","automatic":false,"includedPaths":[],"excludedPaths":[]}"#;
        assert_eq!(echo(&format!(r#""indexingPolicy":{policy}"#), "indexingPolicy"), wanted, "{policy}");
    }
    assert!(
        echo(r#""indexingPolicy":{"indexingMode":"lazy"}"#, "indexingPolicy").contains(r#""lazy","automatic":true"#)
    );
}

/// Whatever these say, they say it again on a read, to the character.
#[test]
fn properties_come_back_as_sent() {
    for (name, value) in [
        ("defaultTtl", "-1"),
        ("defaultTtl", "10"),
        ("ttlPropertyPath", r#""/a/b""#),
        ("analyticalStorageTtl", "-1"),
        ("analyticalStorageTtl", "0"),
        ("analyticalStorageTtl", "1000"),
        ("uniqueKeyPolicy", r#"{"uniqueKeys":[{"paths":["/a","/b/c"]},{"paths":["/d"]}]}"#),
        ("uniqueKeyPolicy", r#"{"uniqueKeys":[]}"#),
        (
            "conflictResolutionPolicy",
            r#"{"mode":"Custom","conflictResolutionPath":"","conflictResolutionProcedure":"dbs/d/colls/c/sprocs/s"}"#,
        ),
        ("geospatialConfig", r#"{"type":"Geometry"}"#),
        ("changeFeedPolicy", r#"{"retentionDuration":10}"#),
        ("fullTextPolicy", r#"{"defaultLanguage":"en-US"}"#),
        ("fullTextPolicy", r#"{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/abstract"}]}"#),
        ("fullTextPolicy", r#"{"defaultLanguage":"fr-FR","fullTextPaths":[{"path":"/a","language":"en-US"}]}"#),
        ("fullTextPolicy", r#"{"fullTextPaths":[]}"#),
        ("computedProperties", r#"[{"name":"cp_x","query":"SELECT VALUE LOWER(c.x) FROM c"}]"#),
        (
            "vectorEmbeddingPolicy",
            r#"{"vectorEmbeddings":[{"path":"/v","dataType":"int8","dimensions":200,"distanceFunction":"dotproduct"}]}"#,
        ),
        (
            "clientEncryptionPolicy",
            concat!(
                r#"{"includedPaths":[{"path":"/secret","clientEncryptionKeyId":"k","encryptionType":"Randomized","#,
                r#""encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256"}],"policyFormatVersion":1}"#
            ),
        ),
        ("schemaPolicy", r#"{"some":[1.0,"thing"]}"#),
        ("dataMaskingPolicy", "null"),
        ("ours", "[1e2]"),
    ] {
        assert_eq!(echo(&format!(r#""{name}":{value}"#), name), value, "{name}");
    }
    for (name, value) in [
        ("compositeIndexes", r#"[[{"path":"/a","order":"ascending"},{"path":"/b/c","order":"descending"}]]"#),
        ("compositeIndexes", "[]"),
        (
            "spatialIndexes",
            r#"[{"path":"/loc/*","types":["Point","MultiPolygon"]},{"path":"/other","types":["Point"]}]"#,
        ),
        ("fullTextIndexes", "[]"),
        ("vectorIndexes", "[]"),
        ("unheardOf", r#"{"a":1}"#),
    ] {
        let policy = define(&format!(r#""indexingPolicy":{{"{name}":{value}}}"#)).to_json();
        let policy = policy.get("indexingPolicy").unwrap();
        assert_eq!(policy.get(name).map(json::to_string).as_deref(), Some(value), "{name}");
    }
}

#[test]
fn defaults_inside_policies_are_spelled_out() {
    for (name, sent, read) in [
        (
            "conflictResolutionPolicy",
            r#"{"mode":"lastwriterwins"}"#,
            r#"{"mode":"LastWriterWins","conflictResolutionPath":"/_ts","conflictResolutionProcedure":""}"#,
        ),
        ("geospatialConfig", "{}", r#"{"type":"Geography"}"#),
        ("changeFeedPolicy", "{}", r#"{"retentionDuration":0}"#),
        (
            "vectorEmbeddingPolicy",
            r#"{"vectorEmbeddings":[{"path":"/v"}]}"#,
            r#"{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":1536,"distanceFunction":"cosine"}]}"#,
        ),
        ("defaultTtl", "null", "absent"),
        ("uniqueKeyPolicy", "null", "absent"),
        ("_rid", r#""forged""#, "absent"),
        ("_docs", r#""docs/""#, "absent"),
    ] {
        assert_eq!(echo(&format!(r#""{name}":{sent}"#), name), read, "{name}");
    }
    let policy = echo(r#""indexingPolicy":{"spatialIndexes":[{"path":"/l/?"}]}"#, "indexingPolicy");
    assert!(policy.contains(r#"{"path":"/l/?","types":["Point","LineString","Polygon","MultiPolygon"]}"#), "{policy}");
    let policy = echo(r#""indexingPolicy":{"compositeIndexes":[[{"path":"/a"},{"path":"/b"}]]}"#, "indexingPolicy");
    assert!(policy.contains(r#"{"path":"/a","order":"ascending"}"#), "{policy}");
}

#[test]
fn stored_definitions_read_back_the_same() {
    let rich = define(
        r#""indexingPolicy":{"compositeIndexes":[[{"path":"/a"},{"path":"/b"}]],"spatialIndexes":[],
            "fullTextIndexes":[{"path":"/t"}],"vectorIndexes":[{"path":"/v","type":"diskANN","quantizationByteSize":8}]},
          "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dimensions":16}]},"defaultTtl":7,
          "fullTextPolicy":{"fullTextPaths":[{"path":"/t"}]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]},
          "mine":{"a":[1]},"changeFeedPolicy":{"retentionDuration":5,"more":1}"#,
    );
    for definition in [define(""), rich] {
        let again = ContainerDefinition::from_json(&Value::Object(definition.to_json())).unwrap();
        assert_eq!(again, definition);
    }
}

/// The words test suites of official SDKs look for.
#[test]
fn refusals_say_what_sdks_look_for() {
    let embeddings = |list: &str| format!(r#""vectorEmbeddingPolicy":{{"vectorEmbeddings":[{list}]}}"#);
    let small = r#"{"path":"/vector1","dataType":"float32","dimensions":256,"distanceFunction":"euclidean"}"#;
    let large = r#"{"path":"/vector1","dataType":"float32","dimensions":550,"distanceFunction":"euclidean"}"#;
    let indexed = |embedding: &str, index: &str| {
        format!(r#"{},"indexingPolicy":{{"vectorIndexes":[{index}]}}"#, embeddings(embedding))
    };
    let text = r#""fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/abstract"}]}"#;
    for (members, words) in [
        (
            r#""indexingPolicy":{"vectorIndexes":[{"path":"/vector1","type":"flat"}]}"#.to_owned(),
            "The Vector Indexing Policy's path::/vector1 not matching in Embedding's path.",
        ),
        (indexed(small, r#"{"path":"/vector3","type":"flat"}"#), "vector3 not matching in Embedding's path"),
        (indexed(small, r#"{"path":"/vector1","type":"notFlat"}"#), "Index Type::notFlat is invalid"),
        (
            indexed(small, r#"{"path":"/vector1","type":"quantizedFlat","quantizationByteSize":0}"#),
            "The Vector Indexing Policy parameter QuantizationByteSize value :: 0 is out of range. The allowed range is between 1 and 256.",
        ),
        (
            indexed(large, r#"{"path":"/vector1","type":"quantizedFlat","quantizationByteSize":513}"#),
            "The Vector Indexing Policy parameter QuantizationByteSize value :: 513 is out of range.",
        ),
        (
            indexed(small, r#"{"path":"/vector1","type":"diskANN","indexingSearchListSize":5}"#),
            "IndexingSearchListSize value :: 5 is out of range. The allowed range is between 25 and 500.",
        ),
        (
            indexed(small, r#"{"path":"/vector1","type":"diskANN","vectorIndexShardKey":["country"]}"#),
            "The Vector Indexing Policy has an invalid Shard Path: country.",
        ),
        (
            indexed(small, r#"{"path":"/vector1","type":"diskANN","vectorIndexShardKey":["/a","/b","/c"]}"#),
            "The number of shard paths defined in the Vector Indexing Policy: 3 exceeds the maximum: 1.",
        ),
        (
            indexed(small, r#"{"path":"/vector1","type":"diskANN","vectorIndexShardKey":"/country"}"#),
            "One of the specified inputs is invalid",
        ),
        (indexed(large, r#"{"path":"/vector1","type":"flat"}"#), "Dimensions:550 which is more than the maximum"),
        (embeddings(r#"{"path":"/v","dataType":"float33"}"#), "Vector Embedding Policy has an invalid DataType"),
        (
            embeddings(r#"{"path":"/v","dimensions":8000}"#),
            "Vector Embedding Policy has Dimensions:8000 which is more than the maximum supported value",
        ),
        (embeddings(r#"{"path":"/v","dimensions":-1}"#), "The Vector Embedding Policy has Dimensions:-1"),
        (
            embeddings(r#"{"path":"/v","distanceFunction":"handMeasured"}"#),
            "The Vector Embedding Policy has an invalid DistanceFunction:handMeasured",
        ),
        (
            r#""fullTextPolicy":{"fullTextPaths":[{"path":"abstract"}]}"#.to_owned(),
            "The Full Text Policy contains an invalid Path: abstract",
        ),
        (
            r#""fullTextPolicy":{"defaultLanguage":"spa-SPA"}"#.to_owned(),
            "The Full Text Policy contains an unsupported language spa-SPA. Supported languages are:",
        ),
        (
            r#""fullTextPolicy":{"fullTextPaths":[{"path":"/a","language":"spa-SPA"}]}"#.to_owned(),
            "The Full Text Policy contains an unsupported language spa-SPA. Supported languages are:",
        ),
        (
            format!(r#"{text},"indexingPolicy":{{"fullTextIndexes":[{{"path":"/path"}}]}}"#),
            "The path of the Full Text Index /path does not match the path specified in the Full Text Policy",
        ),
        (
            format!(r#"{text},"indexingPolicy":{{"fullTextIndexes":[{{"path":"abstract"}}]}}"#),
            "Full-text index specification at index (0) contains invalid path",
        ),
        (
            format!(r#"{text},"indexingPolicy":{{"fullTextIndexes":[{{"not_path":"abstract"}}]}}"#),
            "Missing path in full-text index specification at index (0)",
        ),
        (
            r#""computedProperties":{"name":"cp_lower","query":"SELECT VALUE LOWER(c.x) FROM c"}"#.to_owned(),
            "One of the specified inputs is invalid",
        ),
    ] {
        let message = refusal(&members);
        assert!(message.contains(words), "{members}\n  gave: {message}\n  want: {words}");
    }
}

#[test]
fn everything_else_that_is_wrong_is_refused() {
    let many = |count: usize, one: &str| vec![one; count].join(",");
    let numbered = |count: usize, prefix: &str| {
        (0..count).map(|i| format!(r#"{{"path":"/{prefix}{i}/?"}}"#)).collect::<Vec<_>>().join(",")
    };
    for (members, words) in [
        (r#""indexingPolicy":3"#.to_owned(), "indexingPolicy must be an object"),
        (r#""indexingPolicy":{"indexingMode":"eager"}"#.to_owned(), "consistent, lazy or none"),
        (r#""indexingPolicy":{"automatic":"yes"}"#.to_owned(), "indexingPolicy.automatic"),
        (r#""indexingPolicy":{"indexingMode":"none","automatic":true}"#.to_owned(), "automatic indexing must be off"),
        (r#""indexingPolicy":{"includedPaths":[{"path":"/a/?"}]}"#.to_owned(), "special mandatory indexing path"),
        (r#""indexingPolicy":{"includedPaths":[{"path":"/a"}]}"#.to_owned(), "failed near position '2'"),
        (r#""indexingPolicy":{"includedPaths":[{}]}"#.to_owned(), "includedPaths[0].path is missing"),
        (
            r#""indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/a/*"}],"excludedPaths":[{"path":"/\"a\"/*"}]}"#
                .to_owned(),
            "both included and excluded",
        ),
        (
            format!(r#""indexingPolicy":{{"excludedPaths":[{}]}}"#, numbered(1501, "p")),
            "1501 excludedPaths are more than the 1500 allowed",
        ),
        (r#""indexingPolicy":{"compositeIndexes":[[{"path":"/a"}]]}"#.to_owned(), "2 to 8 paths, found 1"),
        (
            r#""indexingPolicy":{"compositeIndexes":[[{"path":"/a"},{"path":"/a","order":"descending"}]]}"#.to_owned(),
            "occurs twice",
        ),
        (
            r#""indexingPolicy":{"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"up"}]]}"#.to_owned(),
            "ascending or descending",
        ),
        (
            r#""indexingPolicy":{"compositeIndexes":[[{"path":"/a"},{"path":"/b/*"}]]}"#.to_owned(),
            "'/b/*' of a composite index could not be accepted",
        ),
        (
            format!(
                r#""indexingPolicy":{{"compositeIndexes":[{}]}}"#,
                many(101, r#"[{"path":"/a"},{"path":"/b"}]"#)
            ),
            "101 composite indexes",
        ),
        (r#""indexingPolicy":{"spatialIndexes":[{"path":"/a/?","types":["Circle"]}]}"#.to_owned(), "Circle"),
        (
            r#""geospatialConfig":{"type":"Geometry"},"indexingPolicy":{"spatialIndexes":[{"path":"/a/?"}]}"#.to_owned(),
            "needs a bounding box",
        ),
        (
            concat!(
                r#""indexingPolicy":{"spatialIndexes":[{"path":"/a/?","#,
                r#""boundingBox":{"xmin":1,"ymin":0,"xmax":1,"ymax":2}}]}"#
            )
            .to_owned(),
            "below its maxima",
        ),
        (r#""geospatialConfig":{"type":"Flat"}"#.to_owned(), "Geography or Geometry"),
        (r#""defaultTtl":0"#.to_owned(), "defaultTtl is 0"),
        (r#""defaultTtl":-10"#.to_owned(), "defaultTtl is -10"),
        (r#""defaultTtl":2147483648"#.to_owned(), "defaultTtl is 2147483648"),
        (r#""defaultTtl":1.5"#.to_owned(), "defaultTtl is 1.5"),
        (r#""analyticalStorageTtl":-2"#.to_owned(), "analyticalStorageTtl is -2"),
        (r#""ttlPropertyPath":"a""#.to_owned(), "'a' of ttlPropertyPath"),
        (format!(r#""uniqueKeyPolicy":{{"uniqueKeys":[{}]}}"#, many(11, r#"{"paths":["/a"]}"#)), "11 unique keys"),
        (r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":[]}]}"#.to_owned(), "1 to 16 paths, found 0"),
        (r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a","/a"]}]}"#.to_owned(), "occurs twice"),
        (r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a/[]/b"]}]}"#.to_owned(), "of a unique key"),
        (r#""uniqueKeyPolicy":{"uniqueKeys":{}}"#.to_owned(), "uniqueKeyPolicy.uniqueKeys must be a list"),
        (r#""conflictResolutionPolicy":{"mode":"First"}"#.to_owned(), "LastWriterWins or Custom"),
        (r#""changeFeedPolicy":{"retentionDuration":-1}"#.to_owned(), "a number of minutes"),
        (r#""computedProperties":[{"name":"id","query":"q"}]"#.to_owned(), "may not be named 'id'"),
        (r#""computedProperties":[{"name":"a","query":"q"},{"name":"a","query":"r"}]"#.to_owned(), "occurs twice"),
        (r#""computedProperties":[{"name":"a"}]"#.to_owned(), "query is missing"),
        (
            concat!(
                r#""clientEncryptionPolicy":{"includedPaths":[{"path":"/pk","clientEncryptionKeyId":"k","#,
                r#""encryptionType":"Deterministic","encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256"}]}"#
            )
            .to_owned(),
            "version 1 cannot encrypt",
        ),
    ] {
        let message = refusal(&members);
        assert!(message.contains(words), "{members}\n  gave: {message}\n  want: {words}");
    }
    assert_eq!(ContainerDefinition::from_json(&parse(r#"{"id":"c"}"#)), Err(DefinitionError::NoPartitionKey));
    let four = parse(r#"{"id":"c","partitionKey":{"paths":["/a","/b","/c","/d"],"kind":"MultiHash"}}"#);
    assert!(ContainerDefinition::from_json(&four).unwrap_err().to_string().contains("Too many partition key paths"));
    assert!(matches!(ContainerDefinition::from_json(&parse(r#"{"id":"a/b"}"#)), Err(DefinitionError::Id(_))));
    assert!(ContainerDefinition::from_json(&parse("[]")).is_err());
    assert!(ContainerDefinition::from_json(&parse(r#"{"id":7}"#)).is_err());
}

#[test]
fn a_replace_resets_what_it_leaves_out() {
    let old = define(r#""defaultTtl":5,"computedProperties":[{"name":"a","query":"q"}],"mine":1"#);
    assert_eq!(old.replaced_by(define("")).unwrap(), define(""));
    let new = define(r#""indexingPolicy":{"indexingMode":"none"},"geospatialConfig":{"type":"Geometry"}"#);
    assert_eq!(old.replaced_by(new.clone()).unwrap(), new);
}

/// R6: key and id stay, and so does what was fixed at creation.
#[test]
fn a_replace_keeps_what_is_fixed() {
    let unique = define(r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]}]}"#);
    assert_eq!(unique.replaced_by(define("")).unwrap(), unique);
    let other = define(r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/b"]}]}"#);
    assert_eq!(unique.replaced_by(other.clone()), Err(DefinitionError::ReplacedPolicy("unique key policy")));
    assert_eq!(define("").replaced_by(other), Err(DefinitionError::ReplacedPolicy("unique key policy")));

    // Containers of version 1 stay so, whatever version the client's default is.
    let mut first = define("");
    first.partition_key.version = None;
    assert_eq!(first.replaced_by(define("")).unwrap().partition_key.version, None);
    for key in [r#"{"paths":["/other"],"kind":"Hash"}"#, r#"{"paths":["/pk"],"kind":"MultiHash"}"#] {
        let new = ContainerDefinition::from_json(&parse(&format!(r#"{{"id":"c","partitionKey":{key}}}"#))).unwrap();
        assert!(matches!(first.replaced_by(new), Err(DefinitionError::ReplacedPartitionKey { .. })), "{key}");
    }
    let renamed = ContainerDefinition { id: "d".to_owned(), ..define("") };
    assert!(matches!(define("").replaced_by(renamed), Err(DefinitionError::ReplacedId { .. })));
}

#[test]
fn a_replace_leaves_vectors_alone() {
    let vectors = |dimensions: u32, kind: &str, more: &str| {
        define(&format!(
            r#""vectorEmbeddingPolicy":{{"vectorEmbeddings":[{{"path":"/v","dimensions":{dimensions}}}{more}]}},
               "indexingPolicy":{{"vectorIndexes":[{{"path":"/v","type":"{kind}"}}]}}"#
        ))
    };
    let old = vectors(256, "flat", "");
    assert!(old.replaced_by(vectors(256, "flat", "")).is_ok());
    let refused = |new| old.replaced_by(new).unwrap_err().to_string();
    let words = "Paths in existing vector indexing policy cannot be modified in Collection Replace";
    assert!(refused(vectors(256, "quantizedFlat", "")).contains(words));
    let words = "Paths in existing embedding policy cannot be modified in Collection Replace";
    assert!(refused(vectors(384, "flat", "")).contains(words));
    assert!(refused(vectors(256, "flat", r#",{"path":"/w"}"#)).contains(words), "none may be added either");
    assert!(refused(define("")).contains(words));
}

/// A definition nobody meant: never a panic, at most a refusal.
mod fuzz {
    use super::*;
    use proptest::prelude::*;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            prop::sample::select(vec!["", "/", "/*", "/a/?", "/\"", "none", "flat", "Custom", "c", "en-US"])
                .prop_map(Value::from),
        ];
        let names = prop::sample::select(vec![
            "id",
            "partitionKey",
            "paths",
            "path",
            "indexingPolicy",
            "includedPaths",
            "excludedPaths",
            "vectorIndexes",
            "compositeIndexes",
            "spatialIndexes",
            "types",
            "uniqueKeyPolicy",
            "uniqueKeys",
            "defaultTtl",
            "computedProperties",
            "fullTextPolicy",
            "fullTextPaths",
            "vectorEmbeddingPolicy",
            "vectorEmbeddings",
        ]);
        leaf.prop_recursive(5, 40, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::vec((names.clone(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn never_panics(members in prop::collection::vec((
            prop::sample::select(vec![
                "indexingPolicy", "uniqueKeyPolicy", "defaultTtl", "computedProperties", "fullTextPolicy",
                "vectorEmbeddingPolicy", "clientEncryptionPolicy", "conflictResolutionPolicy", "geospatialConfig",
            ]), any_json()), 0..4)) {
            let mut value = with("");
            for (name, member) in members {
                value.as_object_mut().unwrap().insert(name, member);
            }
            if let Ok(definition) = ContainerDefinition::from_json(&value) {
                let again = ContainerDefinition::from_json(&Value::Object(definition.to_json()));
                prop_assert_eq!(again, Ok(definition));
            }
        }
    }
}
