import type { Msg } from '@nats-io/transport-node';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import type { Message } from '#shared/broker/connection/outbox.ts';

/** Passes on messages that a party publishes: unchanged, changed, later, several times or not at all. */
export type SendTap = (message: Message, send: (message: Message) => void) => void;

/** Passes on messages that a party receives, in the same ways. */
export type ReceiveTap = (message: Msg, receive: (message: Msg) => void) => void;

/** Puts taps between a party and its connection. */
export function tapBroker(inner: Broker) {
  const sending: SendTap[] = [];
  const receiving: ReceiveTap[] = [];
  let beforeFlush: () => Promise<void> = () => Promise.resolve();
  let isRefused = false;
  let connectedSince = (): number => inner.connectedSince;
  /** Messages held back since the party was frozen. */
  let held: (() => void)[] | undefined;
  const pass = (act: () => void): void => {
    if (held) held.push(act);
    else act();
  };
  const through =
    (publish: Broker['publish']): Broker['publish'] =>
    (subject, payload, reply, headers) => {
      const send = sending.reduce<(message: Message) => void>(
        (next, tap) => (message) => tap(message, next),
        ({ subject: to, payload: data, reply: at, headers: more }) => pass(() => publish(to, data, at, more)),
      );
      send({ subject, payload, reply, headers });
    };
  const nc = changed(inner.nc, {
    request: (...request) =>
      isRefused ? Promise.reject(new Error('there is no leader')) : inner.nc.request(...request),
  });
  const broker = changed(inner, {
    nc,
    get connectedSince() {
      return connectedSince();
    },
    publish: through((...message) => inner.publish(...message)),
    publishImmediately: through((...message) => inner.publishImmediately(...message)),
    publishUnhurried: through((...message) => inner.publishUnhurried(...message)),
    subscribe: (subject, onMessage, queue) =>
      inner.subscribe(
        subject,
        (message) =>
          pass(() =>
            receiving.reduce<(message: Msg) => void>((next, tap) => (each) => tap(each, next), onMessage)(message),
          ),
        queue,
      ),
    flush: async () => {
      await beforeFlush();
      await inner.flush();
    },
  });
  return {
    /** The connection for the party. */
    broker,
    /** Passes all messages that the party publishes from now on through a function, before the earlier ones. */
    onSend: (tap: SendTap) => void sending.push(tap),
    onReceive: (tap: ReceiveTap) => void receiving.push(tap),
    /** Loses messages that the party publishes, as a broken connection does. */
    loseSent: (isLost: (message: Message) => boolean) =>
      void sending.push((message, send) => {
        if (!isLost(message)) send(message);
      }),
    /** Stops all messages from and to the party, as while its process is stopped. Returns a function that ends this. */
    freeze: () => {
      const waiting = (held ??= []);
      return () => {
        held = undefined;
        for (const act of waiting) act();
      };
    },
    /** Delays each flush of the party. */
    delayFlush: (wait: () => Promise<void>) => (beforeFlush = wait),
    /** Makes each request of the party fail, as requests to JetStream do while it has no leader. */
    refuseRequests: () => (isRefused = true),
    /** Makes the party take its connection for new, or for old: messages are kept while the connection is young. */
    seemConnected: (when: 'just now' | 'long ago') => {
      const now = performance.now();
      connectedSince = when === 'just now' ? () => now : () => performance.now() - 60_000;
    },
  };
}

/** A connection to the broker that a test observes and changes. */
export type TappedBroker = ReturnType<typeof tapBroker>;

/** Returns a received message with another payload. */
export function withData(message: Msg, data: Uint8Array): Msg {
  return changed(message, { data });
}

/** Returns an object with some properties replaced. */
function changed<T extends object>(inner: T, changes: Partial<T>): T {
  return new Proxy(inner, {
    get: (target, name) => {
      const value: unknown = name in changes ? Reflect.get(changes, name) : Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Changes the line of JSON with which messages of a party begin. Those for which `change` returns undefined stay as they are. */
export function changeHeads(
  { onSend }: Pick<TappedBroker, 'onSend'>,
  change: (head: Record<string, unknown>) => object | undefined,
): void {
  onSend((message, send) => {
    const [head = '', ...rest] = Buffer.from(message.payload).toString('latin1').split('\n');
    // A part of a long body begins like an object, and does not end like one.
    const isWhole = head.startsWith('{') && head.endsWith('}');
    const changed = isWhole ? change(JSON.parse(head) as Record<string, unknown>) : undefined;
    if (changed === undefined) send(message);
    else send({ ...message, payload: Buffer.from([JSON.stringify(changed), ...rest].join('\n'), 'latin1') });
  });
}
