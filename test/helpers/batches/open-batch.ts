import { randomBytes } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import type { BatchDependencies } from '#services/batch-runner/batches/batch-dependencies.ts';
import { finishBatch } from '#services/batch-runner/batches/finish-batch.ts';
import { HeavyWork } from '#services/batch-runner/heavy-work.ts';
import { RunningLines } from '#services/batch-runner/batches/running-lines.ts';
import { runSlice, type RunSliceParts } from '#services/batch-runner/batches/run-slice.ts';
import { validateBatch } from '#services/batch-runner/batches/validate-batch.ts';
import { ParkedBatches } from '#services/batch-runner/slots/parked-batches.ts';
import type { BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import { sealResult } from '#shared/accounts/batches/line-result.ts';
import { AnswerBudget } from '#services/batch-runner/answer-memory.ts';
import { RequestBudget } from '#services/batch-runner/request-memory.ts';
import { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { FileRecords, fileStore } from '#shared/accounts/files/file-records.ts';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { UnfinishedWork } from '#shared/store/redis/unfinished-work.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { Files } from '#shared/files/files.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { openKeyStore } from '../accounts/open-key-store.ts';
import { allOf, inPieces } from '../files/bytes.ts';
import { openObjects } from '../files/open-objects.ts';
import { silentLog } from '../silent-log.ts';
import { chatLine } from './batch-clients.ts';

const hourMs = 3_600_000;

/** The input of the batch: two lines, which are one slice. */
export const batchInput = ['a', 'b'].map((name) => `${JSON.stringify(chatLine(name, 'Hi.'))}\n`).join('');

export const noUse = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0, cost: 0 };

/** Bytes of the files of one owner. */
export const ownerBytes = 1e6;

/**
 * Opens a runner's dependencies, and a batch of Ada's that waits for validation.
 * @param options bytes of the files of all owners, and the input
 */
export async function openBatch({ totalBytes = 1e7, input = batchInput } = {}) {
  const id = 'batch_1';
  const secret = randomBytes(32);
  const owner = 'ada';
  const { connection, prefix } = await openKeyStore(inject('redisUrl'));
  const { store, parts: messages } = await openObjects();
  const report = (): void => undefined;
  const fileBytes = Math.max(ownerBytes, 2 * input.length);
  const bounds = { ownerBytes: fileBytes, totalBytes: Math.max(totalBytes, 2 * input.length) };
  const records = new FileRecords(connection.redis, prefix, { bounds, report });
  const files = new Files({ records, store, fileBytes, fileLines: 100, log: silentLog });
  const jobs = new BackgroundJobs({ url: inject('redisUrl'), prefix, log: silentLog });
  onTestFinished(() => jobs.close());
  const work = new BatchWork(connection.redis, prefix, { report });
  const parts: BatchDependencies = {
    batches: work,
    jobs,
    objects: store,
    files,
    formats: clientFormats,
    isKnownModel: () => true,
    resultsKeptMs: hourMs,
    maxLineBytes: Math.max(10_000, input.length),
    heavyWork: new HeavyWork(new UnfinishedWork(connection.redis, prefix, 'runner')),
    log: silentLog,
  };
  const description = { purpose: 'batch', name: 'in.jsonl' };
  const { id: inputFile } = await files.add(owner, inPieces(Buffer.from(input)), description);
  const batches = new Batches(connection.redis, prefix, { bounds: { maxOpen: 10, keepMs: hourMs }, report });
  const create = async (name: string): Promise<void> => {
    const what = { api: 'openai', path: '/chat/completions', endpoint: '/v1/chat/completions' };
    const createdAt = Date.now();
    const facts = { id: name, owner, key: 'k', ...what, inputFile, createdAt, expiresAt: createdAt + hourMs, total: 0 };
    await batches.create(facts);
  };
  await create(id);
  const found = async (): Promise<BatchRecord> => {
    const batch = await work.find(id);
    if (!batch) throw new Error('the batch is gone');
    return batch;
  };
  const ledger = new UsageLedger(connection.redis, prefix, silentLog, { maxRequests: 100, requestsKeptMs: hourMs });
  const keys = new OwnerKeys(() => [secret]);
  const unused = {
    lineParts: { requestBudget: new RequestBudget(Number.POSITIVE_INFINITY), answerBudget: new AnswerBudget(1) },
  } as Pick<RunSliceParts, 'lineParts' | 'identities'>;
  const stopping = new AbortController().signal;
  const idle = { slots: { hasRoom: () => false }, waitingWork: { setTiers: () => undefined }, atOnce: 8 };
  const openParked = (): ParkedBatches => {
    const parked = new ParkedBatches({ ...parts, ...idle });
    onTestFinished(() => parked.close());
    return parked;
  };
  const runner: RunSliceParts = {
    ...parts,
    ...unused,
    parked: openParked(),
    runningLines: new RunningLines(),
    ledger,
    ownerKeys: keys,
    stopping,
    countLine: () => undefined,
  };
  /** Reads the content of a file of the owner; undefined if there is none. */
  const read = async (name = ''): Promise<string | undefined> => {
    const file = await files.find(owner, name);
    return file && (await allOf(await files.read(file)))?.toString();
  };
  const sealer = keys.storeSealer(owner);
  return {
    id,
    owner,
    parts,
    sealer,
    validate: (batch = id) => validateBatch(parts, { batch }),
    finish: (batch = id) => finishBatch(parts, { batch }),
    /** Runs the slice of the batch, with some dependencies of `runner` replaced. */
    run: (more: Partial<RunSliceParts> = {}) => runSlice({ ...runner, ...more }, { batch: id, slice: 0 }),
    /**
     * Records the result of a line.
     * @returns whether it is the first one
     */
    record: async (line: number, text: string, by = sealer): Promise<boolean> => {
      const result = await sealResult({ outcome: 'succeeded', text }, by);
      return work.recordLine({ id, slice: 0, line }, result, noUse, ledger.createEntry([]));
    },
    /**
     * Ends the slice with an answer and an error.
     * @returns both, as they are stored
     */
    endSlice: async () => {
      const receive = (text: string) => files.receive(owner, inPieces(Buffer.from(text)), { isResult: true });
      const results = { output: await receive('{"of":"answers"}\n'), errors: await receive('{"of":"failures"}\n') };
      await work.endSlice({ id, slice: 0 }, { recorded: 0, cancelled: 0, expired: 0 }, results);
      return results;
    },
    read,
    /** Reads the results in a file of the owner; none if there is no such file. */
    readResults: async (name?: string): Promise<{ custom_id?: string }[]> => {
      const lines = ((await read(name)) ?? '').split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line) as { custom_id?: string });
    },
    /** A runner of slices whose lines have a result, or end without a request. */
    runner,
    /** Opens the parked batches of another runner. */
    openParked,
    work,
    store,
    files,
    batches,
    inputFile,
    redis: connection.redis,
    prefix,
    ledger,
    keys,
    create,
    found,
    /** Lets a running batch fail. */
    fail: (batch = id) => work.move(batch, { from: 'running', to: 'failed', timed: 'failedAt' }),
    removeOwner: () => fileStore.removeOwner(connection.redis, prefix, owner),
    textOf: async (name: string) => (await allOf(await store.get(name)))?.toString(),
    /** Returns the bytes that count for the owner. */
    counted: async () => (await files.use(owner)).bytes,
    messages,
  };
}

/** Opens the same with the batch running. */
export async function openRunningBatch(options?: Parameters<typeof openBatch>[0]): Promise<OpenBatch> {
  const opened = await openBatch(options);
  await opened.validate();
  return opened;
}

export type OpenBatch = Awaited<ReturnType<typeof openBatch>>;
