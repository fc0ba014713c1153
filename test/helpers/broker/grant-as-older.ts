import type { TappedBroker } from './tapped-broker.ts';

/**
 * Has an ingress grant and offer jobs as a release does that knows no numbers beside subjects.
 * @returns how many grants and offers it has changed
 */
export function grantAsOlder({ onSend }: Pick<TappedBroker, 'onSend'>): () => number {
  let count = 0;
  onSend((message, send) => {
    const [head = '', ...body] = Buffer.from(message.payload).toString('latin1').split('\n');
    const { numbersBeside, ...older } = (head.startsWith('{"answer":"grant"') ? JSON.parse(head) : {}) as {
      numbersBeside?: boolean;
    };
    if (numbersBeside === undefined) return send(message);
    count += 1;
    send({ ...message, payload: Buffer.from([JSON.stringify(older), ...body].join('\n'), 'latin1') });
  });
  return () => count;
}
