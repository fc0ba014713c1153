export type FaultTarget = 'worker' | 'ingress' | 'runner' | 'nats' | 'redis' | 'engine' | 'clients';

/** One kind of fault, for the suite and for the documentation. */
export interface FaultKind {
  target: FaultTarget;
  /** Minimum and maximum milliseconds until it is undone. */
  lasts: readonly [number, number];
  /** Milliseconds afterwards without a fault of the same target, where they differ from the usual ones of the target's kind. */
  restMs?: number;
  made: string;
  /** What clients see. */
  seen: string;
}

const streams =
  'Requests without text so far move to another worker, and streams of text continue there. Others end with an error event.';
const late = {
  lasts: [500, 4_000],
  made: 'its connection to NATS is 100 ms late',
  seen: 'Answers are late by as much.',
} as const;
const clock = {
  lasts: [1_000, 5_000],
  made: 'its clock jumps a minute to six hours forward or back, and returns',
} as const;
const crowd = { target: 'clients', lasts: [0, 0] } as const;
const moved = 'Requests without text so far move to another worker.';

export const faultKinds = {
  'worker-kill': { target: 'worker', lasts: [400, 1_500], made: 'kill -9, started again', seen: streams },
  'worker-stop': {
    target: 'worker',
    lasts: [300, 6_000],
    made: 'SIGSTOP, SIGCONT',
    seen: `${streams} A worker that is silent for 3.3 seconds counts as one that died.`,
  },
  'worker-cut': {
    target: 'worker',
    lasts: [200, 3_000],
    made: 'its connection to NATS is cut and refused',
    seen: `${streams} A worker that does not connect again at once counts as one that died, until it is back.`,
  },
  'worker-delay': { target: 'worker', ...late },
  'ingress-kill': {
    target: 'ingress',
    lasts: [400, 1_500],
    made: 'kill -9, started again',
    seen: 'Connections to it break. Its reservations are free after a minute. Until it has seen a worker that has a tool or model, it answers 404 for it.',
  },
  'ingress-stop': {
    target: 'ingress',
    lasts: [300, 3_000],
    made: 'SIGSTOP, SIGCONT',
    seen: 'Its clients wait. Clients of others notice nothing.',
  },
  'ingress-cut': {
    target: 'ingress',
    lasts: [200, 3_000],
    made: 'its connection to NATS is cut and refused',
    seen: 'Its clients wait. A stream of which frames are lost for good ends with an error event.',
  },
  'ingress-delay': { target: 'ingress', ...late },
  'runner-kill': {
    target: 'runner',
    lasts: [400, 1_500],
    made: 'kill -9, started again; in the run of a batch only',
    seen: 'Nothing. The batch goes on, and the lines that it ran are executed again within half a minute.',
  },
  'worker-clock': { target: 'worker', ...clock, seen: 'Nothing.' },
  'ingress-clock': {
    target: 'ingress',
    ...clock,
    seen: 'Nothing. The ledger and the logs have the times that the clock told.',
  },
  'nats-kill': {
    target: 'nats',
    lasts: [1_000, 3_000],
    made: 'kill -9 of one server of three, started again',
    seen: 'Parts connect to another server and continue.',
  },
  'nats-stop': {
    target: 'nats',
    lasts: [300, 3_000],
    made: 'SIGSTOP, SIGCONT of one server of three',
    seen: 'Parts connected to it wait.',
  },
  'nats-full': {
    target: 'nats',
    lasts: [1_000, 4_000],
    made: 'one server of three is killed and started again on a full disk; then the disk is emptied, and it is started once more',
    seen: 'Parts continue with the other servers.',
  },
  'redis-kill': {
    target: 'redis',
    // Sentinels promote the replica about two seconds after the primary ended.
    lasts: [3_000, 5_000],
    restMs: 8_000,
    made: 'kill -9 of the primary, started again when the replica has been promoted',
    seen: 'Requests of keys with limits receive 503 until the replica is promoted. What limits counted in the last moment is lost.',
  },
  'redis-full': {
    target: 'redis',
    lasts: [1_500, 4_000],
    // The old primary lives, and sentinels make it a replica ten seconds later.
    restMs: 14_000,
    made: 'the disk of the primary is full until the replica has been promoted, then it is emptied',
    seen: 'As when the primary is killed: it refuses all writes, and sentinels promote the replica.',
  },
  'redis-stop': {
    target: 'redis',
    lasts: [200, 700],
    made: 'SIGSTOP, SIGCONT of the primary',
    seen: 'Requests of keys with limits wait, or receive 503.',
  },
  'engine-500': { target: 'engine', lasts: [500, 4_000], made: 'answers 500 at once', seen: moved },
  'engine-401': { target: 'engine', lasts: [500, 4_000], made: 'answers 401 at once', seen: moved },
  'engine-400': {
    target: 'engine',
    lasts: [500, 4_000],
    made: 'answers 400 at once',
    seen: 'The 400, until the ingress has seen that other workers do not answer so.',
  },
  'engine-garbage': { target: 'engine', lasts: [500, 4_000], made: 'answers 200 with what is no answer', seen: moved },
  'engine-hang': { target: 'engine', lasts: [1_000, 4_000], made: 'accepts, and answers nothing', seen: moved },
  'engine-slow': { target: 'engine', lasts: [1_000, 4_000], made: 'answers two seconds late', seen: 'Late answers.' },
  'engine-drop': { target: 'engine', lasts: [0, 0], made: 'all its connections break', seen: streams },
  poison: {
    ...crowd,
    made: 'a request that kills every worker that takes it',
    seen: 'The request ends with 422 `workers_died` after two workers. Others as when a worker is killed.',
  },
  flood: { ...crowd, made: '60 requests of one key at once', seen: 'Others wait longer.' },
  'clients-vanish': {
    ...crowd,
    made: 'twelve clients leave at once in the middle of a stream',
    seen: 'Nothing. Engines stop within a second.',
  },
  'clients-unread': { ...crowd, made: 'twelve clients read nothing for a while', seen: 'Nothing.' },
} as const satisfies Record<string, FaultKind>;

export type FaultName = keyof typeof faultKinds;

/** The faults that strike a cluster while a batch runs. */
export const batchFaults: readonly FaultName[] = [
  'runner-kill',
  'worker-kill',
  'ingress-kill',
  'nats-kill',
  'redis-kill',
];

/** The names of all kinds for a cluster without batch runners, in the order of the table. */
export const faultNames: readonly FaultName[] = (Object.keys(faultKinds) as FaultName[]).filter(
  (name) => name !== 'runner-kill',
);

/** The kinds for which the system must permit namespaces. */
export const diskFaults: readonly FaultName[] = ['nats-full', 'redis-full'];
