import type { Broker } from '#shared/broker/connection/connect-broker.ts';

/**
 * Has an ingress grant and offer jobs as a release does that knows no numbers beside subjects.
 * @returns how many grants and offers it has changed
 */
export function grantAsOlder(broker: Broker): () => number {
  const publish = broker.publish.bind(broker);
  let count = 0;
  broker.publish = (subject, payload, ...rest) => {
    const [head = '', ...body] = Buffer.from(payload).toString('latin1').split('\n');
    const { numbersBeside, ...older } = (head.startsWith('{"answer":"grant"') ? JSON.parse(head) : {}) as {
      numbersBeside?: boolean;
    };
    if (numbersBeside === undefined) return publish(subject, payload, ...rest);
    count += 1;
    publish(subject, Buffer.from([JSON.stringify(older), ...body].join('\n'), 'latin1'), ...rest);
  };
  return () => count;
}
