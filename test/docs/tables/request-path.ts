/** One file on the path of a streamed chat completion. */
export interface PathStep {
  file: string;
  /** Its job on this path, in eight words at most. */
  job: string;
  /** How it is reached where no file before it imports it: by a message over NATS, or as `main.ts` or a list of formats connects it. */
  reachedBy?: 'message' | 'wiring';
}

/** Files that a reader opens together. */
export interface PathLayer {
  title: string;
  steps: readonly PathStep[];
}

const wired = { reachedBy: 'wiring' } as const;

/**
 * The files that a reader opens to follow one streamed chat completion from the client's socket to the engine's and back: ten for the idea,
 * then what each layer adds, in reading order. A file that the answer passes again on its way back is listed once.
 */
export const requestPath: readonly PathLayer[] = [
  {
    title: 'The idea',
    steps: [
      { file: 'services/ingress/routing/serve-model-request.ts', job: 'from the body to the last byte' },
      { file: 'shared/serving/serve-request.ts', job: 'serves the request, without HTTP' },
      { file: 'shared/serving/serve-model.ts', job: 'finds lanes, reserves, dispatches' },
      { file: 'shared/broker/dispatch/dispatcher.ts', job: 'owns every job of this process' },
      { file: 'shared/broker/dispatch/claims/job-placer.ts', job: 'offers it, or publishes tickets' },
      { file: 'shared/broker/worker/start-worker.ts', job: 'takes the offer if a slot is free', reachedBy: 'message' },
      { file: 'services/gpu-worker/engine-upstream.ts', job: 'translates, adapts, asks the engine', ...wired },
      {
        file: 'shared/translate/same-format/chat-to-chat.ts',
        job: 'the translation in use, with its request',
        ...wired,
      },
      { file: 'shared/upstream/relay-answer.ts', job: 'sends it, relays what comes back' },
      { file: 'services/ingress/http/client-reply.ts', job: "relays bytes to the client's socket" },
    ],
  },
  {
    title: 'HTTP',
    steps: [
      { file: 'services/ingress/app.ts', job: 'route table', ...wired },
      { file: 'services/ingress/routing/api-routes.ts', job: "handlers of the formats' routes" },
      { file: 'services/ingress/http/direct-routes.ts', job: 'runs the handlers, without Express' },
      { file: 'services/ingress/http/require-key.ts', job: 'admits requests with a valid key' },
      { file: 'services/ingress/http/request-context.ts', job: 'what its handlers know of the request' },
      { file: 'shared/accounts/keys/key-verifier.ts', job: 'looks the key up, cached for seconds', ...wired },
      { file: 'services/ingress/http/receive-body.ts', job: 'receives the body within all bounds' },
      { file: 'services/ingress/http/held-bodies.ts', job: 'the memory for bodies, shared among keys' },
      { file: 'services/ingress/http/read-body.ts', job: 'reads and decompresses one body', ...wired },
      { file: 'shared/formats/chat/chat-format.ts', job: 'what the ingress knows of this format' },
      { file: 'shared/formats/chat/parse-chat-request.ts', job: 'checks the fields, names the wrong one' },
      { file: 'shared/formats/sse/streamed-answer.ts', job: 'keep-alives, error events, relayed tokens' },
    ],
  },
  {
    title: 'Serving',
    steps: [
      { file: 'shared/serving/prepare-request.ts', job: 'files and stored answers in place of ids' },
      { file: 'shared/serving/find-lanes.ts', job: 'from a name and a key to pools' },
      { file: 'shared/serving/resolve-model.ts', job: "finds what the model's name stands for" },
      { file: 'shared/serving/key-permits.ts', job: 'which models and tiers the key allows' },
      { file: 'shared/serving/choose-lanes.ts', job: 'pools that can serve it, best first' },
      { file: 'shared/serving/explain-no-lane.ts', job: 'the error where no pool can' },
      { file: 'shared/serving/create-model-job.ts', job: 'what the dispatcher is told of it' },
      { file: 'shared/serving/reserve.ts', job: 'reserves the most that it may cost' },
      { file: 'shared/serving/run-job.ts', job: 'dispatches, and records when it is over' },
      { file: 'shared/serving/record-request.ts', job: 'commits, counts, logs the finished request', ...wired },
      { file: 'shared/accounts/ledger/usage-ledger.ts', job: 'writes its record to Redis, in batches' },
    ],
  },
  {
    title: 'Dispatch',
    steps: [
      { file: 'shared/broker/dispatch/job.ts', job: "one request's state and body" },
      { file: 'shared/broker/dispatch/job-machine.ts', job: 'applies events to the job' },
      { file: 'shared/broker/dispatch/job-life.ts', job: 'what each event does, as a table' },
      { file: 'shared/broker/dispatch/job-effects.ts', job: 'what events do to a job' },
      { file: 'shared/broker/dispatch/claims/choose-offer.ts', job: 'picks a worker known to be free' },
      { file: 'shared/broker/dispatch/queue/tickets.ts', job: 'publishes tickets, where no worker is free' },
      { file: 'shared/broker/dispatch/queue/fair-lane.ts', job: 'the order among owners and keys' },
      { file: 'shared/broker/dispatch/worker-link.ts', job: 'sends the offer or grant, with the body' },
      { file: 'shared/broker/connection/connect-broker.ts', job: 'the connection to NATS' },
      { file: 'shared/broker/dispatch/reply-receiver.ts', job: 'from a frame to its job' },
      { file: 'shared/broker/dispatch/attempt.ts', job: 'one grant: sequence, times, progress' },
    ],
  },
  {
    title: 'Worker',
    steps: [
      { file: 'shared/broker/worker/ticket-claimer.ts', job: 'from a ticket to its grant' },
      { file: 'shared/broker/worker/puller.ts', job: 'pulls tickets while a slot is free' },
      { file: 'shared/broker/worker/claimer.ts', job: 'claims the job that a ticket names' },
      { file: 'shared/broker/worker/job-runner.ts', job: 'runs the handler, keeps in touch' },
      { file: 'shared/broker/worker/reply-writer.ts', job: 'packs pieces into numbered frames' },
    ],
  },
  {
    title: 'Upstream',
    steps: [
      { file: 'shared/worker/create-job-handler.ts', job: 'the steps that all upstreams share', ...wired },
      { file: 'shared/upstream/read-request.ts', job: 'parses the body once, and releases it' },
      { file: 'shared/translate/translation.ts', job: 'finds the translation for two formats' },
      { file: 'shared/upstream/request-writer.ts', job: 'writes the request, estimates its input' },
      { file: 'shared/upstream/upstream-http.ts', job: 'connection pool of the engine' },
      { file: 'shared/upstream/exchange.ts', job: 'one request and answer, with its timeouts' },
      { file: 'shared/upstream/stream-listener.ts', job: 'hands each event to the translation' },
      { file: 'shared/upstream/sse-reader.ts', job: 'splits bytes into events' },
      { file: 'shared/translate/same-format/chat-to-chat-stream.ts', job: "writes the client's events" },
    ],
  },
];

/** The path as numbered lists in Markdown, one for each layer, with links relative to `docs/`. */
export function renderRequestPath(): string {
  const ways = { message: ' *(by a message over NATS)*', wiring: ' *(by wiring)*' };
  const layers = requestPath.map(({ title, steps }) => {
    const line = ({ file, job, reachedBy }: PathStep, at: number) =>
      `${at + 1}. [${file}](../${file}): ${job}${reachedBy === undefined ? '' : ways[reachedBy]}`;
    return `**${title}**\n\n${steps.map(line).join('\n')}\n`;
  });
  return layers.join('\n');
}
