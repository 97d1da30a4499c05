// The language-integrated query interface of the collection: filter, map, pluck, flatten, unwind,
// sortBy, sortByDescending, chain … value, and spatial. Predicates are plain functions, run over the
// documents of the logical partition page by page.
//
// A pipeline without a sort works document by document, so it stops when a page of results is full; its
// continuation names the page of documents to go on with and how many of that page's results were
// already given. A sort needs all documents; its continuation is the number of results already given.
(function ({ lasting, collectionApi, submit, enqueue, operation, pageOptions, tail, fail, host, appendToResponse }) {
  const { create, freeze } = Object;
  const { isArray } = Array;
  const { parse, stringify } = JSON;

  // ---- steps: array of results in, array of results out ---------------------------------------------

  function functionArgument(value, what) {
    if (typeof value !== "function") fail(400, `The ${what} must be a function.`);
    return value;
  }

  const typeOrder = ["undefined", "null", "boolean", "number", "string", "array", "object"];

  function rank(value) {
    if (value === null) return 1;
    return typeOrder.indexOf(isArray(value) ? "array" : typeof value);
  }

  function compare(a, b) {
    const difference = rank(a) - rank(b);
    if (difference !== 0 || rank(a) < 2 || rank(a) > 4) return difference;
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function sortStep(selector, direction) {
    return {
      sorts: true,
      apply(rows) {
        const keyed = rows.map((row) => ({ key: selector(row), row }));
        return keyed.sort((a, b) => direction * compare(a.key, b.key)).map(({ row }) => row);
      },
    };
  }

  function flatten(rows, deep, into) {
    for (const row of rows) {
      if (isArray(row)) for (const inner of row) deep && isArray(inner) ? flatten(inner, true, into) : into.push(inner);
      else into.push(row);
    }
    return into;
  }

  function unwind(rows, inner, result) {
    const unwound = [];
    for (const row of rows) {
      const elements = inner(row);
      if (!isArray(elements)) continue;
      for (const element of elements) unwound.push(result === undefined ? element : result(row, element));
    }
    return unwound;
  }

  const defined = (row) => row !== undefined;

  // Each maker takes the step's own arguments and answers the step. `arity` is how many of the leading
  // arguments are its own; options and callback may follow.
  const makers = {
    filter: {
      arity: () => 1,
      make(predicate) {
        functionArgument(predicate, "predicate");
        return { apply: (rows) => rows.filter((row) => predicate(row)) };
      },
    },
    map: {
      arity: () => 1,
      make(projection) {
        functionArgument(projection, "projection");
        return { apply: (rows) => rows.map((row) => projection(row)).filter(defined) };
      },
    },
    pluck: {
      arity: () => 1,
      make(name) {
        if (typeof name !== "string") fail(400, "The property name must be a string.");
        return { apply: (rows) => rows.map((row) => row?.[name]).filter(defined) };
      },
    },
    flatten: {
      arity: ([isShallow]) => (typeof isShallow === "boolean" ? 1 : 0),
      make: (isShallow = false) => ({ apply: (rows) => flatten(rows, !isShallow, []) }),
    },
    unwind: {
      // A function right after the selector is the result selector, never the callback.
      arity: ([, result]) => (typeof result === "function" ? 2 : 1),
      make(inner, result) {
        functionArgument(inner, "collection selector");
        return { apply: (rows) => unwind(rows, inner, result) };
      },
    },
    sortBy: { arity: () => 1, make: (selector) => sortStep(functionArgument(selector, "sort key"), 1) },
    sortByDescending: { arity: () => 1, make: (selector) => sortStep(functionArgument(selector, "sort key"), -1) },
  };

  // ---- execution --------------------------------------------------------------------------------------

  function token(text) {
    if (text === undefined) return { skip: 0 };
    let value;
    try {
      value = parse(text);
    } catch (error) {
      value = undefined;
    }
    if (typeof value !== "object" || value === null || !Number.isInteger(value.skip) || value.skip < 0) fail(400, "The continuation is not one of this query.");
    return value;
  }

  function execute(steps, options, callback) {
    const rest = tail(options, callback);
    const { pageSize, continuation } = pageOptions(rest.options);
    const from = token(continuation);
    const wanted = pageSize === -1 ? Infinity : pageSize;
    const sorted = steps.some((step) => step.sorts);
    const through = (rows) => steps.reduce((result, step) => step.apply(result), rows);
    const found = [];
    let documents = [];
    let skip = from.skip;

    function finish(rows, next, responseOptions) {
      const given = { ...responseOptions };
      delete given.continuation;
      if (next !== undefined) given.continuation = stringify(next);
      if (rest.callback !== undefined) rest.callback(undefined, rows, given);
      else appendToResponse(rows);
    }

    function page(at) {
      return operation("list", (error, rows, responseOptions) => {
        if (error !== undefined) {
          if (rest.callback === undefined) throw error;
          return void rest.callback(error, undefined, responseOptions);
        }
        sorted ? gather(rows, responseOptions) : stream(at, rows, responseOptions);
      }, { pageSize: -1, continuation: at });
    }

    // Pages after the first belong to an operation that was accepted, so they are not asked for anew.
    function more(at) {
      enqueue(page(at));
    }

    function gather(rows, responseOptions) {
      documents = documents.concat(rows);
      if (responseOptions.continuation !== undefined) return more(responseOptions.continuation);
      const all = through(documents);
      const end = Math.min(all.length, skip + wanted);
      finish(all.slice(skip, end), end < all.length ? { skip: end } : undefined, responseOptions);
    }

    function stream(at, rows, responseOptions) {
      const results = through(rows);
      const room = wanted - found.length;
      const taken = results.slice(skip, skip + room);
      for (const row of taken) found.push(row);
      const given = skip + taken.length;
      skip = 0;
      const next = responseOptions.continuation;
      if (given < results.length) return finish(found, { page: at, skip: given }, responseOptions);
      if (next === undefined) return finish(found, undefined, responseOptions);
      if (found.length >= wanted || !host.accepts()) return finish(found, { page: next, skip: 0 }, responseOptions);
      more(next);
    }

    return { isAccepted: submit(page(from.page)) };
  }

  // ---- the interface ------------------------------------------------------------------------------------

  const chainApi = {};
  lasting.push(chainApi);
  for (const name of Reflect.ownKeys(makers)) {
    const { arity, make } = makers[name];
    collectionApi[name] = {
      [name](...args) {
        const own = arity(args);
        const step = make(...args.slice(0, own));
        return execute([step], args[own], args[own + 1]);
      },
    }[name];
    chainApi[name] = {
      [name](...args) {
        const own = arity(args);
        if (args.length > own && args.slice(own).some(defined)) fail(400, `Inside a chain, ${name} takes no options and no callback: give them to value().`);
        return chain([...steps.get(this), make(...args.slice(0, own))]);
      },
    }[name];
  }
  chainApi.value = { value(options, callback) { return execute(steps.get(this), options, callback); } }.value;

  const steps = new WeakMap();
  function chain(list) {
    const link = create(chainApi);
    steps.set(link, list);
    return link;
  }
  collectionApi.chain = { chain() { return chain([]); } }.chain;

  // ---- spatial ----------------------------------------------------------------------------------------

  const spatial = {};
  for (const [name, count] of [["distance", 2], ["intersects", 2], ["within", 2], ["isValid", 1], ["isValidDetailed", 1]]) {
    spatial[name] = {
      [name](...shapes) {
        if (shapes.length < count) fail(400, `spatial.${name} takes ${count} arguments.`);
        const answer = host.spatial(name, stringify(shapes[0]) ?? "null", stringify(shapes[1]) ?? "null");
        return answer === undefined ? undefined : parse(answer);
      },
    }[name];
  }
  collectionApi.spatial = freeze(spatial);
})
