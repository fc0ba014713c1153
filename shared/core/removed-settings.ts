import { ConfigError, type Environment } from './load-config.ts';

const storedRoom = (part: string) =>
  `set STORED_OWNER_BYTES and STORED_MAX_BYTES, of which ${part}, in place of the bounds of each kind`;
const demoOptions = 'it is a word of DEMO_OPTIONS now: ';

/** The settings of earlier versions, each with the end of a sentence that says what stands in its place. */
export const removedSettings: Readonly<Record<string, string>> = {
  AGENT_SESSIONS_DAYS: 'sums of sessions are kept for 7 days',
  ALERT_ERROR_PERCENT: 'failures are reported from 20 % on',
  BACKGROUND_AT_ONCE: 'a batch runner makes 256 responses in the background at the same time',
  BACKGROUND_HOURS: 'an unfinished response in the background fails after 24 hours',
  BACKGROUND_MAX_BYTES: storedRoom('responses in the background take a sixth'),
  BACKGROUND_OPEN: 'an owner has at most 500 unfinished responses in the background',
  BACKGROUND_OWNER_BYTES: storedRoom('responses in the background take a quarter'),
  BATCHES_KEEP_DAYS: 'a batch is kept for 30 days',
  BATCHES_OPEN: 'an owner has at most 100 unfinished batches',
  BATCH_ATTEMPTS: 'a request of a batch is executed at most 3 times',
  BATCH_LINES: 'a batch runner makes at most 256 requests of batches at the same time',
  BATCH_SLICES: 'a batch runner works on 8 slices of batches at the same time',
  BATCH_YIELD_MS: 'a slot is left to live requests for 10 s',
  BROKER_TIMEOUT_MS: 'requests wait 60 s for NATS',
  COALESCE_MS: 'fragments of a stream are sent together every 5 ms',
  CONNECT_TIMEOUT_MS: 'a connection has 2 s at an engine and 5 s at a provider',
  CONTINUE_BYTES: 'kept streams take an eighth of the memory limit, and at most 256 MiB',
  DEMO_FIRST_TOKEN_DELAY_MS: `${demoOptions}delay=300`,
  DEMO_TOKENS_PER_SECOND: `${demoOptions}rate=50`,
  FILE_MAX_LINES: 'a file for a batch has at most 50,000 lines',
  FIT_MAX_TOKENS: 'limits of output tokens are always lowered to what fits',
  IDEMPOTENCY_ANSWER_BYTES: 'an answer takes at most 8 MiB, and a quarter of the room of its owner',
  IDEMPOTENCY_KEYS: 'an owner has at most 10,000 idempotency keys',
  IDEMPOTENCY_MAX_BYTES: storedRoom('answers to idempotency keys take a sixth'),
  IDEMPOTENCY_OWNER_BYTES: storedRoom('answers to idempotency keys take a quarter'),
  MAX_ACTIVE: 'an ingress serves as many requests as half of its memory limit holds at 64 KiB each, and at most 20,000',
  MAX_ATTEMPTS: 'a request gets at most 3 workers',
  MAX_HELD_BYTES: 'bodies take a quarter of the memory limit, and at most 1 GiB',
  MAX_KEPT_BYTES: 'a worker keeps at most 64 MiB of sent answers',
  MAX_UNREAD_BYTES: 'unread answers take an eighth of the memory limit, and at most 32 MiB',
  MCP_ALLOWED_ORIGINS: 'name the origins of the pages in CORS_ORIGINS',
  MESSAGES_FAMILY: 'the path segment of the messages format is `anthropic`',
  MODELS_REFRESH_MS: 'the list of models is read every ten minutes',
  RECORDINGS_KEPT: 'an owner has at most 1,000 recordings',
  RECORDINGS_MAX_BYTES: storedRoom('recordings take a third'),
  RECORDINGS_OWNER_BYTES: storedRoom('recordings take a quarter'),
  RECORDINGS_TRACES: 'set RECORDINGS=traced',
  RECORDING_BYTES: '1 MiB each of a body and its answer are recorded',
  RECYCLE_AFTER: 'a process is replaced after 100 conversations',
  RECYCLE_MB: 'a process is replaced above 1 GiB of memory',
  RESPONSES_MAX_BYTES: storedRoom('stored responses take a third'),
  RESPONSES_OWNER_BYTES: storedRoom('stored responses take a quarter'),
  SHED_DELAY_MS: 'an ingress refuses requests while its event loop is 1 s behind',
  SILENCE_TIMEOUT_MS: 'a worker may be silent for 10 s',
  SPILL_MS: 'a request also enters the next lane after 500 ms',
  START_TIMEOUT_MS: 'a process has 60 s to start',
  STORE_WAIT_MS: 'requests wait for Redis in the first 5 s of its absence',
  TOOL_OUTPUT_BYTES: 'the output of a tool has at most 8 MiB',
  USAGE_CHUNK: 'the usage is always part of the chunk with the finish reason',
  USAGE_EXPORT_HOUR: 'the file is written at 01:00 UTC',
};

/** @throws ConfigError with one sentence for each removed setting that is set, so that nobody relies on a bound that no longer applies */
export function refuseRemovedSettings(environment: Environment): void {
  const sentences = Object.entries(removedSettings).flatMap(([name, now]) =>
    environment[name] || environment[`${name}_FILE`] ? [`${name} is no longer a setting: ${now}`] : [],
  );
  if (sentences.length > 0) throw new ConfigError(sentences.join('\n'));
}
