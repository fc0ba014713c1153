import { PermissionViolationError, connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { roles, type Role } from '#shared/broker/connection/credential.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { createSubjects, formatUnnumberedSubject } from '#shared/broker/contract/subjects.ts';
import { startSecuredNats } from '../../../helpers/servers/start-secured-nats.ts';
import { until } from '../../../helpers/until.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const subjects = createSubjects('rtr');

/** The process of workers that the test does not start. */
const process = 'UABC';

const nats = useStarted(() => startSecuredNats({ prefix: 'rtr' }));

interface Attempt {
  what: string;
  operation: 'publish' | 'subscription';
  subject: string;
}

const pub = (what: string, subject: string): Attempt => ({ what, operation: 'publish', subject });
const sub = (what: string, subject: string): Attempt => ({ what, operation: 'subscription', subject });

const changes = [subjects.keys, subjects.prices, subjects.registry];
const toldChanges = changes.map((subject) => sub('receive a kind of changes', subject));
const saidChanges = changes.map((subject) => pub('say that something changed', subject));

/** What only the server's owner may do. */
const nobody: Attempt[] = [
  sub('listen to everything', '>'),
  sub('listen to the whole cluster', 'rtr.>'),
  sub('listen to the inboxes of all', 'rtr.inbox.>'),
  sub('listen to inboxes that the library makes by itself', '_INBOX.>'),
  sub('listen to what JetStream is asked', '$JS.>'),
  sub("take the broker's answers by a wildcard at the owner", 'rtr.inbox.*.*.w.>'),
  pub('ask JetStream about the account', '$JS.API.INFO'),
  pub('list the streams', '$JS.API.STREAM.NAMES'),
  pub('make a stream of its own', '$JS.API.STREAM.CREATE.mine'),
  pub("speak to the server's system", '$SYS.REQ.SERVER.PING'),
  pub('answer at somebody else', '_INBOX.x.1'),
  ...tiers.flatMap((tier) => {
    const stream = subjects.stream(tier);
    return [
      pub(`delete the queue of ${tier}`, `$JS.API.STREAM.DELETE.${stream}`),
      pub(`empty the queue of ${tier}`, `$JS.API.STREAM.PURGE.${stream}`),
      pub(`read tickets of ${tier} past the lanes`, `$JS.API.STREAM.MSG.GET.${stream}`),
      pub(`read tickets of ${tier} directly`, `$JS.API.DIRECT.GET.${stream}`),
      pub(`delete tickets of ${tier}`, `$JS.API.STREAM.MSG.DELETE.${stream}`),
      pub(`delete a lane of ${tier}`, `$JS.API.CONSUMER.DELETE.${stream}.pool_high`),
    ];
  }),
];

/** What workers of a tier must not be able to do. */
function notForWorker(tier: Tier, own: string): Attempt[] {
  const stream = subjects.stream(tier);
  const someone = { tier, credentialName: 'somebody', worker: 'w1', process } as const;
  const foreign = tiers.find((other) => other !== tier) ?? tier;
  const asForeign = { tier: foreign, credentialName: tier, worker: 'w1', process: own };
  const replica = { tier, credentialName: tier, worker: 'w2', process };
  return [
    sub('receive the claims of other workers of its tier', subjects.allClaims('in')),
    sub('receive all heartbeats', subjects.allHeartbeats),
    sub("receive another's heartbeat", subjects.heartbeat(someone)),
    sub("read another's replies", subjects.allReplies('in')),
    sub('read its own replies, with those of replicas', `${subjects.reply('in', '*')}.*.*`),
    ...toldChanges,
    sub('receive ingress stats', subjects.allIngressStats),
    sub("read the ingress's inbox", 'rtr.inbox.ingress.ingress.>'),
    ...[someone, replica, { ...replica, worker: '*', process: '*' }].flatMap((other) => [
      sub("read another's inbox", `${subjects.inbox(other)}.>`),
      sub("read another's offers", `${subjects.inbox(other)}.offer.p`),
      sub("receive another's cancels", subjects.cancel(other)),
      sub("receive another's retransmit requests", subjects.retransmit(other)),
      sub("receive another's drain commands", subjects.drain(other)),
      pub('claim for another', subjects.claim('in', other)),
      pub('heartbeat for another', subjects.heartbeat(other)),
      pub("ask for another's lanes", subjects.lanes(other)),
      pub("cancel another's job", subjects.cancel(other)),
      pub('drain another', subjects.drain(other)),
      pub('ask another for frames', subjects.retransmit(other)),
      pub("answer at another's inbox", `${subjects.inbox(other)}.claim.1`),
      pub('pull for another', subjects.pull('in', other)),
      pub('ack for another', subjects.ack('in', other)),
    ]),
    sub('read tickets as they are published', subjects.jobsOf(tier)),
    sub("read the broker's answers to tickets", 'rtr.stored.>'),
    sub('receive requests for lanes', subjects.allLanes),
    pub('claim as another tier', subjects.claim('in', asForeign)),
    pub('heartbeat as another tier', subjects.heartbeat(asForeign)),
    pub('pull as another tier', subjects.pull('in', asForeign)),
    pub('publish a ticket', subjects.jobs({ tier, pool: 'p', class: 'high' })),
    pub('say that a ticket was refused', subjects.ticketAnswer('secret', 'job', 0)),
    ...saidChanges,
    pub('count for an ingress', subjects.ingressStats('in')),
    pub('call the roll', subjects.announceRequest),
    pub('make its queue', `$JS.API.STREAM.CREATE.${stream}`),
    pub('change its queue', `$JS.API.STREAM.UPDATE.${stream}`),
    pub('store a part of an object', subjects.objectPart('o', 0)),
    pub('read a part of an object', `$JS.API.DIRECT.GET.${subjects.objectStream}.${subjects.objectPart('o', 0)}`),
    pub('read an object from its leader', `$JS.API.STREAM.MSG.GET.${subjects.objectStream}`),
    pub('remove objects', `$JS.API.STREAM.PURGE.${subjects.objectStream}`),
    sub("receive others' pulls", subjects.allPulls('in')),
    sub("receive others' acks", subjects.allAcks('in')),
    pub('make a lane', `$JS.API.CONSUMER.CREATE.${stream}.pool_high.rtr.jobs.${tier}.pool.high`),
    pub('make a lane the older way', `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.pool_high`),
    ...tiers.flatMap((other) => {
      const stream = subjects.stream(other);
      return [
        pub(`pull tickets of ${other} from JetStream`, `$JS.API.CONSUMER.MSG.NEXT.${stream}.pool_high`),
        pub(`see how deep the queue of ${other} is`, `$JS.API.STREAM.INFO.${stream}`),
        pub(`see how deep a lane of ${other} is`, `$JS.API.CONSUMER.INFO.${stream}.pool_high`),
        pub(`ack a ticket of ${other}`, `$JS.ACK.${stream}.pool_high.1.1.1.1.0`),
      ];
    }),
  ];
}

/** What a dispatcher must not be able to do. */
const notForDispatchers: Attempt[] = [
  pub('delete the store of objects', `$JS.API.STREAM.DELETE.${subjects.objectStream}`),
  pub('read objects by a consumer', `$JS.API.CONSUMER.CREATE.${subjects.objectStream}.c`),
  sub('read objects as they are stored', subjects.allObjects),
  ...tiers.map((tier) => sub(`read tickets of ${tier} as they are published`, subjects.jobsOf(tier))),
  sub("read a worker's inbox", 'rtr.inbox.gpu.gpu.>'),
  pub('heartbeat for a worker', subjects.heartbeat({ tier: 'gpu', credentialName: 'gpu', worker: 'w1', process })),
  pub('claim for a worker', subjects.claim('in', { tier: 'gpu', credentialName: 'gpu', worker: 'w1', process })),
  pub('reply for a worker', `${subjects.reply('in', 'grant')}.d.0`),
];

/** What a batch runner must not be able to do, in addition. */
const notForRunner: Attempt[] = [
  sub("read the ingress's inbox", 'rtr.inbox.ingress.ingress.>'),
  pub('drain a worker', subjects.drain({ tier: 'gpu', credentialName: 'gpu', worker: 'w1', process })),
  ...saidChanges,
];

function notFor(role: Role, own: string): Attempt[] {
  if (role === 'ingress') return notForDispatchers;
  return role === 'runner' ? [...notForDispatchers, ...notForRunner] : notForWorker(role, own);
}

/** A connection, and all refusals that the server has sent to it. */
async function connectAs(role: Role) {
  const { nc, key, refused } = await nats.connectWith(nats.files[role]);
  const refusals = () =>
    refused.flatMap((error) =>
      error instanceof PermissionViolationError ? [`${error.operation} ${error.subject}`] : [],
    );
  return { nc, key, refusals };
}

function make(nc: NatsConnection, { operation, subject }: Attempt): void {
  if (operation === 'publish') nc.publish(subject, '{}');
  else nc.subscribe(subject, { callback: () => undefined });
}

it.each(roles)('a process with the role %s is refused whatever is not its own', async (role) => {
  const { nc, key, refusals } = await connectAs(role);
  const attempts = [...nobody, ...notFor(role, key)];
  for (const attempt of attempts) make(nc, attempt);
  await nc.flush();
  await until(() => {
    const refused = new Set(refusals());
    expect(attempts.filter(({ operation, subject }) => !refused.has(`${operation} ${subject}`))).toEqual([]);
  });
});

/** What workers of a tier need to do. */
function neededByWorker(tier: Tier, process: string): Attempt[] {
  const own = { tier, credentialName: tier, worker: 'w1', process };
  return [
    pub('pull', subjects.pull('in', own)),
    pub('ack', subjects.ack('in', own)),
    pub('claim', subjects.claim('in', own)),
    pub('heartbeat', subjects.heartbeat(own)),
    pub('ask for its lanes', subjects.lanes(own)),
    pub('reply', `${subjects.reply('in', 'grant')}.d.0`),
    pub('reply with the number beside the subject', formatUnnumberedSubject(subjects.reply('in', 'grant'), 'd')),
    sub('be answered', `${subjects.inbox(own)}.>`),
    sub('receive cancels', subjects.cancel(own)),
    sub('receive retransmit requests', subjects.retransmit(own)),
    sub('receive drain commands', subjects.drain(own)),
    sub('receive requests to announce itself', subjects.announceRequest),
  ];
}

/** What a dispatcher needs to do. */
function neededByDispatcher(role: 'ingress' | 'runner'): Attempt[] {
  const worker = { tier: 'gpu', credentialName: 'joe', worker: 'w1', process } as const;
  const commands = [pub('drain', subjects.drain(worker)), ...saidChanges];
  return [
    ...(role === 'ingress' ? commands : []),
    pub('look at the store of objects', `$JS.API.STREAM.INFO.${subjects.objectStream}`),
    pub('make the store of objects', `$JS.API.STREAM.CREATE.${subjects.objectStream}`),
    pub('change the store of objects', `$JS.API.STREAM.UPDATE.${subjects.objectStream}`),
    pub('store a part of an object', subjects.objectPart('o', 0)),
    pub('read a part of an object', `$JS.API.DIRECT.GET.${subjects.objectStream}.${subjects.objectPart('o', 0)}`),
    pub('read it from its leader', `$JS.API.STREAM.MSG.GET.${subjects.objectStream}`),
    pub('remove an object', `$JS.API.STREAM.PURGE.${subjects.objectStream}`),
    ...tiers.flatMap((tier) => {
      const stream = subjects.stream(tier);
      return [
        pub('look at a queue', `$JS.API.STREAM.INFO.${stream}`),
        pub('make a queue', `$JS.API.STREAM.CREATE.${stream}`),
        pub('change a queue', `$JS.API.STREAM.UPDATE.${stream}`),
        pub('make a lane', `$JS.API.CONSUMER.CREATE.${stream}.p_high.rtr.jobs.${tier}.p.high`),
        pub('hand a pull on', `$JS.API.CONSUMER.MSG.NEXT.${stream}.p_high`),
        pub('ack a ticket', `$JS.ACK.${stream}.p_high.1.1.1.1.0`),
        pub('publish a ticket', subjects.jobs({ tier, pool: 'p', class: 'high' })),
      ];
    }),
    pub('answer a claim', `${subjects.inbox(worker)}.claim.1`),
    pub('cancel', subjects.cancel(worker)),
    pub('resume', subjects.retransmit(worker)),
    pub('call the roll', subjects.announceRequest),
    pub('count', subjects.ingressStats('in')),
    sub('receive heartbeats', subjects.allHeartbeats),
    sub('receive claims', subjects.allClaims('in')),
    sub('receive requests for lanes', subjects.allLanes),
    sub('read replies', subjects.allReplies('in')),
    sub("read the broker's answers to tickets", subjects.allTicketAnswers('secret')),
    ...toldChanges,
    sub("receive others' ingress stats", subjects.allIngressStats),
    sub('be answered by JetStream', `rtr.inbox.${role}.${role}.x.*`),
  ];
}

it.each(roles)('a process with the role %s may do everything that it needs', async (role) => {
  const { nc, key, refusals } = await connectAs(role);
  const needed = role === 'ingress' || role === 'runner' ? neededByDispatcher(role) : neededByWorker(role, key);
  for (const attempt of needed) make(nc, attempt);
  // The refusal of this forbidden call shows that all earlier refusals have been reported.
  make(nc, pub('', 'not.allowed'));
  await until(() => expect(refusals()).toEqual(['publish not.allowed']));
});

it('a connection without a credential is refused', async () => {
  for (const wrong of [{}, { user: 'rtr', pass: 'x' }])
    await expect(connect({ port: nats.port, reconnect: false, ...wrong })).rejects.toThrow(/authorization violation/i);
});
