import { PermissionViolationError, connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { roles, type Role } from '#shared/broker/connection/credential.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { createSubjects, subjectWithoutNumber } from '#shared/broker/contract/subjects.ts';
import { startSecuredNats } from '../../../helpers/servers/start-secured-nats.ts';
import { until } from '../../../helpers/until.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const subjects = createSubjects('rtr');

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
function notForWorker(tier: Tier, owner: string): Attempt[] {
  const own = subjects.stream(tier);
  const someone = { tier, owner: 'somebody', worker: 'w1' } as const;
  const foreign = tiers.find((other) => other !== tier) ?? tier;
  return [
    sub('receive the claims of other workers of its tier', subjects.allClaims('in')),
    sub('receive all heartbeats', subjects.allHeartbeats),
    sub("receive another's heartbeat", subjects.heartbeat(someone)),
    sub("read another's replies", subjects.allReplies('in')),
    sub('read its own replies, with those of replicas', `${subjects.reply('in', '*')}.*.*`),
    ...toldChanges,
    sub('receive ingress stats', subjects.allIngressStats),
    sub("read another's inbox", `${subjects.inbox(someone)}.>`),
    sub("read the ingress's inbox", 'rtr.inbox.ingress.ingress.>'),
    sub("receive another's cancels", subjects.cancel(someone)),
    sub("receive another's retransmit requests", subjects.retransmit(someone)),
    sub("receive another's drain commands", subjects.drain(someone)),
    sub('read tickets as they are published', subjects.jobsOf(tier)),
    sub("read the broker's answers to tickets", 'rtr.stored.>'),
    sub('receive requests for lanes', subjects.allLanes),
    pub('claim for another owner', subjects.claim('in', someone)),
    pub('claim as another tier', subjects.claim('in', { tier: foreign, owner, worker: 'w1' })),
    pub('heartbeat for another owner', subjects.heartbeat(someone)),
    pub('heartbeat as another tier', subjects.heartbeat({ tier: foreign, owner, worker: 'w1' })),
    pub("ask for another's lanes", subjects.lanes(someone)),
    pub("cancel another's job", subjects.cancel(someone)),
    pub("cancel a replica's job", subjects.cancel({ tier, owner, worker: 'w2' })),
    pub('drain another', subjects.drain(someone)),
    pub('ask another for frames', subjects.retransmit(someone)),
    pub("answer at another's inbox", `${subjects.inbox(someone)}.x.claim.1`),
    pub('publish a ticket', subjects.jobs({ tier, pool: 'p', class: 'high' })),
    pub('say that a ticket was refused', subjects.stored('secret', 'job', 0)),
    ...saidChanges,
    pub('count for an ingress', subjects.ingressStats('in')),
    pub('call the roll', subjects.announceRequest),
    pub('make its queue', `$JS.API.STREAM.CREATE.${own}`),
    pub('change its queue', `$JS.API.STREAM.UPDATE.${own}`),
    pub('pull for another owner', subjects.pull('in', someone)),
    pub('pull as another tier', subjects.pull('in', { tier: foreign, owner, worker: 'w1' })),
    pub('ack for another owner', subjects.ack('in', someone)),
    pub('store a part of an object', subjects.objectPart('o', 0)),
    pub('read a part of an object', `$JS.API.DIRECT.GET.${subjects.objectStream}.${subjects.objectPart('o', 0)}`),
    pub('read an object from its leader', `$JS.API.STREAM.MSG.GET.${subjects.objectStream}`),
    pub('remove objects', `$JS.API.STREAM.PURGE.${subjects.objectStream}`),
    sub("receive others' pulls", subjects.allPulls('in')),
    sub("receive others' acks", subjects.allAcks('in')),
    pub('make a lane', `$JS.API.CONSUMER.CREATE.${own}.pool_high.rtr.jobs.${tier}.pool.high`),
    pub('make a lane the older way', `$JS.API.CONSUMER.DURABLE.CREATE.${own}.pool_high`),
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
  pub('heartbeat for a worker', subjects.heartbeat({ tier: 'gpu', owner: 'gpu', worker: 'w1' })),
  pub('claim for a worker', subjects.claim('in', { tier: 'gpu', owner: 'gpu', worker: 'w1' })),
  pub('reply for a worker', `${subjects.reply('in', 'grant')}.d.0`),
];

/** What a batch runner must not be able to do, in addition. */
const notForRunner: Attempt[] = [
  sub("read the ingress's inbox", 'rtr.inbox.ingress.ingress.>'),
  pub('drain a worker', subjects.drain({ tier: 'gpu', owner: 'gpu', worker: 'w1' })),
  ...saidChanges,
];

const forbidden = roles.map((role): [Role, Attempt[]] => [role, [...nobody, ...notFor(role)]]);

function notFor(role: Role): Attempt[] {
  if (role === 'ingress') return notForDispatchers;
  return role === 'runner' ? [...notForDispatchers, ...notForRunner] : notForWorker(role, role);
}

/** A connection, and all refusals that the server has sent to it. */
async function connectAs(role: Role) {
  const { nc, refused } = await nats.connectWith(nats.files[role], `rtr.inbox.${role}.${role}`);
  const refusals = () =>
    refused.flatMap((error) =>
      error instanceof PermissionViolationError ? [`${error.operation} ${error.subject}`] : [],
    );
  return { nc, refusals };
}

function make(nc: NatsConnection, { operation, subject }: Attempt): void {
  if (operation === 'publish') nc.publish(subject, '{}');
  else nc.subscribe(subject, { callback: () => undefined });
}

it.each(forbidden)('a process with the role %s is refused whatever is not its own', async (role, attempts) => {
  const { nc, refusals } = await connectAs(role);
  for (const attempt of attempts) make(nc, attempt);
  await nc.flush();
  await until(() => {
    const refused = new Set(refusals());
    expect(attempts.filter(({ operation, subject }) => !refused.has(`${operation} ${subject}`))).toEqual([]);
  });
});

/** What workers of a tier need to do. */
function neededByWorker(tier: Tier): Attempt[] {
  const own = { tier, owner: tier, worker: 'w1' };
  return [
    pub('pull', subjects.pull('in', own)),
    pub('ack', subjects.ack('in', own)),
    pub('claim', subjects.claim('in', own)),
    pub('heartbeat', subjects.heartbeat(own)),
    pub('ask for its lanes', subjects.lanes(own)),
    pub('reply', `${subjects.reply('in', 'grant')}.d.0`),
    pub('reply with the number beside the subject', subjectWithoutNumber(subjects.reply('in', 'grant'), 'd')),
    sub('be answered', `${subjects.inbox(own)}.secret.>`),
    sub('receive cancels', subjects.cancel(own)),
    sub('receive retransmit requests', subjects.retransmit(own)),
    sub('receive drain commands', subjects.drain(own)),
    sub('receive requests to announce itself', subjects.announceRequest),
  ];
}

/** What a dispatcher needs to do. */
function neededByDispatcher(role: 'ingress' | 'runner'): Attempt[] {
  const worker = { tier: 'gpu', owner: 'joe', worker: 'w1' } as const;
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
    pub('answer a claim', `${subjects.inbox(worker)}.secret.claim.1`),
    pub('cancel', subjects.cancel(worker)),
    pub('resume', subjects.retransmit(worker)),
    pub('call the roll', subjects.announceRequest),
    pub('count', subjects.ingressStats('in')),
    sub('receive heartbeats', subjects.allHeartbeats),
    sub('receive claims', subjects.allClaims('in')),
    sub('receive requests for lanes', subjects.allLanes),
    sub('read replies', subjects.allReplies('in')),
    sub("read the broker's answers to tickets", subjects.allStored('secret')),
    ...toldChanges,
    sub("receive others' ingress stats", subjects.allIngressStats),
    sub('be answered by JetStream', `rtr.inbox.${role}.${role}.x.*`),
  ];
}

it.each(roles)('a process with the role %s may do everything that it needs', async (role) => {
  const { nc, refusals } = await connectAs(role);
  const needed = role === 'ingress' || role === 'runner' ? neededByDispatcher(role) : neededByWorker(role);
  for (const attempt of needed) make(nc, attempt);
  // The refusal of this forbidden call shows that all earlier refusals have been reported.
  make(nc, pub('', 'not.allowed'));
  await until(() => expect(refusals()).toEqual(['publish not.allowed']));
});

it('a connection without a credential is refused', async () => {
  for (const wrong of [{}, { user: 'rtr', pass: 'x' }])
    await expect(connect({ port: nats.port, reconnect: false, ...wrong })).rejects.toThrow(/authorization violation/i);
});
