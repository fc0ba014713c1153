import type { ServerResponse } from 'node:http';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { overviewOf, queueOf, refusedOf } from './overview-of.ts';
import { VisibleFailures, type Viewer } from './visible-failures.ts';
import type { LiveWorkerFacts } from '../contract/live.ts';
import { allWorkerFacts } from './worker-facts.ts';
import { WorkerTexts } from './worker-texts.ts';

/** Events that are the same for every viewer, besides those of the workers. */
const sharedKinds = ['overview', 'queue'] as const;
type SharedKind = (typeof sharedKinds)[number];

/** Events that depend on the viewer. */
const ownKinds = ['failures', 'refused'] as const;
type OwnKind = (typeof ownKinds)[number];

const tickMs = 1_000;

/** Milliseconds between two comments that keep proxies and browsers connected; at each the session is checked. */
const heartbeatMs = 5_000;

/** Open streams of all sessions together, and of one: a browser's tabs share one where they can. */
const maxStreams = 500;
const maxStreamsOfSession = 8;

/** Bytes that may wait for a page that reads too slowly before its stream is cut; the page then connects again. */
const maxUnreadBytes = 4 * 1024 * 1024;

/** Milliseconds without progress in which the last bytes of an ended stream must be read. */
const unreadMs = 30_000;

/** Has a page that lost its stream connect again after a second. */
const retry = 'retry: 1000\n\n';

/** A page that opens a stream. */
export interface PageStream {
  response: ServerResponse;
  session: string;
  viewer: Viewer;
  /** Whether it takes what has changed of the workers; pages of older releases take all of them anew. */
  takesChanges: boolean;
  /** Who the session belongs to now, with their present role; undefined once it has ended. */
  currentViewer: () => Promise<Viewer | undefined>;
}

interface Listener extends PageStream {
  /** What was last sent of the events that depend on the viewer. */
  sent: Record<OwnKind, string>;
}

/** One tick's events, each serialized at most once for all who may see it. */
interface Snapshot {
  shared: Record<SharedKind, string>;
  failures: VisibleFailures;
  /** For administrators. */
  refused: string;
}

/**
 * Streams the state of the cluster to pages: each kind of event whole, at once and then on change, once a second at most. Of the
 * workers, which may be thousands, only those follow that have changed.
 * Nothing is read while no page is connected.
 */
export class LiveFeed {
  readonly #workers: LiveWorkers;
  readonly #stats: () => IngressStats[];
  readonly #listeners = new Set<Listener>();
  readonly #sent = new Map<SharedKind, string>();
  readonly #workersSent = new WorkerTexts();
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
  open(page: PageStream): void {
    const { response, viewer } = page;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    // A page whose stream has just ended connects again, if it can on the same connection: it must go to another ingress.
    if (this.#isClosed) return void response.end(retry);
    const snapshot = this.#read();
    if (this.#listeners.size === 0) {
      // Later pages begin with the workers as they were at the last tick: what changes is told to all from there.
      this.#workersSent.next(this.#readWorkers());
      this.#sent.clear();
      this.#lastHeartbeat = performance.now();
      this.#timer = setInterval(() => this.#tick(), tickMs);
    }
    const sent = ownEvents(snapshot, viewer);
    const listener: Listener = { ...page, sent };
    this.#listeners.add(listener);
    response.once('close', () => this.#remove(listener));
    const events = [
      ...sharedKinds.map((kind) => eventOf(kind, snapshot.shared[kind])),
      eventOf('workers', this.#workersSent.whole()),
      ...ownKinds.map((kind) => eventOf(kind, sent[kind])),
    ];
    response.write(`${retry}${events.join('')}`);
  }

  /** Ends all streams, and from now on each that begins. */
  close(): void {
    this.#isClosed = true;
    for (const { response } of this.#listeners) response.end();
    clearInterval(this.#timer);
  }

  /** Ends a stream. It closes only when everything was read, and a write meanwhile would be an uncaught error. */
  #dismiss(listener: Listener): void {
    const { response } = listener;
    this.#remove(listener);
    response.end();
    response.setTimeout(unreadMs, () => response.destroy());
  }

  #remove(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) clearInterval(this.#timer);
  }

  #read(): Snapshot {
    const stats = this.#stats();
    return {
      shared: {
        overview: JSON.stringify(overviewOf(stats)),
        queue: JSON.stringify(queueOf(stats)),
      },
      failures: new VisibleFailures(stats),
      refused: JSON.stringify(refusedOf(stats)),
    };
  }

  /** In the order in which they started. */
  #readWorkers(): LiveWorkerFacts[] {
    return allWorkerFacts(this.#workers, performance.now()).sort(
      (one, other) => one.startedAt - other.startedAt || one.id.localeCompare(other.id),
    );
  }

  #tick(): void {
    const snapshot = this.#read();
    const { shared } = snapshot;
    const changed = sharedKinds.filter((kind) => this.#sent.get(kind) !== shared[kind]);
    for (const kind of changed) this.#sent.set(kind, shared[kind]);
    const isHeartbeat = performance.now() - this.#lastHeartbeat > heartbeatMs;
    const text = changed.map((kind) => eventOf(kind, shared[kind])).join('') + (isHeartbeat ? ': alive\n\n' : '');
    const workers = this.#workersEvents();
    if (isHeartbeat) this.#checkSessions();
    for (const listener of this.#listeners) {
      const own = ownEvents(snapshot, listener.viewer);
      const news = ownKinds.filter((kind) => own[kind] !== listener.sent[kind]);
      listener.sent = own;
      const events = text + workers(listener) + news.map((kind) => eventOf(kind, own[kind])).join('');
      if (events === '') continue;
      if (listener.response.writableLength > maxUnreadBytes) listener.response.destroy();
      else listener.response.write(events);
    }
  }

  /** The event of the workers for each page, made once for all that take the same. */
  #workersEvents(): (listener: Listener) => string {
    const change = this.#workersSent.next(this.#readWorkers());
    if (change === undefined) return () => '';
    const changes = eventOf('workers-changed', change);
    let whole: string | undefined;
    return ({ takesChanges }) => (takesChanges ? changes : (whole ??= eventOf('workers', this.#workersSent.whole())));
  }

  /** A session may have ended, or its person's role changed, here or on another ingress. While that cannot be read, the page stays. */
  #checkSessions(): void {
    this.#lastHeartbeat = performance.now();
    for (const listener of this.#listeners) {
      listener.currentViewer().then(
        (viewer) => {
          if (viewer) listener.viewer = viewer;
          else this.#dismiss(listener);
        },
        () => undefined,
      );
    }
  }
}

/** The events that depend on the viewer. */
function ownEvents({ failures, refused }: Snapshot, viewer: Viewer): Record<OwnKind, string> {
  return { failures: failures.textFor(viewer), refused: viewer.isAdmin ? refused : '[]' };
}

function eventOf(kind: SharedKind | OwnKind | 'workers' | 'workers-changed', data: string): string {
  return `event: ${kind}\ndata: ${data}\n\n`;
}
