import type { TappedBroker } from './tapped-broker.ts';

/** Has an ingress grant and offer jobs as a release does that knows no numbers beside subjects. */
export function grantAsOlder({ onSend }: Pick<TappedBroker, 'onSend'>): void {
  onSend((message, send) => {
    const [head = '', ...body] = Buffer.from(message.payload).toString('latin1').split('\n');
    if (!head.startsWith('{"answer":"grant"')) return send(message);
    const { numbersBeside: _, ...older } = JSON.parse(head) as { numbersBeside?: boolean };
    send({ ...message, payload: Buffer.from([JSON.stringify(older), ...body].join('\n'), 'latin1') });
  });
}
