// What a script sees: getContext(), the collection with its callbacks, request, response, console, `__`.
//
// Operations are queued, not executed: the host takes one with `next()`, runs it against the
// transaction, and hands the result to `deliver()`, which calls the script's callback. A script that
// returned therefore sees its callbacks in the order of its calls, each on an empty stack.
//
// One run at a time: everything a run owns hangs on `run`, and the objects given to the script are made
// anew for it. Texts and numbers that leave here are checked again by the host.
(function (host, tools, limits) {
  const { create, freeze, defineProperty } = Object;
  const { apply } = Reflect;
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const isInteger = Number.isInteger;

  const ErrorCodes = freeze({
    BadRequest: 400, Forbidden: 403, NotFound: 404, Conflict: 409, PreconditionFailed: 412,
    RequestEntityTooLarge: 413, RetryWith: 449, InternalServerError: 500,
  });

  const idle = freeze({ request: undefined, response: undefined });
  let run = idle;

  function fail(number, message) {
    throw new Error(number, message);
  }

  // ---- request and response -------------------------------------------------------------------

  // A message is a set of named values. The body is kept as JSON text: what the script did to its
  // object after setBody() is not what it asked to be sent.
  function message(body, fixed, writable) {
    return { body, fixed, writable, changed: false };
  }

  function toJson(value) {
    const text = stringify(value);
    if (text !== undefined && text.length > limits.bodyLength) fail(413, "The body is larger than a message may be.");
    return text;
  }

  function setBody(target, value) {
    if (!target.writable) fail(403, "The body of this message cannot be set here.");
    target.body = toJson(value);
    target.changed = true;
  }

  function getBody(target) {
    return target.body === undefined ? undefined : parse(target.body);
  }

  function rawText(json) {
    return json[0] === '"' ? parse(json) : json;
  }

  function appendBody(target, value) {
    if (target.body === undefined) return setBody(target, value);
    const more = stringify(value);
    if (more !== undefined) setBody(target, rawText(target.body) + rawText(more));
  }

  function valueName(target, name) {
    if (typeof name !== "string") fail(400, "The name of a value must be a string.");
    const wanted = name.toLowerCase();
    if (wanted === "body") return "Body";
    for (const known of Reflect.ownKeys(target.fixed)) if (known.toLowerCase() === wanted) return known;
    return undefined;
  }

  function writableName(target, name) {
    const known = valueName(target, name);
    if (known === undefined) fail(400, `There is no value named ${name}.`);
    if (known !== "Body") fail(403, `The value ${known} is read-only.`);
  }

  function messageApi(select) {
    return {
      getBody() { return getBody(select()); },
      setBody(value) { setBody(select(), value); },
      getValue(name) {
        const target = select();
        const known = valueName(target, name);
        if (known === undefined) return undefined;
        return known === "Body" ? getBody(target) : target.fixed[known];
      },
      setValue(name, value) { writableName(select(), name); setBody(select(), value); },
      appendValue(name, value) { writableName(select(), name); appendBody(select(), value); },
      getOperationType() { return select().fixed.OperationType; },
    };
  }

  const requestApi = messageApi(() => run.request);
  const responseApi = messageApi(() => run.response);
  responseApi.appendBody = function appendBodyOfResponse(value) { appendBody(run.response, value); };
  responseApi.getMaxResourceQuota = function getMaxResourceQuota() { return run.response.fixed.MaxResourceQuota; };
  responseApi.getResourceQuotaCurrentUsage = function getResourceQuotaCurrentUsage() { return run.response.fixed.ResourceQuotaCurrentUsage; };

  // ---- console ----------------------------------------------------------------------------------

  function shown(value) {
    if (typeof value === "string") return value;
    if (typeof value !== "object" || value === null || value instanceof Error) return String(value);
    return stringify(value) ?? String(value);
  }

  const substitutions = {
    s: shown,
    d: (value) => String(Number(value)),
    i: (value) => String(Math.trunc(Number(value))),
    f: (value) => String(Number(value)),
    j: (value) => String(stringify(value)),
    o: shown,
    O: shown,
  };

  function formatted(format, values) {
    let used = 0;
    const text = format.replace(/%([sdifjoO%])/g, (whole, kind) => {
      if (kind === "%") return "%";
      return used < values.length ? substitutions[kind](values[used++]) : whole;
    });
    return [text, ...values.slice(used).map(shown)].join(" ");
  }

  function log(line) {
    const room = limits.logLength - run.log.length;
    if (room <= 0) return;
    const text = run.log === "" ? line : `\n${line}`;
    run.log += text.length > room ? text.slice(0, room) : text;
  }

  const consoleApi = {
    log(format, ...values) {
      if (!run.logging) return;
      if (typeof format !== "string") fail(400, "The first argument of console.log must be a string.");
      log(formatted(format, values));
    },
  };

  // ---- the queue of operations --------------------------------------------------------------------

  // Fields an operation does not use stay undefined; the host reads them by name.
  function operation(kind, callback, fields) {
    return { kind, callback, link: undefined, body: undefined, parameters: undefined, etag: undefined, pageSize: undefined,
      continuation: undefined, indexAction: undefined, generateId: true, ...fields };
  }

  function enqueue(queued) {
    run.queue[run.queue.length] = queued;
  }

  function submit(queued) {
    if (run.queue.length - run.head >= limits.pendingOperations || !host.accepts()) return false;
    enqueue(queued);
    return true;
  }

  function next() {
    if (run.head === run.queue.length) {
      run.queue.length = run.head = 0;
      return undefined;
    }
    run.current = run.queue[run.head];
    run.queue[run.head++] = undefined;
    return run.current;
  }

  function responseOptions(status, continuation, notModified, sizeMb, sizeMbMax) {
    const options = { statusCode: status, currentCollectionSizeInMB: sizeMb, maxCollectionSizeInMB: sizeMbMax };
    if (continuation !== undefined) options.continuation = continuation;
    if (notModified) options.notModified = true;
    return options;
  }

  function deliver(failure, text, resource, continuation, notModified, status, sizeMb, sizeMbMax) {
    const { kind, callback } = run.current;
    run.current = undefined;
    const options = responseOptions(status, continuation, notModified, sizeMb, sizeMbMax);
    if (failure !== 0) {
      const error = new Error(failure, stringify({ Errors: [text] }));
      if (callback === undefined) throw error;
      return void callback(error, kind === "delete" ? options : undefined, options);
    }
    if (callback === undefined) return;
    if (kind === "delete") callback(undefined, options);
    else callback(undefined, resource, options);
  }

  // ---- arguments ------------------------------------------------------------------------------------

  // Splits the optional tail `[options], [callback]`.
  function tail(options, callback) {
    if (typeof options === "function" && callback === undefined) return tail(undefined, options);
    if (callback !== undefined && callback !== null && typeof callback !== "function") fail(400, "The callback must be a function.");
    if (options !== undefined && options !== null && typeof options !== "object") fail(400, "The options must be an object.");
    return { options: options ?? {}, callback: callback ?? undefined };
  }

  function textOption(options, name) {
    const value = options[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string") fail(400, `The option ${name} must be a string.`);
    return value;
  }

  function flagOption(options, name) {
    const value = options[name];
    if (value === undefined || value === null) return false;
    if (typeof value !== "boolean") fail(400, `The option ${name} must be a boolean.`);
    return value;
  }

  function pageOptions(options) {
    const size = options.pageSize ?? limits.pageSize;
    if (!isInteger(size) || (size < 1 && size !== -1) || size > 2147483647) fail(400, "The option pageSize must be a positive integer or -1.");
    flagOption(options, "enableScan");
    flagOption(options, "enableLowPrecisionOrderBy");
    return { pageSize: size, continuation: textOption(options, "continuation") };
  }

  function writeOptions(options, { etag, id }) {
    const indexAction = textOption(options, "indexAction");
    if (indexAction !== undefined && !["default", "include", "exclude"].includes(indexAction)) fail(400, "The option indexAction must be default, include or exclude.");
    return {
      indexAction,
      etag: etag ? textOption(options, "etag") : undefined,
      generateId: !(id && flagOption(options, "disableAutomaticIdGeneration")),
    };
  }

  function collectionLink(link) {
    if (typeof link !== "string") fail(400, "The collection link must be a string.");
    if (!host.isCollectionLink(link)) fail(400, `The link ${link} is not that of the collection this script runs in.`);
  }

  function documentLink(link) {
    if (typeof link !== "string") fail(400, "The document link must be a string.");
    if (!host.isDocumentLink(link)) fail(400, `The link ${link} is not that of a document in the context of this collection.`);
    return link;
  }

  // The document as JSON text. A copy by nature: what the script does to its object later is not written.
  function documentBody(body) {
    if (typeof body === "string") {
      let value;
      try {
        value = parse(body);
      } catch (error) {
        fail(400, "The document body is not valid JSON.");
      }
      if (typeof value !== "object" || value === null || isArray(value)) fail(400, "The document body must be an object.");
      return body.toWellFormed();
    }
    if (typeof body !== "object" || body === null || isArray(body)) fail(400, "The document body must be an object or its JSON text.");
    return toJson(body) ?? fail(400, "The document body has no JSON form.");
  }

  function queryFilter(filter) {
    if (typeof filter === "string") return { body: filter.toWellFormed() };
    if (typeof filter !== "object" || filter === null || typeof filter.query !== "string") fail(400, "The query must be a string or an object with query and parameters.");
    const { parameters } = filter;
    const query = filter.query.toWellFormed();
    if (parameters === undefined || parameters === null) return { body: query };
    if (!isArray(parameters)) fail(400, "The parameters of a query must be an array.");
    return { body: query, parameters: toJson(parameters) };
  }

  // ---- the collection -------------------------------------------------------------------------------

  const collectionApi = {
    getSelfLink() { return run.selfLink; },
    getAltLink() { return run.altLink; },

    readDocument(link, options, callback) {
      const rest = tail(options, callback);
      return submit(operation("read", rest.callback, { link: documentLink(link), etag: textOption(rest.options, "ifNoneMatch") }));
    },

    readDocuments(link, options, callback) {
      const rest = tail(options, callback);
      collectionLink(link);
      return submit(operation("list", rest.callback, pageOptions(rest.options)));
    },

    queryDocuments(link, filter, options, callback) {
      const rest = tail(options, callback);
      collectionLink(link);
      return submit(operation("query", rest.callback, { ...queryFilter(filter), ...pageOptions(rest.options) }));
    },

    createDocument(link, body, options, callback) {
      const rest = tail(options, callback);
      collectionLink(link);
      return submit(operation("create", rest.callback, { body: documentBody(body), ...writeOptions(rest.options, { etag: false, id: true }) }));
    },

    upsertDocument(link, body, options, callback) {
      const rest = tail(options, callback);
      collectionLink(link);
      return submit(operation("upsert", rest.callback, { body: documentBody(body), ...writeOptions(rest.options, { etag: true, id: true }) }));
    },

    replaceDocument(link, body, options, callback) {
      const rest = tail(options, callback);
      return submit(operation("replace", rest.callback, { link: documentLink(link), body: documentBody(body), ...writeOptions(rest.options, { etag: true, id: false }) }));
    },

    deleteDocument(link, options, callback) {
      const rest = tail(options, callback);
      return submit(operation("delete", rest.callback, { link: documentLink(link), etag: textOption(rest.options, "etag") }));
    },
  };

  // Attachments left the service; the methods stay so that an old script fails with a reason.
  for (const name of ["createAttachment", "readAttachment", "readAttachments", "queryAttachments", "replaceAttachment", "upsertAttachment", "deleteAttachment"]) {
    collectionApi[name] = { [name]() { fail(400, `${name}: attachments are not supported.`); } }[name];
  }

  // ---- a run ------------------------------------------------------------------------------------------

  // Texts that leave must be valid Unicode.
  function cut(text, length) {
    return text.slice(0, length).toWellFormed();
  }

  function describe(error) {
    let text = "unknown";
    let stack = "";
    let number;
    try {
      text = typeof error === "object" && error !== null && !(error instanceof Error) ? (stringify(error) ?? String(error)) : String(error);
      if (typeof error === "object" && error !== null) {
        if (typeof error.stack === "string") stack = error.stack;
        if (isInteger(error.number) && error.number >= 0 && error.number <= 4294967295) number = error.number;
      }
    } catch (hostile) {
      text = "an exception that cannot be described";
    }
    return [cut(text, limits.errorLength), cut(stack, limits.errorLength), number];
  }

  function abort(error) {
    run.aborted ??= { error };
    throw error;
  }

  // The four names a script's text is a function of. `mode` is "procedure", "pre" or "post".
  function environment(mode) {
    const collection = create(collectionApi);
    const request = create(requestApi);
    const context = {
      getCollection() { return collection; },
      getRequest() { return request; },
      abort,
    };
    const dunder = create(collection);
    define(dunder, "request", request);
    if (mode !== "pre") {
      const response = create(responseApi);
      context.getResponse = function getResponse() { return response; };
      define(dunder, "response", response);
    }
    return [function getContext() { return context; }, dunder, create(consoleApi), ErrorCodes];
  }

  function define(object, name, value) {
    defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  }

  // `start.request` and `start.response` are JSON texts, or undefined.
  function begin(mode, logging, start) {
    const fixed = { OperationType: start.operationType };
    run = {
      mode, logging, log: "", queue: [], head: 0, current: undefined, aborted: undefined, rejections: [],
      selfLink: start.selfLink, altLink: start.altLink,
      request: message(start.request, fixed, mode === "pre"),
      response: mode === "pre" ? undefined : message(start.response, {
        ...fixed, MaxResourceQuota: start.maxResourceQuota, ResourceQuotaCurrentUsage: start.resourceQuotaCurrentUsage,
      }, true),
    };
    tools.seed(start.seedHigh, start.seedLow);
  }

  // Everything a script can reach that outlives its run and that no global leads to.
  const lasting = [collectionApi, requestApi, responseApi, consoleApi, ErrorCodes];

  // A script is kept as its factory: the function of the four names above that answers the script's own
  // function. Calling the factory again gives a new function, with nothing left on it from the last run.
  const factories = [];
  let functions = [];

  function instantiate(slot, values) {
    const main = apply(factories[slot], undefined, values);
    if (typeof main !== "function") fail(400, "The body of the script is not a function.");
    return main;
  }

  function start(slot, args) {
    apply(instantiate(slot, environment(run.mode)), undefined, args);
  }

  // User-defined functions see no context; they live until `end()`.
  function load(slot) {
    functions[functions.length] = instantiate(slot, []);
    return functions.length - 1;
  }

  function call(index, args) {
    return stringify(apply(functions[index], undefined, args));
  }

  function rejected(promise, reason, handled) {
    const list = run.rejections;
    if (list === undefined) return;
    if (!handled) list[list.length] = { promise, reason };
    else for (let i = 0; i < list.length; i++) if (list[i].promise === promise) list[i].promise = undefined;
  }

  function unhandled() {
    for (const { promise, reason } of run.rejections) if (promise !== undefined) return { reason };
    return undefined;
  }

  // The outcome: the JSON text of the body if the script set one, and the log.
  function outcome() {
    const lost = unhandled();
    if (lost !== undefined && run.logging) log(`Unhandled promise rejection: ${describe(lost.reason)[0]}`);
    const sent = run.mode === "pre" ? run.request : run.response;
    return [sent.changed ? sent.body : undefined, cut(run.log, limits.logLength)];
  }

  return {
    describe, begin, start, load, call, next, deliver, rejected, unhandled, outcome,
    keep(slot, factory) { factories[slot] = factory; },
    end() { run = idle; functions = []; },
    aborted() { return run.aborted; },
    seed: tools.seed,
    setNow: tools.setNow,
    harden() { return tools.harden(lasting); },
    forQueries: {
      lasting, collectionApi, submit, enqueue, operation, pageOptions, tail, fail, host,
      appendToResponse(value) {
        if (run.response === undefined) fail(400, "There is no response to add the result to: give a callback.");
        appendBody(run.response, value);
      },
    },
  };
})
