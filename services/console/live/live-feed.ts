import type { ServerResponse } from 'node:http';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { overviewOf, queueOf } from './overview-of.ts';
import { workerFacts } from './worker-facts.ts';

const kinds = ['overview', 'workers', 'queue'] as const;
type Kind = (typeof kinds)[number];

const lookMs = 1_000;

/** Milliseconds between two signs of life for proxies and browsers; at each it is asked whether the session still stands. */
const heartbeatMs = 5_000;

/** Open streams of all sessions together, and of one: a browser's tabs share one where they can. */
const maxStreams = 500;
const maxStreamsOfSession = 8;

/** Bytes that may wait for a page that reads too slowly before its stream is cut; it then asks again. */
const maxUnreadBytes = 4 * 1024 * 1024;

/** Milliseconds without progress for the last bytes of a stream that was ended to be read. */
const unreadMs = 30_000;

/** Has a page that lost its stream ask again after a second. */
const retry = 'retry: 1000\n\n';

/** One page that listens. */
interface Listener {
  response: ServerResponse;
  session: string;
  stillSignedIn: () => Promise<boolean>;
}

/**
 * Tells pages what is going on in the cluster: each kind of news whole, at once and then when it has changed, once a
 * second at most. It is put into words once for all of them, and not at all while nobody listens.
 */
export class LiveFeed {
  readonly #workers: LiveWorkers;
  readonly #stats: () => IngressStats[];
  readonly #listeners = new Set<Listener>();
  readonly #told = new Map<Kind, string>();
  #timer: NodeJS.Timeout | undefined;
  #lastHeartbeat = 0;
  #isClosed = false;

  constructor(workers: LiveWorkers, stats: () => IngressStats[]) {
    this.#workers = workers;
    this.#stats = stats;
  }

  /** Whether there is room for one more stream of this session. */
  hasRoom(session: string): boolean {
    const own = [...this.#listeners].filter((listener) => listener.session === session).length;
    return this.#listeners.size < maxStreams && own < maxStreamsOfSession;
  }

  /** Begins a stream of server-sent events that ends when the page leaves, the session ends or the feed closes. */
  open(listener: Listener): void {
    const { response } = listener;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    // A page whose stream has just ended asks again, on the same connection if it can: it is to go to another ingress.
    if (this.#isClosed) return void response.end(retry);
    if (this.#listeners.size === 0) {
      this.#told.clear();
      this.#lastHeartbeat = performance.now();
      this.#timer = setInterval(() => this.#tell(), lookMs);
    }
    this.#listeners.add(listener);
    response.once('close', () => this.#leave(listener));
    const news = this.#read();
    response.write(`${retry}${kinds.map((kind) => eventOf(kind, news[kind])).join('')}`);
  }

  /** Ends all streams, and from now on each that begins. */
  close(): void {
    this.#isClosed = true;
    for (const { response } of this.#listeners) response.end();
    clearInterval(this.#timer);
  }

  /** Ends a stream. It closes only when all was read, and what is written meanwhile would be an error that nobody catches. */
  #dismiss(listener: Listener): void {
    const { response } = listener;
    this.#leave(listener);
    response.end();
    response.setTimeout(unreadMs, () => response.destroy());
  }

  #leave(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) clearInterval(this.#timer);
  }

  #read(): Record<Kind, string> {
    const now = performance.now();
    const stats = this.#stats();
    const workers = Array.from(this.#workers.workers(), (worker) => workerFacts(worker, now));
    return {
      overview: JSON.stringify(overviewOf(stats)),
      workers: JSON.stringify(workers.sort((a, b) => a.startedAt - b.startedAt || a.id.localeCompare(b.id))),
      queue: JSON.stringify(queueOf(stats)),
    };
  }

  #tell(): void {
    const news = this.#read();
    const changed = kinds.filter((kind) => this.#told.get(kind) !== news[kind]);
    for (const kind of changed) this.#told.set(kind, news[kind]);
    const isHeartbeat = performance.now() - this.#lastHeartbeat > heartbeatMs;
    const text = changed.map((kind) => eventOf(kind, news[kind])).join('') + (isHeartbeat ? ': alive\n\n' : '');
    if (isHeartbeat) this.#heartbeat();
    if (text === '') return;
    for (const { response } of this.#listeners) {
      if (response.writableLength > maxUnreadBytes) response.destroy();
      else response.write(text);
    }
  }

  /** A session may have been ended, here or on another ingress. While nobody can tell, the page may stay. */
  #heartbeat(): void {
    this.#lastHeartbeat = performance.now();
    for (const listener of this.#listeners) {
      listener.stillSignedIn().then(
        (is) => {
          if (!is) this.#dismiss(listener);
        },
        () => undefined,
      );
    }
  }
}

function eventOf(kind: Kind, data: string): string {
  return `event: ${kind}\ndata: ${data}\n\n`;
}
