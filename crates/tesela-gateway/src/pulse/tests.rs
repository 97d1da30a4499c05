use std::task::Waker;

use super::*;

const TIMEOUTS: Timeouts = Timeouts {
    tick: Duration::from_secs(1),
    handshake: Duration::from_secs(1),
    head: Duration::from_secs(3),
    body: Duration::from_secs(3),
    idle: Duration::from_secs(10),
    write_stall: Duration::from_secs(5),
    drain: Duration::from_secs(1),
};

/// A registry with one connection, and time moved by hand.
struct World {
    registry: Arc<Registry>,
    connection: Registered,
}

impl World {
    fn new() -> Self {
        let registry = Registry::new(&TIMEOUTS);
        let connection = registry.enter();
        Self { registry, connection }
    }

    fn asked(&self) -> Option<Request> {
        match self.connection.pulse.poll_request(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(request) => Some(request),
            Poll::Pending => None,
        }
    }

    /// Ticks until something is asked.
    fn ticks_until(&self, wanted: Request) -> Option<u32> {
        (1..=50).find(|_| {
            self.registry.tick();
            self.asked() == Some(wanted)
        })
    }
}

#[test]
fn an_idle_connection_is_asked_to_close_and_then_cut() {
    let world = World::new();
    drop(world.connection.pulse.on_request());
    assert_eq!(world.ticks_until(Request::Close), Some(11));
    assert_eq!(world.ticks_until(Request::Cut), Some(4));
}

#[test]
fn a_connection_that_never_asked_for_anything_is_cut_at_once() {
    let world = World::new();
    world.registry.ask_all(Request::Close);
    assert_eq!(world.asked(), Some(Request::Cut));
}

#[test]
fn a_slow_head_is_cut() {
    let world = World::new();
    world.connection.pulse.on_read();
    world.registry.tick();
    // Dribbling more bytes does not help.
    world.connection.pulse.on_read();
    assert_eq!(world.ticks_until(Request::Cut), Some(3));
}

#[test]
fn bytes_between_requests_of_http2_are_not_a_head() {
    let world = World::new();
    world.connection.pulse.set_multiplexed();
    drop(world.connection.pulse.on_request());
    world.connection.pulse.on_read();
    assert_eq!(world.ticks_until(Request::Close), Some(11));
}

#[test]
fn a_connection_that_waits_for_us_is_left_alone() {
    let world = World::new();
    world.connection.pulse.on_read();
    let in_flight = world.connection.pulse.on_request();
    world.connection.pulse.on_read();
    assert_eq!(world.ticks_until(Request::Close), None);
    drop(in_flight);
    assert_eq!(world.ticks_until(Request::Close), Some(11), "idle time starts when the answer is made");
}

#[test]
fn a_client_that_does_not_read_is_cut_even_in_flight() {
    let world = World::new();
    let _in_flight = world.connection.pulse.on_request();
    world.connection.pulse.on_write(false);
    for _ in 0..5 {
        world.registry.tick();
        world.connection.pulse.on_write(false);
    }
    assert_eq!(world.asked(), None);
    world.connection.pulse.on_write(true);
    world.connection.pulse.on_write(false);
    assert_eq!(world.ticks_until(Request::Cut), Some(6), "progress starts the wait anew");
}

#[test]
fn closing_is_asked_of_all_and_the_registry_tells_when_it_is_empty() {
    let world = World::new();
    let other = world.registry.enter();
    drop(world.connection.pulse.on_request());
    world.registry.ask_all(Request::Close);
    assert_eq!(world.asked(), Some(Request::Close));
    assert_eq!(world.registry.len(), 2);
    let mut empty = Box::pin(world.registry.empty());
    let mut poll = || std::future::Future::poll(empty.as_mut(), &mut Context::from_waker(Waker::noop()));
    assert_eq!(poll(), Poll::Pending);
    drop(other);
    assert_eq!(poll(), Poll::Pending);
    drop(world.connection);
    assert_eq!(poll(), Poll::Ready(()));
}
