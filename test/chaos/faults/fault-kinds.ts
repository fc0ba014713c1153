/** What a fault strikes. */
export type FaultTarget = 'worker' | 'ingress' | 'nats' | 'redis' | 'engine' | 'clients';

/** One kind of fault, as the suite makes it and as the documentation describes it. */
export interface FaultKind {
  target: FaultTarget;
  /** Shortest and longest time until it is undone, in milliseconds. */
  lasts: readonly [number, number];
  /** How the suite makes it. */
  made: string;
  /** What clients see. */
  seen: string;
}

const streams = 'Requests without text so far move to another worker. Others end with an error event.';
const moved = 'Requests without text so far move to another worker.';

/** Every kind of fault. */
export const faultKinds = {
  'worker-kill': { target: 'worker', lasts: [400, 1_500], made: 'kill -9, started again', seen: streams },
  'worker-stop': { target: 'worker', lasts: [300, 6_000], made: 'SIGSTOP, SIGCONT', seen: streams },
  'worker-cut': {
    target: 'worker',
    lasts: [200, 3_000],
    made: 'its connection to NATS is cut and refused',
    seen: streams,
  },
  'worker-delay': {
    target: 'worker',
    lasts: [500, 4_000],
    made: 'its connection to NATS is 100 ms late',
    seen: 'Answers are late by as much.',
  },
  'ingress-kill': {
    target: 'ingress',
    lasts: [400, 1_500],
    made: 'kill -9, started again',
    seen: 'Connections to it break. Its reservations are free after a minute.',
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
  'ingress-delay': {
    target: 'ingress',
    lasts: [500, 4_000],
    made: 'its connection to NATS is 100 ms late',
    seen: 'Answers are late by as much.',
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
    target: 'clients',
    lasts: [0, 0],
    made: 'a request that kills every worker that takes it',
    seen: 'The request ends with 422 `workers_died` after two workers. Others as when a worker is killed.',
  },
  flood: { target: 'clients', lasts: [0, 0], made: '60 requests of one key at once', seen: 'Others wait longer.' },
  'clients-vanish': {
    target: 'clients',
    lasts: [0, 0],
    made: 'twelve clients leave at once in the middle of a stream',
    seen: 'Nothing. Engines stop within a second.',
  },
  'clients-unread': {
    target: 'clients',
    lasts: [0, 0],
    made: 'twelve clients read nothing for a while',
    seen: 'Nothing.',
  },
} as const satisfies Record<string, FaultKind>;

export type FaultName = keyof typeof faultKinds;

/** The names of all kinds, in the order of the table. */
export const faultNames = Object.keys(faultKinds) as FaultName[];
