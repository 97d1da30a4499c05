// The engine asks its interrupt handler once in 10,000 steps, where a step is a call or a jump back. A
// built-in that walks a long string or array is one step however long it takes, and some would walk a
// claimed length of 2^53 for ever. So every such built-in is wrapped: it first "burns" steps in
// proportion to its work, and refuses lengths no honest script has.
//
// Scripts cannot get behind a wrapper: the originals are reachable from nowhere else, save the iterator
// of arrays, which every `arguments` object carries and whose walk is made of steps. And since a script
// with a realm of its own may replace any built-in, nothing here looks one up when it is called: what
// the wrappers stand on is taken at the start.
(function ({ replace, rename }) {
  const { apply, construct, ownKeys } = Reflect;
  const { isArray } = Array;
  const Range = RangeError;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { floor, max, min, trunc } = Math;
  const { isView } = ArrayBuffer;
  const { add: remember, has: remembers } = WeakSet.prototype;

  // Units of work (characters, elements) that cost as much as one step; about 10 microseconds each.
  const UNITS_PER_STEP = 1024;
  // Enough steps to have the interrupt handler asked at once.
  const STEPS_MAX = 10000;
  // Longest array a built-in may walk. A dense one would be larger than the memory limit.
  const LENGTH_MAX = 10000000;
  // Characters searched times characters sought, the worst a plain text search can cost: about a second.
  const SEARCH_MAX = 200000000;
  // Length of a pattern; compiling a character class takes time quadratic in it.
  const PATTERN_MAX = 10000;

  // Elements sorted without a comparison function before we give one.
  const NATIVE_SORT_MAX = 100;
  // Unicode normalization sorts runs of combining marks by insertion: quadratic.
  const NORMALIZE_MAX = 65536;

  function burn(units) {
    for (let steps = min(units / UNITS_PER_STEP, STEPS_MAX); steps > 0; steps--);
  }

  function burnAll() {
    burn(STEPS_MAX * UNITS_PER_STEP);
  }

  // Wraps `holder[name]`: `prepare(receiver, args)` may change the arguments and answers the receiver to
  // use. A failure burns all: "out of memory" after a second of work must not be repeatable cheaply.
  function meter(holder, name, prepare, measure) {
    const native = holder[name];
    if (typeof native !== "function") return;
    const wrapper = {
      method(...args) {
        const receiver = prepare(this, args);
        let result;
        try {
          result = apply(native, receiver, args);
        } catch (error) {
          burnAll();
          throw error;
        }
        if (measure !== undefined) burn(measure(result));
        return result;
      },
    }.method;
    replace(holder, name, rename(wrapper, native.name, native.length));
  }

  function walk(length) {
    if (length > LENGTH_MAX) throw new RangeError("the array is too long");
    burn(length);
  }

  // Proxies are remembered because their `length` may change between two looks at it.
  const proxies = new WeakSet();
  const isProxy = (value) => apply(remembers, proxies, [value]);
  function trackProxies() {
    const Native = Proxy;
    const { revocable } = Native;
    const Tracked = rename(function (target, handler) {
      if (new.target === undefined) throw new TypeError("Proxy must be called with new");
      const proxy = new Native(target, handler);
      apply(remember, proxies, [proxy]);
      return proxy;
    }, "Proxy", 2);
    replace(Tracked, "revocable", {
      revocable(target, handler) {
        const pair = apply(revocable, Native, [target, handler]);
        apply(remember, proxies, [pair.proxy]);
        return pair;
      },
    }.revocable);
    replace(globalThis, "Proxy", Tracked);
  }

  // The length a built-in will read from `value`, or undefined if it may not be what it looks like.
  function steadyLength(value) {
    if (typeof value === "string") return value.length;
    if (typeof value !== "object" && typeof value !== "function") return 0;
    if (value === null) return 0;
    if (isProxy(value)) return undefined;
    if (isArray(value)) return value.length;
    const own = getOwnPropertyDescriptor(value, "length");
    return own !== undefined && typeof own.value === "number" ? own.value : undefined;
  }

  // Reads element by element, in script steps.
  function copied(value) {
    const { length } = value;
    const copy = [];
    for (let i = 0; i < length; i++) if (i in value) copy[i] = value[i];
    if (copy.length < length) copy.length = length;
    return copy;
  }

  function steady(value) {
    const length = steadyLength(value);
    if (length === undefined) return steady(copied(value));
    walk(length);
    return value;
  }

  function steadyInPlace(value) {
    const length = steadyLength(value);
    if (length === undefined) throw new TypeError("this object cannot be changed as an array");
    walk(length);
    return value;
  }

  function meterArrays() {
    const proto = Array.prototype;
    for (const name of ["join", "toLocaleString", "slice", "toReversed", "toSpliced", "with"]) meter(proto, name, steady);
    for (const name of ["reverse", "shift", "unshift", "splice", "copyWithin", "fill"]) meter(proto, name, steadyInPlace);
    meter(proto, "sort", (receiver, args) => ordered(steadyInPlace(receiver), args));
    meter(proto, "toSorted", (receiver, args) => ordered(steady(receiver), args));
    for (const name of ["values", "keys", "entries"]) meter(proto, name, steady);
    replace(proto, Symbol.iterator, proto.values);
    meter(proto, "concat", (receiver, args) => {
      for (let i = 0; i < args.length; i++) {
        const value = args[i];
        if (typeof value !== "object" || value === null) continue;
        const spread = value[Symbol.isConcatSpreadable];
        // Decided here once; the built-in is then given something that cannot decide otherwise.
        if (spread === undefined ? isArray(value) : spread) args[i] = steady(isProxy(value) || !isArray(value) ? copied(value) : value);
        else args[i] = [value];
      }
      return steady(receiver);
    });
    replace(proto, "flat", { flat(depth = 1) { return flatten([], this, +depth); } }.flat);
    const { map } = proto;
    replace(proto, "flatMap", { flatMap(fn, self) { return flatten([], apply(map, this, [fn, self]), 1); } }.flatMap);
  }

  // The default order compares texts inside the engine, and a comparison of long ones is slow; beyond
  // a few elements it is made in script steps.
  function ordered(receiver, args) {
    if (args[0] === undefined && receiver.length > NATIVE_SORT_MAX) {
      args[0] = (x, y) => {
        const a = `${x}`;
        const b = `${y}`;
        return a < b ? -1 : a > b ? 1 : 0;
      };
    }
    return receiver;
  }

  // In script steps: a short nest of shared empty arrays has more leaves than there is time.
  function flatten(into, value, depth) {
    const { length } = value;
    for (let i = 0; i < length; i++) {
      if (!(i in value)) continue;
      const element = value[i];
      if (depth >= 1 && isArray(element)) flatten(into, element, depth - 1);
      else into[into.length] = element;
    }
    return into;
  }

  function meterTypedArrays() {
    const proto = getPrototypeOf(Int8Array.prototype);
    const lengthOf = getOwnPropertyDescriptor(proto, "length").get;
    const names = ["sort", "toSorted", "fill", "set", "slice", "indexOf", "lastIndexOf", "includes", "join", "reverse", "toReversed", "copyWithin", "with"];
    for (const name of names) {
      meter(proto, name, (receiver, args) => {
        burn(apply(lengthOf, receiver, []));
        if (name === "set" && !isView(args[0])) args[0] = steady(args[0]);
        return receiver;
      });
    }
  }

  function meterStrings() {
    const proto = String.prototype;
    const text = (value) => (typeof value === "string" || value === undefined || value === null ? value : `${value}`);
    const whole = (receiver) => {
      const value = text(receiver);
      if (typeof value === "string") burn(value.length);
      return value;
    };
    const search = (receiver, args) => {
      const hay = text(receiver);
      args[0] = `${args[0]}`;
      if (typeof hay === "string") {
        if (hay.length * args[0].length > SEARCH_MAX) throw new RangeError("the texts are too long to search");
        burn(hay.length + hay.length * args[0].length / 64);
      }
      return hay;
    };
    meter(proto, "lastIndexOf", search);
    meterIndexOf(proto, search);
    meterPattern(proto, "split", Symbol.split, search);
    meterPattern(proto, "replace", Symbol.replace, search);
    meterPattern(proto, "replaceAll", Symbol.replace, search);
    for (const name of ["match", "matchAll", "search"]) {
      meterPattern(proto, name, Symbol[name], (receiver, args) => {
        args[0] = pattern(args[0]);
        return whole(receiver);
      });
    }
    for (const name of ["toLowerCase", "toUpperCase", "toWellFormed"]) meter(proto, name, whole);
    for (const name of ["repeat", "padStart", "padEnd"]) meter(proto, name, whole, (result) => result.length);
    for (const name of ["normalize", "localeCompare"]) {
      meter(proto, name, (receiver, args) => {
        const value = whole(receiver);
        if (args.length > 0) args[0] = text(args[0]);
        if (`${value}`.length > NORMALIZE_MAX || `${args[0]}`.length > NORMALIZE_MAX) throw new RangeError("the text is too long to normalize");
        return value;
      });
    }
    replace(String, "raw", {
      raw(template, ...values) {
        const { length } = template.raw;
        let result = "";
        for (let i = 0; i < length; i++) result += `${template.raw[i]}${i + 1 < length && i < values.length ? `${values[i]}` : ""}`;
        return result;
      },
    }.raw);
  }

  // Long texts are searched piece by piece, each a step of its own.
  function meterIndexOf(proto, search) {
    const whole = { indexOf: proto.indexOf };
    const native = proto.indexOf;
    const { slice } = proto;
    meter(whole, "indexOf", search);
    const indexOf = (hay, needle, from) => {
      if (hay.length * needle.length <= SEARCH_MAX) return apply(whole.indexOf, hay, [needle, from]);
      const piece = max(1, floor(SEARCH_MAX / 16 / needle.length));
      for (let at = max(0, trunc(from) || 0); at <= hay.length - needle.length; at += piece) {
        burn(SEARCH_MAX / 16);
        const found = apply(native, apply(slice, hay, [at, at + piece + needle.length - 1]), [needle]);
        if (found >= 0) return at + found;
      }
      return -1;
    };
    const textOf = (value, name) => {
      if (value === undefined || value === null) throw new TypeError(`${name} needs a text`);
      return `${value}`;
    };
    const methods = {
      indexOf(needle, from) { return indexOf(textOf(this, "indexOf"), `${needle}`, +from); },
      includes(needle, from) {
        if (needle instanceof RegExp) throw new TypeError("includes takes a text, not a RegExp");
        return indexOf(textOf(this, "includes"), `${needle}`, +from) >= 0;
      },
    };
    for (const name of ["indexOf", "includes"]) replace(proto, name, rename(methods[name], name, 1));
  }

  // A pattern that brings its own method (a RegExp) is asked here, so that the built-in only ever sees
  // texts whose lengths have been looked at.
  function meterPattern(proto, name, symbol, prepare) {
    const onTexts = { [name]: proto[name] };
    meter(onTexts, name, (receiver, args) => (args[0] === undefined ? receiver : prepare(receiver, args)));
    const method = {
      method(wanted, other) {
        if (this === undefined || this === null) throw new TypeError(`${name} needs a text`);
        if (typeof wanted === "object" && wanted !== null) {
          if ((name === "replaceAll" || name === "matchAll") && wanted instanceof RegExp && !wanted.flags.includes("g")) throw new TypeError(`${name} needs a global RegExp`);
          const own = wanted[symbol];
          if (own !== undefined && own !== null) return apply(own, wanted, [this, other]);
        }
        if (wanted === undefined && (name === "replace" || name === "replaceAll")) wanted = "undefined";
        return apply(onTexts[name], this, [wanted, other]);
      },
    }.method;
    replace(proto, name, rename(method, name, symbol === Symbol.split || symbol === Symbol.replace ? 2 : 1));
  }

  // The text of a pattern about to be compiled.
  function pattern(value) {
    if (value === undefined) return value;
    const text = `${value}`;
    if (text.length > PATTERN_MAX) throw new RangeError("the pattern is too long");
    burn(text.length * text.length / 10);
    return text;
  }

  function meterRegExps() {
    const Native = RegExp;
    const sourceOf = getOwnPropertyDescriptor(Native.prototype, "source").get;
    // Only a true RegExp is compiled from its own source; an object that claims to be one is a text.
    const compiled = (value) => {
      if (typeof value !== "object" || value === null) return pattern(value);
      try {
        pattern(apply(sourceOf, value, []));
      } catch (error) {
        if (error instanceof Range) throw error;
        return pattern(value);
      }
      return value === Native.prototype ? pattern(value) : value;
    };
    const Metered = rename(function (source, flags) {
      const args = [compiled(source)];
      if (flags !== undefined) args[1] = flags;
      return new.target === undefined ? apply(Native, undefined, args) : construct(Native, args, new.target);
    }, "RegExp", 2);
    defineProperty(Metered, "prototype", { value: Native.prototype, writable: false });
    for (const key of ownKeys(Native)) {
      if (!["length", "name", "prototype"].includes(key)) defineProperty(Metered, key, getOwnPropertyDescriptor(Native, key));
    }
    replace(Native.prototype, "constructor", Metered);
    delete Native.prototype.compile;
    replace(globalThis, "RegExp", Metered);
  }

  function meterJson() {
    meter(JSON, "parse", (receiver, args) => {
      args[0] = `${args[0]}`;
      burn(args[0].length);
      return receiver;
    });
    // With a replacer function every value visited is a step. Without one, a nest of shared arrays would
    // be walked inside the engine until its text fills the heap.
    const everything = (key, value) => value;
    meter(JSON, "stringify", (receiver, args) => {
      if (isArray(args[1])) args[1] = projection(steady(args[1]));
      else if (typeof args[1] !== "function") args[1] = everything;
      return receiver;
    }, (result) => (result === undefined ? 0 : result.length));
  }

  // The replacer function that does what an array of property names does.
  function projection(list) {
    const names = [];
    for (let i = 0; i < list.length; i++) {
      const name = list[i];
      if (typeof name === "string" || typeof name === "number" || name instanceof String || name instanceof Number) names.push(`${name}`);
    }
    return (key, value) => {
      if (typeof value !== "object" || value === null || isArray(value)) return value;
      const projected = {};
      for (let i = 0; i < names.length; i++) {
        const own = getOwnPropertyDescriptor(value, names[i]);
        if (own !== undefined && own.enumerable) defineProperty(projected, names[i], { value: value[names[i]], writable: true, enumerable: true, configurable: true });
      }
      return projected;
    };
  }

  trackProxies();
  meterArrays();
  meterTypedArrays();
  meterStrings();
  meterRegExps();
  meterJson();
})
