import { AckPolicy, DiscardPolicy, RetentionPolicy, StorageType, jetstreamManager } from '@nats-io/jetstream';
import { connect, createInbox, nanos } from '@nats-io/transport-node';
import { Pool } from 'undici';
import { bareClaim, bareJobs, bareStream } from './bare-subjects.ts';

/*
 * The worker of the bare prototype: pulls tickets, claims, sends the request to the upstream, passes its bytes on. See `bare-ingress.ts`
 * for the other side.
 */

const slots = 1_024;
const nc = await connect({ servers: process.env['NATS_URL'] ?? '' });
const upstream = new Pool(process.env['UPSTREAM'] ?? '', { connections: slots });
const inbox = createInbox();

const manager = await jetstreamManager(nc);
await manager.streams.add({
  name: bareStream,
  subjects: [bareJobs],
  retention: RetentionPolicy.Workqueue,
  storage: StorageType.Memory,
  discard: DiscardPolicy.New,
  max_msgs: 100_000,
});
await manager.consumers.add(bareStream, {
  durable_name: 'all',
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(3_000),
  max_ack_pending: -1,
  max_waiting: 4_096,
});

let asked = 0;
let claims = 0;
const acks = new Map<string, string>();

nc.subscribe(`${inbox}.>`, {
  callback: (_, { subject, data, reply }) => {
    if (reply?.startsWith('$JS.ACK.')) onTicket(data, reply);
    else if (subject.startsWith(`${inbox}.claim.`)) onGrant(subject, data);
    else asked = 0;
    pull();
  },
});
pull();
process.send?.({ ready: true });
process.on('disconnect', () => process.exit());

function pull(): void {
  if (asked > slots / 2) return;
  const options = { batch: slots - asked, expires: nanos(30_000) };
  asked = slots;
  nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${bareStream}.all`, JSON.stringify(options), { reply: `${inbox}.pull` });
}

function onTicket(ticket: Uint8Array, ack: string): void {
  asked -= 1;
  claims += 1;
  const claim = `${inbox}.claim.${claims}`;
  acks.set(claim, ack);
  nc.publish(bareClaim, ticket, { reply: claim });
}

function onGrant(claim: string, data: Uint8Array): void {
  nc.publish(acks.get(claim) ?? '', '+ACK');
  acks.delete(claim);
  const newline = data.indexOf(0x0a);
  const { reply } = JSON.parse(Buffer.from(data.subarray(0, newline)).toString()) as { reply: string };
  relay(data.subarray(newline + 1), reply).catch(() => process.exit(1));
}

async function relay(body: Uint8Array, reply: string): Promise<void> {
  const answer = await upstream.request({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (answer.headers['content-type'] === 'application/json') {
    nc.publish(`${reply}.e`, new Uint8Array(await answer.body.arrayBuffer()));
    return;
  }
  for await (const piece of answer.body) nc.publish(`${reply}.d`, piece as Uint8Array);
  nc.publish(`${reply}.e`, '');
}
