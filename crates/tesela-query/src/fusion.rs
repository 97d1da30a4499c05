//! Reciprocal rank fusion: one order out of several.
//!
//! Each component ranks all rows by its score, best first, ranks from 1; rows with equal scores share a rank and the
//! next score has the next rank. A row without a score ranks behind all others. The fused score of a row is
//! `Σ weight / (60 + rank)`, and rows come by falling fused score.
//!
//! ```text
//! scores of a: 3 1 2    ranks 1 3 2
//! scores of b: 9 9 8    ranks 1 1 2       fused: 2/61, 1/63 + 1/61, 2/62
//! ```

use std::cmp::Ordering;
use tesela_sql::ast::Direction;

/// What keeps the first ranks from outweighing everything (the constant of the clients' own fusion).
const RANK_OFFSET: f64 = 60.0;

/// How components are ranked and weighted.
pub struct Fusion {
    components: Vec<(Direction, f64)>,
}

/// A row's place in the fused order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// Its place among the rows as given.
    pub index: usize,
    pub score: f64,
}

impl Fusion {
    /// For each component the direction that is best first, and its weight.
    pub fn new(components: impl IntoIterator<Item = (Direction, f64)>) -> Self {
        Self { components: components.into_iter().collect() }
    }

    /// Puts rows in their fused order; ties stay as given.
    pub fn rank<'s>(&self, rows: impl IntoIterator<Item = &'s [Option<f64>]>) -> Vec<Ranked> {
        let rows: Vec<&[Option<f64>]> = rows.into_iter().collect();
        let mut ranked: Vec<Ranked> = (0..rows.len()).map(|index| Ranked { index, score: 0.0 }).collect();
        for (component, (direction, weight)) in self.components.iter().enumerate() {
            let score = |index: usize| rows[index].get(component).copied().flatten();
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by(|a, b| best_first(*direction, score(*a), score(*b)));
            let mut rank = 0;
            for (place, index) in order.iter().enumerate() {
                let tied = place > 0 && best_first(*direction, score(order[place - 1]), score(*index)).is_eq();
                rank += usize::from(!tied);
                ranked[*index].score += weight / (RANK_OFFSET + rank as f64);
            }
        }
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        ranked
    }
}

fn best_first(direction: Direction, a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if direction == Direction::Ascending => a.total_cmp(&b),
        (Some(a), Some(b)) => b.total_cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(components: &[(Direction, f64)], rows: &[&[Option<f64>]]) -> Vec<usize> {
        let fusion = Fusion::new(components.iter().copied());
        fusion.rank(rows.iter().copied()).into_iter().map(|ranked| ranked.index).collect()
    }

    const DOWN: Direction = Direction::Descending;
    const UP: Direction = Direction::Ascending;

    #[test]
    fn one_component_is_its_own_order() {
        assert_eq!(order(&[(DOWN, 1.0)], &[&[Some(1.0)], &[Some(3.0)], &[None], &[Some(2.0)]]), [1, 3, 0, 2]);
        assert_eq!(order(&[(UP, 1.0)], &[&[Some(1.0)], &[Some(3.0)], &[None], &[Some(2.0)]]), [0, 3, 1, 2]);
    }

    #[test]
    fn ties_share_a_rank() {
        let fusion = Fusion::new([(DOWN, 1.0)]);
        let ranked = fusion.rank([[Some(5.0)].as_slice(), &[Some(5.0)], &[Some(4.0)]]);
        assert_eq!(ranked[0].score, ranked[1].score);
        assert_eq!(ranked[2].score, 1.0 / 62.0);
    }

    #[test]
    fn weights_tip_the_balance() {
        let rows: [&[Option<f64>]; 2] = [&[Some(2.0), Some(1.0)], &[Some(1.0), Some(2.0)]];
        assert_eq!(order(&[(DOWN, 1.0), (DOWN, 2.0)], &rows), [1, 0]);
        assert_eq!(order(&[(DOWN, 2.0), (DOWN, 1.0)], &rows), [0, 1]);
        assert_eq!(order(&[(DOWN, -2.0), (DOWN, -1.0)], &rows), [1, 0]);
    }
}
