// Turns a fresh JavaScript realm into the one scripts may see. Evaluates to a function that is called
// once per realm, before any script, and answers the tools the other prelude files and the host use.
//
// 1. What a script must not have is removed: making code from text (`eval`, the Function constructors),
//    shared memory, BigInt (its operators are slow beyond measure and cannot be metered), iterator
//    helpers (they can exhaust the native stack).
// 2. What would look outside is replaced: `Date` knows only the instant the host last set, in UTC;
//    `Math.random` is a generator the host seeds.
// 3. `Error` also takes (number, body), as server-side scripts expect.
// 4. `harden(roots)` freezes every object of the realm, so that one script leaves nothing for the next.
//
// Built-ins that may run long without asking the interrupt handler are metered in meter.js.
(function () {
  const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
  const { apply, construct, ownKeys } = Reflect;

  function replace(holder, name, value) {
    defineProperty(holder, name, { value, writable: true, enumerable: false, configurable: true });
  }

  function rename(fn, name, length) {
    defineProperty(fn, "name", { value: name, configurable: true });
    defineProperty(fn, "length", { value: length, configurable: true });
    return fn;
  }

  function removeGlobals() {
    const unwanted = ["eval", "BigInt", "BigInt64Array", "BigUint64Array", "SharedArrayBuffer", "Atomics",
      "queueMicrotask", "InternalError", "WeakRef", "FinalizationRegistry", "performance", "navigator",
      "DisposableStack", "AsyncDisposableStack", "SuppressedError"];
    for (const name of unwanted) delete globalThis[name];
    // Iterator helpers call each other inside the engine without looking at the stack: a long chain of
    // them would end the process.
    const iterators = Iterator.prototype;
    for (const name of Object.getOwnPropertyNames(iterators)) delete iterators[name];
    delete globalThis.Iterator;
    for (const name of ["getBigInt64", "getBigUint64", "setBigInt64", "setBigUint64"]) delete DataView.prototype[name];
  }

  // `x instanceof Function` and `f.constructor === Function` go on working; calling it does not.
  function replaceFunctionConstructors() {
    const refuse = rename(function () { throw new TypeError("code cannot be made from text"); }, "Function", 1);
    const prototypes = [function () {}, function* () {}, async function () {}, async function* () {}].map(getPrototypeOf);
    defineProperty(refuse, "prototype", { value: prototypes[0], writable: false });
    for (const prototype of prototypes) replace(prototype, "constructor", refuse);
    replace(globalThis, "Function", refuse);
  }

  function replaceRandom() {
    // sfc32: four words of state, seeded anew for every run.
    let a = 0, b = 0, c = 0, counter = 1;
    function word() {
      const sum = (((a + b) | 0) + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + sum) | 0;
      return sum >>> 0;
    }
    replace(Math, "random", { random() { return ((word() >>> 5) * 67108864 + (word() >>> 6)) / 9007199254740992; } }.random);
    return function seed(high, low) {
      a = high | 0; b = low | 0; c = 0x9e3779b9 | 0; counter = 1;
      for (let i = 0; i < 12; i++) word();
    };
  }

  function replaceDate() {
    const Native = Date;
    const proto = Native.prototype;
    const native = { offset: proto.getTimezoneOffset, utc: proto.toUTCString, time: proto.getTime };
    const { UTC: utc, parse: nativeParse } = Native;
    let now = 0;

    // A text without a zone is UTC here; the engine would take the zone of the machine.
    function parse(value) {
      const text = `${value}`;
      const time = nativeParse(text);
      const zoned = /(?:Z|GMT|UTC|[+-]\d\d:?\d\d)\s*(?:\([^)]*\))?\s*$/i;
      if (time !== time || zoned.test(text) || /^\s*[+-]?\d{4,6}(?:-\d\d(?:-\d\d)?)?\s*$/.test(text)) return time;
      return time - apply(native.offset, new Native(time), []) * 60000;
    }

    function instant(args) {
      if (args.length === 0) return now;
      if (args.length > 1) return apply(utc, Native, args);
      const value = args[0];
      if (value instanceof Native) return apply(native.time, value, []);
      const primitive = typeof value === "object" && value !== null ? construct(Native, [value]).getTime() : value;
      return typeof primitive === "string" ? parse(primitive) : +primitive;
    }

    const Replacement = rename(function (...args) {
      if (new.target === undefined) return new Native(now).toString();
      return construct(Native, [instant(args)], new.target);
    }, "Date", 7);
    defineProperty(Replacement, "prototype", { value: proto, writable: false });
    replace(Replacement, "now", { now() { return now; } }.now);
    replace(Replacement, "UTC", utc);
    replace(Replacement, "parse", { parse(text) { return parse(text); } }.parse);
    replace(proto, "constructor", Replacement);
    replace(globalThis, "Date", Replacement);

    for (const field of ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"]) {
      replace(proto, `get${field}`, proto[`getUTC${field}`]);
      if (field !== "Day") replace(proto, `set${field}`, proto[`setUTC${field}`]);
    }
    const two = (n) => (n < 10 ? `0${n}` : `${n}`);
    const clock12 = (date) => {
      const hours = date.getUTCHours();
      return `${hours % 12 || 12}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} ${hours < 12 ? "AM" : "PM"}`;
    };
    const valid = (date, print) => (apply(native.time, date, []) === apply(native.time, date, []) ? print() : "Invalid Date");
    const day = (date) => { // "Thu, 01 Jan 1970 …" becomes "Thu Jan 01 1970"
      const [weekday, number, month, year] = apply(native.utc, date, []).replace(",", "").split(" ");
      return `${weekday} ${month} ${number} ${year}`;
    };
    const time = (date) => `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} GMT+0000 (Coordinated Universal Time)`;
    const slashes = (date) => `${date.getUTCMonth() + 1}/${date.getUTCDate()}/${date.getUTCFullYear()}`;
    const methods = {
      getTimezoneOffset() { return apply(native.time, this, []) * 0; },
      getYear() { return this.getUTCFullYear() - 1900; },
      setYear(year) { return this.setUTCFullYear(year >= 0 && year <= 99 ? 1900 + Math.trunc(year) : year); },
      toString() { return valid(this, () => `${day(this)} ${time(this)}`); },
      toDateString() { return valid(this, () => day(this)); },
      toTimeString() { return valid(this, () => time(this)); },
      toLocaleString() { return valid(this, () => `${slashes(this)}, ${clock12(this)}`); },
      toLocaleDateString() { return valid(this, () => slashes(this)); },
      toLocaleTimeString() { return valid(this, () => clock12(this)); },
    };
    for (const name of ownKeys(methods)) replace(proto, name, methods[name]);
    return function setNow(milliseconds) { now = milliseconds; };
  }

  // `new Error(404, "text")` carries the number that becomes the sub-status of the answer.
  function replaceError() {
    const Native = Error;
    const proto = Native.prototype;
    const Replacement = rename(function (first, second) {
      const numbered = typeof first === "number" && arguments.length > 1;
      const args = numbered ? [second] : arguments;
      const error = construct(Native, args, new.target === undefined ? Replacement : new.target);
      if (numbered) {
        replace(error, "number", first);
        replace(error, "body", second);
      }
      return error;
    }, "Error", 1);
    defineProperty(Replacement, "prototype", { value: proto, writable: false });
    replace(proto, "constructor", Replacement);
    replace(Replacement, "captureStackTrace", Native.captureStackTrace);
    replace(Replacement, "isError", Native.isError);
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      const value = globalThis[name];
      if (typeof value === "function" && getPrototypeOf(value) === Native) setPrototypeOf(value, Replacement);
    }
    replace(globalThis, "Error", Replacement);
  }

  // An inherited read-only property cannot be assigned over in strict mode, so freezing
  // `Error.prototype.name` would break `this.name = "Mine"`. As an accessor it can be: the setter puts
  // an own property on the receiver and never touches the prototype.
  function tolerateOverride(prototype, names) {
    for (const name of names) {
      const descriptor = getOwnPropertyDescriptor(prototype, name);
      if (descriptor === undefined || !descriptor.configurable || !("value" in descriptor)) continue;
      const { value } = descriptor;
      defineProperty(prototype, name, {
        get() { return value; },
        set(own) {
          if (this === prototype) throw new TypeError(`${String(name)} of a built-in is read-only`);
          defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
        },
        enumerable: descriptor.enumerable,
        configurable: true,
      });
    }
  }

  function tolerateOverrides() {
    tolerateOverride(Object.prototype, ownKeys(Object.prototype));
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      const value = globalThis[name];
      const prototype = typeof value === "function" ? value.prototype : undefined;
      if (prototype === undefined || prototype === null || prototype === Object.prototype) continue;
      tolerateOverride(prototype, prototype instanceof Error || prototype === Error.prototype
        ? ownKeys(prototype)
        : ["constructor", "toString", "valueOf", "toLocaleString", "toJSON"]);
    }
  }

  // Objects no global name leads to.
  function hiddenIntrinsics() {
    return [
      function () {}, () => {}, function* () {}, async function () {}, async function* () {},
      (function* () {})(), (async function* () {})(), [].values(), new Map().entries(), new Set().values(), ""[Symbol.iterator](),
      /a/[Symbol.matchAll](""),
      (function () { return arguments; })(), class {}, Promise.resolve(), new Int8Array(0),
    ];
  }

  function harden(roots) {
    tolerateOverrides();
    const pending = [globalThis, ...roots];
    for (const value of hiddenIntrinsics()) pending.push(getPrototypeOf(Object(value)));
    // The arguments object of strict code leads to %ThrowTypeError%.
    pending.push(getOwnPropertyDescriptor((function () { return arguments; })(), "callee").get);
    // Thousands of objects: indexes rather than iterators, which are metered.
    const seen = new Set();
    const visit = (value) => {
      if ((typeof value === "object" && value !== null) || typeof value === "function") pending.push(value);
    };
    while (pending.length > 0) {
      const object = pending.pop();
      if (seen.has(object)) continue;
      seen.add(object);
      visit(getPrototypeOf(object));
      const keys = ownKeys(object);
      for (let i = 0; i < keys.length; i++) {
        const descriptor = getOwnPropertyDescriptor(object, keys[i]);
        if ("value" in descriptor) visit(descriptor.value);
        else {
          visit(descriptor.get);
          visit(descriptor.set);
        }
      }
      freeze(object);
    }
    return seen.size;
  }

  removeGlobals();
  replaceFunctionConstructors();
  const seed = replaceRandom();
  const setNow = replaceDate();
  replaceError();
  return { replace, rename, seed, setNow, harden };
})
