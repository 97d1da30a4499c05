use super::*;

fn text(plan: &QueryPlan) -> String {
    String::from_utf8(plan.to_json()).unwrap()
}

#[test]
fn an_empty_plan_has_every_property() {
    let plan = QueryPlan { kind: PlanKind::Query(QueryInfo::default()), ranges: vec![QueryRange::half_open("", "FF")] };
    let expected = concat!(
        r#"{"partitionedQueryExecutionInfoVersion":2,"queryInfo":{"distinctType":"None","top":null,"offset":null,"#,
        r#""limit":null,"orderBy":[],"orderByExpressions":[],"groupByExpressions":[],"groupByAliases":[],"#,
        r#""aggregates":[],"groupByAliasToAggregateType":{},"rewrittenQuery":"","hasSelectValue":false,"#,
        r#""dCountInfo":null,"hasNonStreamingOrderBy":false},"#,
        r#""queryRanges":[{"min":"","max":"FF","isMinInclusive":true,"isMaxInclusive":false}]}"#
    );
    assert_eq!(text(&plan), expected);
}

#[test]
fn values_are_spelled_as_clients_read_them() {
    let info = QueryInfo {
        distinct_type: DistinctType::Ordered,
        top: Some(5),
        order_by: vec![SortOrder::Ascending, SortOrder::Descending],
        aggregates: vec![AggregateKind::Average],
        group_by_alias_to_aggregate: vec![("n".into(), Some(AggregateKind::Count)), ("k".into(), None)],
        dcount: Some(None),
        ..QueryInfo::default()
    };
    let value = info.to_value();
    for (property, expected) in [
        ("distinctType", r#""Ordered""#),
        ("top", "5"),
        ("orderBy", r#"["Ascending","Descending"]"#),
        ("aggregates", r#"["Average"]"#),
        ("groupByAliasToAggregateType", r#"{"n":"Count","k":null}"#),
        ("dCountInfo", r#"{"dCountAlias":null}"#),
    ] {
        assert_eq!(json::to_string(value.get(property).unwrap()), expected, "{property}");
    }
}

#[test]
fn ranking_plans_have_their_own_shape() {
    let info = HybridSearchInfo {
        components: vec![QueryInfo::default()],
        component_weights: vec![1.5],
        take: Some(10),
        requires_global_statistics: true,
        ..HybridSearchInfo::default()
    };
    let plan = QueryPlan { kind: PlanKind::HybridSearch(info), ranges: vec![QueryRange::point("0A")] };
    let text = text(&plan);
    assert!(!text.contains("\"queryInfo\""), "{text}");
    assert!(
        text.contains(r#""componentWeights":[1.5],"skip":null,"take":10,"requiresGlobalStatistics":true"#),
        "{text}"
    );
    assert!(text.contains(r#"{"min":"0A","max":"0A","isMinInclusive":true,"isMaxInclusive":true}"#), "{text}");
}

#[test]
fn features_are_read_with_and_without_blanks() {
    let features = QueryFeatures::parse("Aggregate, Distinct,topp,, ORDERBY");
    for feature in QueryFeature::ALL {
        let expected = matches!(feature, QueryFeature::Aggregate | QueryFeature::Distinct | QueryFeature::OrderBy);
        assert_eq!(features.contains(feature), expected, "{}", feature.name());
    }
    assert_eq!(QueryFeatures::parse(""), QueryFeatures::NONE);
    let all = QueryFeature::ALL.map(QueryFeature::name).join(",");
    assert!(QueryFeature::ALL.into_iter().all(|feature| QueryFeatures::parse(&all).contains(feature)));
}
